"""Shared state of one process: its bounds, and what each part decides."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.turns import open_turn
from proxy.storage.shared.local import (
    ANOMALOUS,
    BOUNDS,
    LEAST_REPEATED,
    MISSES,
    MOST_ADDRESSES,
    MOST_PARTITIONS,
    MOST_SESSIONS,
    MOST_WRONG,
    PAUSE,
    WEIGHT,
    WINDOW,
    WRONG_SECONDS,
    LocalBreaker,
    LocalCacheEvidence,
    LocalCalibration,
    LocalHitRates,
    LocalLastServed,
    LocalOpenTurns,
    LocalThrottle,
)
from proxy.types import ReuseEntry, Served, Usage
from tests.builders import NOW, calling, messages, user

NONE, SILENT, SOME = Usage(9_000, 9, reports_none_cached=True), Usage(9_000, 9), Usage(9_000, 9, 64)
LONG, SHORT = LEAST_REPEATED, LEAST_REPEATED - 1


# --- open turns -------------------------------------------------------------------------------------------------------


async def test_of_open_turns_the_newest_are_kept_as_far_as_there_is_room() -> None:
    turn = open_turn(messages(user("q"), calling("c")), [b"q", b"c"])
    assert turn is not None
    for held in (LocalOpenTurns(most=2), LocalOpenTurns(most_bytes=2 * turn.size)):
        for session in ("1", "2", "2", "3"):
            held.put("s", session, turn)
        assert [await held.get("s", session) for session in "123"] == [None, turn, turn]
        held.put("s", "2", None)
        held.put("s", "1", turn)
        assert [await held.get("s", session) for session in "123"] == [turn, None, turn]


# --- second thoughts --------------------------------------------------------------------------------------------------


async def test_of_too_many_sessions_those_served_longest_ago_are_forgotten() -> None:
    last, served = LocalLastServed(), Served(ReuseEntry("r-1", "p", "how?", (), "key", NOW, NOW + 60), 0.9, NOW)
    for number in range(MOST_SESSIONS):
        last.note("a/", str(number), served)
    last.note("a/", "0", served)
    last.note("a/", "one more", served)
    assert await last.take("a/", "1") is None
    assert [await last.take("a/", name) for name in ("0", "2", "one more")] == [served] * 3


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


# --- breakers ---------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def opened(failures: int = 3, seconds: float = 10.0) -> tuple[LocalBreaker, Clock]:
    clock = Clock()
    breaker = LocalBreaker(failures, seconds, clock)
    for _ in range(failures):
        assert breaker.allow()
        breaker.failure()
    return breaker, clock


def test_it_opens_after_so_many_failures_in_a_row_and_not_before() -> None:
    breaker = LocalBreaker(3, 10.0, Clock())
    for _ in range(2):
        breaker.failure()
        assert breaker.state == "closed"
    breaker.failure()
    assert breaker.state == "open"
    assert not breaker.allow()


def test_a_success_in_between_starts_the_count_again() -> None:
    breaker = LocalBreaker(2, 10.0, Clock())
    for _ in range(5):
        breaker.failure()
        breaker.success()
    assert breaker.state == "closed"
    assert breaker.retry_after == 0.0


def test_while_open_it_tells_how_long_it_will_be() -> None:
    breaker, clock = opened(seconds=10.0)
    clock.now += 4.0
    assert breaker.state == "open"
    assert breaker.retry_after == 6.0


def test_after_its_time_one_request_probes_and_the_others_are_refused() -> None:
    breaker, clock = opened()
    clock.now += 10.0
    assert breaker.state == "half-open"
    assert [breaker.allow() for _ in range(3)] == [True, False, False]
    assert breaker.retry_after == 0.0


def test_a_probe_that_succeeds_closes_it() -> None:
    breaker, clock = opened()
    clock.now += 10.0
    assert breaker.allow()
    breaker.success()
    assert breaker.state == "closed"
    assert all(breaker.allow() for _ in range(5))


def test_and_then_it_takes_as_many_failures_as_before_to_open_again() -> None:
    breaker, clock = opened(failures=3)
    clock.now += 10.0
    breaker.allow()
    breaker.success()
    breaker.failure()
    breaker.failure()
    assert breaker.state == "closed"


def test_a_probe_that_fails_opens_it_for_as_long_again() -> None:
    breaker, clock = opened(failures=3, seconds=10.0)
    clock.now += 12.0
    assert breaker.allow()
    breaker.failure()
    assert breaker.state == "open"
    assert breaker.retry_after == 10.0
    clock.now += 10.0
    assert breaker.allow()


def test_a_probe_whose_client_left_lets_the_next_one_probe() -> None:
    breaker, clock = opened()
    clock.now += 10.0
    assert breaker.allow()
    breaker.abandoned()
    assert breaker.state == "half-open"
    assert breaker.allow()


def test_a_client_that_leaves_is_no_failure() -> None:
    breaker = LocalBreaker(1, 10.0, Clock())
    breaker.allow()
    breaker.abandoned()
    assert breaker.state == "closed"


def test_zero_failures_turn_it_off() -> None:
    breaker = LocalBreaker(0, 10.0, Clock())
    for _ in range(100):
        assert breaker.allow()
        breaker.failure()
    assert breaker.state == "closed"


@pytest.mark.parametrize("verdict", ["success", "failure", "abandoned"])
def test_whatever_becomes_of_a_probe_another_will_be_let_through(verdict: str) -> None:
    breaker, clock = opened()
    clock.now += 10.0
    assert breaker.allow()
    getattr(breaker, verdict)()
    clock.now += 10.0
    assert breaker.allow()


_steps = st.lists(st.sampled_from(["ask", "success", "failure", "abandoned"]) | st.integers(1, 12), max_size=40)


@given(st.integers(0, 4), _steps)
def test_one_request_at_a_time_probes_and_nobody_is_refused_while_it_is_closed(
    limit: int, steps: list[str | int]
) -> None:
    clock = Clock()
    breaker = LocalBreaker(limit, 10.0, clock)
    failures_in_a_row = 0
    under_way = 0
    for step in steps:
        state = breaker.state
        if isinstance(step, int):
            clock.now += step
        elif step == "ask":
            allowed = breaker.allow()
            assert allowed == (state == "closed" or (state == "half-open" and under_way == 0))
            under_way += allowed
        elif under_way:
            getattr(breaker, step)()
            # When it opens, those that were let through before have ended by the time that it is half open.
            under_way = 0 if breaker.state == "open" else under_way - 1
            failures_in_a_row = 0 if step == "success" else failures_in_a_row + (step == "failure")
        assert breaker.retry_after >= 0
        if breaker.state != "closed":
            assert 0 < limit <= failures_in_a_row
        if failures_in_a_row == 0 or limit == 0:
            assert breaker.state == "closed"


# --- wrong tokens -----------------------------------------------------------------------------------------------------


async def test_addresses_that_guess_are_remembered_up_to_a_bound_the_latest_ones() -> None:
    throttle = LocalThrottle()
    for address in range(MOST_ADDRESSES + 1):
        for _ in range(MOST_WRONG):
            await throttle.note(str(address), NOW)
    assert await throttle.wait("0", NOW) == 0.0
    assert await throttle.wait("1", NOW) == await throttle.wait(str(MOST_ADDRESSES), NOW) == WRONG_SECONDS
