"""Prices of models and prompt-cache rules of providers, where the configuration is silent."""

import hashlib
import math
import re
from datetime import date
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from proxy.config import Upstream, price_for
from proxy.config.upstreams import (
    UNPRICED,
    BaseUrl,
    Folder,
    Host,
    KeyHash,
    LongSecret,
    Origin,
    Period,
    Row,
    Seconds,
    Secret,
    key_hash,
    listed,
    named_models,
    prefix_cache,
    table,
    write_factor,
)
from proxy.types import PrefixCache, Price

PRICES, CACHES = table().prices, table().caches
DIALECTS = frozenset(Upstream.model_json_schema()["properties"]["dialect"]["enum"])


@pytest.mark.parametrize("row", PRICES, ids=lambda row: row.models[0])
def test_a_cached_token_costs_a_part_of_a_new_one_and_a_write_no_less_than_one(row: Row[Price]) -> None:
    price = row.value
    assert 0 < price.cached < price.input <= price.write <= 2 * price.input
    assert price.input < price.output
    assert price.cached / price.input <= UNPRICED


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
        ("generic", "anthropic/claude-opus-4.5", PrefixCache(ttl=300, minimum=4096)),
        ("generic", "claude-opus-5-5", PrefixCache(ttl=300, minimum=512, reasoning=True)),
        ("generic", "claude-sonnet-5", PrefixCache(ttl=300, minimum=1024)),
        ("anthropic", "claude-sonnet-4-6", PrefixCache(ttl=300, minimum=1024)),
        ("anthropic", "claude-opus-4-8", PrefixCache(ttl=300, minimum=1024)),
        ("anthropic", "claude-opus-4-7", PrefixCache(ttl=300, minimum=2048)),
        ("anthropic", "claude-sonnet-5-5", PrefixCache(ttl=300, minimum=512)),
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
    ],
)
def test_a_list_price_is_its_own_providers(dialect: str, models: list[str], price: Price | None) -> None:
    assert listed(dialect, tuple(models)) == price


@pytest.mark.parametrize(
    ("model", "factor"),
    [("gpt-6-sol", 1.25), ("anthropic/claude-opus-5.5", 1.25), ("kimi-k3", 1.0), ("unheard-of", 1.0)],
)
def test_a_write_costs_what_its_provider_takes_where_the_configuration_does_not_say(model: str, factor: float) -> None:
    assert write_factor((model,)) == factor
    priced = {"name": "up", "base_url": "https://up/v1", "price": {"input": 2, "output": 8}}
    assert price_for(Upstream.model_validate(priced), model).write == 2 * factor
    priced["price"] = {"input": 2, "output": 8, "write": 3}
    assert price_for(Upstream.model_validate(priced), model).write == 3


KEY = "olv-0123456789abcdef"


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (0, 0), (1.5, 1.5), ("60", 60), ("500ms", 0.5), ("10s", 10), ("30m", 1_800), ("24h", 86_400), ("7d", 604_800),
        ("1.5h", 5_400), (" 2 m ", 120),
    ],
)  # fmt: skip
def test_a_duration_is_a_number_of_seconds_or_a_number_with_a_unit(given: object, seconds: float) -> None:
    assert TypeAdapter(Seconds).validate_python(given) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "given", ["", "soon", "10 parsecs", "-5s", -1, True, None, float("nan"), float("inf"), [1], "1e400", "9" * 400]
)
def test_anything_else_is_not_a_duration(given: object) -> None:
    with pytest.raises(ValidationError, match="a duration: seconds as a number, or text like"):
        TypeAdapter(Seconds).validate_python(given)


