"""Whose models a log names."""

from fnmatch import fnmatchcase

import pytest

from proxy.config import price_for
from proxy.replay.providers import upstreams_for
from tests.builders import config


@pytest.mark.parametrize(
    ("model", "dialect", "is_priced"),
    [
        ("gpt-6-sol", "openai", True),
        ("openai/gpt-6-sol", "openai", True),
        ("gpt-4o-mini", "openai", True),
        ("o3", "openai", True),
        ("gpt-4-32k", "openai", False),
        ("kimi-k2.6", "kimi", True),
        ("deepseek-v4-pro", "deepseek", True),
        ("mistral-large", "mistral", False),
        ("claude-opus-5", "generic", False),
        ("my[odd]*name", "generic", False),
        ("gpt-[x]*", "openai", False),
        ("", "generic", False),
        ("x" * 300, "generic", False),
    ],
)
def test_a_model_has_the_rules_and_the_list_price_of_its_provider(model: str, dialect: str, is_priced: bool) -> None:
    found = upstreams_for([model, "kimi-k2.6"])
    first = next(each for each in found if any(fnmatchcase(model, pattern) for pattern in each.models))
    assert first.dialect == dialect
    assert bool(price_for(first, model).input) == is_priced


def test_names_are_unique_and_everybody_else_is_last() -> None:
    found = upstreams_for(["gpt-6-sol", "gpt-4o", "deepseek-x", "llama"])
    assert [each.name for each in found] == ["openai", "deepseek", "other"]
    assert config().model_copy(update={"upstreams": found}).upstreams == found
