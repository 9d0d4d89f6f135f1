"""Facts that nobody confirms grow old."""

import pytest

from proxy.memory.ageing import DAY, Decay, next_status, status
from proxy.types.memory import Confidence, Fact, FactStatus
from tests.memory.test_facts import a_fact

DECAY = Decay()


@pytest.mark.note("1.1/10", "1.1/11", "1.1/15", "7 SÍ/6", "7 NO/6", "Rumi Fase 3/3")
@pytest.mark.parametrize(
    ("days", "confidence", "expected"),
    [
        (0, "medium", "active"),
        (90, "medium", "active"),
        (90.001, "medium", "retrieval-only"),
        (90.001, "high", "active"),
        (180, "high", "active"),
        (180.001, "high", "stale"),
        (180, "medium", "retrieval-only"),
        (180.001, "medium", "stale"),
        (30, "low", "active"),
        (30.001, "low", "stale"),
    ],
)
def test_a_fact_grows_old_after_its_limit_and_not_at_it(
    days: float, confidence: Confidence, expected: FactStatus
) -> None:
    assert status(a_fact(confidence=confidence), days * DAY, DECAY) == expected


@pytest.mark.parametrize(
    ("days", "confidence", "expected", "at"),
    [
        (0, "medium", "retrieval-only", 90),
        (90.001, "medium", "stale", 180),
        (0, "high", "stale", 180),
        (0, "low", "stale", 30),
        (100, "high", "stale", 180),
    ],
)
def test_what_a_fact_becomes_unconfirmed_it_is_by_the_second_that_is_told(
    days: float, confidence: Confidence, expected: FactStatus, at: float
) -> None:
    fact = a_fact(confidence=confidence)
    told = next_status(fact, days * DAY, DECAY)
    assert told == (expected, at * DAY + 1)
    assert status(fact, told[1], DECAY) == expected
    assert status(fact, told[1] - 1, DECAY) != expected


@pytest.mark.parametrize("fact", [a_fact(superseded_by="f-2"), a_fact(last_confirmed_at=-200 * DAY)])
def test_what_is_stale_or_history_becomes_nothing_else(fact: Fact) -> None:
    assert next_status(fact, 0.0, DECAY) is None


@pytest.mark.note("1.1/16")
def test_a_superseded_fact_is_nothing_else() -> None:
    assert status(a_fact(superseded_by="f-2"), 0.0, DECAY) == "superseded"


def test_a_deleted_fact_is_that_and_becomes_nothing_else() -> None:
    gone = a_fact(superseded_by="f-1")
    assert status(gone, 999 * DAY, DECAY) == "deleted"
    assert next_status(gone, 0.0, DECAY) is None
