"""Which of many patterns are tried on a text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.finding import Finder, beginnings
from proxy.language.phrases import phrases
from proxy.language.words import plain
from proxy.memory.shapes import HANDOVER
from proxy.memory.signals import SIGNALS, folded


@pytest.mark.parametrize(
    ("pattern", "begins"),
    [
        ("cat|dog", {"cat", "dog"}),
        ("(?:a|b)c?d", {"acd", "ad", "bcd", "bd"}),
        ("an?(?= cat)", {"an", "a"}),
        ("[ab]+c", {"a", "b"}),
        ("remember that", {"remembe"}),
        ("a.c", {"a"}),
        (r"\ba{2}", {"a"}),
        ("a*", set()),
        ("a*b", {"a", "b"}),
        (".a", set()),
        ("[^a]b", set()),
        (r"\w+ed", set()),
        ("(?i:a)b", set()),
    ],
)
def test_how_a_match_may_begin(pattern: str, begins: set[str]) -> None:
    assert {each.written for each in beginnings(re.compile(pattern))} == begins


def test_case_that_does_not_count_tells_nothing() -> None:
    assert not beginnings(re.compile("cat", re.IGNORECASE))


FINDER = Finder(
    {
        "fruit": phrases("an? apple | pears? | plum"),
        "anything": re.compile("[a-z]{9}"),
        "word": re.compile(r"\bin\b"),
        "letters": re.compile("ea"),
        "mark": re.compile(r"[?!] "),
    }
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" . i ate an apple in bed . ", ["fruit", "word"]),
        (" a pear ! ", ["fruit", "letters", "mark"]),
        (" a plumber ", []),
        (" an appliance ", ["anything"]),
        (" inside ", []),
        ("", []),
    ],
)
def test_what_is_found(text: str, found: list[str]) -> None:
    assert FINDER.found(text) == found


_SIGNALS = {f"{slot.key} {code}": slot.table for code, signals in SIGNALS.items() for slot in signals.slots}
_SAID = "my name is | i live in | work as a | para los hijos | vivo en | soy | ? | . | , | translate this"
_WORDS = st.sampled_from(_SAID.split(" | "))


_SEARCHED = (
    (Finder(HANDOVER), HANDOVER, folded),
    (Finder(_SIGNALS), _SIGNALS, plain),
)


@given(st.lists(_WORDS | st.text(max_size=3), max_size=12).map(" ".join))
def test_nothing_is_missed(text: str) -> None:
    for finder, patterns, read in _SEARCHED:
        said = read(text)
        assert finder.found(said) == [name for name, pattern in patterns.items() if pattern.search(said)]
