"""Chunks of a completion as the events of a message: typed, ordered, and the same as the object."""

from typing import Any

import msgspec
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from proxy.protocol.messages.events import MessageEvents
from proxy.protocol.messages.output import Frame, message_of
from proxy.protocol.messages.reading import MessageReader
from tests.other_apis import completions, events_of, fed, misplaced_message_events

Json = Any
EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
NAMES = ["text", "thinking", "input", "usage", "input_tokens", "output_tokens", "id", "stop_reason"]
FRAME = Frame("1", "m", sent_tokens=5)


def told(completion: Json) -> list[Json]:
    events = MessageEvents(FRAME)
    return events_of(fed(events.feed, completion) + events.ended())


def read(events: list[Json]) -> MessageReader:
    reader = MessageReader()
    assert not reader.feed_all([msgspec.json.encode(event) for event in events])
    return reader


@given(completions())
def test_events_are_in_the_documented_order_and_parse_as_the_sdks_types(completion: Json) -> None:
    events = told(completion)
    assert misplaced_message_events(events) == []
    for event in events:
        typed = EVENT.validate_python(event)
        assert typed.type == event["type"]
        assert not typed.model_extra


@given(completions())
def test_the_events_add_up_to_the_object_that_is_told_without_streaming(completion: Json) -> None:
    whole = message_of(completion, FRAME)
    typed = Message.model_validate(whole)
    assert not typed.model_extra
    again = read(told(completion)).completion()
    choice, expected = again["choices"][0], completion["choices"][0]
    assert (choice["message"]["content"] or "") == (expected["message"]["content"] or "")
    assert choice["message"].get("reasoning_content") == expected["message"].get("reasoning_content")
    calls, wanted = choice["message"].get("tool_calls", []), expected["message"].get("tool_calls", [])
    assert [each["id"] for each in calls] == [each["id"] for each in wanted]
    for each, other in zip(calls, wanted, strict=True):
        given_, asked = each["function"], other["function"]
        assert given_["name"] == asked["name"]
        assert msgspec.json.decode(given_["arguments"]) == msgspec.json.decode(asked["arguments"])


@given(completions())
def test_a_reader_of_the_events_knows_when_they_are_whole(completion: Json) -> None:
    events = told(completion)
    whole, half = read(events), read(events[:-2])
    assert (whole.complete, whole.done, whole.model) == (True, True, "m")
    assert (half.complete, half.started, half.done) == (False, True, False)
    if "usage" in completion:
        assert whole.usage is not None
        assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (11, 7)


def test_an_answer_that_breaks_off_says_so() -> None:
    events = MessageEvents(FRAME)
    (last,) = events_of(events.failed({"message": "gone"}))
    assert last == {"type": "error", "error": {"type": "api_error", "message": "gone"}}
    assert read([last]).error == {"type": "api_error", "message": "gone"}


VALUES = st.recursive(
    st.none() | st.integers(-2, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=5,
)
ODD = st.fixed_dictionaries(
    {"type": st.sampled_from(["message_start", "content_block_start", "content_block_delta", "message_delta"])},
    optional={
        "message": VALUES | st.fixed_dictionaries({"usage": VALUES, "content": VALUES}),
        "index": VALUES | st.integers(0, 1),
        "content_block": VALUES
        | st.fixed_dictionaries({"type": st.sampled_from(["text", "thinking", "tool_use"]), "text": VALUES}),
        "delta": VALUES | st.fixed_dictionaries({"text": VALUES}) | st.fixed_dictionaries({"signature": VALUES}),
        "usage": VALUES,
    },
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ODD, max_size=5))
def test_a_reader_never_raises_whatever_the_events_are(events: list[Json]) -> None:
    reader = MessageReader()
    reader.feed_all([msgspec.json.encode(event) for event in events])
    assert reader.completion()["choices"]
    assert (reader.usage, reader.model, reader.complete)[2] in (True, False)


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"type":"content_block_delta"}', b'{"type":"message_start"}'])
def test_a_reader_never_raises(data: bytes) -> None:
    reader = MessageReader()
    reader.feed_all([data])
    assert (reader.garbage, reader.complete) == (1, False)
