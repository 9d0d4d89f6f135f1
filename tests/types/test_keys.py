"""Limits of a key: what it says stands before what holds for all."""

import pytest

from proxy.types.keys import Limits

ALL = Limits(requests_per_minute=10, tokens_per_day=1_000, dollars_per_month=5.0)


@pytest.mark.parametrize(
    ("own", "held"),
    [
        (Limits(), ALL),
        (Limits(requests_per_minute=20), Limits(20, tokens_per_day=1_000, dollars_per_month=5.0)),
        (Limits(tokens_per_day=0), Limits(10, tokens_per_day=0, dollars_per_month=5.0)),
        (Limits(dollars_per_day=1.0), Limits(10, None, 1_000, None, 1.0, 5.0)),
    ],
)
def test_own_limits_stand_before_those_of_all(own: Limits, held: Limits) -> None:
    assert own.over(ALL) == held


@pytest.mark.parametrize(
    ("limits", "has_rates", "has_budget"),
    [
        (Limits(), False, False),
        (Limits(requests_per_minute=0, tokens_per_day=0, dollars_per_day=0.0), False, False),
        (Limits(tokens_per_minute=5), True, False),
        (Limits(tokens_per_month=5), False, True),
        (Limits(dollars_per_day=0.5), False, True),
    ],
)
def test_zero_is_no_limit(limits: Limits, has_rates: bool, has_budget: bool) -> None:
    assert (limits.has_rates, limits.has_budget) == (has_rates, has_budget)
    assert bool(list(limits.items())) == (has_rates or has_budget)
