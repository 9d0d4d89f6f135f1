"""Which prefix cache is reckoned with."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config import Upstream, price_for
from proxy.config.prices import UNPRICED, prefix_cache
from proxy.memory.economics import rates
from proxy.memory.prefix_cache import NONE, assumed
from proxy.wire.dialects import DIALECTS

HALF = {"input": 1, "cached": 0.5, "output": 4}


def upstream(**settings: Any) -> Upstream:
    return Upstream.model_validate({"name": "up", "base_url": "https://up/v1", **settings})


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("settings", "shown_none", "cached"),
    [
        ({}, False, UNPRICED),
        ({"price": {"input": 1, "output": 4}}, False, UNPRICED),  # nothing is said of cached tokens
        ({"price": HALF}, False, 0.5),
        ({"price": {**HALF, "cached": 1}}, False, 1.0),
        ({"price": {**HALF, "cached": 2}}, False, 1.0),
        ({"price": {**HALF, "input": 0, "cached": 0}}, False, UNPRICED),  # no price at all
        ({"price": HALF, "cache": "none"}, False, 1.0),
        ({"cache": "none"}, False, 1.0),
        ({"price": HALF}, True, 1.0),
        ({}, True, 1.0),
        ({"price": HALF, "cache": "assumed"}, False, 0.5),
    ],
)
def test_every_upstream_has_one_unless_it_is_known_not_to(
    dialect: str, settings: dict[str, Any], cached: float, *, shown_none: bool
) -> None:
    entry = upstream(dialect=dialect, **settings)
    price = price_for(entry, "m")
    cache = assumed(entry, "m", price, shown_none=shown_none)
    assert cache == (NONE if cached == 1.0 else prefix_cache(dialect, "m"))
    assert rates(price, cache, idle=0.0).cached == pytest.approx(cached)


@given(
    st.sampled_from(sorted(DIALECTS)),
    st.none() | st.floats(0, 10),
    st.sampled_from(["assumed", "none"]),
    st.booleans(),
    st.floats(0, 1e6),
)
def test_a_cached_token_never_costs_more_than_one_that_is_not(
    dialect: str, cached: float | None, cache: str, shown_none: bool, idle: float
) -> None:
    priced = {"input": 1, "output": 4} | ({} if cached is None else {"cached": cached})
    entry = upstream(dialect=dialect, cache=cache, price=priced)
    price = price_for(entry, "m")
    found = rates(price, assumed(entry, "m", price, shown_none=shown_none), idle=idle)
    assert 0 <= found.cached <= found.write
    assert found.write == 1.0
