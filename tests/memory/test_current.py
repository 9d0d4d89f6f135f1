from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.ageing import DAY, Decay
from proxy.memory.current import Current, current, read_new
from proxy.memory.kinds import shares
from proxy.types.memory import Fact

DECAY = Decay()


def a_fact(name: str, value: str = "I use Linux", **changes: Any) -> Fact:
    fact = Fact(name, "work", name, value, "medium", "explicit", "s", 1, 0.0, 0.0)
    return replace(fact, **changes)


def needed(found: Current) -> list[Fact]:
    """The facts that a question may need, by their ids."""
    every = [fact for fact, may in zip(found.table.facts, found.table.may, strict=True) if fact is not None and may]
    return sorted(every, key=lambda fact: fact.id)


def test_the_same_facts_are_not_put_in_order_again() -> None:
    facts = [a_fact("a", pinned=True), a_fact("b")]
    first = current(facts, 1.0, DECAY)
    assert current(facts, 2.0, DECAY, first) is not first  # another tuple, which is looked at from now on
    assert current(first.facts, 2.0, DECAY, first) is first
    assert current([replace(fact) for fact in facts], 2.0, DECAY, first).others is first.others


def test_a_fact_that_changed_is_seen() -> None:
    first = current([a_fact("a"), a_fact("b")], 1.0, DECAY)
    then = current([a_fact("a"), a_fact("b", "I use BSD")], 1.0, DECAY, first)
    assert [fact.value for fact in needed(then)] == ["I use Linux", "I use BSD"]


def test_what_grows_old_does_so_on_its_day_whatever_was_found_before() -> None:
    facts = (a_fact("a", pinned=True),)
    first = current(facts, 0.0, DECAY)
    assert current(facts, 29 * DAY, DECAY, first) is first
    old = current(facts, 90 * DAY + 1, DECAY, first)
    assert (old.standing, [fact.id for fact in needed(old)]) == ((), ["a"])
    stale = current(facts, 180 * DAY + 1, DECAY, old)
    assert (stale.standing, needed(stale)) == ((), [])


def test_a_clock_that_goes_back_and_other_limits_are_looked_at_anew() -> None:
    facts = (a_fact("a", pinned=True),)
    old = current(facts, 91 * DAY, DECAY)
    assert [fact.id for fact in current(facts, 1 * DAY, DECAY, old).standing] == ["a"]
    assert [fact.id for fact in current(facts, 91 * DAY, Decay(unconfirmed_after=100 * DAY), old).standing] == ["a"]


def test_the_newest_of_those_that_may_have_ended_a_fact_is_told_beside_it() -> None:
    facts = [
        a_fact("a", "I live in Leeds", doubted_by="b"),
        a_fact("b", "I moved to York", doubted_by="c"),
        a_fact("c", "I moved to Hull"),
    ]
    found = current(facts, 1.0, DECAY)
    assert [found.marked(fact).value for fact in needed(found)] == [
        'I live in Leeds (later: "I moved to Hull")',
        'I moved to York (later: "I moved to Hull")',
        "I moved to Hull",
    ]


def test_facts_that_doubt_one_another_come_to_an_end() -> None:
    facts = [a_fact("a", "one", doubted_by="b"), a_fact("b", "two", doubted_by="a")]
    found = current(facts, 1.0, DECAY)
    assert [found.marked(fact).value for fact in needed(found)] == ['one (later: "two")', 'two (later: "one")']


def held(found: Current) -> object:
    """What a question is compared with, whatever the order of the rows."""
    table = found.table
    names = {row: name for name, row in table.rows.items()}
    assert all((shares(fact.value) == table.kinds[row]).all() for row, fact in enumerate(table.facts) if fact)
    terms = {term: sorted(names[row] for row in rows) for term, rows in table.holding.items()}
    return found.standing, found.ended, found.known, needed(found), sorted(names.values()), terms


NAMES = st.sampled_from("abcd")
STATES = st.fixed_dictionaries(
    {
        "id": NAMES,
        "key": st.sampled_from(["x", "y"]),
        "value": st.sampled_from(["I use Linux", "vivo en Salta", "my dog is Rex"]),
        "pinned": st.booleans(),
        "last_confirmed_at": st.sampled_from([0.0, 29 * DAY, 89 * DAY]),
        "superseded_by": st.none() | NAMES,
        "doubted_by": st.none() | NAMES,
    }
)
SCOPES = st.lists(st.lists(STATES, max_size=4, unique_by=lambda state: state["id"]), min_size=2, max_size=6)


@given(SCOPES, st.lists(st.sampled_from([0.0, 1.0, 91 * DAY, 181 * DAY]), min_size=6, max_size=6))
def test_what_is_made_from_the_facts_before_is_as_if_made_anew(
    scopes: Sequence[Sequence[dict[str, Any]]], times: Sequence[float]
) -> None:
    before = None
    for states, now in zip(scopes, times, strict=False):
        facts = [replace(a_fact("a"), **state) for state in states]
        before = current(facts, now, DECAY, before)
        assert held(before) == held(current(facts, now, DECAY))


def test_only_what_is_new_is_read() -> None:
    facts = [a_fact("a"), a_fact("b", "vivo en Salta")]
    before = current(facts[:1], 0.0, DECAY)
    assert len(list(read_new(facts, before))) == 1
    assert len(list(read_new(facts, None))) == 2
