"""Upstreams: their settings, the prices of their models and the rules of their prefix caches; from models.yaml what the
configuration does not say of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import yaml
from pydantic import Field

from proxy.config.values import BaseUrl, Dollars, Glob, Name, Period, Seconds, Secret, Section, setting
from proxy.types import PrefixCache, Price

TABLE = Path(__file__).with_name("models.yaml")

# Share of the input price for a token that the prefix cache had, if it has no price: .02 to .5 by provider and model.
UNPRICED = 0.25

T = TypeVar("T", Price, PrefixCache)


class Timeout(Section):
    """Deadlines of an upstream."""

    connect: Period = setting(5, "Seconds to connect, TLS included.")
    first_byte: Period = setting(120, "Seconds from the request sent to the first byte of the answer.")
    answer: Period = setting(600, "The same without streaming, where the first byte comes when all is generated.")
    idle: Period = setting(60, "Seconds between two pieces of an answer.")


class Breaker(Section):
    """Circuit breaker of an upstream that fails."""

    failures: int = setting(5, "Failures in a row that open the breaker. 0: no breaker.", ge=0)
    open_seconds: Period = setting(10, "Seconds that an open breaker refuses before one request may try.")


class PriceSetting(Section):
    """A price, in US dollars per million tokens."""

    input: Dollars = Field(description="US dollars per million prompt tokens.")
    cached: Dollars | None = setting(
        None,
        "US dollars per million prompt tokens read from the provider's prefix cache. Absent: taken to be a "
        "quarter of input. As input: there is no such cache.",
    )
    write: Dollars | None = setting(
        None,
        "US dollars per million prompt tokens written to that cache. Absent: as input, or above it "
        "as the model's own provider takes it.",
    )
    output: Dollars = Field(description="US dollars per million completion tokens.")


class Upstream(Section):
    """A provider behind the proxy."""

    name: Name = Field(description="What logs, metrics and `fallback` call it.")
    base_url: BaseUrl = Field(description="URL up to and including /v1.")
    api_key: Secret | None = setting(
        None, "Its key, as ${NAME} from the environment. Absent: the client's own key is passed through."
    )
    dialect: Literal["kimi", "openai", "deepseek", "mistral", "vllm", "generic"] = setting(
        "generic", "Which provider's rules its requests must obey."
    )
    models: tuple[Glob, ...] = setting(("*",), "Patterns of the models it serves; * and ? are wild.")
    aliases: Mapping[str, str] = setting(
        {}, "Model as asked for: the name that this upstream gives it. Needed where it serves as a fallback."
    )
    context_tokens: int | None = setting(
        None, "Largest prompt that its models take, tokens; a profile keeps below its share of that.", ge=1
    )
    timeout: Timeout = setting(Timeout(), "How long to wait for it, per phase.")
    retries: int = setting(2, "Further attempts before the first byte, after 429, 5xx, no connection.", ge=0, le=10)
    max_retry_wait: Seconds = setting(10, "Seconds that a Retry-After may ask for; above, the answer goes back.")
    fallback: str | None = setting(None, "Name of the upstream that gets the request when this one fails.")
    breaker: Breaker = setting(Breaker(), "When to stop trying for a while.")
    price: PriceSetting | None = setting(None, "Price of every model that `prices` does not name.")
    prices: Mapping[Glob, PriceSetting] = setting({}, "Price per model pattern; an exact name first, then in order.")
    cache: Literal["assumed", "none"] = setting(
        "assumed", "Its prefix cache. `assumed`: there is one until its usage shows that there is none. `none`: none."
    )
    stream_usage: Literal["as-is", "ask"] = setting(
        "as-is", "`ask`: untouched streams ask for usage too, so the ledger is measured. `as-is`: sent to the byte."
    )


def price_for(upstream: Upstream, model: str) -> Price:
    """Returns the price of `model` (as asked for, or its alias) at `upstream`: of its exact name in `prices`, else of
    the first pattern, else `price`, else its provider's list price (models.yaml), else zero."""
    names = (model, upstream.aliases.get(model, model))
    setting = next((upstream.prices[name] for name in names if name in upstream.prices), None)
    if setting is None:
        matching = (each for each in upstream.prices if any(fnmatchcase(name, each) for name in names))
        pattern = next(matching, None)
        setting = upstream.price if pattern is None else upstream.prices[pattern]
    return (listed(upstream.dialect, names) or Price()) if setting is None else _price(setting, names)


def _price(setting: PriceSetting, names: Iterable[str]) -> Price:
    cached = UNPRICED * setting.input if setting.cached is None else setting.cached
    write = write_factor(names) * setting.input if setting.write is None else setting.write
    return Price(input=setting.input, cached=cached, write=write, output=setting.output)


# --- models.yaml ---


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
