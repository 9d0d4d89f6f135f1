"""A part of a sweep that tries every value of each dimension with every value of each other one: what the quick tests
take of a product whose whole is long."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import pytest

Row = tuple[Any, ...]
Pair = tuple[int, Any, int, Any]  # two dimensions, each with its value


@cache
def pairwise(*dimensions: tuple[Any, ...]) -> tuple[Row, ...]:
    """Returns rows of the product of `dimensions` that have every pair of their values, few of them, in its order.
    Always the same: of the rows that have the most new pairs the first one is taken."""
    rows = {row: pairs_of(row) for row in product(*dimensions)}
    missing = {pair for pairs in rows.values() for pair in pairs}
    taken: set[Row] = set()
    while missing:
        best = max(rows, key=lambda row: len(rows[row] & missing))
        taken.add(best)
        missing -= rows[best]
    return tuple(row for row in rows if row in taken)


def pairs_of(row: Row) -> frozenset[Pair]:
    """The pairs of values that a row has."""
    return frozenset((a, row[a], b, row[b]) for a, b in combinations(range(len(row)), 2))


def swept(*dimensions: Sequence[Any]) -> list[Any]:
    """Returns the parameters of a test over the whole product: those that `pairwise` leaves out are long. Values can be
    hashed."""
    quick = set(pairwise(*map(tuple, dimensions)))
    return [pytest.param(*row, marks=() if row in quick else pytest.mark.long) for row in product(*dimensions)]
