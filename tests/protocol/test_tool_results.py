"""The model's message goes back as it was written, with a result for each call of ours."""

import re
from typing import Any

import msgspec
import pytest

from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.tool_results import followed, result, said_in, without_calls
from proxy.types import ToolCall
from tests.builders import body, messages, user
from tests.spoken import Called, Spoken


def completion(**said: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **said}, "finish_reason": "stop"}]}


def test_reasoning_and_fields_of_the_providers_own_go_back_and_nothing_empty() -> None:
    call = {**Called("remember").json, "extra_content": {"thought_signature": "S"}}
    said = said_in(
        completion(
            content=None, reasoning_content="Hm.", tool_calls=[call], refusal=None, annotations=[], function_call=None
        ),
        (0,),
    )
    assert said is not None
    assert said.message.data == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Hm.",
        "tool_calls": [call],
    }
    assert said.ours == (ToolCall("call00001", "remember", "{}"),)


@pytest.mark.parametrize("arguments", ['{"key": ', "", "[]", '"text"', None])
def test_arguments_that_are_no_object_are_the_runners_to_judge_and_do_not_go_back(arguments: Any) -> None:
    calls = [
        {"id": "a", "function": {"name": "remember", "arguments": arguments}},
        {"id": "b", "function": {"name": "look", "arguments": arguments}},
    ]
    said = said_in(completion(content=None, tool_calls=calls), (0,))
    assert said is not None
    assert said.ours == (ToolCall("a", "remember", arguments),)
    assert [call.arguments for call in said.message.tool_calls] == ["{}", arguments]


@pytest.mark.parametrize("missing", [{}, {"id": None}, {"id": ""}])
def test_a_call_without_an_id_gets_one_that_every_dialect_takes(missing: dict[str, Any]) -> None:
    calls = [{**missing, "function": {"name": "remember", "arguments": "{}"}} for _ in range(2)]
    said = said_in(completion(content=None, tool_calls=calls), (0, 1))
    assert said is not None
    ids = [call.id for call in said.ours]
    assert len(set(ids)) == 2
    assert all(re.fullmatch("[a-z0-9]{9}", each) for each in ids)
    asked = [*messages(user("hi")), said.message, *(result(call, "done") for call in said.ours)]
    assert violations(asked, DIALECTS["mistral"]) == ()


@pytest.mark.parametrize("broken", [{}, {"choices": []}, {"choices": [{"message": None}]}, {"choices": "x"}])
def test_a_completion_without_a_message_has_none(broken: dict[str, Any]) -> None:
    assert said_in(broken, ()) is None


def test_calls_are_left_out_by_their_positions() -> None:
    said = said_in(Spoken("Hi", (Called("remember", id="a"), Called("look", id="b"))).completion, (0,))
    assert said is not None
    assert [call.id for call in without_calls(said.message, (0,)).tool_calls] == ["b"]
    assert without_calls(said.message, (0, 1)).data == {"role": "assistant", "content": "Hi"}


@pytest.mark.parametrize(
    "raw",
    [
        body(user("hi"), temperature=0),
        b'{"messages": [ {"content":"\\u00e9","role":"user"} \n ] , "model":"m", "n": 1.0e0}',
    ],
)
def test_messages_are_put_behind_those_of_a_body_whose_bytes_stay(raw: bytes) -> None:
    more = messages({"role": "assistant", "content": "x"}, {"role": "tool", "tool_call_id": "a", "content": "y"})
    longer = followed(raw, more)
    before = msgspec.json.decode(raw)
    assert msgspec.json.decode(longer) == {**before, "messages": [*before["messages"], *(each.data for each in more)]}
    first = bytes(msgspec.json.decode(raw, type=dict[str, msgspec.Raw])["messages"]).rstrip(b"] \n")
    assert first in longer


@pytest.mark.parametrize("raw", [b"{}", b'{"messages":[]}', b"[]", b"nonsense"])
def test_what_is_no_request_cannot_be_continued(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        followed(raw, messages(user("hi")))
