"""Whether an upstream has a prefix cache. Every one is taken to, until the configuration says otherwise or its own
usage has shown it: where there is a cache that was not reckoned with, each fold costs up to ten times what it should,
while not to fold where there is none merely saves less."""

from proxy.config import Upstream
from proxy.config.prices import prefix_cache
from proxy.types import PrefixCache, Price

NONE = PrefixCache()


def assumed(upstream: Upstream, model: str, price: Price, *, shown_none: bool = False) -> PrefixCache:
    """The cache to reckon with. `shown_none`: by `CacheEvidence`."""
    costs_the_same = 0 < price.input <= price.cached
    if upstream.cache == "none" or costs_the_same or shown_none:
        return NONE
    return prefix_cache(upstream.dialect, upstream.aliases.get(model, model))
