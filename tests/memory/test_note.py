"""The tables in the READMEs of proxy/memory, proxy/files and proxy/desk: they name the tests that are marked with their
items, every file and number that they name is there, and nothing of the notes is missing from them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from proxy.config import load
from proxy.config.settings import Seconds
from tests import notes

ROOT = notes.ROOT

# Items of the notes, by section: its tables, lists and rules, a row each.
OF_MEMORY = {
    "0": 4, "1.1": 16, "1.2": 8, "1.3": 8, "2.1": 9, "2.2": 5, "2.3": 7, "2.4": 3, "3.1": 2, "3.2": 5, "3.3": 6,
    "4": 7, "4.1": 6, "5.1": 4, "5.2": 4, "5.3": 3, "5.4": 4, "6": 5, "7 SÍ": 8, "7 NO": 8, "8": 2,
    "9.1": 3, "9.2": 3, "9.3": 3, "9.4": 3,
    "v2 Resumen": 7, "v2 Buffer": 9, "v2 Builder": 7, "v2 Manager": 5, "v2 Flujo": 2, "v2 Niveles": 3,
    "v2 Configuración": 5, "v2 Migración": 3, "v2 Testing": 3, "v2 Monitoreo": 4,
    "v2 Troubleshooting": 4, "v2 SÍ": 3, "v2 NO": 4, "v2 Roadmap": 5,
}  # fmt: skip
OF_FILES = {
    "Capas": 5, "Archivos": 5, "Sync": 4, "Logs": 3, "Flush": 4, "Snapshots": 3, "Consolidación": 3, "Extender": 3,
    "Decisiones": 5, "Gotchas": 3, "Variables": 3,
    "Rumi Fact": 5, "Rumi Comandos": 5, "Rumi Sesión": 5, "Rumi Extracción": 5, "Rumi Dedup": 2, "Rumi Decisiones": 2,
    "Rumi Prompt": 3, "Rumi Fase 3": 4, "Rumi ADR": 5,
}  # fmt: skip
OF_DESK = {
    "SMMA 1": 2, "SMMA 2": 10, "SMMA 3.1": 3, "SMMA 3.2": 5, "SMMA 3.3": 2, "SMMA 3.4": 1, "SMMA 3.5": 1, "SMMA 3.6": 1,
    "SMMA 3.7": 1, "SMMA 3.8": 1, "SMMA 4": 9, "SMMA 5": 6, "SMMA 6": 6, "SMMA 6.4": 3, "SMMA 7": 4, "SMMA 8": 5,
    "SMMA 9": 4, "Rumi Tools": 4, "Caché 5.1": 3,
}  # fmt: skip
ITEMS = {notes.MEMORY: OF_MEMORY, notes.FILES: OF_FILES, notes.DESK: OF_DESK}
PARAMETERS = (
    "VENTANA_ACTIVA_DEFAULT",
    "VENTANA_ACTIVA_MIN",
    "VENTANA_ACTIVA_MAX",
    "MAX_TOKENS_VENTANA",
    "RESUMEN_SEGMENT_SIZE",
    "MAX_RESUMENES",
    "MAX_TOKENS_POR_RESUMEN",
    "TOTAL_RESUMENES_MAX",
    "MAX_CONTEXT_TOTAL",
    "DEFAULT_SHORT_TERM_TURNS",
    "DEFAULT_LONG_TERM_TURNS",
    "DEFAULT_MAX_TOKENS",
    "COMPRESSION_THRESHOLD",
)
PHRASES = ("Otra cosa", "Cambiando de tema", "Te quería preguntar sobre", "Dejando eso de lado", "Cambiemos de tema")

_VALUE = r"\"[^\"]+\"|[\w.,]*\w"
_NUMBER = re.compile(rf"`([a-z]\w*(?:\.\w+)+)` = ({_VALUE})")
_FILE = re.compile(r"`((?:proxy|tests)/[\w/]+\.py)")


TEXTS = {note: note.read_text(encoding="utf-8") for note in notes.NOTES}
ROWS = [row for text in TEXTS.values() for row in notes.table(text)]
NUMBERS = sorted({found for row in ROWS for found in _NUMBER.findall(row.where)})


@pytest.fixture(scope="module")
def marked() -> Mapping[str, Sequence[str]]:
    return notes.marked(ROOT)


def stands(name: str) -> Any:
    """What a name stands for: a constant of a module if it begins with `proxy.`, else a setting's default."""
    if not name.startswith("proxy."):
        found: Any = load(None, {})
        for part in name.split("."):
            found = found[part] if hasattr(found, "keys") else getattr(found, part)
        return found
    parts = name.split(".")
    modules = [at for at in range(1, len(parts) + 1) if _is_module(parts[:at])]
    found = import_module(".".join(parts[: modules[-1]]))
    for part in parts[modules[-1] :]:
        if isinstance(found, type) and is_dataclass(found):
            found = next(field.default for field in fields(found) if field.name == part)
        else:
            found = getattr(found, part)
    return found


