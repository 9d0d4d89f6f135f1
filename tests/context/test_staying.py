"""Facts stay in front of the question that called for them: they are billed once, and never lost with a fold or kept
when they are forgotten."""

from dataclasses import replace

import pytest

from proxy.context.draft import Memory
from proxy.context.staying import left, remembered
from proxy.types import PathState, ToldFacts, VolatileBlock
from tests.builders import Said, assistant, user
from tests.context.told import WARM, Teller, Told, exchange, fact, history, profile, recalling

TEA = fact("drinks tea without sugar", b"e" * 16, name="tea", session="another")
DOG = fact("has a dog called Rex", b"d" * 16, name="dog", session="another")
KNOWN = frozenset({"tea", "dog"})
STATE = PathState(turns=2, at=0.0, newest=3, before=9, original=9, sent=9, stable=9, baseline=1.0, spent=1.0)
TOLD = ToldFacts(1, "<memory>", 7, ("tea",))


def needing(*relevant: object, known: frozenset[str] = KNOWN) -> Memory:
    return Memory(relevant=relevant, facts=known)  # type: ignore[arg-type]  # facts


def sent(told: Told) -> list[str]:
    return [said.text for said in told.sent if said.role == "user"]


@pytest.mark.parametrize(
    ("block", "newest", "indices"),
    [
        (VolatileBlock("<memory>", 7, facts=7, fact_ids=("dog",)), 5, [1, 3]),
        (VolatileBlock("<memory>", 7, facts=7, fact_ids=("dog",)), 3, [1]),  # the same turn: it is still the block
        (VolatileBlock("<recalled>", 7), 5, [1]),  # goes with its question
        (VolatileBlock(), 5, [1]),
    ],
)
def test_a_block_of_facts_alone_is_left_where_it_is(block: VolatileBlock, newest: int, indices: list[int]) -> None:
    assert sorted(left(replace(STATE, volatile=block, told=(TOLD,)), newest)) == indices
    assert left(None, newest) == {}


@pytest.mark.parametrize(("facts", "stays"), [({"tea", "dog"}, True), ({"dog"}, False), (set(), False)])
def test_what_is_forgotten_leaves_every_question(facts: set[str], *, stays: bool) -> None:
    assert remembered({1: TOLD}, facts, lambda _index: False) == ({1: TOLD} if stays else {})


@pytest.mark.parametrize("breakpoints", [False, True])
def test_the_next_question_repeats_the_facts_to_the_byte_and_does_not_say_them_again(*, breakpoints: bool) -> None:
    teller = Teller(rates=replace(WARM, breakpoints=breakpoints))
    said = history(3)
    first = teller.ask(*said, user("Tea?"), memory=needing(TEA))
    second = teller.ask(*said, user("Tea?"), assistant("Yes."), user("More tea?"), memory=needing(TEA))
    assert [each.raw for each in second.sent[: len(first.sent)]] == [each.raw for each in first.sent]
    assert sum(TEA.value in text for text in sent(second)) == 1
    assert second.state.volatile.text == ""
    # All that was sent is found again: nothing but what is new costs its full price.
    rates = teller.circumstances["rates"]
    assert first.state.stable == first.managed.tokens.sent
    assert second.state.spent - first.state.spent == rates.cost(second.managed.tokens.sent, first.managed.tokens.sent)


def test_another_fact_is_told_with_the_question_that_calls_for_it() -> None:
    teller = Teller()
    said = history(3)
    teller.ask(*said, user("Tea?"), memory=needing(TEA))
    found = teller.ask(*said, user("Tea?"), assistant("Yes."), user("And the dog?"), memory=needing(TEA, DOG))
    texts = sent(found)[-2:]
    assert TEA.value in texts[0]
    assert TEA.value not in texts[1]
    assert DOG.value in texts[1]
    assert found.managed.tokens.mechanisms.facts > found.state.volatile.facts


def test_what_is_forgotten_since_is_gone_and_what_is_dear_about_it_is_booked() -> None:
    teller = Teller()
    said = history(3)
    teller.ask(*said, user("Tea?"), memory=needing(TEA))
    found = teller.ask(
        *said, user("Tea?"), assistant("Yes."), user("And now?"), memory=needing(known=frozenset({"dog"}))
    )
    assert not any(TEA.value in text for text in sent(found))
    assert found.state.told == ()
    assert found.managed.kind == "untouched"


def test_a_fact_goes_with_its_turn_and_comes_back_with_the_next_question_about_it() -> None:
    asked: list[Said] = [*history(2), user("Tea?"), assistant("Yes.")]
    teller = Teller()
    teller.ask(*asked[:-1], memory=needing(TEA))
    many = [each for number in range(4, 12) for each in exchange(number, 200)]
    for stop in range(2, len(many), 2):
        teller.ask(*asked, *many[:stop], user("Next?"), profile=profile(budget=900), memory=needing(), limit=900)
    last = teller.ask(*asked, *many, user("Tea again?"), profile=profile(budget=900), memory=needing(TEA), limit=900)
    assert last.state.fold is not None
    assert last.state.told == ()
    assert sum(TEA.value in text for text in sent(last)) == 1
    assert TEA.value in sent(last)[-1]


def test_excerpts_go_with_their_question_and_take_the_facts_beside_them_along() -> None:
    teller = Teller(limit=700)
    said = [each for number in range(12) for each in exchange(number, 100)]
    asked = (*said, user("What was the first thing?"))
    for stop in range(4, len(said), 2):
        teller.ask(*said[:stop], user("Next?"))
    last = teller.ask(*asked)
    memory = replace(needing(TEA), wanted=500, is_asked_for=True, recall=recalling(last.case))
    told = teller.ask(*asked, memory=memory)
    assert "<recalled>" in told.state.volatile.text
    assert TEA.value in told.state.volatile.text
    assert not told.state.volatile.stays


def test_excerpts_of_a_message_that_is_forgotten_leave_every_question() -> None:
    quoting = replace(TOLD, quoted=(0,))
    assert remembered({1: quoting}, KNOWN, lambda _index: False) == {1: quoting}
    assert remembered({1: quoting}, KNOWN, lambda index: index == 0) == {}
