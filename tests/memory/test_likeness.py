"""Statements as they are compared: the values of a scope, and which of them are near."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.values import normal
from proxy.memory.analysis import analyse
from proxy.memory.facts import fact_of
from proxy.memory.likeness import ComparedValues, details, nearest
from proxy.types.memory import Statement


@given(
    st.lists(st.sampled_from(["I live in Oslo", "Vivo en Oslo.", "the budget is 3k", "I have a boat"]), max_size=8),
    st.lists(st.sampled_from(["I live in Oslo", "Vivo en Oslo.", "the budget is 3k", "I have a boat"]), max_size=8),
)
def test_values_that_are_kept_are_those_of_the_scope(before: list[str], after: list[str]) -> None:
    values = ComparedValues()
    for said in (before, after):
        assert sum(1 for _ in values.refreshed(set(said))) == len(set(said) - (set(before) if said is after else set()))
    assert values.keys() == set(after)
    assert all(each.normal == normal(value) and each.said == analyse(value) for value, each in values.items())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I pay 450 to Marta", {"450", "marta"}),
        ("The start of a sentence is no name", set()),
        ("we use React-18, not vue", {"react-18"}),
    ],
)
def test_details_are_numbers_names_and_identifiers(text: str, found: set[str]) -> None:
    assert details(text) == found


def test_a_statement_that_still_holds_is_that_of_the_fact_with_its_rare_words() -> None:
    said = ["the budget of the trip is 3k", "the budget of the kitchen is 9k", "I have a boat"]
    facts = [
        fact_of(Statement("work", f"k-{at}", value, "high"), f"f-{at:016x}", float(at)) for at, value in enumerate(said)
    ]
    values = ComparedValues()
    values.add(said)
    again = Statement("work", "x", "the kitchen's budget stays as it was", "high")
    assert nearest(facts, again, values) == facts[1]
    assert nearest(facts, Statement("work", "x", "Marta sings on Sundays", "high"), values) is None


def test_near_values_are_those_that_share_a_word() -> None:
    values = ComparedValues()
    values.add(["I have a boat", "I live in Oslo"])
    assert values.sharing(analyse("the boat is red").words) == {"I have a boat"}
    assert values.same(normal("i have a BOAT")) == {"I have a boat"}
