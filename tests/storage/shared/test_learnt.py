"""What one process learns from its requests: hit rates, calibrations, upstreams without a prefix cache."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.storage.shared.learnt import (
    ANOMALOUS,
    BOUNDS,
    LEAST_REPEATED,
    MISSES,
    MOST_PARTITIONS,
    PAUSE,
    WEIGHT,
    WINDOW,
    LocalCacheEvidence,
    LocalCalibration,
    LocalHitRates,
)
from proxy.types import Usage
from tests.builders import NOW

NONE, SILENT, SOME = Usage(9_000, 9, reports_none_cached=True), Usage(9_000, 9), Usage(9_000, 9, 64)
LONG, SHORT = LEAST_REPEATED, LEAST_REPEATED - 1

# --- one answer to everything -----------------------------------------------------------------------------------------


def rates_after(answered: Iterable[tuple[str, str | None]], partition: str = "p") -> LocalHitRates:
    """Each question with the entry that answered it."""
    rates = LocalHitRates()
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
    assert rates.open_partitions(NOW) == trips


def test_only_its_own() -> None:
    rates = rates_after((each, "r") for each in questions(ANOMALOUS))
    rates.note("q", "how?", "r", NOW)
    assert not rates.is_open("q", NOW)
    assert not rates.is_open("never seen", NOW)
    assert rates.open_partitions(NOW) == 1


def test_questions_of_several_partitions_are_counted_apart() -> None:
    rates = LocalHitRates()
    for number, question in enumerate(questions(2 * ANOMALOUS - 2)):
        rates.note("pq"[number % 2], question, "r", NOW)
    assert rates.open_partitions(NOW) == 0


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


def test_of_too_many_partitions_those_asked_longest_ago_are_forgotten() -> None:
    rates = LocalHitRates()
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
    rates = LocalHitRates()
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
    assert rates_after(answered).open_partitions(NOW) == 0


# --- calibration ------------------------------------------------------------------------------------------------------


def test_of_an_unknown_model_nothing_is_known() -> None:
    assert LocalCalibration().factor("kimi", "kimi-k3") is None


def test_the_first_observation_counts_whole_and_later_ones_in_part() -> None:
    learnt = LocalCalibration()
    learnt.observe("kimi", "kimi-k3", counted=1_000, measured=1_200)
    assert learnt.factor("kimi", "kimi-k3") == pytest.approx(1.2)
    learnt.observe("kimi", "kimi-k3", counted=1_000, measured=1_000)
    assert learnt.factor("kimi", "kimi-k3") == pytest.approx(1.2 - WEIGHT * 0.2)


def test_it_is_learnt_per_upstream_and_model() -> None:
    learnt = LocalCalibration()
    learnt.observe("kimi", "kimi-k3", counted=1_000, measured=1_200)
    assert learnt.factor("kimi", "kimi-k2.6") is None
    assert learnt.factor("other", "kimi-k3") is None


@pytest.mark.parametrize(
    ("counted", "measured"), [(0, 10), (49, 60), (1_000, 0), (1_000, -5), (1_000, 10_000), (1_000, 100)]
)
def test_what_says_nothing_about_the_tokenizer_is_not_learnt(counted: int, measured: int) -> None:
    learnt = LocalCalibration()
    learnt.observe("kimi", "kimi-k3", counted=counted, measured=measured)
    assert learnt.factor("kimi", "kimi-k3") is None


def test_clients_cannot_make_it_grow_without_end() -> None:
    learnt = LocalCalibration(most_models=2)
    for model in ("a", "b", "c"):
        learnt.observe("kimi", model, counted=1_000, measured=1_500)
    assert [learnt.factor("kimi", model) for model in ("a", "b", "c")] == [1.5, 1.5, None]
    learnt.observe("kimi", "a", counted=1_000, measured=1_000)
    assert learnt.factor("kimi", "a") == pytest.approx(1.5 - WEIGHT * 0.5)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(-10, 30_000)), max_size=20))
def test_the_factor_stays_within_its_bounds(observations: list[tuple[int, int]]) -> None:
    learnt = LocalCalibration()
    for counted, measured in observations:
        learnt.observe("kimi", "kimi-k3", counted=counted, measured=measured)
    factor = learnt.factor("kimi", "kimi-k3")
    assert factor is None or BOUNDS[0] <= factor <= BOUNDS[1]


# --- upstreams without a prefix cache ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ([], False),
        ([(NONE, LONG)] * (MISSES - 1), False),
        ([(NONE, LONG)] * MISSES, True),
        ([(SILENT, LONG)] * 50, False),  # whether it has one, it does not say
        ([(NONE, SHORT)] * 50, False),  # what no provider caches
        ([(NONE, 0)] * 50, False),  # the first request of a conversation, or one after an hour
        ([(NONE, LONG), (NONE, SHORT), (SILENT, LONG), (NONE, LONG), (NONE, LONG)], True),
        ([(NONE, LONG), (NONE, LONG), (SOME, 0), (NONE, LONG)], False),
        ([*[(NONE, LONG)] * 50, (SOME, LONG)], False),  # it has one after all
        ([*[(NONE, LONG)] * 50, (SOME, LONG), *[(NONE, LONG)] * MISSES], True),
    ],
)
def test_several_reports_of_nothing_where_much_was_repeated(told: Sequence[tuple[Usage, int]], *, shown: bool) -> None:
    evidence = LocalCacheEvidence()
    for usage, repeated in told:
        evidence.observe("up", "m", usage, repeated=repeated)
    assert evidence.shows_none("up", "m") is shown
    assert not evidence.shows_none("up", "other")
    assert not evidence.shows_none("other", "m")


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([NONE, SOME, SILENT]), st.sampled_from([LONG, SHORT]))))
def test_it_is_bounded_and_what_leaves_is_assumed_again(told: Sequence[tuple[int, Usage, int]]) -> None:
    evidence = LocalCacheEvidence(most=4)
    for number, usage, repeated in told:
        evidence.observe("up", f"m{number}", usage, repeated=repeated)
        assert len(evidence) <= 4
        assert not (usage is SOME and evidence.shows_none("up", f"m{number}"))


@given(st.lists(st.sampled_from([(NONE, SHORT), (SILENT, LONG), (SOME, LONG), (NONE, LONG)])))
def test_none_is_shown_by_the_last_reports_alone(told: Sequence[tuple[Usage, int]]) -> None:
    evidence = LocalCacheEvidence()
    for usage, repeated in told:
        evidence.observe("up", "m", usage, repeated=repeated)
    after = max((at for at, (usage, _) in enumerate(told) if usage is SOME), default=-1) + 1
    assert evidence.shows_none("up", "m") is (list(told[after:]).count((NONE, LONG)) >= MISSES)
