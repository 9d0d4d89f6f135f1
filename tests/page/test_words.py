"""The words of the page, as they stand in its files: one term for one thing, the same form of address, no calques."""

import re
from pathlib import Path

import pytest

from proxy.page.files import FOLDER

TEXT = re.compile(r'^\s*"(?P<key>[\w.\- #,\']+)": "(?P<text>(?:[^"\\]|\\.)*)",?$', re.MULTILINE)
LANGUAGES = ("en", "es")

# What a reader would stumble over, and what stands for it.
SHUNNED = {
    "es": {
        r"\b[Ff]all(?:o|ó)s? abiert": "pasó sin gestionar",
        r"\b[Pp]aso directo": "envío directo",
        r"\b[Qq]uitad[oa]s? del contexto": "omitido",
        r"\b[Aa]quí\b": "acá",
        r"[«»]": "“ ”",
        r"\b(?:[Pp]uedes|[Tt]ienes|[Pp]rueba con|[Cc]onfírmal|[Hh]az|[Pp]resiona|[Cc]ámbial)": "voseo",
        r"\b[Rr]equest\b|\b[Uu]pstream\b(?!s)": "pedido, proveedor",
        r"\bmás nuev[oa] (?:turno|pregunta|mensaje)|(?:turno|mensaje|pregunta) más nuev[oa]\b": "último",
        r"\b[Aa]plica(?:r|ble) para\b|\ben orden de\b|\bhace sentido\b|\beventualmente\b": "calque",
    },
    "en": {
        r"\b[Ff]ailed open\b": "passed unmanaged",
        r"\b[Nn]o \w+ is like that\b": "no … matches",
        r"[\u2018\u201b\u00ab\u00bb]": "“ ”",
    },
}


def texts(language: str) -> dict[str, str]:
    """All texts of a language by their keys, from every file that registers some."""
    found: dict[str, str] = {}
    for file in [*FOLDER.glob("i18n/*.js"), *FOLDER.glob("lib/*.js")]:
        for part in re.split(r"\n  (?=(?:en|es): \{)", file.read_text(encoding="utf-8"))[1:]:
            if part.startswith(f"{language}: {{"):
                found |= {each["key"]: each["text"] for each in TEXT.finditer(part.partition("\n  },")[0])}
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_thing_has_one_name(language: str) -> None:
    shunned = SHUNNED[language]
    assert {
        key: (text, instead)
        for key, text in texts(language).items()
        for pattern, instead in shunned.items()
        if re.search(pattern, re.sub(r"\{\w+\}|\b[\w.]+\.\w+\b", "", text))
    } == {}


def test_placeholders_and_ends_are_the_same_in_both_languages() -> None:
    english, spanish = texts("en"), texts("es")
    assert len(english) > 500
    assert english.keys() == spanish.keys()
    differing = {
        key
        for key, text in english.items()
        if set(re.findall(r"\{\w+\}", text)) != set(re.findall(r"\{\w+\}", spanish[key]))
        and not key.endswith(".one")  # a language may say "one" in words
    }
    assert differing == set()
    ends = {key for key, text in english.items() if text.endswith(".") != spanish[key].endswith(".")}
    assert ends == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_begins_or_ends_with_a_blank(language: str) -> None:
    assert [key for key, text in texts(language).items() if text != text.strip() or "  " in text] == []


def test_the_files_are_found() -> None:
    assert Path(FOLDER, "i18n", "shell.js").is_file()
