"""Where values stand in texts, and lines without them. How files are scrubbed by it: tests/files/test_scrubbing.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.values import Values, normal


def values(*texts: str) -> Values:
    return Values(frozenset(texts))


@pytest.mark.parametrize(
    ("value", "text", "is_in"),
    [
        ("I live in Neuquén", "and i LIVE, in neuquen!", True),
        ("I live in Neuquén", "I live\n in\r\n Neuquén", True),
        ("I live in Neuquén", "I live in Salta, not Neuquén", False),
        ("Salta", "from Saltadores", False),  # a short value only as whole words
        ("Salta", "from salta.", True),
        ("saltadores", "los-saltadoresdelnorte", True),  # a long one also within words
        ("C++", "I write c++ at work", True),
        ("C++", "C is fine", False),
        ("5", "at 5 o'clock", True),
        ("5", "at 15 o'clock", False),
        ("", "anything", False),
        ("...", "wait ... what", True),
    ],
)
def test_a_value_is_found_however_it_is_written(value: str, text: str, is_in: bool) -> None:
    assert values(value).is_in(text) is is_in
    assert values(value, "something else altogether").is_in(text) is is_in


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("- I live in Neuquén\n- likes tea", "- forgotten\n- likes tea"),
        ("> 1. i live in neuquen\r\n", "> 1. forgotten\r\n"),
        ("- vivo en Salta, I live in\n  Neuquén, hace mucho\n", "- forgotten\n  olvidado\n"),
        ("# I live in Neuquén\n", "# forgotten\n"),
        ("nothing of it\n\n", "nothing of it\n\n"),
        ("", ""),
    ],
)
def test_a_line_with_a_value_keeps_what_opens_it(text: str, left: str) -> None:
    gone = values("I live in Neuquén")
    assert gone.without(text) == left
    assert gone.without(left) == left


def test_a_heading_keeps_a_word_that_anybody_writes() -> None:
    assert values("Salta").without("# Salta\n- Salta") == "# Salta\n- forgotten"


def test_without_values_nothing_is_found() -> None:
    assert not values().is_in("anything")
    assert values().without("any\nthing") == "any\nthing"
    assert values("I like tea.").is_one("i like TEA")
    assert not values("I like tea.").is_one("i like teas")


words = st.sampled_from(["tea", "Tee", "té", "C++", "red", "Ñandú", "a", "7", "-", "\n", "house-boat", "…"])
texts = st.lists(words, max_size=8).map(" ".join)


@given(st.frozensets(texts, max_size=3), texts)
def test_looking_fast_finds_what_looking_closely_finds(sought: frozenset[str], text: str) -> None:
    assert Values(sought).is_in(text) == any(Values(sought).places([text]))


@given(texts)
def test_what_is_normal_stays_so(text: str) -> None:
    assert normal(normal(text)) == normal(text)
