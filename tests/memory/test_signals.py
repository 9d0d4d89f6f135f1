import re
from dataclasses import fields

import pytest

from proxy.language.tables import tables
from proxy.language.text import plain
from proxy.memory.signals import SIGNALS, folded
from proxy.types.memory import DOMAINS, Language

ROWS: list[tuple[Language, str, str, bool]] = [
    ("es", "remember", "Tené en cuenta que uso Linux", True),
    ("es", "remember", "No te olvides de la cita", True),
    ("es", "remember", "Recordame la capital de Perú", False),
    ("es", "standing", "A partir de ahora, sin tablas", True),
    ("es", "standing", "El tren sale a las nueve", False),
    ("es", "decides", "Nos quedamos con el azul", True),
    ("es", "decides", "El azul es lindo", False),
    ("es", "hypothetical", "Si tuviera un perro", True),
    ("es", "hypothetical", "Tengo un perro", False),
    ("es", "others", "Mi prima vende autos", True),
    ("es", "others", "El examen vence el lunes", False),
    ("es", "changes", "Ahora vivo en Tandil", True),
    ("es", "changes", "Vivo en Tandil", False),
    ("en", "remember", "Keep in mind that I use Linux", True),
    ("en", "remember", "Remember when phones had cords", False),
    ("en", "standing", "From now on, no tables", True),
    ("en", "standing", "The train leaves at nine", False),
    ("en", "decides", "We've settled on blue", True),
    ("en", "decides", "Blue is nice", False),
    ("en", "hypothetical", "If I had a dog", True),
    ("en", "hypothetical", "I have a dog", False),
    ("en", "others", "My uncle sells cars", True),
    ("en", "others", "My sister sells cars", False),
    ("en", "changes", "The deadline moved to Friday", True),
    ("en", "changes", "The deadline is Friday", False),
]


@pytest.mark.parametrize(("language", "table", "sentence", "found"), ROWS)
def test_a_table_finds_its_signs_and_nothing_else(language: Language, table: str, sentence: str, found: bool) -> None:
    assert (getattr(SIGNALS[language], table).search(plain(sentence)) is not None) is found


def test_both_languages_have_the_same_tables() -> None:
    assert tables("es", "signals").keys() == tables("en", "signals").keys()


@pytest.mark.parametrize("language", ["es", "en"])
def test_no_table_finds_anything_in_an_empty_sentence(language: Language) -> None:
    signals = SIGNALS[language]
    patterns = {field.name: getattr(signals, field.name) for field in fields(signals)}
    blank = {name for name, pattern in patterns.items() if isinstance(pattern, re.Pattern) and pattern.search(" . ")}
    assert blank <= {"tails"}


@pytest.mark.note("1.1/3")
@pytest.mark.parametrize("language", ["es", "en"])
def test_slots_name_a_known_domain_and_a_key_once(language: Language) -> None:
    slots = SIGNALS[language].slots
    assert {slot.domain for slot in slots} <= set(DOMAINS)
    assert len({slot.key for slot in slots}) == len(slots)


def test_folding_leaves_every_character_where_it_was() -> None:
    text = "Ñandú, ACORDATE de que el \u2019lunes\u2019 İ"
    assert len(folded(text)) == len(text)
    assert folded("Acordáte") == "acordate"
