"""A model that errs in every way it can: nothing wrong is kept, and everything right is."""

from dataclasses import replace
from random import Random
from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.curation.asking import shown_of
from proxy.types import FactSource
from tests.builders import NOW
from tests.curation.builders import DAY
from tests.curation.conversations import carried_out, conversations, gold, perfect
from tests.curation.erring import BROKEN, ERRORS, ERRORS_OF_MEANING, Error, Scene, broken, erring, outcome, scene
from tests.examples import examples

Drawn: TypeAlias = tuple[int, int, Random]
EVERY = conversations()
SCENES = st.tuples(st.integers(0, len(EVERY) - 1), st.integers(1, len(EVERY) - 1), st.randoms(use_true_random=False))


def staged(at: int, further: int) -> Scene:
    """A conversation, and one of somebody else."""
    return scene(EVERY[at], EVERY[(at + further) % len(EVERY)])


def perfectly(it: Scene) -> bytes:
    return msgspec.json.encode(perfect(it.conversation, shown_of(it.question.shown)))


@pytest.mark.long
@given(SCENES)
@settings(max_examples=examples(60), deadline=None)
def test_of_an_answer_with_errors_exactly_the_right_operations_are_kept(drawn: Drawn) -> None:
    at, further, random = drawn
    it = staged(at, further)
    answer, wrong = erring(it, random, ERRORS)
    done = carried_out(it.conversation, it.question, answer)
    of_operations = done.lines[: len(msgspec.json.decode(answer)["operations"])]
    assert [line.reason for place, line in enumerate(of_operations) if place in wrong and line.result == "kept"] == []
    assert outcome(it, answer) == outcome(it, perfectly(it))


@pytest.mark.parametrize("error", [*ERRORS, *ERRORS_OF_MEANING], ids=lambda error: error.__name__)
def test_each_error_is_refused_in_every_conversation(error: Error) -> None:
    kept = []
    for at in range(len(EVERY)):
        it = staged(at, 7)
        operation = error(it, Random(at))
        done = carried_out(it.conversation, it.question, msgspec.json.encode({"operations": [operation]}))
        kept += [(it.conversation.id, line) for line in done.lines if line.result == "kept"]
        assert done.facts == ()
    assert kept == []


@given(SCENES)
@settings(max_examples=examples(40), deadline=None)
def test_of_answers_of_which_a_fifth_is_broken_the_others_are_kept_and_nothing_is_lost(drawn: Drawn) -> None:
    at, further, random = drawn
    it = staged(at, further)
    answer = perfectly(it)
    if random.random() < BROKEN:
        done = carried_out(it.conversation, it.question, broken(answer, random))
        assert (done.facts, done.events, done.summary, done.slug) == ((), (), None, "")
        assert done.unread
    else:
        assert carried_out(it.conversation, it.question, answer).unread == ""


@pytest.mark.parametrize(
    "change", [{"value": "Something else now"}, {"superseded_by": "f-" + "0" * 16}, {"pinned": True}]
)
def test_facts_that_have_changed_meanwhile_stay_as_they_are(change: Any) -> None:
    for conversation in EVERY:
        question, answer = gold(conversation)
        facts = {name: replace(fact, **change) for name, fact in conversation.facts.items()}
        done = carried_out(conversation, question, answer, facts=facts)
        assert [fact for fact in done.facts if fact.id in facts] == []


@pytest.mark.parametrize("source", ["explicit", "file", "api"])
@pytest.mark.parametrize("confirmed", [NOW - DAY, NOW + DAY / 2])
def test_what_a_person_stated_is_never_ended_and_after_it_nothing_is_put_beside_it(
    source: FactSource, confirmed: float
) -> None:
    for conversation in EVERY:
        known = {
            name: replace(fact, source=source, last_confirmed_at=confirmed) for name, fact in conversation.known.items()
        }
        stated = replace(conversation, known=known)
        question, answer = gold(stated)
        done = carried_out(stated, question, answer)
        rows = {fact.id: fact for fact in done.facts}
        assert [fact for name, fact in rows.items() if name in stated.facts and fact.superseded_by is not None] == []
        if confirmed > NOW:
            changed = [line for line in done.lines if line.op in {"update", "invalidate", "merge"}]
            assert [line for line in changed if line.result == "kept"] == []


def test_an_answer_carried_out_twice_is_carried_out_once_in_every_conversation() -> None:
    for conversation in EVERY:
        question, answer = gold(conversation)
        first = carried_out(conversation, question, answer)
        after = {**conversation.facts, **{fact.id: fact for fact in first.facts}}
        again = carried_out(conversation, question, answer, facts=after)
        assert (again.facts, again.lines) == ((), first.lines)


@given(SCENES, st.integers(0, 6))
@settings(max_examples=examples(30), deadline=None)
def test_killed_while_it_writes_an_erring_answer_comes_to_the_same(drawn: Drawn, written: int) -> None:
    at, further, random = drawn
    it = staged(at, further)
    answer, _ = erring(it, random, ERRORS)
    known = it.conversation.facts
    first = carried_out(it.conversation, it.question, answer)
    half = {**known, **{fact.id: fact for fact in first.facts[:written]}}
    again = carried_out(it.conversation, it.question, answer, facts=half)
    assert {**half, **{fact.id: fact for fact in again.facts}} == {**known, **{fact.id: fact for fact in first.facts}}
    assert again.lines == first.lines
