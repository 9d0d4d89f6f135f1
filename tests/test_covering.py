"""What the quick tests take of a sweep misses no pair of values, and the whole of it is there."""

from itertools import product

import pytest

from tests.covering import pairs_of, pairwise, swept

SWEEPS = [
    ("ab", "cd"),
    ("abc", "de", "f"),
    ("abcdefg", "hijk", "lmn"),
    ("abcdefgh", "ijk", "lmn", "op"),
]


@pytest.mark.parametrize("dimensions", SWEEPS, ids=str)
def test_every_pair_of_values_is_in_some_row(dimensions: tuple[str, ...]) -> None:
    rows = pairwise(*map(tuple, dimensions))
    every = {pair for row in product(*dimensions) for pair in pairs_of(row)}
    assert {pair for row in rows for pair in pairs_of(row)} == every


@pytest.mark.parametrize("dimensions", SWEEPS[2:], ids=str)
def test_there_are_hardly_more_rows_than_the_two_largest_dimensions_need(dimensions: tuple[str, ...]) -> None:
    longest, second, *_ = sorted(map(len, dimensions), reverse=True)
    assert len(pairwise(*map(tuple, dimensions))) <= 1.25 * longest * second


def test_all_others_are_long() -> None:
    params = swept("abcdefg", "hijk", "lmn")
    assert [param.values for param in params] == list(product("abcdefg", "hijk", "lmn"))
    quick = [param.values for param in params if not param.marks]
    assert quick == list(pairwise(*map(tuple, ("abcdefg", "hijk", "lmn"))))
    assert {mark.name for param in params for mark in param.marks} == {"long"}
