"""Facts in order: once, until one of them changes or grows old."""

from dataclasses import replace

from proxy.memory.current import current
from proxy.memory.facts import DAY, Decay
from proxy.types.memory import Fact

DECAY = Decay()


def a_fact(name: str, value: str = "I use Linux", **changes: object) -> Fact:
    fact = Fact(name, "work", name, value, "medium", "explicit", "s", 1, 0.0, 0.0)
    return replace(fact, **changes)  # type: ignore[arg-type]  # fields of a Fact, by name


def test_the_same_facts_are_not_put_in_order_again() -> None:
    facts = [a_fact("a", pinned=True), a_fact("b")]
    first = current(facts, 1.0, DECAY)
    assert current(facts, 2.0, DECAY, first) is not first  # another tuple, which is looked at from now on
    assert current(first.facts, 2.0, DECAY, first) is first
    assert current([replace(fact) for fact in facts], 2.0, DECAY, first).others is first.others


def test_a_fact_that_changed_is_seen() -> None:
    first = current([a_fact("a"), a_fact("b")], 1.0, DECAY)
    then = current([a_fact("a"), a_fact("b", "I use BSD")], 1.0, DECAY, first)
    assert [fact.value for fact in then.others] == ["I use Linux", "I use BSD"]


def test_what_grows_old_does_so_on_its_day_whatever_was_found_before() -> None:
    facts = (a_fact("a", pinned=True),)
    first = current(facts, 0.0, DECAY)
    assert current(facts, 29 * DAY, DECAY, first) is first
    old = current(facts, 90 * DAY + 1, DECAY, first)
    assert (old.standing, [fact.id for fact in old.others]) == ((), ["a"])
    stale = current(facts, 180 * DAY + 1, DECAY, old)
    assert (stale.standing, stale.others) == ((), ())


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
    assert [found.told(fact).value for fact in found.others] == [
        'I live in Leeds (later: "I moved to Hull")',
        'I moved to York (later: "I moved to Hull")',
        "I moved to Hull",
    ]


def test_facts_that_doubt_one_another_come_to_an_end() -> None:
    facts = [a_fact("a", "one", doubted_by="b"), a_fact("b", "two", doubted_by="a")]
    found = current(facts, 1.0, DECAY)
    assert [found.told(fact).value for fact in found.others] == ['one (later: "two")', 'two (later: "one")']
