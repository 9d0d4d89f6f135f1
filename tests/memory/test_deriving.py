"""Domain and key of facts that people write down."""

from dataclasses import replace

import pytest

from proxy.memory.deriving import Derived, derived, drafted
from proxy.memory.edits import Draft
from proxy.memory.extract import extract
from proxy.memory.facts import fact_of
from proxy.types import Fact, Statement


def fact(domain: str, key: str, value: str, superseded_by: str | None = None) -> Fact:
    told = Statement(domain, key, value, "high")
    return replace(fact_of(told, "f-0123456789abcdef", 1.0), superseded_by=superseded_by)


@pytest.mark.parametrize(
    ("value", "domain", "key", "pinned"),
    [
        ("I live in Rosario", "personal", "residence", False),
        ("  Vivo en C\u00f3rdoba\n", "personal", "residence", False),
        ("I work at Acme as a nurse", "work", "job", False),
        ("Respond\u00e9 siempre en espa\u00f1ol", "preferences", "rule-language", True),
        ("always answer in English", "preferences", "rule-language", True),
        ("blood type O negative", "personal", "blood-type-negative", False),  # nobody would take it for an order
        ("What time is it?", "personal", "time", False),
        ("\u00bfqu\u00e9?", "personal", "note", False),
        ("\u2026", "personal", "note", False),
    ],
)
def test_a_text_has_a_place(value: str, domain: str, key: str, *, pinned: bool) -> None:
    assert derived(value, ()) == Derived(domain, key, pinned)


@pytest.mark.parametrize("value", ["I live in Rosario", "My dog is called Toby", "Mi hermana Carla vive en Lima"])
def test_it_is_the_place_of_the_fact_that_a_conversation_would_have_made(value: str) -> None:
    (stated,) = extract(value)
    found = derived(value, ())
    assert (found.domain, found.key, found.pinned) == (stated.domain, stated.key, stated.pinned)


def test_the_fact_that_it_takes_the_place_of_is_told() -> None:
    holds = fact("personal", "residence", "I live in Lima")
    ended = fact("personal", "residence", "I live in Quito", superseded_by="f-0")
    other = fact("work", "residence", "I live at the office")
    assert derived("I live in Rosario", [ended, other, holds]).replaces == holds
    assert derived("I live in Lima", [ended, other, holds]).replaces is None
    assert derived("I live in Rosario", [ended, other]).replaces is None


def test_a_draft_is_what_is_named_and_the_rest_derived() -> None:
    assert drafted("I live in Rosario", ()) == Draft("personal", "residence", "I live in Rosario")
    assert drafted("I live in Rosario", (), key="home", confidence="low") == Draft(
        "personal", "home", "I live in Rosario", "low"
    )
    assert drafted("always answer in English", (), domain="work", key="tone", pinned=False) == Draft(
        "work", "tone", "always answer in English"
    )
