"""Providers that are known by their address."""

from urllib.parse import urlsplit

import pytest

from proxy.config.providers import PROVIDERS, dialect_at, provider_at


@pytest.mark.parametrize(
    ("address", "dialect"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://API.OpenAI.com", "openai"),
        ("https://api.moonshot.ai/anthropic", "kimi"),
        ("https://openrouter.ai/api/v1", "generic"),
        ("https://api.openai.com.example/v1", "generic"),
        ("https://example.com/api.openai.com/v1", "generic"),
        ("http://127.0.0.1:8000/v1", "generic"),
    ],
)
def test_an_address_tells_the_dialect(address: str, dialect: str) -> None:
    assert dialect_at(address) == dialect


def test_every_provider_is_found_at_its_own_address_which_has_a_path() -> None:
    for each in PROVIDERS:
        assert provider_at(each.base_url) is each
        assert urlsplit(each.base_url).path.strip("/")
    assert provider_at("https://nobody.example/v1") is None
