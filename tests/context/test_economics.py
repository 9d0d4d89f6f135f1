"""Folding as a table of decisions, and its promises over whole conversations of any shape."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.config import Upstream, price_for
from proxy.config.upstreams import UNPRICED, prefix_cache
from proxy.context.economics import (
    FORCED,
    NO_CACHE,
    REGRET,
    RESERVE,
    CostSoFar,
    PromptSizes,
    Rates,
    Terms,
    allowance,
    assumed_cache,
    decide,
    rates,
)
from proxy.protocol.dialects import DIALECTS
from proxy.types import PrefixCache, Price

KIMI = prefix_cache("kimi", "kimi-k2.6")
KIMI_PRICE = Price(input=0.95, cached=0.16, write=0.95, output=4.0)
CHEAP = Rates(0.1, 1.0)
COLD = Rates(1.0, 1.0)
LEAN = Terms(turns=6, tokens=1_200, head=160, limit=4_000, pressure=3_000)
EASY = replace(LEAN, pressure=None)
RICH = CostSoFar(baseline=100_000, spent=10_000)  # earlier folds have saved nine tenths


def standing(*turns: int, prefix: int = 0, head: int = 0, newest: int = 50) -> PromptSizes:
    """Warm: all but the newest message was sent before."""
    return PromptSizes(prefix, head, turns, newest, prefix + head + sum(turns))


@pytest.mark.parametrize(
    ("price", "cache", "idle", "expected"),
    [
        (KIMI_PRICE, KIMI, 10, (0.16 / 0.95, 1.0)),
        (KIMI_PRICE, KIMI, 300, (1.0, 1.0)),  # its cache lives for 300 s
        (KIMI_PRICE, PrefixCache(), 0, (1.0, 1.0)),
        (KIMI_PRICE, PrefixCache(ttl=math.inf), 1e9, (0.16 / 0.95, 1.0)),
        (Price(), KIMI, 10, (UNPRICED, 1.0)),
        (Price(), PrefixCache(), 10, (1.0, 1.0)),
        (Price(input=3, cached=0.3, write=3.75), KIMI, 10, (0.1, 1.25)),
        (Price(input=3, cached=0.3, write=3.75), KIMI, 900, (1.25, 1.25)),  # what is cold is written again
        (Price(input=3), KIMI, 10, (0.0, 1.0)),
        (Price(input=2, cached=9, write=2), KIMI, 10, (1.0, 1.0)),
    ],
)
def test_the_rates_follow_price_cache_and_idle_time(
    price: Price, cache: PrefixCache, idle: float, expected: tuple[float, float]
) -> None:
    found = rates(price, cache, idle=idle)
    assert (found.cached, found.write) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("tokens", "repeated", "expected"),
    [
        (3_000, 0, 3_000),
        (3_000, 1_920, 192 + 1_080),
        (3_000, 2_047, 192 + 1_080),  # 15 blocks of 128
        (1_023, 1_000, 1_023),
        (1_024, 1_023, 89.6 + 128),
    ],
)
def test_only_whole_blocks_of_prompts_that_are_long_enough_are_found_in_the_cache(
    tokens: int, repeated: int, expected: float
) -> None:
    assert Rates(0.1, 1.0, block=128, minimum=1_024).cost(tokens, repeated) == pytest.approx(expected)


def test_pass_through_is_reckoned_with_as_if_every_token_stood_in_a_whole_block() -> None:
    blocks = Rates(0.1, 1.0, block=256, minimum=1_024)
    assert blocks.cost(2_000, 1_279) == pytest.approx(102.4 + 976)
    assert blocks.least(2_000, 1_279) == pytest.approx(127.9 + 721)
    assert blocks.least(1_000, 900) == 1_000


def test_a_breakpoint_at_which_the_prompt_was_too_short_is_not_found() -> None:
    at_ends = Rates(0.1, 1.25, minimum=1_024, breakpoints=True)
    assert at_ends.cost(1_500, 1_023) == pytest.approx(1_875)
    assert at_ends.cost(1_500, 1_024) == pytest.approx(102.4 + 595)


def test_what_is_too_short_for_the_cache_is_not_written_to_it_either() -> None:
    assert Rates(0.1, 1.25, minimum=1_024).cost(1_000, 900) == 1_000
    assert Rates(0.1, 1.25, minimum=1_024).cost(2_000, 1_000) == pytest.approx(100 + 1_250)
    assert Rates(1.25, 1.25, minimum=1_024).cost(2_000, 1_000) == pytest.approx(2_500)  # cold


def test_where_thinking_hangs_on_what_is_before_it_it_costs_what_it_did_to_think_it() -> None:
    price = Price(input=4, cached=0.2, write=5, output=20)
    bound = replace(prefix_cache("generic", "claude-opus-5.5"), minimum=0)
    assert bound.reasoning
    assert rates(price, bound, idle=0) == Rates(0.05, 1.25, rethinking=5.0)
    assert rates(price, replace(bound, reasoning=False), idle=0) == Rates(0.05, 1.25)
    assert rates(Price(), bound, idle=0).rethinking == 0.0  # no price says what thinking costs


LONG = (100,) * 30  # turns

DECISIONS: list[tuple[str, Rates, PromptSizes, CostSoFar, Terms, tuple[int, str] | None]] = [
    ("nothing has been said before", COLD, standing(), RICH, LEAN, None),
    ("the window holds all", COLD, standing(*[100] * 6), RICH, LEAN, None),
    (
        "a cold cache folds at once",
        COLD,
        standing(*[200] * 7),
        RICH,
        replace(LEAN, tokens=2_000),
        (1, "economic"),
    ),
    ("not if the head is longer than what leaves", COLD, standing(*[100] * 7), RICH, LEAN, None),
    ("an old head leaves, too", COLD, standing(*[100] * 7, head=160), RICH, LEAN, (1, "economic")),
    ("a warm one waits until it has paid for it", CHEAP, standing(*[100] * 15), RICH, EASY, None),
    ("and folds then", CHEAP, standing(*[100] * 20), RICH, EASY, (14, "economic")),
    ("a cheap cache holds what is not under pressure", CHEAP, standing(*[100] * 20), RICH, LEAN, None),
    ("a dear one does not", Rates(0.4, 1.0), standing(*[100] * 20), RICH, LEAN, (14, "economic")),
    ("not with money that was not saved", CHEAP, standing(*[100] * 20), CostSoFar(5_000, 4_800), EASY, None),
    ("under pressure it need not pay off", CHEAP, standing(*[590] * 5, newest=100), RICH, LEAN, (3, "pressure")),
    (
        "but be affordable",
        CHEAP,
        standing(*[590] * 5, newest=100),
        CostSoFar(5_000, 4_900),
        LEAN,
        None,
    ),
    ("the limit forces", CHEAP, standing(*[790] * 5, newest=100), RICH, LEAN, (4, "limit")),
    (
        "and shrinks the window to what is affordable",
        CHEAP,
        standing(*[100] * 39, newest=110),
        CostSoFar(11_000, 10_590),
        LEAN,
        (36, "limit"),
    ),
    (
        "to the newest turn, at a price",
        CHEAP,
        standing(*[700] * 6, newest=100),
        CostSoFar(6_000, 5_480),
        LEAN,
        (5, "limit"),
    ),
    (
        "to nothing where that is too dear",
        CHEAP,
        standing(*[700] * 6, newest=100),
        CostSoFar(6_000, 5_900),
        LEAN,
        (6, "limit"),
    ),
    ("a turn that does not fit leaves", CHEAP, standing(100, 3_900), RICH, LEAN, (2, "limit")),
    ("a limit that cannot be met forces nothing", CHEAP, standing(100, newest=3_900), RICH, LEAN, None),
    ("a closed topic", CHEAP, standing(*[100] * 4), RICH, replace(LEAN, flush=True), (4, "flush")),
    ("not one that was shorter than its summary", CHEAP, standing(100), RICH, replace(LEAN, flush=True), None),
    ("strict", CHEAP, standing(*[100] * 7), CostSoFar(1, 1), replace(LEAN, strict=True), (1, "strict")),
    (
        "strict, by tokens",
        CHEAP,
        standing(*[500] * 3),
        CostSoFar(1, 1),
        replace(LEAN, strict=True),
        (1, "strict"),
    ),
    ("strict, within", CHEAP, standing(*[100] * 6), CostSoFar(1, 1), replace(LEAN, strict=True), None),
    (
        "strict, below what a cache takes",
        Rates(0.1, 1.0, 128, 1_024),
        standing(*[100] * 7),
        RICH,
        replace(LEAN, strict=True),
        (1, "strict"),
    ),
    (
        "not while tools are called",
        CHEAP,
        replace(standing(*[100] * 20), in_loop=True),
        RICH,
        EASY,
        None,
    ),
    ("nor by the letter", CHEAP, replace(standing(*[100] * 9), in_loop=True), RICH, replace(LEAN, strict=True), None),
    (
        "nor on a closed topic",
        CHEAP,
        replace(standing(*[100] * 9), in_loop=True),
        RICH,
        replace(LEAN, flush=True),
        None,
    ),
    (
        "but at a limit",
        CHEAP,
        replace(standing(*[100] * 50), in_loop=True),
        RICH,
        LEAN,
        (44, "limit"),
    ),
    (
        "not where thinking is lost with it",
        Rates(0.1, 1.0, rethinking=5.0),
        replace(standing(*[100] * 20), reasoning=(*[40] * 20, 0)),
        RICH,
        EASY,
        None,
    ),
    (
        "but where none was thought",
        Rates(0.1, 1.0, rethinking=5.0),
        replace(standing(*[100] * 20), reasoning=(0,) * 21),
        RICH,
        EASY,
        (14, "economic"),
    ),
    (
        "later, where instructions are not found behind a fold",
        Rates(0.1, 1.0, breakpoints=True),
        standing(*[100] * 20, prefix=1_500),
        RICH,
        EASY,
        None,
    ),
    (
        "sooner where they are",
        CHEAP,
        standing(*[100] * 20, prefix=1_500),
        RICH,
        EASY,
        (14, "economic"),
    ),
    ("never a longer prompt", Rates(0.5, 1.0), standing(*[10] * 18), RICH, LEAN, None),
    (
        "a closed topic that is too dear",
        CHEAP,
        standing(*[100] * 4),
        CostSoFar(500, 460),
        replace(LEAN, flush=True),
        None,
    ),
    ("a long turn, carried long", CHEAP, standing(800, *[50] * 13), RICH, EASY, (8, "economic")),
    ("one that is not", CHEAP, standing(*[50] * 7, 800, *[50] * 6), RICH, EASY, None),
    (
        "no limit, no pressure",
        CHEAP,
        standing(*LONG),
        RICH,
        Terms(turns=6, tokens=1_200, head=160),
        (24, "economic"),
    ),
]


@pytest.mark.note("2.2/1", "Flush/1", "Variables/3")
@pytest.mark.parametrize(
    ("at", "prompt", "costs", "terms", "expected"),
    [row[1:] for row in DECISIONS],
    ids=[row[0] for row in DECISIONS],
)
def test_when_and_how_far_to_fold(
    at: Rates, prompt: PromptSizes, costs: CostSoFar, terms: Terms, expected: tuple[int, str] | None
) -> None:
    found = decide(at, prompt, costs, terms)
    assert (found.leave, found.reason) == (expected or (0, ""))


def kept(tokens: Sequence[int], limit: int, turns: int) -> int:
    """Complete turns that a strict fold keeps."""
    folding = decide(CHEAP, standing(*tokens), RICH, Terms(turns=turns, tokens=limit, head=0, strict=True))
    return len(tokens) - folding.leave


@pytest.mark.note("2.1/4")
@pytest.mark.parametrize(
    ("tokens", "limit", "turns", "expected"),
    [
        ([], 1_200, 6, 0),
        ([5_000], 1_200, 6, 1),  # the newest is whole, whatever it costs
        ([10, 5_000], 1_200, 6, 1),
        ([100] * 10, 1_200, 6, 6),
        ([300] * 10, 1_200, 6, 4),
        ([100, 1_101], 1_200, 6, 1),
        ([100, 1_100], 1_200, 6, 2),
        ([10, 1_300, 10], 1_200, 6, 1),  # none behind one that does not fit
        ([100] * 3, 1_200, 0, 1),
    ],
)
def test_a_fold_keeps_the_newest_turn_and_older_ones_that_fit(
    tokens: list[int], limit: int, turns: int, expected: int
) -> None:
    assert kept(tokens, limit, turns) == expected


@pytest.mark.note("3.2/3")
@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=20), st.integers(0, 3_000), st.integers(0, 10))
def test_what_is_kept_fits_or_is_the_newest_turn_alone(tokens: list[int], limit: int, turns: int) -> None:
    number = kept(tokens, limit, turns)
    assert number >= 1
    assert number == 1 or (number <= turns and sum(tokens[-number:]) <= limit)


def test_a_folded_prompt_stays_long_enough_for_the_prefix_cache() -> None:
    openai = Rates(0.1, 1.0, block=128, minimum=1_024)
    folding = decide(openai, standing(*LONG), RICH, LEAN)
    assert folding.leave
    assert standing(*LONG).folded(30 - folding.leave, 0) in range(1_024, 1_124)  # whatever its head


@given(
    st.lists(st.integers(10, 1_000), min_size=1, max_size=60),
    st.sampled_from([0.05, 0.1, 0.17, 0.25, 0.5]),
    st.integers(0, 300),
    st.integers(0, 400),
)
def test_an_economic_fold_obeys_lindys_rule(turns: list[int], cached: float, old_head: int, head: int) -> None:
    prompt = standing(*turns, head=old_head)
    terms = Terms(turns=6, tokens=1_200, head=head)
    folding = decide(Rates(cached, 1.0), prompt, CostSoFar(1e9, 0), terms)
    if folding.leave:
        left, kept = sum(turns[: folding.leave]) + old_head, sum(turns[folding.leave :])
        assert cached * left * len(turns) >= (1 - cached) * kept + head - 1e-6


@st.composite
def conversations(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Tokens of every user message and of its answer."""
    scale = draw(st.sampled_from([20, 100, 600]))
    tokens = st.integers(1, scale)
    return draw(st.lists(st.tuples(tokens, tokens), min_size=1, max_size=120))


