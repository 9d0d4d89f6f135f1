"""How long a worker that dies is waited for."""

import pytest

from proxy.workers.restarts import FIRST, LONGEST, STEADY, early_deaths, pause


@pytest.mark.parametrize(
    ("early", "seconds"),
    [(0, 0.0), (1, 0.0), (2, FIRST), (3, 2 * FIRST), (4, 4 * FIRST), (8, LONGEST), (10_000, LONGEST)],
)
def test_the_first_death_costs_no_time_and_each_further_one_twice_as_much_up_to_a_bound(
    early: int, seconds: float
) -> None:
    assert pause(early) == seconds


@pytest.mark.parametrize(
    ("before", "served", "after"), [(0, 0.1, 1), (3, STEADY - 1, 4), (3, STEADY, 0), (0, 10 * STEADY, 0)]
)
def test_a_life_that_was_long_enough_is_a_new_start(before: int, served: float, after: int) -> None:
    assert early_deaths(before, served) == after