def _is_module(parts: Sequence[str]) -> bool:
    path = ROOT.joinpath(*parts)
    return path.is_dir() or path.with_suffix(".py").is_file()


def reads(value: str) -> Any:
    """As a configuration file would be read, with thousands apart."""
    try:
        return TypeAdapter(Seconds).validate_python(value)
    except ValidationError:
        return yaml.safe_load(re.sub(r"(?<=\d),(?=\d{3})", "", value))


@pytest.mark.parametrize("note", notes.NOTES, ids=lambda note: note.parent.name)
def test_every_item_of_a_note_has_its_row_in_order(note: Path) -> None:
    assert [row.item for row in notes.table(TEXTS[note])] == [
        f"{section}/{at + 1}" for section, size in ITEMS[note].items() for at in range(size)
    ]


@pytest.mark.parametrize("note", notes.NOTES, ids=lambda note: note.parent.name)
def test_a_table_names_the_tests_that_are_marked_with_its_items(
    note: Path, marked: Mapping[str, Sequence[str]]
) -> None:
    assert notes.written(TEXTS[note], marked) == TEXTS[note]


def test_no_test_is_marked_with_what_is_no_item(marked: Mapping[str, Sequence[str]]) -> None:
    assert marked.keys() - {row.item for row in ROWS} == set()


def test_every_parameter_and_phrase_of_the_note_is_named() -> None:
    named = {
        said: sum(f"`{said}`" in row.says or f'"{said}"' in row.says for row in ROWS)
        for said in (*PARAMETERS, *PHRASES)
    }
    assert {said: times for said, times in named.items() if times != 1} == {}


def test_every_item_has_a_test_or_says_whose_it_is(marked: Mapping[str, Sequence[str]]) -> None:
    others = ("not ours", "not yet")
    assert [row.item for row in ROWS if row.item not in marked and not row.where.startswith(others)] == []


def test_every_file_exists() -> None:
    named = {row.item: _FILE.findall(row.where) for row in ROWS}
    assert [(item, path) for item, paths in named.items() for path in paths if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(("name", "value"), NUMBERS)
def test_every_number_is_the_one_that_is_in_use(name: str, value: str) -> None:
    assert stands(name) == reads(value)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(proxy(?:\.\w+)+)`", "".join(TEXTS.values())))))
def test_every_name_is_there(name: str) -> None:
    assert stands(name) is not None


def test_the_numbers_of_the_profile_that_are_the_notes_are_all_quoted() -> None:
    quoted = {name for name, _ in NUMBERS}
    lean = load(None, {}).profiles["lean"]
    parts = {name: getattr(lean, name) for name in ("window", "summaries", "facts", "elide")}
    own = {f"profiles.lean.{name}.{field.name}" for name, part in parts.items() for field in fields(part)}
    assert {*own, "profiles.lean.budget", "profiles.lean.pressure", "profiles.lean.fold"} <= quoted
