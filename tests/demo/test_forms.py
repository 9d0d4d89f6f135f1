"""An answer as an object, and as chunks that add up to it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.demo.forms import Choice, Completion, body, chunks, slices
from proxy.demo.script import Scripted, ToolCall

CALLING = Choice(Scripted(calls=(ToolCall("clock", '{"zone":"UTC"}'),)), "tool_calls", ("call_1",))
USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


def completion(*choices: Choice) -> Completion:
    return Completion("chatcmpl-1", 1, "demo-chat", choices, USAGE)


def events(*choices: Choice, include_usage: bool = False, count: int = 3) -> list[Any]:
    return list(chunks(completion(*choices), count, include_usage=include_usage))


@given(st.text(max_size=50), st.integers(1, 60))
def test_slices_add_up_to_the_text_and_none_is_empty(text: str, count: int) -> None:
    pieces = slices(text, count)
    assert "".join(pieces) == text
    assert len(pieces) == min(count, len(text))
    assert all(pieces)


def test_streamed_choices_take_turns_and_add_up_to_the_whole() -> None:
    choices = [Choice(Scripted("first", reasoning="hm"), "stop"), Choice(Scripted("second"), "length"), CALLING]
    texts: dict[int, dict[str, str]] = {}
    for event in events(*choices):
        for choice in event["choices"]:
            told = texts.setdefault(choice["index"], {"content": "", "reasoning_content": "", "arguments": ""})
            delta = choice["delta"]
            told["content"] += delta.get("content") or ""
            told["reasoning_content"] += delta.get("reasoning_content", "")
            told["arguments"] += "".join(call["function"]["arguments"] for call in delta.get("tool_calls", ()))
            if choice["finish_reason"]:
                told["finish_reason"] = choice["finish_reason"]
    whole = body(completion(*choices))["choices"]
    assert [texts[at]["content"] for at in range(3)] == [choice["message"]["content"] or "" for choice in whole]
    assert [texts[at]["finish_reason"] for at in range(3)] == [choice["finish_reason"] for choice in whole]
    assert texts[0]["reasoning_content"] == whole[0]["message"]["reasoning_content"]
    assert texts[2]["arguments"] == whole[2]["message"]["tool_calls"][0]["function"]["arguments"]


def test_only_the_first_piece_of_a_call_has_its_id_and_name() -> None:
    calls = [event["choices"][0]["delta"].get("tool_calls", [None])[0] for event in events(CALLING)]
    calls = [call for call in calls if call]
    assert [set(call) for call in calls] == [{"index", "id", "type", "function"}] + [{"index", "function"}] * 3
    assert calls[0]["function"] == {"name": "clock", "arguments": ""}


@pytest.mark.parametrize("include_usage", [False, True])
def test_the_usage_is_in_the_last_choice_and_in_a_chunk_of_its_own_if_asked_for(*, include_usage: bool) -> None:
    told = events(Choice(Scripted("hi"), "stop"), include_usage=include_usage)
    last = next(event for event in told if event["choices"] and event["choices"][0]["finish_reason"])
    assert last["choices"][0]["usage"] == USAGE
    assert (told[-1]["choices"] == [] and told[-1]["usage"] == USAGE) is include_usage
    assert ("usage" in told[0]) is include_usage
