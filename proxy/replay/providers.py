"""Upstreams for the models that a log names, where no configuration says who has them: their provider's rules and list
prices then hold."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from proxy.config import Upstream
from proxy.config.providers import PROVIDERS
from proxy.config.upstreams import listed


def upstreams_for(models: Iterable[str]) -> tuple[Upstream, ...]:
    """Returns an upstream for each provider that has one of these models, and one for the models that nobody has."""
    by_provider: dict[str, list[str]] = {}
    for model in sorted(set(models)):
        by_provider.setdefault(_provider_of(model), []).append(re.sub(r"[*\[\]]", "?", model))
    known = [
        Upstream.model_validate(
            {
                "name": each.dialect,
                "base_url": each.base_url,
                "dialect": each.dialect,
                "models": by_provider[each.dialect],
            }
        )
        for each in PROVIDERS
        if each.dialect in by_provider
    ]
    others = Upstream.model_validate({"name": "other", "base_url": "https://other.invalid/v1", "dialect": "generic"})
    return (*known, others)


def _provider_of(model: str) -> str:
    own = model.rsplit("/", 1)[-1]
    for each in PROVIDERS:
        is_named = any(fnmatchcase(own, pattern) for pattern in each.names)
        if each.names and (is_named or listed(each.dialect, (model,)) is not None):
            return each.dialect
    return ""
