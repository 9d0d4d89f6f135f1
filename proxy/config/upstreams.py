"""Settings of an upstream, and the prices and prefix caches of its models: from models.yaml where the file has none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import yaml
from pydantic import Field

from proxy.config.providers import dialect_at
from proxy.config.settings import BaseUrl, Dollars, Glob, Name, Period, Seconds, Secret, Section, setting
from proxy.types import ApiName, PrefixCache, Price

R = TypeVar("R", Price, PrefixCache)

TABLE = Path(__file__).with_name("models.yaml")

# Share of the input price for a token that the prefix cache had, if it has no price: .02 to .5 by provider and model.
UNPRICED = 0.25


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
    write_hour: Dollars | None = setting(
        None,
        "US dollars per million prompt tokens written to it for an hour, where a client asks for that (`ttl: 1h`). "
        "Absent: twice the input.",
    )
    output: Dollars = Field(description="US dollars per million completion tokens.")


class Upstream(Section):
    """A provider behind the proxy."""

    name: Name = Field(description="What logs, metrics and `fallback` call it.")
    base_url: BaseUrl = Field(description="URL up to and including /v1.")
    api_key: Secret | None = setting(
        None, "Its key, as ${NAME} from the environment. Absent: the client's own key is passed through."
    )
    dialect: Literal["kimi", "openai", "deepseek", "mistral", "vllm", "anthropic", "generic"] = setting(
        "generic", "Which provider's rules its requests must obey."
    )
    apis: tuple[ApiName, ...] | None = setting(
        None,
        "The APIs that it has: chat (chat completions), responses, messages. A request in another one is translated to "
        "chat completions. Absent: as the dialect has them, openai: chat and responses, anthropic: chat and messages, "
        "any other: chat.",
        min_length=1,
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
    breakpoints: Literal["ours", "client"] = setting(
        "ours",
        "Breakpoints (`cache_control`) in rewritten prompts of the Messages API, where the client sets none in its "
        "conversation. `ours`: they are, once requests follow each other within an entry's lifetime. `client`: none.",
    )
    stream_usage: Literal["as-is", "ask"] = setting(
        "as-is",
        "`ask`: untouched streams ask for usage too, so the ledger is measured. `as-is`: sent to the byte, unless a "
        "limit counts what they come to.",
    )

    @property
    def spoken(self) -> tuple[ApiName, ...]:
        """The APIs that it has."""
        return _SPOKEN.get(self.dialect, ("chat",)) if self.apis is None else self.apis


_SPOKEN: Mapping[str, tuple[ApiName, ...]] = {"openai": ("chat", "responses"), "anthropic": ("chat", "messages")}


def is_priced(upstream: Upstream, model: str) -> bool:
    """Returns True if the price of `model` at `upstream` is known, zeros included."""
    names = (model, upstream.aliases.get(model, model))
    is_named = any(fnmatchcase(name, pattern) for name in names for pattern in upstream.prices)
    return upstream.price is not None or is_named or _list_price(upstream, names) is not None


def named_models(upstream: Upstream) -> tuple[str, ...]:
    """Returns the models that an upstream's settings name, patterns left out."""
    names = (*upstream.models, *upstream.aliases, *upstream.prices)
    return tuple(dict.fromkeys(name for name in names if not set("*?[") & set(name)))


def price_for(upstream: Upstream, model: str) -> Price:
    """Returns the price of `model` (as asked for, or its alias) at `upstream`: of its exact name in `prices`, else of
    the first pattern, else `price`, else its provider's list price (models.yaml), else zero."""
    names = (model, upstream.aliases.get(model, model))
    setting = next((upstream.prices[name] for name in names if name in upstream.prices), None)
    if setting is None:
        matching = (price for each, price in upstream.prices.items() if any(fnmatchcase(name, each) for name in names))
        setting = next(matching, upstream.price)
    return (_list_price(upstream, names) or Price()) if setting is None else _price(setting, names)


def has_list(upstream: Upstream) -> bool:
    """Returns True if the provider of an upstream has list prices."""
    return any(_provider(upstream) in row.dialects for row in table().prices)


def _list_price(upstream: Upstream, names: tuple[str, ...]) -> Price | None:
    """The dialect says whose prices hold; of a generic one the address."""
    return listed(_provider(upstream), names)


def _provider(upstream: Upstream) -> str:
    return dialect_at(upstream.base_url) if upstream.dialect == "generic" else upstream.dialect


def _price(setting: PriceSetting, names: tuple[str, ...]) -> Price:
    cached = UNPRICED * setting.input if setting.cached is None else setting.cached
    write = write_factor(names) * setting.input if setting.write is None else setting.write
    return Price(setting.input, cached, write, setting.output, setting.write_hour)


@dataclass(frozen=True, slots=True)
class Row(Generic[R]):
    """A row of the table: the price or the cache of some models at upstreams of some dialects."""

    models: tuple[str, ...]  # patterns of their names
    dialects: frozenset[str]
    value: R
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


def _row(kind: type[R], row: Mapping[str, Any]) -> Row[R]:
    about = {"models", "dialects", "source", "date"}
    value = kind(**{name: number for name, number in row.items() if name not in about})
    return Row(tuple(row["models"]), frozenset(row["dialects"]), value, row["source"], str(row["date"]))


@lru_cache(256)  # clients name models
def listed(dialect: str, models: tuple[str, ...]) -> Price | None:
    """Returns the list price of the first of `models` that has one at upstreams of this dialect, or None."""
    found = (row.value for model in models for row in table().prices if dialect in row.dialects and row.names(model))
    return next(found, None)


@lru_cache(256)
def write_factor(models: tuple[str, ...]) -> float:
    """Returns the price of a write to the prefix cache as a multiple of the input price; 1 if unknown."""
    found = (row.value for model in models for row in table().prices if row.names(model))
    return next((max(price.write / price.input, 1.0) for price in found), 1.0)


@lru_cache(256)  # clients name models
def prefix_cache(dialect: str, model: str) -> PrefixCache:
    """Returns the prefix cache for a model at an upstream of this dialect; every dialect has a row for any model."""
    return next(row.value for row in table().caches if dialect in row.dialects and row.names(model))
