"""What holds of every plan, whatever is said, remembered and paid: conversations that Hypothesis makes up, told request
by request."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import pytest
from hypothesis import given, settings

from proxy.context.alternatives import CHEAPER
from proxy.context.draft import FRAMING
from proxy.context.slots import turns_of
from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.message import INSTRUCTIONS
from proxy.types import Fold, Message
from proxy.types.memory import ToldFacts, VolatileBlock
from tests.builders import left_out
from tests.context.conversations import SETTINGS, Setting, Step, steps, tell
from tests.context.told import OVERHEAD, Told, counter
from tests.examples import examples

SLACK = 10  # tokens: of the framing of two blocks, more is reckoned with than there can be
EXAMPLES = examples(50)


def _slack(*told: Told) -> int:
    """The same, with the facts of earlier questions, each of which has a block."""
    return SLACK + FRAMING * max(len(each.state.told) for each in told)


def _source(told: Told) -> list[tuple[int, Message]]:
    """The messages that were sent, but for instructions, each with the index of the client's own: what stands before
    the first user message, and the newest of the others."""
    own = [index for index, said in enumerate(told.case.messages) if said.role not in INSTRUCTIONS]
    sent = [said for said in told.sent if said.role not in INSTRUCTIONS]
    first = sum(index < told.progress.preamble for index in own)
    return list(zip([*own[:first], *own[len(own) - len(sent) + first :]], sent, strict=True))


def _ends_with(content: Any, said: Any) -> bool:
    if isinstance(said, list):
        return isinstance(content, list) and content[len(content) - len(said) :] == said
    return isinstance(content, str) and content.endswith(said or "")


def _common(one: Sequence[Message], other: Sequence[Message]) -> int:
    """Tokens of the messages that both begin with."""
    pairs = zip(one, other, strict=False)
    same = list(takewhile(lambda pair: pair[0].raw == pair[1].raw, pairs))
    begun = [said[len(same)].text if len(said) > len(same) else "" for said in (one, other)]
    characters = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*begun, strict=False)))
    return sum(counter.message(said) for said, _ in same) + characters // 4


def what_the_user_said_last_is_sent_verbatim(done: Sequence[Told]) -> None:
    for each in done:
        tail = len(each.case.messages) - each.progress.newest
        newest, original = each.sent[-tail], each.case.messages[each.progress.newest]
        assert newest.role == "user"
        assert newest.raw == original.raw or _ends_with(newest.data["content"], original.data["content"])
        assert {**newest.data, "content": 0} == {**original.data, "content": 0}


def instructions_are_sent_to_the_byte(done: Sequence[Told]) -> None:
    for each in done:
        given_ = [said.raw for said in each.case.messages if said.role in INSTRUCTIONS]
        sent = [said.raw for said in each.sent if said.role in INSTRUCTIONS]
        if each.context.role == "user":
            assert sent == given_
        else:
            assert sent == given_ or sent[1:] in (given_, given_[1:])
            assert sum(said.role in INSTRUCTIONS for said in each.sent[1:]) <= len(given_)


def what_is_kept_is_kept_in_order_and_to_the_byte(done: Sequence[Told]) -> None:
    """But for what carries a block, an answer without its middle, and the marker of a tool result."""
    for each in done:
        fold = each.state.fold
        replaced = {*(fold.capped if fold else ()), *each.state.folded_results}
        source = _source(each)
        begins = next(index for index, _ in source if index >= each.progress.preamble)
        carriers = {each.progress.newest, begins, *(told.index for told in each.state.told)}
        for index, said in source:
            original = each.case.messages[index]
            if index in carriers:
                continue
            if index in replaced and said.role in ("assistant", "tool"):
                continue
            assert said.raw == original.raw


def no_upstream_refuses_what_it_would_not_have_refused_before(done: Sequence[Told]) -> None:
    for each in done:
        for dialect in DIALECTS.values():
            before = {found.rule for found in violations(each.case.messages, dialect)}
            assert {found.rule for found in violations(each.sent, dialect)} <= before


def within_the_limit_or_said_to_be_over_it(done: Sequence[Told]) -> None:
    for each in done:
        limit = each.context.limit
        assert (limit is not None and each.managed.tokens.sent > limit) == (each.managed.kind == "over-budget")
        assert limit is None or each.tokens <= limit or each.managed.kind == "over-budget"


def what_is_sent_is_what_is_told_to_be_and_never_more(done: Sequence[Told]) -> None:
    for each in done:
        assert 0 <= each.managed.tokens.sent - each.tokens <= _slack(each)
        assert each.managed.tokens.original == OVERHEAD + sum(map(counter.message, each.case.messages))


def the_mechanisms_add_up(done: Sequence[Told]) -> None:
    for each in done:
        did = each.managed.tokens.mechanisms
        assert all(tokens >= 0 for _, tokens in did.items())
        assert abs(each.managed.tokens.original - left_out(did) + did.added - each.managed.tokens.sent) <= _slack(each)


def no_prompt_is_larger_than_the_clients_but_for_facts(done: Sequence[Told]) -> None:
    for each in done:
        assert each.managed.tokens.sent <= each.managed.tokens.original + each.managed.tokens.mechanisms.facts
        assert each.tokens <= each.managed.tokens.original + each.managed.tokens.mechanisms.facts + _slack(each)


def the_same_gives_the_same_from_memory_and_from_storage(done: Sequence[Told]) -> None:
    for each in done:
        assert each.planned_again() == each.managed
        assert each.planned_from_storage() == each.managed


def between_folds_a_prompt_goes_on_where_the_one_before_ended(done: Sequence[Told]) -> None:
    """All that stood before its newest user message, with the facts in front of that; within a turn all of it."""
    by_state = {id(each.state): each for each in done}
    for each in done:
        if each.case.state is None:
            continue
        before = by_state[id(each.case.state)]
        state = each.state
        if _is_whole_again(each) or _is_whole_again(before):
            continue
        if state.fold != before.state.fold or state.folded_results != before.state.folded_results:
            continue
        stood_there: list[ToldFacts | VolatileBlock] = [*before.state.told, before.state.volatile]
        told = {name for block in stood_there for name in block.fact_ids}
        quoted = {each.case.chain[at] for block in stood_there for at in block.quoted}
        if not (each.memory.facts >= told and each.memory.forgotten.isdisjoint(quoted)):
            continue  # what is forgotten leaves the questions that it was told with
        if each.progress.newest == before.progress.newest:
            if state.volatile.text != (stood := before.state.volatile.text):
                assert each.context.limit is not None
                assert not state.volatile.text
                assert each.managed.tokens.sent + counter.text(stood) + FRAMING > each.context.limit
                continue
            assert [said.raw for said in each.sent[: len(before.sent)]] == [said.raw for said in before.sent]
        elif not state.omitted and not before.state.omitted:
            kept = before.sent if before.state.volatile.stays else before.before_newest
            assert [said.raw for said in each.sent[: len(kept)]] == [said.raw for said in kept]


def _is_whole_again(told: Told) -> bool:
    """Tells whether the client's own prompt was sent, though something has left the managed one."""
    return told.managed.messages is None and bool(told.state.fold or told.state.folded_results)


