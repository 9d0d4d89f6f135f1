"""The sample of requests that are traced: a share of them, and those whose callers trace them, up to a bound."""

import pytest

from proxy.observe.sampling import Sampler

RATIO = 0.1


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def asked(sampler: Sampler, times: int) -> int:
    """How many of so many requests are traced, each of which says that it is."""
    return sum(sampler.handed_on(is_sampled=True) for _ in range(times))


def test_what_callers_trace_is_traced_as_long_as_they_are_few() -> None:
    assert asked(Sampler(0.0, 60, Clock()), 60) == 60


def test_a_stranger_who_asks_for_every_trace_gets_the_share_and_no_more() -> None:
    clock = Clock()
    sampler = Sampler(RATIO, 60, clock)
    asked(sampler, 60)
    assert 900 <= asked(sampler, 10_000) <= 1_100  # 3.3 standard deviations


@pytest.mark.parametrize("ratio", [0.0, RATIO])
def test_the_number_of_a_callers_trace_decides_nothing(ratio: float) -> None:
    sampler = Sampler(ratio, 0, Clock())
    assert sampler.begun_here(1) == (ratio > 0)  # whoever may choose a small number
    assert asked(sampler, 1_000) <= 1_000 * ratio * 2


@pytest.mark.parametrize(
    ("seconds", "traced"), [(0, 0), (0.5, 0), (1, 1), (30, 30), (60, 60), (3_600, 60), (-3_600, 0)]
)
def test_with_time_more_of_them_are_followed(seconds: float, traced: int) -> None:
    clock = Clock()
    sampler = Sampler(0.0, 60, clock)
    asked(sampler, 60)
    clock.now += seconds
    assert asked(sampler, 100) == traced


@pytest.mark.parametrize("ratio", [0.0, RATIO, 1.0])
def test_a_callers_no_is_always_followed(ratio: float) -> None:
    assert not any(Sampler(ratio, 60).handed_on(is_sampled=False) for _ in range(100))
