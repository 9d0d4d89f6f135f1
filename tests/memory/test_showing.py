"""Facts as people read them."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from proxy.config.memory import Memory
from proxy.memory.ageing import Decay, decay
from proxy.memory.showing import WIDEST, card, count, described, moment, newest_first, plain, table, word
from proxy.types import Fact
from tests.builders import NOW
from tests.memory.test_edits import SCOPE, fact

DAY = 86_400.0


# --- how they are told -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "differing", "told"),
    [
        (0, {}, "active"),
        (91, {}, "retrieval-only"),
        (91, {"confidence": "high"}, "active"),
        (181, {"confidence": "high"}, "stale"),
        (31, {"confidence": "low"}, "stale"),
        (0, {"superseded_by": "f-0000000000000002"}, "superseded"),
        (999, {"superseded_by": "f-0000000000000001"}, "deleted"),
    ],
)
def test_a_card_tells_the_status_of_the_moment(days: float, differing: dict[str, Any], told: str) -> None:
    assert card(SCOPE, fact(**differing), NOW + days * DAY, decay(Memory()))["status"] == told


def test_a_card_tells_what_a_fact_becomes_and_when() -> None:
    told = [
        card(SCOPE, each, NOW, decay(Memory()))["becomes"] for each in (fact(), replace(fact(), superseded_by="f-2"))
    ]
    assert told == [{"status": "retrieval-only", "at": NOW + 90 * DAY + 1}, None]


def test_the_status_goes_by_the_numbers_of_the_configuration() -> None:
    ageing = decay(Memory(unconfirmed_after=10, stale_after=20, drop_low_after=5))
    aged = [card(SCOPE, fact(), NOW + seconds, ageing)["status"] for seconds in (9, 11, 21)]
    assert aged == ["active", "retrieval-only", "stale"]
    assert card(SCOPE, fact(confidence="low"), NOW + 6, ageing)["status"] == "stale"


def test_a_card_has_nothing_that_is_ours_alone() -> None:
    told = card(SCOPE, fact(links=(b"\xff",)), NOW, decay(Memory()))
    assert b"links" not in msgspec.json.encode(told)
    assert list(told) == [
        *("scope", "id", "session", "turn", "domain", "key", "value", "confidence", "source", "status"),
        *("created_at", "last_confirmed_at", "superseded_by", "doubted_by", "pinned", "becomes"),
    ]


def test_the_newest_comes_first() -> None:
    facts = [fact(1), fact(3, created_at=NOW + 2), fact(2, created_at=NOW + 2)]
    assert [each.id[-1] for each in newest_first(facts)] == ["2", "3", "1"]


FACT_TABLE = Fact("f-0123456789abcdef", "personal", "ciudad", "vivo en Córdoba", "high", "explicit", "s", 3, NOW, NOW)


def test_a_fact_a_line_and_the_columns_stand_below_each_other() -> None:
    superseded = replace(
        FACT_TABLE, id="f-0000000000000002", superseded_by=FACT_TABLE.id, pinned=True, confidence="low"
    )
    assert table([FACT_TABLE, superseded], NOW, Decay()).splitlines() == [
        "ID                  STATUS      PINNED  CONFIDENCE  CONFIRMED   DOMAIN    KEY     VALUE",
        "f-0123456789abcdef  active              high        2023-11-14  personal  ciudad  vivo en Córdoba",
        "f-0000000000000002  superseded  yes     low         2023-11-14  personal  ciudad  vivo en Córdoba",
    ]


def test_a_long_value_is_cut() -> None:
    said = replace(FACT_TABLE, value="ñ" * (WIDEST + 1))
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
    assert shown.strip() in table([replace(FACT_TABLE, value=text, key=text, domain=text)], NOW, Decay())


def test_what_is_no_text_is_said_in_words() -> None:
    assert [word(each) for each in (None, True, False, 3, "a\nb")] == ["", "yes", "no", "3", "a b"]
    assert [count(each) for each in (0, 1, 2)] == ["0 facts", "1 fact", "2 facts"]
    assert moment(NOW) == "2023-11-14 22:13:20 UTC"


def test_a_card_is_described_with_times_and_money_as_people_write_them() -> None:
    shown = {
        "id": "f-1",
        "created_at": 99.5,
        "done_at": None,
        "pinned": False,
        "turn": 0,
        "spent": 0.00223,
        "reason": "",
    }
    assert described({**shown, "becomes": {"status": "stale", "at": 0.0}}) == [
        "id          f-1",
        "created_at  1970-01-01 00:01:39 UTC",
        "done_at     -",
        "pinned      no",
        "turn        0",
        "spent       $0.0022",
        "reason      -",
        "becomes     stale on 1970-01-01 00:00:00 UTC",
    ]
