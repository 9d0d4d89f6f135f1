"""How much more an entry needs after it went wrong, and which reuse a question follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.reuse.feedback import (
    HIGHEST,
    MOST_SESSIONS,
    SECOND_THOUGHT,
    STEP,
    LastServed,
    Served,
    raised,
)
from proxy.types import ReuseEntry
from tests.builders import NOW


def entry(min_cosine: float = 0.0) -> ReuseEntry:
    return ReuseEntry("r-0000000000000001", "p", "how?", (), "key", NOW, NOW + 60, min_cosine=min_cosine)


# --- thresholds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("min_cosine", "cosine", "needs"),
    [
        (0.0, 0.5, 0.5 + STEP),  # more than what went wrong
        (0.9, 0.5, 0.9 + STEP),  # reported for the second time, never less than before
        (0.9, 0.95, 0.95 + STEP),
        (0.0, 0.98, HIGHEST),
        (0.0, 1.0, HIGHEST),
        (HIGHEST, 1.0, HIGHEST),
    ],
)
def test_an_entry_that_went_wrong_needs_more(min_cosine: float, cosine: float, needs: float) -> None:
    assert raised(entry(min_cosine), cosine) == pytest.approx(needs)


@given(st.lists(st.floats(-1, 1), min_size=1))
def test_no_report_lowers_a_threshold_and_none_shuts_out_an_identical_question(cosines: list[float]) -> None:
    known = entry()
    for cosine in cosines:
        needs = raised(known, cosine)
        assert known.min_cosine <= needs < 1
        assert needs > cosine or needs == HIGHEST
        known = entry(needs)


# --- second thoughts --------------------------------------------------------------------------------------------------

SERVED = Served(entry(), 0.9, NOW)


def test_the_next_question_of_a_session_follows_its_last_reuse_and_is_told_once() -> None:
    last = LastServed()
    last.note("a/", "s", SERVED)
    last.note("a/", "s", later := Served(entry(), 0.8, NOW + 1))
    assert last.take("a/", "s", NOW + 2) is later
    assert last.take("a/", "s", NOW + 2) is None


@pytest.mark.parametrize(("scope", "session"), [("b/", "s"), ("a/", "t"), ("a/s", ""), ("", "a/s")])
def test_it_follows_none_of_another_session_or_scope(scope: str, session: str) -> None:
    last = LastServed()
    last.note("a/", "s", SERVED)
    assert last.take(scope, session, NOW) is None
    assert last.take("a/", "s", NOW) is SERVED


@pytest.mark.parametrize(("seconds", "follows"), [(0, True), (SECOND_THOUGHT, True), (SECOND_THOUGHT + 0.1, False)])
def test_a_second_thought_comes_soon(seconds: float, *, follows: bool) -> None:
    last = LastServed()
    last.note("a/", "s", SERVED)
    assert (last.take("a/", "s", NOW + seconds) is SERVED) is follows
    assert last.take("a/", "s", NOW) is None


def test_of_too_many_sessions_those_served_longest_ago_are_forgotten() -> None:
    last = LastServed()
    for number in range(MOST_SESSIONS):
        last.note("a/", str(number), SERVED)
    last.note("a/", "0", SERVED)
    last.note("a/", "one more", SERVED)
    assert last.take("a/", "1", NOW) is None
    assert last.take("a/", "0", NOW) is SERVED
    assert last.take("a/", "2", NOW) is SERVED
    assert last.take("a/", "one more", NOW) is SERVED
