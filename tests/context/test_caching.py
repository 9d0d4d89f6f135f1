"""What a prompt costs where the provider caches only what is marked, and when we mark it."""

from dataclasses import replace

import pytest

from proxy.config import Upstream, price_for
from proxy.context.caching import Caching, caching, pays
from proxy.context.economics import NO_CACHE, CostSoFar, Rates, assumed_cache
from proxy.types import Breakpoints

UPSTREAM = Upstream.model_validate({"name": "up", "base_url": "http://x/v1", "dialect": "anthropic"})
MODEL = "claude-opus-5"
PRICE = price_for(UPSTREAM, MODEL)
CACHE = assumed_cache(UPSTREAM, MODEL, PRICE)
WHOLE = Rates(0.1, 1.25, minimum=512, marked=True)


def found(asked: Breakpoints | None, *, idle: float = 60.0, may_set: bool = True) -> Caching:
    return caching(PRICE, CACHE, asked, idle=idle, prefix=1_000, may_set=may_set)


@pytest.mark.parametrize(
    ("asked", "tokens", "repeated", "managed", "alone"),
    [
        # (breakpoints, …) → cost of a managed prompt, and of pass-through, in tokens at the input price
        (None, 4_000, 3_000, 300 + 1_250, 300 + 1_250),
        (Breakpoints(messages=True), 4_000, 3_000, 300 + 1_250, 300 + 1_250),
        (Breakpoints(automatic=True), 4_000, 3_000, 300 + 1_250, 300 + 1_250),
        (Breakpoints(instructions=True), 4_000, 3_000, 300 + 1_250, 100 + 3_000),
        (Breakpoints(), 4_000, 3_000, 300 + 1_250, 4_000),
        (Breakpoints(), 400, 300, 400, 400),
        (Breakpoints(messages=True), 400, 300, 400, 400),
        (Breakpoints(messages=True), 1_000, 500, 1_250, 1_250),  # 500 were too few to be written
    ],
)
def test_pass_through_costs_what_the_clients_breakpoints_make_of_it(
    asked: Breakpoints | None, tokens: int, repeated: int, managed: float, alone: float
) -> None:
    prices = found(asked)
    assert prices.rates.cost(tokens, repeated) == pytest.approx(managed)
    assert prices.alone.least(tokens, repeated) == pytest.approx(alone)


@pytest.mark.parametrize(
    ("asked", "idle", "may_set", "is_ours"),
    [
        (Breakpoints(), 60.0, True, True),
        (Breakpoints(), 301.0, True, False),
        (Breakpoints(), float("inf"), True, False),
        (Breakpoints(), 60.0, False, False),
        (Breakpoints(instructions=True), 60.0, True, True),
        (Breakpoints(messages=True), 60.0, True, False),
    ],
)
def test_ours_are_set_where_there_are_none_once_requests_follow_each_other(
    asked: Breakpoints, idle: float, may_set: bool, is_ours: bool
) -> None:
    prices = found(asked, idle=idle, may_set=may_set)
    assert prices.is_ours == is_ours
    assert prices.is_marked == (is_ours or asked.in_conversation)
    if not prices.is_marked:
        assert prices.rates == prices.alone  # nothing is counted on that nobody marks


def test_what_only_this_request_has_is_not_written_unless_the_provider_marks_the_end_itself() -> None:
    assert found(Breakpoints(messages=True)).rates.added == 1.0
    assert found(Breakpoints(automatic=True)).rates.added == 1.25
    assert found(None).rates.added == 1.25


@pytest.mark.parametrize(("idle", "cached"), [(1.0, 0.1), (400.0, 0.1), (3_700.0, 2.0)])
def test_what_is_written_for_an_hour_costs_twice_as_much_and_lives_so_long(idle: float, cached: float) -> None:
    prices = found(Breakpoints(messages=True, for_an_hour=True), idle=idle)
    assert (prices.rates.cached, prices.rates.write, prices.alone.write) == (cached, 2.0, 2.0)


def test_what_caches_by_itself_needs_no_breakpoints() -> None:
    known = replace(CACHE, marked=False)
    prices = caching(PRICE, known, Breakpoints(), idle=1.0, prefix=9, may_set=True)
    assert prices == caching(PRICE, known, None, idle=1.0, prefix=9, may_set=True)


def test_without_a_cache_nothing_is_marked() -> None:
    prices = caching(PRICE, NO_CACHE, Breakpoints(messages=True), idle=1.0, prefix=9, may_set=True)
    assert prices == Caching(Rates(1.0, 1.0), Rates(1.0, 1.0))


@pytest.mark.parametrize(
    ("of", "spent", "expected"),
    [
        (Caching(WHOLE, WHOLE, is_marked=True), 1_000_000, True),
        (Caching(WHOLE, WHOLE), 0, False),
        (Caching(WHOLE, WHOLE, is_marked=True, is_ours=True), 9_000, True),
        (Caching(WHOLE, WHOLE, is_marked=True, is_ours=True), 10_000, False),
    ],
)
def test_where_the_client_sets_none_a_write_is_an_advance_payment(of: Caching, spent: float, expected: bool) -> None:
    assert pays(of, CostSoFar(10_000, spent), 1_250) == expected
