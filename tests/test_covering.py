"""What the quick tests take of a sweep misses no pair of values, and the whole of it is there."""

from itertools import product

import pytest

from tests.covering import covering, parts_of, swept

SWEEPS = [
    ("abcde", "fg"),
    ("abc", "de", "f"),
    ("abcdefg", "hijk", "lmn"),
    ("abcdefgh", "ijk", "lmn", "op"),
]


@pytest.mark.parametrize("dimensions", SWEEPS, ids=str)
def test_every_pair_of_values_is_in_some_row(dimensions: tuple[str, ...]) -> None:
    rows = covering(*map(tuple, dimensions))
    every = {part for row in product(*dimensions) for part in parts_of(row)}
    assert {part for row in rows for part in parts_of(row)} == every


def test_of_two_dimensions_it_is_every_value() -> None:
    assert parts_of(("a", "f")) == {((0, "a"),), ((1, "f"),)}
    assert parts_of(("a", "f", "k")) == {((0, "a"), (1, "f")), ((0, "a"), (2, "k")), ((1, "f"), (2, "k"))}


@pytest.mark.parametrize("dimensions", SWEEPS, ids=str)
def test_there_are_hardly_more_rows_than_the_largest_dimensions_need(dimensions: tuple[str, ...]) -> None:
    longest, second, *others = sorted(map(len, dimensions), reverse=True)
    assert len(covering(*map(tuple, dimensions))) <= 1.25 * longest * (second if others else 1)


def test_all_others_are_long() -> None:
    params = swept("abcdefg", "hijk", "lmn")
    assert [param.values for param in params] == list(product("abcdefg", "hijk", "lmn"))
    quick = [param.values for param in params if not param.marks]
    assert quick == list(covering(*map(tuple, ("abcdefg", "hijk", "lmn"))))
    assert {mark.name for param in params for mark in param.marks} == {"long"}
