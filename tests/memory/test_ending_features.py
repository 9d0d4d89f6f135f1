"""What two statements have in common, as the model of endings is told."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.ending_features import pairs
from proxy.memory.likeness import compared
from tests.memory.test_ending import STATEMENTS


@given(st.sampled_from(STATEMENTS), st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=7))
def test_a_pair_tells_how_much_better_it_fits_than_all_others(new: str, older: list[str]) -> None:
    found = pairs(compared(new), [compared(old) for old in older], 0.5)
    said = [compared(old) for old in older]
    for column, like in (
        (-3, [float(compared(new).topics @ old.topics) for old in said]),
        (-2, [float(len(compared(new).terms & old.terms)) for old in said]),
    ):
        for at, (row, each) in enumerate(zip(found, like, strict=True)):
            others = like[:at] + like[at + 1 :]
            assert row[column] == each - max(others, default=0.0)


@given(st.sampled_from(STATEMENTS), st.lists(st.tuples(st.sampled_from(STATEMENTS), st.booleans()), min_size=1))
def test_a_pair_is_the_same_without_those_that_are_not_rated(new: str, older: list[tuple[str, bool]]) -> None:
    said, rated = [compared(old) for old, _ in older], [is_rated for _, is_rated in older]
    every = pairs(compared(new), said, 0.5)
    assert pairs(compared(new), said, 0.5, rated).tolist() == every[np.array(rated)].tolist()
