"""What a question gets of the past: what it may cost, and whose room it takes."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from proxy.context.budget import TokenBudget
from proxy.context.draft import Draft, Memory
from proxy.context.economics import CostSoFar
from proxy.context.folding import FoldPlanner
from proxy.context.volatile import LEAST_RECALL, LEAST_TURNS, VolatilePlanner
from proxy.conversation.progress import progress
from proxy.types import Excerpt
from tests.builders import Said, messages, system, user
from tests.context.told import WARM, case, context, excerpt, exchange, fact, recalling, words

S = system("Be brief.")
SAID: list[Said] = [S, *(each for number in range(8) for each in exchange(number)), user("What was the first thing?")]
ELSEWHERE = fact("drinks tea without sugar", b"e" * 16, session="another")


class Rich(TokenBudget):
    """Of a conversation that has saved a lot."""

    def costs(self) -> CostSoFar:
        return CostSoFar(1_000_000, 0)


class Poor(TokenBudget):
    def costs(self) -> CostSoFar:
        return CostSoFar(1, 1)


def volatile(
    memory: Memory, *, said: Sequence[Said] = SAID, limit: int | None = None, of: type[TokenBudget] = Rich
) -> tuple[VolatilePlanner, Draft]:
    asked = case(messages(*said))
    so_far = progress(asked)
    assert so_far is not None
    budget = of(asked, so_far, context(asked, limit=limit))
    return VolatilePlanner(budget, memory, FoldPlanner(budget, memory)), Draft(None, so_far.open)


def recalled(wanted: int, *, is_asked_for: bool = False) -> Memory:
    return Memory(wanted=wanted, is_asked_for=is_asked_for, recall=recalling(case(messages(*SAID))))


@pytest.mark.parametrize(
    ("wanted", "of", "limit", "is_asked_for", "has_excerpts"),
    [
        (500, Rich, None, False, True),
        (0, Rich, None, False, False),
        (LEAST_RECALL - 1, Rich, None, False, False),  # it holds no message
        (500, Poor, None, False, False),  # it is paid from what was saved
        (500, Poor, None, True, False),  # what the prompt could hold is no need
        (500, Poor, 700, True, True),  # what it could not is
        (500, Poor, 700, False, False),
    ],
)
def test_what_is_recalled_has_its_price(
    wanted: int, of: type[TokenBudget], limit: int | None, is_asked_for: bool, has_excerpts: bool
) -> None:
    needed, draft = volatile(recalled(wanted, is_asked_for=is_asked_for), of=of, limit=limit)
    kept = replace(draft, kept=draft.kept[-2:]) if limit else draft
    found = needed.volatile(replace(kept, omitted=len(kept.kept)), wanted)
    assert ("<recalled>" in found.volatile.text) == has_excerpts
    assert found.volatile.tokens <= wanted + 40


@pytest.mark.parametrize("limit", [400, 600, 1_000])
def test_it_takes_no_more_than_the_limit_leaves(limit: int) -> None:
    needed, draft = volatile(recalled(4_000, is_asked_for=True), limit=limit)
    found = needed.with_volatile(replace(draft, kept=draft.kept[-1:]))
    assert needed.budget.tokens(found) <= limit


def test_a_question_about_the_past_takes_the_room_of_older_turns_but_not_of_the_last() -> None:
    needed, draft = volatile(recalled(4_000, is_asked_for=True), limit=1_000)
    found = needed.with_volatile(draft)
    assert found.omitted == len(draft.kept) - 1  # the last two would take more than their share
    roomy, same = volatile(recalled(4_000, is_asked_for=True), limit=2_000)
    assert len(same.kept) - roomy.with_volatile(same).omitted == LEAST_TURNS


def test_any_other_question_takes_none() -> None:
    needed, draft = volatile(recalled(4_000), limit=1_000)
    assert needed.with_volatile(draft).omitted == 0
    free, draft = volatile(recalled(4_000, is_asked_for=True))
    assert free.with_volatile(draft).omitted == 0


def test_facts_that_the_prompt_holds_are_not_said_again() -> None:
    needed, draft = volatile(Memory())
    held = fact("held", needed.case.chain[-1], name="f-2")
    needed, draft = volatile(Memory(relevant=(ELSEWHERE, held)))
    found = needed.with_volatile(draft)
    assert "without sugar" in found.volatile.text
    assert "held" not in found.volatile.text
    assert found.volatile.facts == found.volatile.tokens > 0


def test_nor_is_a_fact_that_an_excerpt_says() -> None:
    source = excerpt(b"e" * 16, "I drink tea without sugar, mind you.", session="another")

    def recall(_tokens: int, _start: int) -> tuple[Excerpt, ...]:
        return (source,)

    needed, draft = volatile(Memory(relevant=(ELSEWHERE,), wanted=500, recall=recall))
    found = needed.with_volatile(draft)
    assert "mind you" in found.volatile.text
    assert "[preferences]" not in found.volatile.text
    assert found.volatile.facts == 0


@pytest.mark.parametrize(
    ("memory", "of", "said"),
    [
        (Memory(), Poor, ""),
        (Memory(wanted=500, is_faint=True), Poor, "first"),  # a line, where the question may be about it
        (Memory(wanted=500), Poor, "first second third"),
        (Memory(), Rich, "first second third"),
    ],
)
def test_facts_of_this_conversation_go_as_the_need_or_what_was_saved_allows(
    memory: Memory, of: type[TokenBudget], said: str
) -> None:
    own = tuple(fact(f"the {name} of all", b"o" * 16, name=name) for name in ("first", "second", "third"))
    needed, draft = volatile(replace(memory, relevant=own), of=of)
    found = needed.with_volatile(draft).volatile.text
    assert [each.id for each in own if each.value in found] == said.split()


def test_what_comes_from_other_conversations_is_told_apart_since_it_was_never_in_this_prompt() -> None:
    def recall(_tokens: int, _start: int) -> tuple[Excerpt, ...]:
        return (excerpt(b"e" * 16, words(40), session="another"),)

    needed, draft = volatile(Memory(wanted=500, recall=recall))
    found = needed.with_volatile(draft)
    assert found.volatile.others == found.volatile.tokens
    own, draft = volatile(recalled(500))
    assert own.with_volatile(draft).volatile.others == 0


def test_what_costs_nothing_is_nothing() -> None:
    needed, draft = volatile(Memory())
    assert needed.with_volatile(draft) == draft
    assert WARM.cached < WARM.write
