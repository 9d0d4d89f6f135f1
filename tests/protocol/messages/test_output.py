"""A message object of a completion, and a completion of a message object; errors."""

from typing import Any

import msgspec
import pytest

from proxy.errors import BadRequest, UpstreamTimeout
from proxy.protocol import sse
from proxy.protocol.answers import is_finished
from proxy.protocol.messages.events import MessageEvents
from proxy.protocol.messages.output import Frame, completion_of, message_of, told_error
from proxy.types import Answer
from tests.other_apis import events_of

Json = Any
FRAME = Frame("1", "m", sent_tokens=40)


def completion(message: Json, finish: str = "stop", **more: Json) -> Json:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("model_length", "model_context_window_exceeded"),
        ("tool_calls", "end_turn"),  # it calls none: nobody is to wait for a result
    ],
)
def test_how_an_answer_has_ended(finish: str, stop: str) -> None:
    assert message_of(completion({"content": "Hi"}, finish), FRAME)["stop_reason"] == stop


@pytest.mark.parametrize("finish", ["tool_calls", "stop", "function_call"])
def test_an_answer_that_calls_a_tool_waits_for_it(finish: str) -> None:
    call = {"id": "t", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    assert message_of(completion({"tool_calls": [call]}, finish), FRAME)["stop_reason"] == "tool_use"


def test_a_stop_sequence_that_was_met_is_told_again_from_a_stored_answer() -> None:
    said = {"content": [{"type": "text", "text": "Hi"}], "stop_reason": "stop_sequence", "stop_sequence": "END"}
    stored = completion_of(said)
    frame = Frame("1", "m", stops=("END",))
    again = message_of(stored, frame)
    assert (again["stop_reason"], again["stop_sequence"]) == ("stop_sequence", "END")
    events = MessageEvents(frame)
    for raw in sse.as_sse(stored, include_usage=True):
        if raw != sse.DONE:
            events.feed(msgspec.json.decode(raw.removeprefix(b"data: ")))
    assert events_of(events.ended())[-2]["delta"] == {"stop_reason": "stop_sequence", "stop_sequence": "END"}


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 4, "cached_tokens": 6}, (4, 0, 6, 4)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 2},
            },
            (3, 2, 5, 4),
        ),
    ],
)
def test_what_the_cache_had_is_told_apart(usage: Json, told: tuple[int, ...]) -> None:
    found = message_of(completion({"content": "Hi"}, usage=usage), FRAME)["usage"]
    assert tuple(found.values()) == told
    again = completion_of({"content": [], "usage": found})["usage"]
    assert (again["prompt_tokens"], again["completion_tokens"]) == (10, 4)


@pytest.mark.parametrize(
    ("block", "may_be_stored"),
    [
        ({"type": "text", "text": "Hi"}, True),
        ({"type": "text", "text": "Hi", "citations": [{}]}, False),
        ({"type": "tool_use", "id": "t", "name": "look", "input": {}}, True),
        ({"type": "thinking", "thinking": "Hm", "signature": "s"}, False),
        ({"type": "server_tool_use", "id": "t"}, False),
    ],
)
def test_an_answer_that_a_completion_cannot_express_is_not_stored(block: Json, may_be_stored: bool) -> None:
    said = {"content": [{"type": "text", "text": "Hi"}, block], "stop_reason": "end_turn"}
    assert is_finished(completion_of(said)) == may_be_stored


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (BadRequest("No.").answer(), "invalid_request_error", "No."),
        (UpstreamTimeout("Late.").answer(), "timeout_error", "Late."),
        (Answer(429, (), b'{"error":{"message":"Slow"}}'), "rate_limit_error", "Slow"),
        (Answer(500, (), b"broken"), "api_error", "broken"),
        (Answer(400, (), b'{"error":"plain"}'), "invalid_request_error", "plain"),
    ],
)
def test_errors_have_this_apis_shape(answer: Answer, kind: str, message: str) -> None:
    told = told_error(answer, "req_1")
    assert isinstance(told.body, bytes)
    assert msgspec.json.decode(told.body) == {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": "req_1",
    }
    assert told.status == answer.status


def test_who_asks_for_a_thread_is_told_that_there_is_none() -> None:
    told = told_error(BadRequest("No.", param="thread").answer(), "req_1")
    assert isinstance(told.body, bytes)
    details = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
    assert msgspec.json.decode(told.body)["error"]["details"] == details


def test_an_error_that_has_it_stays_as_it_is() -> None:
    answer = Answer(529, (), b'{"type":"error","error":{"type":"overloaded_error","message":"x"}}')
    assert told_error(answer, "req_1") is answer
