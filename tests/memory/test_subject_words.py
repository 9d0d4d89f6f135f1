"""The tables by which subjects are told: both languages say the same."""

import pytest

from proxy.memory import subject_words as tables
from proxy.memory.signals import folded

ROWS = [
    ("KIN", "my son", True),
    ("KIN", "my eldest son", True),
    ("KIN", "mi hija mayor", True),
    ("KIN", "the twins", True),
    ("KIN", "my catalogue", False),
    ("KIN", "the dog-eared book", False),
    ("SELF", "I run", True),
    ("SELF", "nos mudamos", True),
    ("SELF", "my son runs", False),
    ("ME", "my knees", True),
    ("ME", "nuestro bote", True),
    ("OTHER", "and she runs", True),
    ("OTHER", "su bote", True),
    ("OTHER", "he trabajado", False),
    ("THIRD", "mi hija vive lejos", True),
    ("THIRD", "moved to 3 pm", False),
    ("DATES", "on Mondays", True),
    ("DATES", "el martes", True),
    ("DATES", "maybe", False),
    ("DAY", "the 3rd", True),
    ("DAY", "el 3/5", True),
    ("TIME", "at 7:30", True),
    ("TIME", "a las 19hs", True),
    ("MONEY", "$9", True),
    ("MONEY", "9 lucas", True),
    ("ORDINAL", "the second", True),
    ("ORDINAL", "la segunda", True),
    ("CHANGES", "from now on", True),
    ("CHANGES", "se corrió", True),
    ("CHANGES", "I run", False),
    ("CHANGES", "corro", False),
    ("REPLACING", "I sold it", True),
    ("REPLACING", "lo vendí", True),
    ("REPLACING", "lo uso", False),
    ("ENDS", "I don't", True),
    ("ENDS", "ya no", True),
    ("ENDS", "nothing", False),
    ("RETURNS", "back at it", True),
    ("RETURNS", "de nuevo", True),
    ("RETURNS", "my back", False),
    ("ORDERS", "answer me", True),
    ("ORDERS", "respondeme", True),
    ("SCOPE", "for my customers", True),
    ("SCOPE", "para mis clientes", True),
    ("PLACE", "in Cork", True),
    ("PLACE", "en Tandil", True),
]


@pytest.mark.parametrize(("table", "said", "found"), ROWS)
def test_each_table_finds_what_it_is_for(table: str, said: str, found: bool) -> None:
    assert (getattr(tables, table).search(folded(said)) is not None) is found


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
