"""Completions: what was said, how it ended."""

from typing import Any

import pytest

from proxy.protocol.answers import answers_of, generated_text, has_error, is_finished, model_of, said_by, sole_text
from tests.builders import calling, completion

CALLS = calling("a")["tool_calls"]
TWICE = {"choices": completion()["choices"] * 2}


@pytest.mark.parametrize(
    ("given", "said", "sole", "finished"),
    [
        (completion("hello"), "hello", "hello", True),
        (completion("hello", finish_reason="length"), "hello", None, True),
        (completion("hello", finish_reason="content_filter"), "hello", None, False),
        (completion(" "), " ", " ", False),
        (completion(None), "", None, False),
        (completion(None, tool_calls=CALLS, finish_reason="tool_calls"), "", None, True),
        (completion("hello", tool_calls=CALLS), "hello", None, True),
        (completion("hello", refusal=""), "hello", "hello", True),
        ({**completion("hello"), "error": "x"}, "hello", "hello", False),
        (TWICE, "hello", None, True),
        ({"choices": []}, "", None, False),
        ({"choices": "odd"}, "", None, False),
        ({"choices": [7]}, "", None, False),
        ({}, "", None, False),
    ],
)
def test_what_a_completion_says(given: Any, said: str, sole: str | None, finished: bool) -> None:
    assert (said_by(given), sole_text(given), is_finished(given)) == (said, sole, finished)


def test_an_answer_with_probabilities_is_more_than_its_text() -> None:
    choice = {**completion()["choices"][0], "logprobs": {}}
    assert sole_text({"choices": [choice]}) is None


def test_the_messages_of_all_choices() -> None:
    assert [said.text for said in answers_of(TWICE)] == ["hello", "hello"]
    assert answers_of(None) == answers_of({"choices": [7, {"message": 7}]}) == ()


def test_what_was_generated_holds_the_thinking_too() -> None:
    assert generated_text(completion("hello", reasoning_content="hm")) == "hm\nhello"
    assert generated_text(None) == ""


def test_model_and_error() -> None:
    assert (model_of(completion()), model_of({})) == ("m-2026", "")
    assert (has_error({"error": {}}), has_error({"error": {"a": 1}}), has_error(None)) == (False, True, False)
