"""Prices of models and prompt-cache rules of providers, where the configuration is silent."""

import math
import re
from datetime import date
from typing import Any

import pytest

from proxy.config import Upstream, price_for
from proxy.config.upstreams import UNPRICED, Row, is_priced, listed, named_models, prefix_cache, table, write_factor
from proxy.types import PrefixCache, Price

HALF = {"gpt-4o", "gpt-4o-mini", "o1", "o3-mini"}  # the first OpenAI models with a cache
PRICES, CACHES = table().prices, table().caches
DIALECTS = frozenset(Upstream.model_json_schema()["properties"]["dialect"]["enum"])


@pytest.mark.parametrize("row", PRICES, ids=lambda row: row.models[0])
def test_a_cached_token_costs_a_part_of_a_new_one_and_a_write_no_less_than_one(row: Row[Price]) -> None:
    price = row.value
    assert 0 < price.cached <= price.input <= price.write <= 2 * price.input
    assert price.input < price.output
    is_uncached = price.cached == price.input  # no price for cached tokens: there is no cache
    assert is_uncached or price.cached / price.input <= (0.5 if row.models[0] in HALF else UNPRICED)


@pytest.mark.parametrize("row", [*PRICES, *CACHES], ids=lambda row: f"{row.models[0]}-{min(row.dialects, default='')}")
def test_every_row_says_where_it_is_from_and_when(row: Row[Price] | Row[PrefixCache]) -> None:
    assert date(2026, 5, 1) <= date.fromisoformat(row.date) <= date(2026, 11, 22)
    assert re.search(r"\w\.\w+/|\w/\w|#\d+", row.source)
    assert row.dialects <= DIALECTS
    assert all(pattern == pattern.lower() for pattern in row.models)


@pytest.mark.parametrize(
    ("dialect", "model", "cache"),
    [
        ("kimi", "kimi-k2.6", PrefixCache(ttl=300, block=256)),
        ("openai", "gpt-4o", PrefixCache(ttl=300, block=128, minimum=1024)),
        ("openai", "gpt-6.1-sol", PrefixCache(ttl=1800, minimum=1024, breakpoints=True)),
        ("generic", "openai/GPT-6-luna", PrefixCache(ttl=1800, minimum=1024, breakpoints=True)),
        ("deepseek", "deepseek-flash", PrefixCache(ttl=7200, block=64, breakpoints=True)),
        ("mistral", "any", PrefixCache(ttl=300, block=64)),
        ("vllm", "gpt-6-sol", PrefixCache(ttl=math.inf, block=16)),  # whatever it is called there
        ("generic", "", PrefixCache(ttl=86_400)),
        ("generic", "google/gemini-2.5-pro", PrefixCache(ttl=86_400, minimum=2048)),
        ("generic", "gemini-3.8-flash", PrefixCache(ttl=86_400, minimum=4096)),
        ("generic", "anthropic/claude-opus-4.5", PrefixCache(ttl=300, minimum=4096, marked=True)),
        ("generic", "claude-opus-5-5", PrefixCache(ttl=300, minimum=512, marked=True, reasoning=True)),
        ("generic", "claude-sonnet-5", PrefixCache(ttl=300, minimum=1024, marked=True)),
        ("anthropic", "claude-sonnet-4-6", PrefixCache(ttl=300, minimum=1024, marked=True)),
        ("anthropic", "claude-opus-4-8", PrefixCache(ttl=300, minimum=1024, marked=True)),
        ("anthropic", "claude-opus-4-7", PrefixCache(ttl=300, minimum=2048, marked=True)),
        ("anthropic", "claude-sonnet-5-5", PrefixCache(ttl=300, minimum=512, marked=True)),
    ],
)
def test_how_a_model_is_cached_by_its_own_provider_and_through_others(
    dialect: str, model: str, cache: PrefixCache
) -> None:
    assert prefix_cache(dialect, model) == cache


