"""Tokens are counted of all that a model reads and writes, and an answer ends where it is told to."""

from collections.abc import Sequence
from typing import Any

import pytest

from proxy.demo.counting import completion_tokens, cut, prompt_tokens
from proxy.demo.script import Scripted, ToolCall
from tests.scripted.config import four_bytes_a_token


def letters(text: str) -> Sequence[int]:
    return [ord(letter) for letter in text]


@pytest.mark.parametrize(
    ("said", "stop", "limit", "content", "reason"),
    [
        (Scripted("one two three"), [], None, "one two three", "stop"),
        (Scripted("one two three"), [" two"], None, "one", "stop"),
        (Scripted("one two three"), ["three", "two"], None, "one ", "stop"),
        (Scripted("one two three"), [], 5, "one t", "length"),
        (Scripted("one two three"), [], 13, "one two three", "stop"),
        (Scripted("one two three"), [" two"], 2, "on", "length"),
        (Scripted("answer", reasoning="hmm"), [], 5, "an", "length"),
        (Scripted("answer", reasoning="hmm"), [], 2, "", "length"),
    ],
)
def test_an_answer_ends_where_it_is_told_to(
    said: Scripted, stop: list[str], limit: int | None, content: str, reason: str
) -> None:
    left, why = cut(said, stop, limit, letters)
    assert (left.content, why) == (content, reason)


def test_tokens_are_counted_of_thinking_and_of_all_that_was_said_or_called() -> None:
    said = [Scripted("four", reasoning="hm"), Scripted(calls=(ToolCall("f", "{}"),))]
    assert completion_tokens(said, letters) == (2, 7)


def test_a_conversation_that_goes_on_begins_with_its_own_tokens() -> None:
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "hola"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x"}]},
    ]
    longer = [*history, {"role": "tool", "tool_call_id": "x", "content": [{"type": "text", "text": "12:00"}]}]
    fields = {"tools": [{"type": "function", "function": {"name": "clock"}}]}
    short, long = (prompt_tokens(fields, messages, four_bytes_a_token) for messages in (history, longer))
    assert long[: len(short)] == short
    assert len(long) > len(short)
    assert prompt_tokens({}, history, four_bytes_a_token)[: len(short)] != short
