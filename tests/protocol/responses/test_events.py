"""Chunks of a completion as the events of a response: typed, ordered, and the same as the object."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from proxy.protocol import sse
from proxy.protocol.origin import Origin
from proxy.protocol.responses.events import ResponseEvents
from proxy.protocol.responses.output import Frame, response_of
from proxy.protocol.responses.reading import ResponseReader
from proxy.protocol.responses.request import parse
from tests.other_apis import completions, events_of, misplaced_events

Json = Any
EVENT = TypeAdapter(ResponseStreamEvent)


def frame(**fields: Json) -> Frame:
    tools = [{"type": "custom", "name": "note"}]
    origin = parse(msgspec.json.encode({"model": "m", "input": "x", "tools": tools, **fields})).origin
    assert isinstance(origin, Origin)
    return Frame("1", "m", 1.0, origin, sent_tokens=5)


def told(completion: Json, made: Frame) -> list[Json]:
    events = ResponseEvents(made)
    parser = sse.SseParser()
    stream = b""
    for raw in sse.as_sse(completion, include_usage=True):
        for event in parser.feed(raw):
            if event.data is not None and event.data != sse.DONE_DATA:
                stream += events.feed(msgspec.json.decode(event.data))
    ending, whole = events.ended()
    return events_of(stream + ending + events.last(whole))


def strictly(events: list[Json]) -> None:
    for event in events:
        typed = EVENT.validate_python(event)
        assert typed.type == event["type"]
        assert not typed.model_extra, (event, typed.model_extra)


@given(completions())
def test_events_are_in_the_documented_order_and_parse_as_the_sdks_types(completion: Json) -> None:
    events = told(completion, frame())
    assert misplaced_events(events) == []
    strictly(events)


@given(completions())
def test_the_events_end_with_the_object_that_is_told_without_streaming(completion: Json) -> None:
    made = frame(include=["reasoning.encrypted_content"])
    whole = response_of(completion, made)
    assert Response.model_validate(whole).id == "resp_1"
    last = told(completion, made)[-1]["response"]
    if "usage" in completion:
        assert last == whole
    assert last["output"] == whole["output"]
    assert last["status"] == whole["status"]


@given(completions())
def test_a_reader_of_the_events_finds_the_completion(completion: Json) -> None:
    reader = ResponseReader()
    events = [msgspec.json.encode(event) for event in told(completion, frame())]
    assert not reader.feed_all(events)
    assert (reader.complete, reader.done, reader.finished, reader.model) == (True, True, True, "m")
    (choice,) = reader.completion()["choices"]
    message = completion["choices"][0]["message"]
    assert (choice["message"]["content"] or "") == (message["content"] or "")
    assert choice["message"].get("reasoning_content") == message.get("reasoning_content")
    if "usage" in completion:
        assert reader.usage is not None
        assert (reader.usage.prompt_tokens, reader.usage.completion_tokens) == (11, 7)


def test_an_answer_that_breaks_off_says_so() -> None:
    events = ResponseEvents(frame())
    begun = events.feed({"model": "m", "choices": [{"index": 0, "delta": {"content": "So"}}]})
    stream = events_of(begun + events.failed({"message": "gone", "code": "upstream_broken"}))
    assert [event["type"] for event in stream[-2:]] == ["error", "response.failed"]
    assert stream[-1]["response"]["error"] == {"code": "server_error", "message": "gone"}
    strictly(stream)


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([], (False, False, None)),
        ([{"type": "response.created", "response": {"model": "m"}}], (True, False, None)),
        ([{"type": "error", "message": "x"}], (False, False, {"type": "error", "message": "x"})),
    ],
)
def test_a_reader_tells_what_has_come(events: list[Json], found: Json) -> None:
    reader = ResponseReader()
    reader.feed_all([msgspec.json.encode(event) for event in events])
    assert (reader.started, reader.complete, reader.error) == found
