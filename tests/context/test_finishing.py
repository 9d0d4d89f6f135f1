"""The costs of a plan, and the breakpoints that it sets."""

from dataclasses import replace

import pytest

from proxy.context.caching import Caching, caching
from proxy.context.draft import Memory, Pointed
from proxy.types import Breakpoints, PrefixCache, Price, Repeats
from tests.builders import assistant, calling, messages, result, system, user
from tests.context.told import (
    WARM,
    Teller,
    asking,
    counter,
    excerpt,
    history,
    words,
)


@pytest.mark.parametrize("block", [1, 256])
def test_what_goes_as_it_came_costs_what_passing_it_through_does_wherever_blocks_begin(block: int) -> None:
    for told in Teller(rates=replace(WARM, block=block)).tell(*history(8, 30), user("8?")):
        assert told.managed.messages is None
        assert told.state.spent == pytest.approx(told.state.baseline)


@pytest.mark.parametrize("breakpoints", [False, True])
def test_behind_a_block_that_goes_a_breakpoint_is_lost_and_the_one_before_it_is_found(*, breakpoints: bool) -> None:
    teller = Teller(rates=replace(WARM, breakpoints=breakpoints))
    said = history(3)
    needed = Memory(pointed=Pointed(0, ("oolong",), excerpt(b"e" * 16, "oolong", session="another")))
    plain = teller.ask(*said, user("3?"))
    with_block = teller.ask(*said, user("3?"), assistant("3."), user("Tea?"), memory=needed)
    assert with_block.state.volatile.text
    after = teller.ask(*said, user("3?"), assistant("3."), user("Tea?"), assistant("Yes."), user("And now?"))
    answer = counter.message(messages(assistant("3."))[0])
    assert with_block.state.stable == plain.managed.tokens.sent + (0 if breakpoints else answer)
    assert after.state.spent - with_block.state.spent == teller.circumstances["rates"].cost(
        after.managed.tokens.sent, with_block.state.stable
    )


def marking(asked: Breakpoints, *, idle: float = 60.0) -> Caching:
    cache = PrefixCache(300.0, minimum=64, marked=True)
    return caching(Price(1.0, 0.1, 1.25, 5.0), cache, asked, idle=idle, prefix=20, may_set=True)


ALL, NONE = marking(Breakpoints(messages=True)), marking(Breakpoints())


def test_breakpoints_belong_at_the_end_of_what_the_next_turn_repeats() -> None:
    teller = Teller(limit=2_000, caching=ALL)
    said = [*history(30), user("What was the first thing?")]
    calm = teller.tell(*said[:-1])[-1]
    assert calm.managed.repeats == Repeats(len(calm.sent), whole=True, minimum=64)
    asked = teller.ask(*said, memory=asking)
    assert asked.managed.repeats == Repeats(len(asked.before_newest), whole=False, minimum=64)
    calls = teller.ask(*said, calling("c"), result("c"))
    assert calls.managed.repeats == Repeats(len(asked.before_newest), whole=True, minimum=64)
    later = teller.ask(*said, calling("c"), result("c"), assistant("Tea."), user("Thanks"))
    assert later.sent[: len(asked.before_newest)] == asked.before_newest
    assert later.managed.repeats == Repeats(len(later.sent), whole=True, minimum=64)


def test_none_of_a_prompt_without_its_older_turns_is_repeated_but_the_instructions() -> None:
    teller = Teller(limit=2_000, caching=ALL)
    said = [*history(12, 150), user("What was the first thing?")]
    teller.tell(*said[:-1])
    told = teller.ask(*said, memory=lambda of: replace(asking(of), wanted=1_500))
    assert told.state.omitted > 0
    assert told.managed.repeats == Repeats(0, whole=False, minimum=64)


def test_behind_the_last_breakpoint_a_prompt_is_not_written() -> None:
    teller = Teller(limit=2_000, caching=ALL)
    said = [*history(30), user("What was the first thing?")]
    before = teller.tell(*said[:-1])[-1]
    told = teller.ask(*said, memory=asking)
    sent, stable, held = told.managed.tokens.sent, told.state.stable, before.state.stable
    assert told.state.spent - before.state.spent == pytest.approx(
        0.1 * held + 1.25 * (stable - held) + 1.0 * (sent - stable)
    )


def test_where_the_client_sets_none_pass_through_is_billed_in_full_and_ours_are_read_later() -> None:
    told = Teller(limit=1_500, caching=NONE).tell(*history(40), user("40?"))
    assert sum(each.managed.tokens.original for each in told[1:]) <= told[-1].state.baseline
    managed = [each for each in told if each.managed.messages is not None]
    assert all(each.managed.repeats is not None for each in managed)
    assert all(each.state.is_written == (each.managed.repeats is not None) for each in told)
    first = next(at for at, each in enumerate(told) if each.managed.messages is not None)
    assert told[first].managed.tokens.expected == 0  # before it nothing was written
    assert told[first + 1].managed.tokens.expected == told[first].state.stable
    assert all(each.state.spent <= 1.1 * each.state.baseline for each in told)
    assert all(each.managed.tokens.repeated == 0 for each in told)


def test_none_are_set_where_the_conversation_rests() -> None:
    resting = marking(Breakpoints(), idle=400.0)
    told = Teller(limit=1_500, caching=resting).tell(*history(40), user("40?"))
    assert all(each.managed.repeats is None for each in told)
    assert all(each.managed.tokens.expected == 0 for each in told)
    assert told[-1].state.spent == pytest.approx(sum(each.managed.tokens.sent for each in told))


def test_near_its_limit_a_prompt_gets_the_breakpoint_that_its_first_fold_will_need() -> None:
    said = [system(words(200)), *history(8)[1:], user("8?")]
    told = Teller(limit=2_000, caching=ALL).tell(*said)
    ahead = [each for each in told if each.managed.messages == tuple(each.case.messages)]
    assert [each.managed.tokens.original > 1_000 for each in told] == [each in ahead for each in told]
    assert ahead
    assert all(each.managed.repeats is not None for each in ahead)
    assert all(each.managed.tokens.sent == each.managed.tokens.original for each in ahead)
    for other in (Caching(ALL.rates, ALL.alone, is_marked=True), Caching(ALL.rates, ALL.alone)):
        assert all(each.managed.messages is None for each in Teller(limit=2_000, caching=other).tell(*said))


def test_a_first_fold_finds_the_instructions_only_where_they_have_a_breakpoint_of_their_own() -> None:
    for is_split in (False, True):
        prices = caching(
            Price(1.0, 0.1, 1.25, 5.0),
            PrefixCache(300.0, minimum=64, marked=True),
            Breakpoints(messages=True),
            idle=60.0,
            prefix=20,
            may_set=True,
            is_split=is_split,
        )
        told = Teller(limit=2_000, caching=prices).tell(*history(30), user("30?"))
        folds = [each for each in told if each.managed.tokens.busted]
        assert folds
        assert all((each.managed.tokens.expected > 0) == is_split for each in folds)