def bills(said: list[tuple[int, int]], at: Rates, terms: Terms) -> tuple[list[float], list[float], list[int]]:
    """Costs of pass-through and of what is sent, request by request, and the sizes of what is sent."""
    baselines, costs, sizes = list[float](), list[float](), list[int]()
    start = head = stable = before = 0
    for index, (asked, _) in enumerate(said):
        turns = [sum(turn) for turn in said[:index]]
        original = sum(turns) + asked
        baselines.append(at.cost(original, before))
        before = original
        prompt = PromptSizes(0, head, turns[start:], asked, stable)
        if leave := decide(at, prompt, CostSoFar(sum(baselines), sum(costs)), terms).leave:
            start, head, stable = start + leave, terms.head, 0
        sizes.append(head + sum(turns[start:]) + asked)
        costs.append(at.cost(sizes[-1], stable))
        stable = sizes[-1]
    return baselines, costs, sizes


CACHES = st.builds(
    Rates,
    st.sampled_from([0.05, 0.1, 0.17, 0.25, 0.5, 1.0]),
    st.just(1.0),
    st.sampled_from([1, 64, 256]),
    st.sampled_from([0, 1_024]),
)


# A fold of it leaves less than a block: nothing of that is found, where pass-through has just filled one.
LESS_THAN_A_BLOCK = [
    *[(1, 1)] * 8, (1, 16), (1, 14), (1, 10), (1, 3), (1, 1), (1, 1), (14, 20), (1, 16), (1, 13), (1, 16), (1, 1),
    (1, 1), (1, 10), (1, 14), (1, 3), (1, 3), (1, 18), (1, 1), (1, 3), (4, 20), (20, 1), (1, 1),
]  # fmt: skip


