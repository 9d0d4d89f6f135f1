"""Chunks of a completion as the events of a response: typed, ordered, and the same as the object."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from proxy.protocol.origin import Origin
from proxy.protocol.responses.events import ResponseEvents
from proxy.protocol.responses.output import Frame, response_of
from proxy.protocol.responses.reading import ResponseReader, ended_in
from proxy.protocol.responses.request import parse
from tests.other_apis import completions, events_of, fed, misplaced_events

Json = Any
EVENT = TypeAdapter(ResponseStreamEvent)


def frame(**fields: Json) -> Frame:
    tools = [{"type": "custom", "name": "note"}]
    origin = parse(msgspec.json.encode({"model": "m", "input": "x", "tools": tools, **fields})).origin
    assert isinstance(origin, Origin)
    return Frame("1", "m", 1.0, origin, sent_tokens=5)


def told(completion: Json, made: Frame) -> list[Json]:
    events = ResponseEvents(made)
    stream = fed(events.feed, completion)
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


@st.composite
def mixed(draw: st.DrawFn) -> tuple[Json, list[Json]]:
    """A completion, and its chunks as some upstream may write them: calls whose pieces come mixed, or all numbered 0;
    texts as parts; a message that is a chunk as a whole."""
    completion = draw(completions())
    (choice,) = completion["choices"]
    message = choice["message"]
    if draw(st.integers(0, 9)) == 0:
        return completion, [
            {"model": "m", "choices": [{"index": 0, "message": message}]},
            _ended(choice["finish_reason"]),
        ]
    deltas: list[Json] = []
    for name in ("reasoning_content", "content"):
        for piece in draw(cut(message.get(name) or "")):
            as_parts = draw(st.booleans())
            deltas.append({name: [{"type": "text", "text": piece}] if as_parts and name == "content" else piece})
    calls = message.get("tool_calls", [])
    how = draw(st.sampled_from(["mixed", "all 0", "in order"]))
    told: list[list[Json]] = []
    for at, call in enumerate(calls):
        number = 0 if how == "all 0" else at
        pieces = draw(cut(call["function"]["arguments"]))
        first = {"index": number, "id": call["id"], "type": "function"}
        whole = [{**first, "function": {"name": call["function"]["name"], "arguments": pieces[0]}}]
        told.append([*whole, *({"index": number, "function": {"arguments": piece}} for piece in pieces[1:])])
    begun = 0
    while any(told):
        open_ones = [at for at in range(begun + 1) if at < len(told) and told[at]]
        at = (
            draw(st.sampled_from(open_ones))
            if how == "mixed" and open_ones
            else next(i for i, p in enumerate(told) if p)
        )
        begun = max(begun, at + 1)
        deltas.append({"tool_calls": [told[at].pop(0)]})
    chunks = [{"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return completion, [*chunks, _ended(choice["finish_reason"])]


def _ended(finish: str) -> Json:
    return {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}


@st.composite
def cut(draw: st.DrawFn, text: str) -> list[str]:
    """A text in pieces; [] for an empty one."""
    places = sorted(draw(st.sets(st.integers(1, len(text) - 1), max_size=3))) if len(text) > 1 else []
    ends = [0, *places, len(text)]
    return [text[begins:stops] for begins, stops in pairwise(ends)] if text else []


@given(mixed())
def test_however_an_upstream_writes_its_chunks_the_response_is_the_same(written: tuple[Json, list[Json]]) -> None:
    completion, chunks = written
    made = frame()
    events = ResponseEvents(made)
    stream = b"".join(map(events.feed, chunks))
    ending, whole = events.ended()
    found = events_of(stream + ending + events.last(whole))
    assert misplaced_events(found) == []
    strictly(found)
    assert whole["output"] == response_of(completion, made)["output"]
    assert [each["item"] for each in found if each["type"] == "response.output_item.done"] == whole["output"]
    for item in whole["output"]:  # what was told piece by piece is what was told at the end
        of_item = [each for each in found if each.get("item_id") == item["id"] and each["type"].endswith(".delta")]
        pieces = "".join(each["delta"] for each in of_item)
        told = (
            item.get("arguments")
            or item.get("input")
            or "".join(
                part.get("text") or part.get("refusal") for part in (item.get("content") or item.get("summary") or ())
            )
        )
        assert pieces == told


def test_a_call_is_told_as_it_comes_where_it_comes_alone() -> None:
    events = ResponseEvents(frame())
    pieces: list[Json] = [
        {"id": "a", "function": {"name": "look", "arguments": '{"q"'}},
        {"function": {"arguments": ": 1"}},
    ]
    for piece in pieces:
        told = events_of(events.feed({"choices": [{"delta": {"tool_calls": [{"index": 0, **piece}]}}]}))
        assert told[-1]["delta"] == piece["function"]["arguments"]


def test_a_call_without_an_id_gets_one_that_its_result_can_name() -> None:
    call = {"type": "function", "function": {"name": "look", "arguments": "{}"}}
    completion = {
        "choices": [{"message": {"content": None, "tool_calls": [call, call]}, "finish_reason": "tool_calls"}]
    }
    whole = response_of(completion, frame())
    assert [item["call_id"] for item in whole["output"]] == ["call_100", "call_101"]
    assert told(completion, frame())[-1]["response"]["output"] == whole["output"]


@pytest.mark.parametrize(
    ("finish", "kind", "status"),
    [
        ("length", "response.incomplete", "incomplete"),
        ("error", "response.failed", "incomplete"),
        ("insufficient_system_resource", "response.failed", "incomplete"),
        ("tool_calls", "response.completed", "completed"),
    ],
)
def test_only_the_item_that_was_cut_short_is_incomplete(finish: str, kind: str, status: str) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"q": "x'}}
    message = {"content": "I look", "tool_calls": [call]}
    completion = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    events = told(completion, frame())
    strictly(events)
    assert events[-1]["type"] == kind
    assert [item["status"] for item in events[-1]["response"]["output"]] == ["completed", status]
    assert response_of(completion, frame())["output"] == events[-1]["response"]["output"]


JUNK: list[Json] = [None, 1, "x", [], {}, [None], [1], {"a": []}, [[]], True]


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(
    "path",
    [
        "choices",
        "usage",
        "model",
        "choices.0.delta",
        "choices.0.delta.content",
        "choices.0.delta.tool_calls",
        "choices.0.delta.reasoning_content",
        "choices.0.finish_reason",
        "choices.0.delta.tool_calls.0.function",
        "choices.0.delta.tool_calls.0.function.arguments",
        "choices.0.delta.tool_calls.0.index",
        "usage.prompt_tokens_details",
        "usage.completion_tokens_details",
        "usage.completion_tokens",
    ],
)
def test_chunks_of_any_form_make_an_ordered_stream(path: str, junk: Json) -> None:
    call: Json = {"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}}
    delta: Json = {"content": "So", "reasoning_content": "I", "tool_calls": [call]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {}, "completion_tokens_details": {}}
    chunk: Json = {"model": "m", "usage": usage, "choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}
    *steps, last = path.split(".")
    place = chunk
    for step in steps:
        place = place[int(step) if step.isdecimal() else step]
    place[last] = junk
    events = ResponseEvents(frame())
    stream = events.feed(chunk)
    ending, whole = events.ended()
    found = events_of(stream + ending + events.last(whole))
    assert misplaced_events(found) == []
    strictly(found)


def test_an_error_has_a_code_of_text() -> None:
    stream = events_of(ResponseEvents(frame()).failed({"message": "gone", "code": 502}))
    strictly(stream)
    assert stream[-2]["code"] == "502"


def test_an_answer_that_breaks_off_says_so() -> None:
    events = ResponseEvents(frame())
    begun = events.feed({"model": "m", "choices": [{"index": 0, "delta": {"content": "So"}}]})
    stream = events_of(begun + events.failed({"message": "gone", "code": "upstream_broken"}))
    assert [event["type"] for event in stream[-2:]] == ["error", "response.failed"]
    assert stream[-1]["response"]["error"] == {"code": "server_error", "message": "gone"}
    strictly(stream)


def test_the_type_of_an_event_may_stand_at_its_end() -> None:
    """vLLM writes the fields of an event by their names."""
    completion = {"choices": [{"message": {"content": "So it is. " * 60}, "finish_reason": "stop"}]}
    events = [dict(sorted(event.items())) for event in told(completion, frame())]
    datas = [msgspec.json.encode(event) for event in events]
    reader = ResponseReader()
    reader.feed_all(datas)
    assert (reader.complete, reader.garbage) == (True, 0)
    assert [ended_in(data) is not None for data in datas] == [False] * (len(datas) - 1) + [True]


@pytest.mark.parametrize("output", [None, "x", [None], [{"type": "reasoning", "summary": [1]}], [{"type": "message"}]])
def test_a_reader_never_fails(output: Json) -> None:
    reader = ResponseReader()
    reader.feed_all(
        [msgspec.json.encode({"type": "response.completed", "response": {"output": output, "created_at": []}})]
    )
    assert reader.garbage in (0, 1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"type":"response.completed"}',
        b'{"type":"x","a":"response.completed"}',
        b'["response.completed"]',
        b'{"type":"response.completed","response":"\\ud83d"}',
    ],
)
def test_what_tells_no_end_is_no_end(data: bytes) -> None:
    assert ended_in(data) is None


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
