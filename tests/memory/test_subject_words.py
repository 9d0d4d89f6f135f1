"""The tables by which subjects are told: both languages say the same."""

import re

import pytest

from proxy.memory import subject_words as tables
from proxy.memory.signals import folded

ROWS: list[tuple[re.Pattern[str], str, bool]] = [
    (tables.KIN, "my son", True),
    (tables.KIN, "my eldest son", True),
    (tables.KIN, "mi hija mayor", True),
    (tables.KIN, "the twins", True),
    (tables.KIN, "my catalogue", False),
    (tables.KIN, "the dog-eared book", False),
    (tables.SELF, "I run", True),
    (tables.SELF, "nos mudamos", True),
    (tables.SELF, "my son runs", False),
    (tables.ME, "my knees", True),
    (tables.ME, "nuestro bote", True),
    (tables.OTHER, "and she runs", True),
    (tables.OTHER, "su bote", True),
    (tables.OTHER, "he trabajado", False),
    (tables.THIRD, "vive lejos", True),
    (tables.THIRD, "moved to 3 pm", False),
    (tables.DATES, "on Mondays", True),
    (tables.DATES, "el martes", True),
    (tables.DATES, "maybe", False),
    (tables.DAY, "the 3rd", True),
    (tables.DAY, "el 3/5", True),
    (tables.TIME, "at 7:30", True),
    (tables.TIME, "a las 19hs", True),
    (tables.MONEY, "$9", True),
    (tables.MONEY, "9 lucas", True),
    (tables.ORDINAL, "the second", True),
    (tables.ORDINAL, "la segunda", True),
    (tables.CHANGES, "from now on", True),
    (tables.CHANGES, "se corrió", True),
    (tables.CHANGES, "I run", False),
    (tables.CHANGES, "corro", False),
    (tables.REPLACING, "I sold it", True),
    (tables.REPLACING, "lo vendí", True),
    (tables.REPLACING, "lo uso", False),
    (tables.ENDS, "I don't", True),
    (tables.ENDS, "ya no", True),
    (tables.ENDS, "nothing", False),
    (tables.RETURNS, "back at it", True),
    (tables.RETURNS, "de nuevo", True),
    (tables.RETURNS, "my back", False),
    (tables.ORDERS, "answer me", True),
    (tables.ORDERS, "respondeme", True),
    (tables.SCOPE, "for my customers", True),
    (tables.SCOPE, "para mis clientes", True),
    (tables.PLACE, "in Cork", True),
    (tables.PLACE, "en Tandil", True),
]


@pytest.mark.parametrize(("table", "said", "found"), ROWS)
def test_each_table_finds_what_it_is_for(table: re.Pattern[str], said: str, found: bool) -> None:
    assert (table.search(folded(said)) is not None) is found


@pytest.mark.parametrize(
    ("aspect", "said"),
    [
        ("language", "in english"),
        ("language", "en castellano"),
        ("units", "metric"),
        ("units", "en kilómetros"),
        ("clock", "24-hour"),
        ("length", "keep it short"),
        ("length", "más corto"),
        ("format", "bullet points"),
        ("format", "viñetas"),
        ("manner", "formal"),
        ("manner", "tratame de usted"),
        ("emoji", "no emojis"),
        ("indentation", "tabs"),
        ("code", "in python"),
        ("name", "call me Kit"),
        ("name", "llamame Pacha"),
        ("dates", "fechas"),
    ],
)
def test_an_order_is_about_an_aspect(aspect: str, said: str) -> None:
    assert tables.ASPECTS[aspect].search(folded(said))


@pytest.mark.parametrize(
    ("slot", "said"),
    [
        ("residence", "I live in Cork"),
        ("residence", "nos mudamos a Azul"),
        ("job", "I work at a bank"),
        ("job", "trabajo en un banco"),
        ("marital", "we're married"),
        ("marital", "me casé"),
        ("age", "I'm 41"),
        ("age", "tengo 41 años"),
        ("diet", "I'm vegan"),
        ("diet", "como carne"),
    ],
)
def test_a_slot_is_told_by_the_verb(slot: str, said: str) -> None:
    assert tables.SLOTS[slot].search(folded(said))


@pytest.mark.parametrize("said", ["I'm 41 weeks in", "the shop moved", "comemos tarde"])
def test_other_things_are_no_slot(said: str) -> None:
    assert not any(table.search(folded(said)) for table in tables.SLOTS.values())


def test_every_kin_is_found_by_its_own_name() -> None:
    assert set(tables.MANY) <= set(tables.KIN_NAMES.values())
    assert {tables.KIN_NAMES[word] for word in ("hijo", "mum", "jefa", "suegra")} == {"son", "mother", "boss", "inlaw"}