@example(LESS_THAN_A_BLOCK, Rates(0.05, 1.0, block=256))
@given(conversations(), CACHES)
def test_without_a_limit_no_moment_of_any_conversation_costs_more_than_pass_through(
    said: list[tuple[int, int]], at: Rates
) -> None:
    baselines, costs, _ = bills(said, at, Terms(turns=6, tokens=1_200, head=160))
    assert all(spent <= plain + 1e-6 for spent, plain in zip(accumulate(costs), accumulate(baselines), strict=True))


@pytest.mark.note("2.1/9")
@given(conversations(), CACHES)
def test_under_a_limit_prompts_stay_within_it_and_costs_within_the_regret(
    said: list[tuple[int, int]], at: Rates
) -> None:
    baselines, costs, sizes = bills(said, at, LEAN)
    assert max(sizes) <= 4_000
    # What a limit folds to less than the cache takes is billed in full until it has grown again.
    too_short = at.minimum * (1 - at.cached)
    assert all(
        spent <= (1 + FORCED) * plain + too_short + 1e-6
        for spent, plain in zip(accumulate(costs), accumulate(baselines), strict=True)
    )


@pytest.mark.note("6/5")
@pytest.mark.parametrize("ratio", [0.1, 0.17, 0.25, 0.5, 1.0])
def test_a_long_conversation_costs_a_fraction_and_its_prompt_stops_growing(ratio: float) -> None:
    baselines, costs, sizes = bills([(40, 80)] * 300, Rates(ratio, 1.0), LEAN)
    assert sum(costs) <= 0.35 * sum(baselines)
    assert max(sizes[150:]) <= max(sizes[:150])


