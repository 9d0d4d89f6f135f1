"""What a question calls for, looked up: facts, and how much of the past."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.context import planning
from proxy.context.draft import Memory
from proxy.context.recollecting import ANSWERED, recollect
from proxy.conversation.progress import Case, progress
from proxy.conversation.turns import archived, complete
from proxy.memory.shelf import Shelf
from proxy.types import Fact, PathState, Plan
from tests.builders import NOW, Said, assistant, calling, messages, result, user
from tests.context.conversations import conversations
from tests.context.told import LEAN, Teller, by_model, case, context, exchange, fact, profile
from tests.examples import examples

BOAT = [user("My boat is called Marigold."), assistant("A fine name for a boat.")]
TALK: list[Said] = [*BOAT, *(each for number in range(30) for each in exchange(number))]
QUESTION = user("What did I say my boat is called?")


def recollected(
    said: Sequence[Said], shelf: Shelf, *, state: PathState | None = None, limit: int | None = 1_500, **asking: Any
) -> tuple[Memory, Case]:
    of = case(messages(*said), state=state)
    so_far = progress(of)
    assert so_far is not None
    return recollect(context(of, limit=limit, **asking), of, so_far, shelf), of


def shelf_of(*facts: Fact) -> Shelf:
    return Shelf(facts={each.id: each for each in facts})


def test_a_history_that_is_new_is_searched_at_once_and_left_out_turns_alone_are_recalled() -> None:
    memory, of = recollected([*TALK, QUESTION], shelf := Shelf())
    assert of.chain[0] in shelf.index
    assert memory.wanted > 0
    assert memory.is_asked_for
    start = len(TALK) - 4
    found = memory.recall(500, start)
    assert "My boat is called Marigold." in [each.text for each in found]
    assert {each.link for each in found}.isdisjoint(of.chain[start:])
    assert sum(each.tokens for each in found) <= 500


def test_a_fold_gets_the_summaries_that_a_model_has_made() -> None:
    stored = by_model(case(messages(*TALK)), 1, 2)
    shelf = Shelf(summaries=(stored,))
    assert recollected([*TALK, QUESTION], shelf)[0].summaries == (stored,)
    assert recollected([*TALK, QUESTION], Shelf())[0].summaries == ()


def test_small_talk_calls_for_nothing() -> None:
    memory, _ = recollected([*TALK, user("Thanks!")], Shelf())
    assert (memory.wanted, memory.is_asked_for) == (0, False)


@pytest.mark.parametrize(("cap", "tokens", "most"), [(300, "rest", 300), (4_000, 200, 200), (0, "rest", 0)])
def test_no_more_is_wanted_than_the_profile_allows(cap: int, tokens: int | str, most: int) -> None:
    of = case(messages(*TALK, QUESTION), profile=profile(LEAN, recall={"cap": cap, "tokens": tokens}))
    so_far = progress(of)
    assert so_far is not None
    assert recollect(context(of, limit=1_500), of, so_far, Shelf()).wanted <= most


def test_where_the_prompt_holds_all_nothing_is_searched() -> None:
    memory, _ = recollected([*BOAT, user("And the sails?")], Shelf(), limit=None)
    assert (memory.wanted, memory.recall(500, 2)) == (0, ())


def elsewhere() -> Shelf:
    """A scope with another conversation."""
    shelf, given = Shelf(), messages(*BOAT)
    of = case(given)
    for start, stop in complete(given):
        shelf.put(archived(given, of.chain, start, stop, number=1, session="another", at=NOW - 90_000), None)
    return shelf


@pytest.mark.parametrize(
    ("is_private", "question", "is_told"),
    [(True, QUESTION, True), (False, QUESTION, False), (True, user("My boat is leaking."), False)],
)
def test_other_conversations_are_told_to_whom_they_belong_if_the_past_is_asked_for(
    is_private: bool, question: Said, is_told: bool
) -> None:
    memory, _ = recollected([question], elsewhere(), limit=None, is_private=is_private)
    assert ([each.session for each in memory.recall(500, 0)] != []) == is_told


def test_standing_facts_go_with_every_request_and_others_with_a_question_about_them() -> None:
    standing = fact("Always answer in Spanish", b"e" * 16, name="f-1")
    boat = replace(fact("The boat is called Marigold", b"f" * 16, name="f-2"), pinned=False)
    old = replace(standing, id="f-3", key="k", last_confirmed_at=NOW - 400 * 86_400)
    shelf = shelf_of(standing, boat, old)
    memory, _ = recollected([user("What is my boat called?")], shelf)
    assert [each.id for each in memory.standing] == ["f-1"]
    assert [each.id for each in memory.relevant] == ["f-2"]
    assert memory.facts == {"f-1", "f-2", "f-3"}
    assert recollected([user("Thanks!")], shelf)[0].relevant == ()


def test_what_the_last_turns_say_is_not_said_again() -> None:
    boat = replace(fact("boat is called Marigold", b"f" * 16), pinned=False)
    said = [user("The boat is called Marigold."), assistant("Nice."), user("What is my boat called?")]
    assert recollected(said, shelf_of(boat))[0].relevant == ()


def test_a_fact_that_answers_goes_alone() -> None:
    boat = replace(fact("My boat is called Marigold", b"f" * 16), pinned=False)
    others = [replace(fact(f"My boat has {at} sails", b"g" * 16, name=f"s-{at}"), pinned=False) for at in range(3)]
    said = [*BOAT, *TALK, user("What is my boat called?")]
    answered, _ = recollected(said, shelf_of(boat, *others))
    searched, _ = recollected(said, shelf_of(*others))
    assert answered.relevant == (boat,)
    assert answered.wanted <= ANSWERED < searched.wanted


def test_a_fact_that_answers_goes_though_the_question_has_most_of_its_words() -> None:
    boat = replace(fact("My old green wooden boat is called Marigold", b"f" * 16), pinned=False)
    memory, _ = recollected([*TALK, user("How is my old green wooden boat called?")], shelf_of(boat))
    assert memory.relevant == (boat,)


def test_a_fact_that_answers_goes_with_what_may_have_ended_it() -> None:
    newer = replace(fact("she sails as Daffodil these days", b"g" * 16, name="f-2"), pinned=False)
    boat = replace(fact("My boat is called Marigold", b"f" * 16), pinned=False, doubted_by=newer.id)
    memory, _ = recollected([*TALK, user("What is my boat called?")], shelf_of(boat, newer))
    assert [each.value for each in memory.relevant] == [
        'My boat is called Marigold (later: "she sails as Daffodil these days")'
    ]


def test_beside_a_fact_that_answers_only_what_was_said_since_is_recalled() -> None:
    of = case(messages(*TALK, QUESTION))
    boat = replace(fact("My boat is called Marigold", of.chain[0]), pinned=False)
    asked = [*TALK[:20], user("My boat is now called Daffodil."), assistant("Lovely."), *TALK[20:]]
    memory, _ = recollected([*asked, user("What is my boat called?")], shelf_of(boat))
    assert [each.text for each in memory.recall(100, len(asked))] == ["My boat is now called Daffodil."]


def test_while_a_turn_goes_on_nothing_more_is_looked_up() -> None:
    teller = Teller(limit=1_500)
    asked = [*TALK, QUESTION]
    state = teller.ask(*asked).state
    standing = fact("Always answer in Spanish", b"e" * 16)
    shelf = shelf_of(standing, replace(standing, id="f-2", key="boat", value="boat Marigold", pinned=False))
    memory, _ = recollected([*asked, calling("c"), result("c")], shelf, state=state)
    assert memory == Memory(
        standing=(standing,), facts=frozenset({"f-1", "f-2"}), forgotten=frozenset(), recall=memory.recall
    )


def planned(said: Sequence[Said], shelf: Shelf, limit: int | None, state: PathState | None = None) -> Plan:
    of = case(messages(*said), state=state)
    so_far = progress(of, shelf.histories)
    assert so_far is not None
    how = context(of, limit=limit)
    return planning.make(of, so_far, recollect(how, of, so_far, shelf), how)


QUESTIONS = (
    QUESTION,
    user("Thanks!"),
    user("Cambiemos de tema: ¿qué cocino?"),
    user("What did I decide about Lisboa?"),
)


@settings(max_examples=examples(25))
@given(
    conversations(),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(QUESTIONS)), min_size=2, max_size=5),
    st.sampled_from((None, 300, 1_500)),
)
def test_what_was_asked_before_after_the_same_history_changes_no_plan(
    said: list[Said], asked: list[tuple[int, Said]], limit: int | None
) -> None:
    """Of histories that no state is known of: read before in part or as a whole, or never."""
    shelf, told = Shelf(), [*said, *TALK[:30]]
    for stop, question in asked:
        request = (*told[:stop], question)
        assert planned(request, shelf, limit) == planned(request, Shelf(), limit)


def test_of_a_history_that_goes_on_and_branches_everything_is_indexed() -> None:
    shelf = Shelf()
    branch = [*TALK[:10], user("Or let us talk of trains."), assistant("Of trains, then.")]
    for said in (TALK[:20], TALK, branch, [*branch, *TALK[10:14]], TALK[:12]):
        _, of = recollected([*said, QUESTION], shelf)
        assert all(link in shelf.index for link in of.chain[:-1])
    assert len(shelf.index) == len(TALK) + 2 + 4


def test_what_is_forgotten_is_not_indexed_again_with_the_history_that_has_it() -> None:
    shelf = Shelf()
    of = case(messages(*TALK, QUESTION))
    shelf.forgotten = frozenset({of.chain[0]})
    memory, _ = recollected([*TALK, QUESTION], shelf)
    assert of.chain[0] not in shelf.index
    assert of.chain[1] not in shelf.index
    assert memory.forgotten == {of.chain[0]}
    assert "Marigold" not in str([each.text for each in memory.recall(2_000, len(TALK))])


def test_nor_is_what_said_that_something_be_forgotten() -> None:
    shelf = Shelf()
    said = [
        *TALK[:2],
        user("Forget that my boat is called Marigold."),
        assistant("Done."),
        *TALK[2:],
        QUESTION,
    ]
    _, of = recollected(said, shelf)
    assert of.chain[2] not in shelf.index
    assert of.chain[0] in shelf.index
