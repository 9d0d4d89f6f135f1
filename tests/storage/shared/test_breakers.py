"""Breakers of upstreams: when they open, who probes, when they close."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.storage.shared.breakers import LocalBreaker

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