def test_what_memory_adds_stays_within_the_regret() -> None:
    costs = CostSoFar(baseline=10_000, spent=8_000)
    added = allowance(CHEAP, 3_000, 2_000, costs)
    assert added == 1_000
    assert costs.spent + CHEAP.cost(3_000 + added, 2_000) <= (1 + REGRET) * costs.baseline


def test_what_is_not_asked_for_leaves_a_reserve_of_the_savings() -> None:
    costs = CostSoFar(baseline=10_000, spent=8_000)
    added = allowance(CHEAP, 3_000, 2_000, costs, regret=-RESERVE)
    assert added == 300
    assert costs.spent + CHEAP.cost(3_000 + added, 2_000) <= (1 - RESERVE) * costs.baseline


def test_nothing_is_added_when_nothing_was_saved() -> None:
    assert allowance(CHEAP, 3_000, 2_000, CostSoFar(baseline=10_000, spent=9_900)) == 0


def test_where_writing_to_the_cache_costs_more_less_is_added() -> None:
    costs = CostSoFar(baseline=10_000, spent=8_000)
    dear = replace(CHEAP, write=1.25)
    added = allowance(dear, 3_000, 2_000, costs)
    assert added == math.floor((10_000 * (1 + REGRET) - 8_000 - dear.cost(3_000, 2_000)) / 1.25)
    assert 0 < added < 1_000


