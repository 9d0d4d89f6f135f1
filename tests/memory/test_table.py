"""What a terminal is shown."""

from dataclasses import replace

import pytest

from proxy.memory.facts import Decay
from proxy.memory.table import WIDEST, count, moment, plain, table, word
from proxy.types import Fact
from tests.builders import NOW

FACT = Fact("f-0123456789abcdef", "personal", "ciudad", "vivo en Córdoba", "high", "explicit", "s", 3, NOW, NOW)


def test_a_fact_a_line_and_the_columns_stand_below_each_other() -> None:
    superseded = replace(FACT, id="f-0000000000000002", superseded_by=FACT.id, pinned=True, confidence="low")
    assert table([FACT, superseded], NOW, Decay()).splitlines() == [
        "ID                  STATUS      PINNED  CONFIDENCE  CONFIRMED   DOMAIN    KEY     VALUE",
        "f-0123456789abcdef  active              high        2023-11-14  personal  ciudad  vivo en Córdoba",
        "f-0000000000000002  superseded  yes     low         2023-11-14  personal  ciudad  vivo en Córdoba",
    ]


def test_a_long_value_is_cut() -> None:
    said = replace(FACT, value="ñ" * (WIDEST + 1))
    assert table([said], NOW, Decay()).endswith("  " + "ñ" * (WIDEST - 1) + "…")
    assert table([replace(said, value="ñ" * WIDEST)], NOW, Decay()).endswith("  " + "ñ" * WIDEST)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("vivo  en\n\tRosario", "vivo en Rosario"),
        ("\x1b[2Jborrado", " [2Jborrado"),
        ("\x9b31mrojo", " 31mrojo"),
        ("a\u202eb", "a b"),
        ("año 日本 🙂", "año 日本 🙂"),
    ],
)
def test_nothing_in_a_value_is_obeyed_by_a_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert shown.strip() in table([replace(FACT, value=text, key=text, domain=text)], NOW, Decay())


def test_what_is_no_text_is_said_in_words() -> None:
    assert [word(each) for each in (None, True, False, 3, "a\nb")] == ["", "yes", "no", "3", "a b"]
    assert [count(each) for each in (0, 1, 2)] == ["0 facts", "1 fact", "2 facts"]
    assert moment(NOW) == "2023-11-14 22:13:20 UTC"
