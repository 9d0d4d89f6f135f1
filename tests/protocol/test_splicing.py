"""The state that outlasts a round: joints of texts, sums of usages. Whole answers: test_rounds.py."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.splicing import added, delta_of, first_choice, joint, says_something


@pytest.mark.parametrize(
    ("before", "after", "between"),
    [("a", "b", "\n\n"), ("a\n", "b", ""), ("a", " b", ""), ("", "b", ""), ("a", "", ""), ("a\u00a0", "b", "")],
)
def test_two_texts_are_a_paragraph_apart_unless_white_space_parts_them(before: str, after: str, between: str) -> None:
    assert joint(before, after) == between


@pytest.mark.parametrize(
    ("first", "second", "total"),
    [
        (None, None, None),
        ({"a": 1}, None, {"a": 1}),
        (None, {"a": 1}, {"a": 1}),
        ({"a": 1, "b": 2}, {"a": 1.5, "c": 3}, {"a": 2.5, "b": 2, "c": 3}),
        ({"d": {"a": 1}}, {"d": {"a": 2, "b": 1}}, {"d": {"a": 3, "b": 1}}),
        ({"a": None, "d": None}, {"a": 1, "d": {"x": 1}}, {"a": 1, "d": {"x": 1}}),
        ({"a": 1}, {"a": None}, {"a": 1}),
        ({"tier": "x", "is": True}, {"tier": "y", "is": False}, {"tier": "y", "is": False}),
    ],
)
def test_usages_are_added_number_by_number(first: Any, second: Any, total: Any) -> None:
    assert added(first, second) == total


_usages = st.dictionaries(st.sampled_from("abc"), st.integers(0, 9), max_size=3)


@given(_usages, _usages, _usages)
def test_the_order_of_rounds_makes_no_difference(first: Any, second: Any, third: Any) -> None:
    assert added(added(first, second), third) == added(added(third, second), first)


@pytest.mark.parametrize(
    ("chunk", "delta"),
    [
        ({}, {}),
        ({"choices": []}, {}),
        ({"choices": ["x"]}, {}),
        ({"choices": [{"delta": {"content": "a"}}]}, {"content": "a"}),
        ({"choices": [{"delta": None, "message": {"content": "a"}}]}, {"content": "a"}),
        ({"choices": [{"delta": "x"}]}, {}),
    ],
)
def test_the_delta_of_a_chunk_is_found(chunk: Any, delta: Any) -> None:
    assert delta_of(first_choice(chunk)) == delta


@pytest.mark.parametrize(
    ("said", "is_text"),
    [
        ({"content": "a"}, True),
        ({"content": " \n"}, False),
        ({"content": None, "refusal": "No"}, True),
        ({"content": [{"type": "text", "text": "a"}]}, True),
        ({"content": [], "reasoning_content": "Hm"}, False),
    ],
)
def test_a_text_for_the_client_is_no_white_space_and_no_reasoning(said: Any, is_text: bool) -> None:
    assert says_something(said) is is_text
