"""A part of a sweep: every value of each dimension with every value of each other one; of two dimensions alone, each
value of both. It is what the quick tests take of a product whose whole is long."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import pytest

Row = tuple[Any, ...]
Part = tuple[tuple[int, Any], ...]  # some dimensions, each with its value


@cache
def covering(*dimensions: tuple[Any, ...]) -> tuple[Row, ...]:
    """Returns rows of the product of `dimensions` that have every pair of their values (of two dimensions every value),
    few of them, in its order. Always the same: of the rows that have the most new ones the first one is taken."""
    rows = {row: parts_of(row) for row in product(*dimensions)}
    missing = {part for parts in rows.values() for part in parts}
    taken: set[Row] = set()
    while missing:
        best = max(rows, key=lambda row: len(rows[row] & missing))
        taken.add(best)
        missing -= rows[best]
    return tuple(row for row in rows if row in taken)


def parts_of(row: Row) -> frozenset[Part]:
    """The pairs of values that a row has; of a row of two its values."""
    return frozenset(combinations(enumerate(row), 2 if len(row) > 2 else 1))


def swept(*dimensions: Sequence[Any]) -> list[Any]:
    """Returns the parameters of a test over the whole product: those that `covering` leaves out are long. Values can be
    hashed."""
    quick = set(covering(*map(tuple, dimensions)))
    return [pytest.param(*row, marks=() if row in quick else pytest.mark.long) for row in product(*dimensions)]
