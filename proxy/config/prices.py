"""Prices of models and rules of prefix caches from models.yaml, for what the configuration does not say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import yaml

from proxy.types import PrefixCache, Price

TABLE = Path(__file__).with_name("models.yaml")

# Share of the input price for a token that the prefix cache had, if it has no price: .02 to .5 by provider and model.
UNPRICED = 0.25

T = TypeVar("T", Price, PrefixCache)


@dataclass(frozen=True, slots=True)
class Row(Generic[T]):
    """A row of the table: the price or the cache of some models at upstreams of some dialects."""

    models: tuple[str, ...]  # patterns of their names
    dialects: frozenset[str]
    value: T
    source: str  # URL or document
    date: str  # on which it was read or published

    def names(self, model: str) -> bool:
        """Returns True if a pattern matches the part of the model's name after its last slash."""
        known = model.lower().rpartition("/")[2]
        return any(fnmatchcase(known, pattern) for pattern in self.models)


@dataclass(frozen=True, slots=True)
class Table:
    """The contents of models.yaml."""

    prices: Sequence[Row[Price]]
    caches: Sequence[Row[PrefixCache]]


@cache
def table() -> Table:
    """Returns the table, read once. Raises if models.yaml has not its own format."""
    rows = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return Table([_row(Price, row) for row in rows["prices"]], [_row(PrefixCache, row) for row in rows["caches"]])


def _row(kind: type[T], row: Mapping[str, Any]) -> Row[T]:
    about = {"models", "dialects", "source", "date"}
    value = kind(**{name: number for name, number in row.items() if name not in about})
    return Row(tuple(row["models"]), frozenset(row["dialects"]), value, row["source"], str(row["date"]))


def listed(dialect: str, models: Iterable[str]) -> Price | None:
    """Returns the list price of the first of `models` that has one at upstreams of this dialect, or None."""
    found = (row.value for model in models for row in table().prices if dialect in row.dialects and row.names(model))
    return next(found, None)


def write_factor(models: Iterable[str]) -> float:
    """Returns the price of a write to the prefix cache as a multiple of the input price; 1 if unknown."""
    found = (row.value for model in models for row in table().prices if row.names(model))
    return next((max(price.write / price.input, 1.0) for price in found), 1.0)


@lru_cache(256)  # clients name models
def prefix_cache(dialect: str, model: str) -> PrefixCache:
    """Returns the prefix cache for a model at an upstream of this dialect; every dialect has a row for any model."""
    return next(row.value for row in table().caches if dialect in row.dialects and row.names(model))
