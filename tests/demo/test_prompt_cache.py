"""A prefix cache has what was sent before, in whole blocks, for as long as it says."""

import math
from typing import Any

import pytest

from proxy.demo.prompt_cache import PromptCache
from proxy.types import PrefixCache


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def cache(clock: Clock | None = None, bound: int = 1000, **spec: Any) -> PromptCache:
    return PromptCache(PrefixCache(**{"ttl": 300.0, "block": 4, **spec}), clock or Clock(), bound)


def test_the_first_time_nothing_is_cached_and_the_second_time_every_whole_block_is() -> None:
    known = cache()
    assert known.admit("key", "model", range(11)) == 0
    assert known.admit("key", "model", range(11)) == 8


@pytest.mark.parametrize(
    ("second", "cached"),
    [
        ([*range(12), 99, 98, 97, 96], 12),  # goes on: the old prompt is the prefix
        ([*range(8), 99, 98, 97, 96], 8),  # differs in the third block
        ([*range(7), 99, *range(8, 12)], 4),  # differs in the second: the third is the same, but no prefix
        ([99, *range(1, 12)], 0),
        ([*range(3)], 0),  # shorter than a block
    ],
)
def test_a_prefix_counts_up_to_the_first_block_that_differs(second: list[int], cached: int) -> None:
    known = cache()
    known.admit("key", "model", range(12))
    assert known.admit("key", "model", second) == cached


@pytest.mark.parametrize(("key", "model"), [("other", "model"), ("key", "other")])
def test_nothing_crosses_keys_or_models(key: str, model: str) -> None:
    known = cache()
    known.admit("key", "model", range(12))
    assert known.admit(key, model, range(12)) == 0


def test_a_block_is_forgotten_when_it_has_been_idle_for_the_ttl_and_each_use_renews_it() -> None:
    clock = Clock()
    known = cache(clock)
    known.admit("key", "model", range(8))
    clock.now += 299
    assert known.admit("key", "model", range(8)) == 8
    clock.now += 299
    assert known.admit("key", "model", range(8)) == 8
    clock.now += 300
    assert known.admit("key", "model", range(8)) == 0


def test_the_least_recently_used_blocks_leave_when_the_bound_is_reached() -> None:
    known = cache(bound=4)
    known.admit("key", "a", range(8))
    known.admit("key", "b", range(8))
    assert known.admit("key", "a", range(8)) == 8
    known.admit("key", "c", range(8))
    assert len(known) == 4
    assert known.admit("key", "b", range(8)) == 0


def test_short_prompts_are_not_cached_below_the_minimum() -> None:
    known = cache(minimum=12)
    known.admit("key", "model", range(11))
    assert known.admit("key", "model", range(11)) == 0
    known.admit("key", "model", range(12))
    assert known.admit("key", "model", range(12)) == 12


@pytest.mark.parametrize(("ttl", "cached"), [(0.0, 0), (math.inf, 8)])
def test_without_a_ttl_there_is_no_cache_and_with_an_endless_one_it_stays(ttl: float, cached: int) -> None:
    known = cache(ttl=ttl)
    known.admit("key", "model", range(8))
    assert known.admit("key", "model", range(8)) == cached