def what_has_left_and_is_forgotten_does_not_come_back(done: Sequence[Told]) -> None:
    for each in done:
        if _is_whole_again(each):
            assert each.managed.reason == CHEAPER
            assert each.memory.forgotten.isdisjoint(each.case.chain)


def no_turn_is_in_two_summaries_and_none_is_written_again(done: Sequence[Told]) -> None:
    """Between folds a head gets no summary; at a fold those that a model has made stay as they are, or leave."""
    by_state = {id(each.state): each for each in done}
    for each in done:
        fold = each.state.fold
        before = by_state[id(each.case.state)].state.fold if each.case.state is not None else None
        held = fold.summaries if fold else ()
        turns = [turn for summary in held for turn in range(summary.first_turn, summary.last_turn + 1)]
        assert turns == sorted(set(turns))
        assert all(turn < each.progress.turns for turn in turns)
        if fold is None or before is None:
            continue
        stood = set(before.summaries)
        assert fold.start != before.start or set(held) <= stood
        if fold.forgotten == before.forgotten and each.memory.facts >= set(before.fact_ids):
            made = {summary for summary in stood if summary.by_model}
            assert all(summary in made or turns_of(made).isdisjoint(turns_of([summary])) for summary in held)


def inside_a_tool_loop_nothing_folds_that_a_limit_does_not_force(done: Sequence[Told]) -> None:
    by_state = {id(each.state): each for each in done}
    for each in done:
        if each.case.messages[-1].role != "tool":
            continue
        trail = each.managed.trail
        assert trail is not None
        weighed, limit = trail.break_even, each.context.limit
        if weighed is not None and (limit is None or weighed.standing <= limit):
            assert (weighed.leave, weighed.reason) == (0, "")
        before = by_state.get(id(each.case.state))
        tokens = each.managed.tokens
        if before is None or (limit is not None and tokens.original + tokens.mechanisms.added > limit):
            continue
        assert _start(each) == _start(before)
        if each.context.rates.rethinking and any(said.reasoning for said in each.case.messages):
            assert each.state.folded_results == before.state.folded_results


