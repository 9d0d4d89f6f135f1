"""Facts that were learnt apart, merged: no fact is lost, and what a newer one ends is history."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.ageing import DAY
from proxy.memory.extract import extract
from proxy.memory.facts import learn
from proxy.memory.reuniting import reunited
from proxy.types.memory import Fact


def told_apart(*messages: str, day: int) -> list[Fact]:
    """The facts of somebody who says these, a day each, and has said nothing before."""
    known: dict[str, Fact] = {}
    for at, message in enumerate(messages, start=day):
        changes = learn(known.values(), extract(message), session="s", turn=at, link=at.to_bytes(16), now=at * DAY)
        known.update((fact.id, fact) for fact in changes)
    return list(known.values())


def together(*groups: list[Fact]) -> dict[str, Fact]:
    rows = {fact.id: fact for group in groups for fact in group}
    return rows | {fact.id: fact for fact in reunited(groups)}


def current_values(facts: dict[str, Fact]) -> list[str]:
    return sorted(fact.value for fact in facts.values() if fact.superseded_by is None)


@pytest.mark.parametrize(
    ("wiped", "since", "holds"),
    [
        (["I live in Madrid."], ["I live in Porto."], ["live in porto"]),
        (["Vivo en Madrid."], ["Vivo en Oporto."], ["vivo en oporto"]),
        (["I live in Madrid.", "I'm allergic to nuts."], ["I live in Porto."], ["live in porto", "allergic to nuts"]),
        (["Soy vegano."], ["Ya no soy vegano."], ["ya no soy vegano"]),
        (["I live in Madrid."], ["I live in Madrid."], ["live in madrid"]),
        (["My dog is called Rex."], ["My cat is called Tom."], ["cat is called tom", "dog is called rex"]),
        (["I live in Madrid."], [], ["live in madrid"]),
        ([], ["I live in Madrid."], ["live in madrid"]),
    ],
)
def test_what_a_newer_fact_ends_comes_back_as_history(wiped: list[str], since: list[str], holds: list[str]) -> None:
    facts = together(told_apart(*wiped, day=1), told_apart(*since, day=10))
    found = sorted(value.lower() for value in current_values(facts))
    assert len(found) == len(holds)
    assert all(held in value for held, value in zip(holds, found, strict=True))
    for fact in facts.values():
        if fact.superseded_by is not None:
            assert facts[fact.superseded_by].superseded_by is None
            assert fact.superseded_at == facts[fact.superseded_by].created_at


def test_and_it_is_so_between_two_wipes_as_well() -> None:
    groups = (
        told_apart("I live in Madrid.", day=1),
        told_apart("I live in Porto.", day=5),
        told_apart("I live in Rome.", day=9),
    )
    facts = together(*groups)
    (holds,) = (fact for fact in facts.values() if fact.superseded_by is None)
    assert "Rome" in holds.value
    madrid, porto = groups[0][0].id, groups[1][0].id
    assert facts[madrid].superseded_by == porto
    assert facts[porto].superseded_by == holds.id


def test_what_was_confirmed_later_is_the_newer_one() -> None:
    (madrid,), (porto,) = told_apart("I live in Madrid.", day=1), told_apart("I live in Porto.", day=3)
    facts = together([replace(madrid, last_confirmed_at=5 * DAY)], [porto])
    assert facts[porto.id].superseded_by == madrid.id
    assert facts[porto.id].superseded_at == 3 * DAY


def test_those_of_one_group_were_there_together_and_stay_so() -> None:
    (madrid,), (porto,) = told_apart("I live in Madrid.", day=1), told_apart("I live in Porto.", day=3)
    assert reunited([[madrid, porto]]) == ()
    assert reunited([]) == ()


def test_what_is_said_again_keeps_what_both_knew_of_it() -> None:
    (first,), (again,) = told_apart("I live in Madrid.", day=1), told_apart("I live in Madrid.", day=9)
    facts = together([replace(first, pinned=True, confidence="high")], [replace(again, confidence="medium")])
    assert facts[first.id].superseded_by == again.id
    held = facts[again.id]
    assert (held.pinned, held.confidence, set(held.links)) == (True, "high", {*first.links, *again.links})


def test_what_holds_of_a_fact_that_is_ended_in_part_stays() -> None:
    band = told_apart("I'm left-handed, I play bass and have a Jazzmaster.", day=1)
    facts = together(band, told_apart("I sold the Jazzmaster.", day=9))
    assert any("left-handed" in value and "Jazzmaster" not in value for value in current_values(facts))


def test_no_two_that_hold_have_one_key_and_those_of_now_keep_theirs() -> None:
    (dog,), (cat,) = told_apart("My dog is called Rex.", day=1), told_apart("My cat is called Tom.", day=9)
    dog, cat = replace(dog, domain="home", key="pet"), replace(cat, domain="home", key="pet")
    facts = together([dog], [cat])
    assert (facts[cat.id].key, facts[dog.id].key) == ("pet", "pet-2")


SAID_APART = st.sampled_from(
    [
        "I live in Madrid.",
        "Vivo en Oporto.",
        "My dog is called Rex.",
        "I'm vegan.",
        "I'm not vegan anymore.",
        "Soy zurdo.",
    ]
)


@given(st.lists(SAID_APART, max_size=4), st.lists(SAID_APART, max_size=4), st.lists(SAID_APART, max_size=4))
def test_nothing_is_lost_and_twice_is_as_good_as_once(one: list[str], two: list[str], three: list[str]) -> None:
    groups = [told_apart(*said, day=day) for day, said in ((1, one), (10, two), (20, three))]
    facts = together(*groups)
    assert {fact.id for group in groups for fact in group} <= set(facts)
    assert all(fact.superseded_by is None or fact.superseded_by in facts for fact in facts.values())
    keys = {fact.id: (fact.domain, fact.key) for fact in facts.values() if fact.superseded_by is None}
    now = {fact.id for fact in groups[-1]}  # they keep theirs
    assert all(list(keys.values()).count(key) == 1 for name, key in keys.items() if name not in now)
    assert reunited([list(facts.values())]) == ()