@pytest.mark.parametrize(
    ("dialect", "models", "price"),
    [
        ("kimi", ["kimi-k2.6"], Price(0.95, 0.16, 0.95, 4.0)),
        ("openai", ["ours", "gpt-6.1-sol-2026-09-29"], Price(2.0, 0.1, 2.5, 10.0)),
        ("deepseek", ["deepseek-flash"], Price(0.3, 0.006, 0.3, 1.2)),
        ("generic", ["kimi-k2.6"], None),  # who else sells it has a price of his own
        ("generic", ["claude-opus-5-5"], None),
        ("openai", ["gpt-6.1-sol-mini"], None),
        ("openai", ["gpt-4o"], Price(2.5, 1.25, 2.5, 10.0)),
        ("openai", ["openai/gpt-4o-mini-2024-07-18"], Price(0.15, 0.075, 0.15, 0.6)),
        ("openai", ["gpt-4o-2024-05-13"], None),  # the one snapshot that costs more
        ("openai", ["gpt-4o-audio-preview"], None),
        ("anthropic", ["claude-sonnet-4-6"], Price(3.0, 0.3, 3.75, 15.0)),
        ("anthropic", ["claude-sonnet-5"], Price(2.0, 0.2, 2.5, 10.0)),
        ("anthropic", ["claude-sonnet-5-5-20260928"], Price(2.0, 0.1, 2.5, 10.0)),
    ],
)
def test_a_list_price_is_its_own_providers(dialect: str, models: list[str], price: Price | None) -> None:
    assert listed(dialect, tuple(models)) == price


@pytest.mark.parametrize(
    ("differing", "model", "price"),
    [
        ({"base_url": "https://api.openai.com/v1"}, "gpt-4o", Price(2.5, 1.25, 2.5, 10.0)),
        ({"base_url": "https://API.openai.com"}, "gpt-4o", Price(2.5, 1.25, 2.5, 10.0)),
        ({"base_url": "https://api.openai.com/v1", "dialect": "vllm"}, "gpt-4o", None),
        ({"base_url": "https://openrouter.ai/api/v1"}, "openai/gpt-4o", None),
        ({"base_url": "https://api.openai.com.example/v1"}, "gpt-4o", None),
        ({"base_url": "https://api.openai.com/v1", "price": {"input": 1, "output": 2}}, "gpt-4o", Price(1, 0.25, 1, 2)),
        ({"base_url": "https://api.openai.com/v1"}, "gpt-4-32k", None),
    ],
)
def test_whoever_asks_a_known_provider_has_its_list_prices_whatever_the_dialect_says(
    differing: dict[str, Any], model: str, price: Price | None
) -> None:
    upstream = Upstream.model_validate({"name": "up", **differing})
    assert price_for(upstream, model) == (price or Price())
    assert is_priced(upstream, model) == (price is not None)


@pytest.mark.parametrize(
    ("model", "factor"),
    [
        ("gpt-6-sol", 1.25),
        ("anthropic/claude-opus-5.5", 1.25),
        ("claude-sonnet-4-5", 1.25),
        ("kimi-k3", 1.0),
        ("unheard-of", 1.0),
    ],
)
def test_a_write_costs_what_its_provider_takes_where_the_configuration_does_not_say(model: str, factor: float) -> None:
    assert write_factor((model,)) == factor
    priced = {"name": "up", "base_url": "https://up/v1", "price": {"input": 2, "output": 8}}
    assert price_for(Upstream.model_validate(priced), model).write == 2 * factor
    assert price_for(Upstream.model_validate(priced), model).hour == 4
    priced["price"] = {"input": 2, "output": 8, "write": 3, "write_hour": 5}
    assert price_for(Upstream.model_validate(priced), model).write == 3
    assert price_for(Upstream.model_validate(priced), model).hour == 5


def test_the_models_that_settings_name_are_told_without_patterns() -> None:
    price = {"input": 1, "output": 1}
    told = {"models": ("a", "b-*"), "aliases": {"c": "d"}, "prices": {"a": price, "e?": price, "f": price}}
    upstream = Upstream.model_validate({"name": "up", "base_url": "http://127.0.0.1:9/v1", **told})
    assert named_models(upstream) == ("a", "c", "f")