def _start(told: Told) -> int:
    fold = told.state.fold
    return fold.start if fold else told.progress.preamble


def what_is_taken_for_cached_was_sent_before(done: Sequence[Told]) -> None:
    """The books count on it: never more than what the prompt shares with one that went before it on its path."""
    by_state = {id(each.state): each for each in done}
    for each in done:
        ancestors, state = [], each.case.state
        while state is not None:
            ancestors.append(by_state[id(state)])
            state = ancestors[-1].case.state
        if not ancestors:
            continue
        spent = each.state.spent - each.case.state.spent  # type: ignore[union-attr]  # it has ancestors
        shared = OVERHEAD + max(_common(each.sent, other.sent) for other in ancestors)
        # What goes as it came is booked as pass-through is, wherever blocks begin.
        price = each.context.rates.least if each.managed.messages is None else each.context.rates.cost
        slack = _slack(each, *ancestors)
        least = price(each.managed.tokens.sent, min(shared + slack, each.managed.tokens.sent))
        assert spent >= least - slack * each.context.rates.write
        assert 0 <= each.managed.tokens.expected <= min(shared + slack, each.managed.tokens.sent)


def unless_turns_leave_no_more_is_busted_than_is_not_repeated(done: Sequence[Told]) -> None:
    """Of what the request before left to be repeated."""
    by_state = {id(each.state): each for each in done}
    for each in done:
        before = by_state.get(id(each.case.state))
        if before is None or _begins(before) != _begins(each):
            continue
        state, goes_on = before.state, each.progress.newest == before.progress.newest
        if state.omitted and not goes_on:
            continue  # what is left to be repeated is of a prompt before that one
        left = state.sent if goes_on else state.stable
        # Where whole prompts alone are found, a change anywhere loses all of it.
        shared = 0 if each.context.rates.breakpoints else OVERHEAD + _common(each.sent, before.sent)
        assert 0 <= each.managed.tokens.busted <= max(0, left - shared) + _slack(each, before)


def _begins(told: Told) -> Any:
    """Where the turns that are sent begin, and what stands before them."""
    state = told.state
    fold = state.fold or Fold(told.progress.preamble)
    return fold.start, fold.head, fold.capped, state.omitted


INVARIANTS = (
    no_turn_is_in_two_summaries_and_none_is_written_again,
    what_the_user_said_last_is_sent_verbatim,
    instructions_are_sent_to_the_byte,
    what_is_kept_is_kept_in_order_and_to_the_byte,
    no_upstream_refuses_what_it_would_not_have_refused_before,
    within_the_limit_or_said_to_be_over_it,
    what_is_sent_is_what_is_told_to_be_and_never_more,
    unless_turns_leave_no_more_is_busted_than_is_not_repeated,
    the_mechanisms_add_up,
    no_prompt_is_larger_than_the_clients_but_for_facts,
    the_same_gives_the_same_from_memory_and_from_storage,
    between_folds_a_prompt_goes_on_where_the_one_before_ended,
    what_has_left_and_is_forgotten_does_not_come_back,
    what_is_taken_for_cached_was_sent_before,
    inside_a_tool_loop_nothing_folds_that_a_limit_does_not_force,
)


@pytest.mark.note("1.3/8", "2.1/9", "3.1/2", "4.1/3", "5.3/1", "7 SÍ/4")
@given(setting=SETTINGS, told=steps())
@settings(max_examples=EXAMPLES)
def test_every_plan_keeps_the_invariants(setting: Setting, told: list[Step]) -> None:
    done = tell(setting, told)
    for holds in INVARIANTS:
        holds(done)