@pytest.mark.parametrize("nothing", [0, "0s", "0.0ms"])
def test_a_period_cannot_be_nothing(nothing: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Period).validate_python(nothing)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://api.moonshot.ai/v1", "https://api.moonshot.ai/v1"),
        ("http://127.0.0.1:9000/v1/", "http://127.0.0.1:9000/v1"),
        ("http://[::1]:9000", "http://[::1]:9000"),
    ],
)
def test_a_base_url_loses_its_trailing_slash(given: object, kept: str) -> None:
    assert TypeAdapter(BaseUrl).validate_python(given) == kept


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", "with a host"), ("api.moonshot.ai/v1", "with a host"), ("ftp://x", "with a host"),
        ("http://", "with a host"), ("http://x:99999", "with a host"), ("http://x:0", "with a host"),
        ("http://[hunter2]", "with a host"), ("http://x:hunter2", "with a host"), ("http://a b/", "with a host"),
        ("http://ñ.example/", "with a host"), ("http://x\n/", "with a host"),
        ("http://u:hunter2@x", "without user"), ("http://@x", "without user"),
        ("http://x?key=hunter2", "without query"), ("http://x#", "without query"),
    ],
)  # fmt: skip
def test_a_bad_base_url_is_refused_without_being_repeated(given: object, reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(BaseUrl).validate_python(given)
    (error,) = caught.value.errors()
    assert reason in error["msg"]
    assert "hunter2" not in error["msg"]


def test_an_own_key_is_kept_as_its_hash() -> None:
    expected = "sha256:" + hashlib.sha256(KEY.encode()).hexdigest()
    assert TypeAdapter(KeyHash).validate_python(KEY) == expected == key_hash(KEY)


def test_the_hash_of_an_own_key_may_be_given_in_either_case() -> None:
    given = key_hash(KEY)
    assert TypeAdapter(KeyHash).validate_python(f"sha256:{given[7:].upper()}") == given


@pytest.mark.parametrize("given", ["short", "has a space in its middle", "sha256:0123456789abcdef", "ñ" * 20, 5, ""])
def test_a_weak_or_unsendable_own_key_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(KeyHash).validate_python(given)


@pytest.mark.parametrize("given", ["", "two words", "line\nbreak", "ñandú", "trailing "])
def test_a_key_that_no_header_can_carry_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Secret).validate_python(given)


def test_a_long_secret_has_at_least_sixteen_characters() -> None:
    assert TypeAdapter(LongSecret).validate_python("x" * 16).get_secret_value() == "x" * 16
    with pytest.raises(ValidationError):
        TypeAdapter(LongSecret).validate_python("x" * 15)


def test_a_folder_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert TypeAdapter(Folder).validate_python("~/olvido") == tmp_path / "olvido"


@pytest.mark.parametrize("given", ["~no-such-user-here/x", "a\0b"])
def test_a_folder_that_cannot_be_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Folder).validate_python(given)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://Chat.Example.com", "https://chat.example.com"),
        ("https://chat.example.com:443/", "https://chat.example.com"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://localhost:80", "http://localhost"),
        ("http://localhost:443", "http://localhost:443"),
        ("chrome-extension://abcdef", "chrome-extension://abcdef"),
        ("app://obsidian.md", "app://obsidian.md"),
    ],
)
def test_an_origin_is_kept_as_browsers_write_it(given: str, kept: str) -> None:
    assert TypeAdapter(Origin).validate_python(given) == kept


@pytest.mark.parametrize(
    "given", ["", "*", "null", "chat.example.com", "https://*.example.com", "https://x/path", "a b"]
)
def test_what_is_no_origin_is_refused(given: str) -> None:
    with pytest.raises(ValidationError, match="an origin like"):
        TypeAdapter(Origin).validate_python(given)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Proxy.Internal", "proxy.internal"),
        ("proxy:8443", "proxy:8443"),
        ("[::1]:80", "[::1]:80"),
        ("10.0.0.7", "10.0.0.7"),
    ],
)
def test_a_host_is_a_name_with_or_without_a_port(given: str, kept: str) -> None:
    assert TypeAdapter(Host).validate_python(given) == kept


@pytest.mark.parametrize("given", ["", "*", "*.example.com", "http://x", "x/path", "a b", "x:port", "::1", "u@x"])
def test_what_is_no_host_is_refused(given: str) -> None:
    with pytest.raises(ValidationError, match="a name like"):
        TypeAdapter(Host).validate_python(given)


def test_the_models_that_settings_name_are_told_without_patterns() -> None:
    price = {"input": 1, "output": 1}
    told = {"models": ("a", "b-*"), "aliases": {"c": "d"}, "prices": {"a": price, "e?": price, "f": price}}
    upstream = Upstream.model_validate({"name": "up", "base_url": "http://127.0.0.1:9/v1", **told})
    assert named_models(upstream) == ("a", "c", "f")
