"""The table in proxy/memory/README.md: every test, file and number that it names is there, and nothing of the
architecture note is missing from it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from proxy.config import load
from proxy.config.values import Seconds

ROOT = Path(__file__).parents[2]
NOTE = ROOT / "proxy" / "memory" / "README.md"

# Items of the note, by section: its tables, lists and rules, a row each.
ITEMS = {
    "0": 4, "1.1": 16, "1.2": 8, "1.3": 8, "2.1": 9, "2.2": 5, "2.3": 7, "2.4": 3, "3.1": 2, "3.2": 5, "3.3": 6,
    "4": 7, "4.1": 6, "5.1": 4, "5.2": 4, "5.3": 3, "5.4": 4, "6": 5, "7 SÍ": 8, "7 NO": 8, "8": 2,
    "9.1": 3, "9.2": 3, "9.3": 3, "9.4": 3,
}  # fmt: skip
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
)
PHRASES = ("Otra cosa", "Cambiando de tema", "Te quería preguntar sobre", "Dejando eso de lado", "Cambiemos de tema")

_VALUE = r"\"[^\"]+\"|[\w.,]*\w"
_NUMBER = re.compile(rf"`([a-z]\w*(?:\.\w+)+)` = ({_VALUE})")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_FILE = re.compile(r"`((?:proxy|tests)/[\w/]+\.py)")


@dataclass(frozen=True, slots=True)
class Row:
    section: str
    says: str
    where: str
    tests: str


def table(text: str) -> Iterator[Row]:
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("| § "):
            yield Row(*(cell.strip() for cell in line.strip("|").split(" | ")))


ROWS = list(table(NOTE.read_text(encoding="utf-8")))
NUMBERS = sorted({found for row in ROWS for found in _NUMBER.findall(row.where)})


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


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


def test_every_item_of_the_note_has_its_row() -> None:
    assert Counter(row.section for row in ROWS) == ITEMS


@pytest.mark.parametrize("said", [*PARAMETERS, *PHRASES])
def test_every_parameter_and_phrase_of_the_note_is_named(said: str) -> None:
    assert sum(f"`{said}`" in row.says or f'"{said}"' in row.says for row in ROWS) == 1


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.section} {row.says[:30]}")
def test_every_row_names_tests_and_files_that_exist_or_says_whose_it_is(row: Row) -> None:
    named = _TEST.findall(row.tests)
    assert named or (row.tests == "—" and row.where.startswith("not ours"))
    assert len(named) == row.tests.count("::")
    for path, name in named:
        assert name.startswith("test_")
        assert name in functions(ROOT / path)
    assert [path for path in _FILE.findall(row.where) if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(("name", "value"), NUMBERS)
def test_every_number_is_the_one_that_is_in_use(name: str, value: str) -> None:
    assert stands(name) == reads(value)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(proxy(?:\.\w+)+)`", NOTE.read_text(encoding="utf-8")))))
def test_every_name_is_there(name: str) -> None:
    assert stands(name) is not None


def test_the_numbers_of_the_profile_that_are_the_notes_are_all_quoted() -> None:
    quoted = {name for name, _ in NUMBERS}
    lean = load(None, {}).profiles["lean"]
    parts = {name: getattr(lean, name) for name in ("window", "summaries", "facts", "elide")}
    own = {f"profiles.lean.{name}.{field.name}" for name, part in parts.items() for field in fields(part)}
    assert {*own, "profiles.lean.budget", "profiles.lean.pressure", "profiles.lean.fold"} <= quoted
