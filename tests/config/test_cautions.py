"""Cautions: settings that are right, and do less than they seem to."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from proxy.config import checked
from proxy.config.cautions import APART, UNPRICED, counts_rates_apart
from proxy.config.source import path_text
from proxy.types.keys import Limits

POSTGRES = {"kind": "postgres", "url": "${DB}"}
UPSTREAM = {"name": "up", "base_url": "http://up.example/v1", "api_key": "${UP}"}
RATE = {"requests_per_minute": 60}
ENVIRON = {"UP": "sk-up", "DB": "postgresql://olvido@db/olvido", "CACHE": "redis://cache/0"}


def told(tmp_path: Path, **sections: Any) -> list[tuple[str, str]]:
    """The cautions of a file, by their places."""
    path = tmp_path / "olvido.yaml"
    path.write_bytes(msgspec.yaml.encode({"upstreams": [UPSTREAM], **sections}))
    found = checked(path, ENVIRON)
    assert found.problems == ()
    return [(path_text(each.where), each.text) for each in found.cautions]


KEYS = [{"name": "ana", "key": f"sha256:{'0' * 64}", "limits": {"tokens_per_minute": 9}}]


@pytest.mark.parametrize(
    ("sections", "places"),
    [
        ({"storage": POSTGRES, "limits": {"keys": RATE}}, ["limits.keys.requests_per_minute"]),
        (
            {"storage": POSTGRES, "limits": {"keys": {"dollars_per_day": 5}, "users": {"tokens_per_minute": 5}}},
            ["limits.users.tokens_per_minute"],
        ),
        (
            {"storage": POSTGRES, "auth": {"mode": "keys", "keys": KEYS}},
            ["auth.keys[0].limits.tokens_per_minute"],
        ),
        ({"storage": POSTGRES, "limits": {"keys": {"dollars_per_day": 5}}}, []),
        ({"storage": POSTGRES, "limits": {"keys": {"requests_per_minute": 0}}}, []),
        ({"storage": POSTGRES, "limits": {"keys": RATE}, "shared": {"url": "${CACHE}"}}, []),
        ({"limits": {"keys": RATE}}, []),
    ],
)
def test_rates_that_machines_count_apart_are_told_where_they_stand(
    sections: dict[str, Any], places: list[str], tmp_path: Path
) -> None:
    assert [each for each in told(tmp_path, **sections) if each[1] != UNPRICED] == [(place, APART) for place in places]


DOLLARS = {"keys": {"dollars_per_day": 5}}


@pytest.mark.parametrize(
    ("upstream", "limits", "is_told"),
    [
        ({}, DOLLARS, True),
        ({"dialect": "vllm"}, {"users": {"dollars_per_month": 5}}, True),
        ({"price": {"input": 0, "output": 0}}, DOLLARS, False),
        ({"prices": {"m": {"input": 1, "output": 1}}}, DOLLARS, False),
        ({"dialect": "kimi"}, DOLLARS, False),
        ({}, {**DOLLARS, "unpriced": "free"}, False),
        ({}, {"keys": {"tokens_per_day": 5}}, False),
    ],
)
def test_a_budget_in_dollars_before_models_without_a_price_is_told(
    upstream: dict[str, Any], limits: dict[str, Any], *, is_told: bool, tmp_path: Path
) -> None:
    found = told(tmp_path, upstreams=[{**UPSTREAM, **upstream}], limits=limits)
    assert found == [("upstreams[0].price", UNPRICED)] * is_told


def test_of_a_file_with_mistakes_they_are_told_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "olvido.yaml"
    path.write_text("storage: {kind: postgres, url: '${DB}'}\nlimits: {keys: {requests_per_minute: 5}}\nx: 1\n")
    found = checked(path, ENVIRON)
    assert found.problems
    assert found.cautions == ()


def test_the_line_of_the_setting_is_told(tmp_path: Path) -> None:
    path = tmp_path / "olvido.yaml"
    path.write_text("storage: {kind: postgres, url: '${DB}'}\n\nlimits:\n  keys: {requests_per_minute: 5}\n")
    (caution,) = checked(path, {"DB": "postgresql://x/y"}).cautions
    assert caution.line == 4


@pytest.mark.parametrize(("limits", "apart"), [(Limits(), False), (Limits(requests_per_minute=1), True)])
def test_a_key_that_is_made_is_judged_alike(limits: Limits, *, apart: bool, tmp_path: Path) -> None:
    path = tmp_path / "olvido.yaml"
    path.write_text("storage: {kind: postgres, url: '${DB}'}\n")
    config = checked(path, {"DB": "postgresql://x/y"}).config
    assert config is not None
    assert counts_rates_apart(config, limits) is apart


@pytest.mark.parametrize(
    ("upstream", "told_of"),
    [
        ({"base_url": "https://api.openai.com", "dialect": "openai"}, {"base_url": "https://api.openai.com/v1"}),
        ({"base_url": "https://api.groq.com/"}, {"base_url": "https://api.groq.com/openai/v1"}),
        ({"base_url": "https://api.moonshot.ai"}, {"base_url": "https://api.moonshot.ai/v1", "dialect": "`kimi`"}),
        ({"base_url": "https://api.mistral.ai/v1"}, {"dialect": "`mistral`"}),
        ({"base_url": "https://api.openai.com/v1", "dialect": "openai"}, {}),
        ({"base_url": "https://api.openai.com/eu", "dialect": "openai"}, {}),  # whoever writes a path has a reason
        ({"base_url": "https://api.deepseek.com", "dialect": "deepseek"}, {}),  # answers there, too
        ({"base_url": "https://openrouter.ai/api/v1"}, {}),
        ({"base_url": "http://127.0.0.1:8000"}, {}),
    ],
)
def test_what_a_known_provider_has_otherwise_is_told(
    upstream: dict[str, Any], told_of: dict[str, str], tmp_path: Path
) -> None:
    found = dict(told(tmp_path, upstreams=[{"name": "up", "api_key": "${UP}", **upstream}]))
    assert set(found) == {f"upstreams[0].{name}" for name in told_of}
    assert all(text in found[f"upstreams[0].{name}"] for name, text in told_of.items())
