"""How much more an entry needs after it went wrong, which reuse a question follows, and when one answer to everything
stops a partition."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.reuse.feedback import (
    ANOMALOUS,
    HIGHEST,
    MOST_PARTITIONS,
    MOST_SESSIONS,
    PAUSE,
    SECOND_THOUGHT,
    STEP,
    WINDOW,
    HitRates,
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


# --- one answer to everything -----------------------------------------------------------------------------------------


def rates_after(answered: Iterable[tuple[str, str | None]], partition: str = "p") -> HitRates:
    """Each question with the entry that answered it."""
    rates = HitRates()
    for question, entry_id in answered:
        rates.note(partition, question, entry_id, NOW)
    return rates


def questions(count: int, first: int = 0) -> list[str]:
    return [f"question {number}" for number in range(first, first + count)]


@pytest.mark.parametrize(
    ("answered", "trips"),
    [
        ([(each, "r") for each in questions(ANOMALOUS)], True),
        ([(each, "r") for each in questions(ANOMALOUS - 1)], False),
        ([("the same", "r")] * (10 * WINDOW), False),
        ([(each, "r") for each in questions(ANOMALOUS - 1)] * 5, False),
        ([(each, each) for each in questions(10 * WINDOW)], False),  # every question has an answer of its own
        ([(each, None) for each in questions(10 * WINDOW)], False),
        ([pair for each in questions(ANOMALOUS) for pair in ((each, "r"), (f"{each}!", None))], True),
        ([pair for each in questions(99) for pair in ((each, "r"), (f"{each}!", None), (f"{each}?", None))], False),
        ([(each, "rs"[number % 2]) for number, each in enumerate(questions(2 * ANOMALOUS - 2))], False),
        ([(each, "rs"[number % 2]) for number, each in enumerate(questions(2 * ANOMALOUS - 1))], True),
        ([*[(each, None) for each in questions(WINDOW)], *[(each, "r") for each in questions(ANOMALOUS)]], False),
    ],
)
def test_an_entry_that_answers_too_many_different_questions_stops_its_partition(
    answered: list[tuple[str, str | None]], *, trips: bool
) -> None:
    rates = rates_after(answered)
    assert rates.is_open("p", NOW) is trips
    assert rates.tripped == rates.open_partitions(NOW) == trips


def test_only_its_own() -> None:
    rates = rates_after((each, "r") for each in questions(ANOMALOUS))
    rates.note("q", "how?", "r", NOW)
    assert not rates.is_open("q", NOW)
    assert not rates.is_open("never seen", NOW)
    assert rates.open_partitions(NOW) == 1


def test_questions_of_several_partitions_are_counted_apart() -> None:
    rates = HitRates()
    for number, question in enumerate(questions(2 * ANOMALOUS - 2)):
        rates.note("pq"[number % 2], question, "r", NOW)
    assert rates.tripped == 0


def test_after_a_pause_it_goes_on_and_counts_from_the_beginning() -> None:
    rates = rates_after((each, "r") for each in questions(ANOMALOUS))
    assert rates.is_open("p", NOW + PAUSE - 1)
    after = NOW + PAUSE
    assert not rates.is_open("p", after)
    assert rates.open_partitions(after) == 0
    for question in questions(ANOMALOUS - 1):
        rates.note("p", question, "r", after)
    assert not rates.is_open("p", after)
    rates.note("p", "one more", "r", after)
    assert rates.is_open("p", after)
    assert rates.tripped == 2


def test_of_too_many_partitions_those_asked_longest_ago_are_forgotten() -> None:
    rates = HitRates()
    first, *rest, last = questions(ANOMALOUS)
    for partition in ("forgotten", "p"):
        rates.note(partition, first, "r", NOW)
    for question in rest:
        rates.note("forgotten", question, "r", NOW)
        rates.note("p", question, "r", NOW)
    for number in range(MOST_PARTITIONS - 1):
        rates.note(str(number), "how?", "r", NOW)
    for partition in ("p", "forgotten"):
        rates.note(partition, last, "r", NOW)
    assert rates.is_open("p", NOW)
    assert not rates.is_open("forgotten", NOW)


def test_a_partition_that_is_asked_all_the_time_is_not_forgotten() -> None:
    rates = HitRates()
    first, *rest = questions(ANOMALOUS)
    rates.note("p", first, "r", NOW)
    for number in range(MOST_PARTITIONS - 1):
        rates.note(str(number), "how?", "r", NOW)
    rates.note("p", rest.pop(), "r", NOW)
    rates.note("one more", "how?", "r", NOW)
    for question in rest:
        rates.note("p", question, "r", NOW)
    assert rates.is_open("p", NOW)


ANSWERED = st.lists(st.tuples(st.sampled_from(questions(ANOMALOUS - 1)), st.sampled_from([None, "r", "s"])))


@given(ANSWERED)
def test_few_different_questions_never_trip_however_often_they_are_asked(
    answered: list[tuple[str, str | None]],
) -> None:
    assert rates_after(answered).tripped == 0