def test_the_numbers_behind_a_decision_are_those_of_the_fold_that_is_made() -> None:
    prompt = standing(500, 400, 300, prefix=100, head=80)
    cold = Rates(1.0, 1.0)
    told = decide(cold, prompt, RICH, replace(EASY, turns=1))
    assert (told.leave, told.reason, told.turns) == (2, "economic", 3)
    assert told.standing == 100 + 80 + 1_200 + 50
    assert told.folded == 100 + EASY.head + 300 + 50
    assert told.advance == told.folded - told.standing
    assert told.carried == 500  # the older of the two has been carried once since it left the window
    assert told.regret == pytest.approx((RICH.spent + told.folded) / RICH.baseline - 1)
    assert (told.cached, told.write, told.baseline, told.spent) == (1.0, 1.0, RICH.baseline, RICH.spent)


def test_where_nothing_folds_they_are_those_of_the_fold_that_was_considered() -> None:
    prompt = standing(500, 400, 900, prefix=100)
    told = decide(Rates(0.1, 1.0), prompt, RICH, replace(EASY, turns=1))
    assert (told.leave, told.reason) == (0, "")
    assert told.folded == 100 + EASY.head + 900 + 50


def test_an_alias_has_the_prefix_cache_of_the_model_that_it_stands_for() -> None:
    entry = upstream(dialect="openai", aliases={"fast": "gpt-6-sol"})
    assert (
        assumed_cache(entry, "fast", Price()) == prefix_cache("openai", "gpt-6-sol") != prefix_cache("openai", "fast")
    )


def test_every_dialect_has_rates() -> None:
    for dialect in DIALECTS.values():
        assert 0 < rates(Price(), prefix_cache(dialect.name, "m"), idle=0).cached <= 1


# --- the cache to reckon with ----------------------------------------------------------------------------------------

HALF = {"input": 1, "cached": 0.5, "output": 4}


def upstream(**settings: Any) -> Upstream:
    return Upstream.model_validate({"name": "up", "base_url": "https://up/v1", **settings})


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("settings", "cached"),
    [
        ({}, UNPRICED),
        ({"price": {"input": 1, "output": 4}}, UNPRICED),  # nothing is said of cached tokens
        ({"price": HALF}, 0.5),
        ({"price": {**HALF, "cached": 1}}, 1.0),
        ({"price": {**HALF, "cached": 2}}, 1.0),
        ({"price": {**HALF, "input": 0, "cached": 0}}, UNPRICED),  # no price at all
        ({"price": HALF, "cache": "none"}, 1.0),
        ({"cache": "none"}, 1.0),
        ({"price": HALF, "cache": "assumed"}, 0.5),
    ],
)
def test_every_upstream_has_one_unless_it_is_known_not_to(
    dialect: str, settings: dict[str, Any], cached: float
) -> None:
    entry = upstream(dialect=dialect, **settings)
    price = price_for(entry, "m")
    cache = assumed_cache(entry, "m", price)
    assert cache == (NO_CACHE if cached == 1.0 else prefix_cache(dialect, "m"))
    assert rates(price, cache, idle=0.0).cached == pytest.approx(cached)


@given(
    st.sampled_from(sorted(DIALECTS)),
    st.none() | st.floats(0, 10),
    st.sampled_from(["assumed", "none"]),
    st.floats(0, 1e6),
)
def test_a_cached_token_never_costs_more_than_one_that_is_not(
    dialect: str, cached: float | None, cache: str, idle: float
) -> None:
    priced = {"input": 1, "output": 4} | ({} if cached is None else {"cached": cached})
    entry = upstream(dialect=dialect, cache=cache, price=priced)
    price = price_for(entry, "m")
    found = rates(price, assumed_cache(entry, "m", price), idle=idle)
    assert 0 <= found.cached <= found.write
    assert found.write == 1.0
