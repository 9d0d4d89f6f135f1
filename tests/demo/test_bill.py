import math
from typing import Any

import pytest

from proxy.demo.bill import Bill, PromptCache, growth, prompt_tokens, table
from proxy.demo.conversation import Ask
from proxy.types import PrefixCache, Usage
from tests.scripted.config import four_bytes_a_token


def test_a_bill_adds_up_what_was_billed_and_nothing_else() -> None:
    bill = Bill()
    bill.add(Usage(1_000_000, 500_000, cached_tokens=400_000), reused=False)
    bill.add(Usage(1_000_000, 500_000), reused=True)
    bill.add(None, reused=False)
    assert (bill.requests, bill.reused) == (3, 1)
    assert (bill.prompt, bill.cached, bill.completion) == (1_000_000, 400_000, 500_000)
    assert bill.cost == pytest.approx(0.6 * 0.95 + 0.4 * 0.16 + 0.5 * 4.0)


@pytest.mark.parametrize(
    ("answer", "remembered"),
    [("It is 200.", 1), ("I don't know.", 0), ("It was 100.", 0), ("It was 100 and is 200.", 0)],
)
def test_what_holds_is_remembered_and_what_held_before_is_not(answer: str, remembered: int) -> None:
    bill = Bill()
    bill.check(Ask("How much?", expects="200", outdated="100"), answer)
    bill.check(Ask("Good morning."), answer)
    assert (bill.asked, bill.remembered) == (1, remembered)
    assert bill.forgotten == ["How much?"] * (1 - remembered)


def test_a_mark_stays_as_it_was() -> None:
    bill = Bill(prompt=1_000)
    bill.mark(20)
    bill.prompt += 1_000
    bill.mark(60)
    assert [(turns, mark.prompt) for turns, mark in bill.marks.items()] == [(20, 1_000), (60, 2_000)]


def test_the_tables_tell_both_plays_and_their_difference() -> None:
    direct, proxied = Bill(prompt=2_000), Bill(prompt=1_000, recalled=300)
    direct.mark(20)
    proxied.mark(20)
    assert growth(direct.marks, proxied.marks).splitlines()[-1].split() == [
        "20", "2,000", "1,000", "300", "0.0019", "0.0009", "-50%",
    ]  # fmt: skip
    assert "50.0%" in table(direct, proxied)


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


def test_a_conversation_that_goes_on_begins_with_its_own_tokens() -> None:
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "hola"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x"}]},
    ]
    longer = [*history, {"role": "tool", "tool_call_id": "x", "content": [{"type": "text", "text": "12:00"}]}]
    fields = {"tools": [{"type": "function", "function": {"name": "clock"}}]}
    short, long = (prompt_tokens(fields, messages, four_bytes_a_token) for messages in (history, longer))
    assert long[: len(short)] == short
    assert len(long) > len(short)
    assert prompt_tokens({}, history, four_bytes_a_token)[: len(short)] != short
