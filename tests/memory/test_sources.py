"""The origin of a fact, as people are told it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.blocks import memory_head
from proxy.memory.sources import MOST_MESSAGES, MOST_SHOWN, Origin, Said, excerpt, said, unsaid
from proxy.types import ArchivedTurn, Fact, Utterance
from tests.builders import NOW

FACT = Fact("f-1", "personal", "allergy", "I'm allergic to nuts", "high", "explicit", "s", 3, NOW, NOW)
FILLER = "Lorem ipsum dolor sit amet. " * 40
VALUE = FACT.value


def turn(number: int, *texts: str, answer: int = 0) -> ArchivedTurn:
    """A turn with these user messages, the first with the link of its number."""
    links = [f"{number}-{place}".encode() if place else str(number).encode() for place in range(len(texts))]
    utterances = [Utterance("user", text, link) for text, link in zip(texts, links, strict=True)]
    answered = f"a{number}-{answer}".encode()
    return ArchivedTurn(
        answered, b"", "c", number, NOW + number, b"[]", (*utterances, Utterance("assistant", "Noted.", answered))
    )


@pytest.mark.parametrize(
    ("differing", "state"),
    [
        ({"source": "file"}, "file"),
        ({"source": "api"}, "api"),
        ({"source": "auto"}, "auto"),
        ({"turn": 0}, "by_hand"),
        ({}, "gone"),  # what a forgotten message has left
    ],
)
def test_of_a_fact_without_a_message_it_is_told_why(differing: dict[str, Any], state: Any) -> None:
    assert unsaid(replace(FACT, **differing)) == Origin(state)
    assert unsaid(replace(FACT, **differing, links=(b"1",))) is None


def test_the_messages_that_said_it_are_told_oldest_first_and_others_are_not() -> None:
    fact = replace(FACT, links=(b"2", b"1"))
    turns = [turn(1, VALUE, "And so on."), turn(2, f"Again: {VALUE}"), turn(3, "What else?")]
    assert said(fact, turns) == Origin("kept", (Said(VALUE, "c", 1, NOW + 1), Said(f"Again: {VALUE}", "c", 2, NOW + 2)))


def test_a_message_that_was_answered_twice_is_told_once() -> None:
    fact = replace(FACT, links=(b"1",))
    assert len(said(fact, [turn(1, VALUE), turn(1, VALUE, answer=1)]).messages) == 1


def test_of_many_the_first_are_told_and_of_none_that_they_are_gone() -> None:
    fact = replace(FACT, links=tuple(str(number).encode() for number in range(20)))
    assert len(said(fact, [turn(number, VALUE) for number in range(20)]).messages) == MOST_MESSAGES
    assert said(fact, []) == Origin("gone")


@pytest.mark.parametrize(
    ("said", "value", "shown"),
    [
        ("Remember that I'm allergic to nuts.", VALUE, "Remember that I'm allergic to nuts."),
        (f"{FILLER}Also, I'm allergic to nuts.{FILLER}", VALUE, VALUE),
        (f"{FILLER}Also, I'M  allergic\nto nuts.{FILLER}", VALUE, "I'M  allergic\nto nuts"),
        (f"{FILLER}I live in Rosario. By the way. With a dog.", "I live in Rosario. With a dog.", "I live in Rosario."),
        (f"{VALUE}. {FILLER}", VALUE, VALUE),
        (f"{FILLER}{VALUE}.", VALUE, VALUE),
        (FILLER, VALUE, "Lorem ipsum"),
        (f"{memory_head('- [personal] it is so', ())}\n\nI'm allergic to nuts.", VALUE, "I'm allergic to nuts."),
        ("", VALUE, ""),
        (FILLER, "", "Lorem ipsum"),
    ],
)
def test_an_excerpt_has_the_value_in_it(said: str, value: str, shown: str) -> None:
    found = excerpt(said, value)
    assert shown in found
    assert len(found) <= MOST_SHOWN
    assert "<memory>" not in found


@given(st.text(max_size=2_000), st.text(max_size=400))
def test_it_is_short_and_verbatim(said: str, value: str) -> None:
    found = excerpt(said, value)
    assert len(found) <= MOST_SHOWN
    assert found.removeprefix("…").removesuffix("…") in said or found in said
