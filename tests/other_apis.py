"""Random conversations in the forms of the Responses and Messages APIs, and validators of what these APIs demand: the
order of items and blocks, and of the events of an answer."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from proxy.errors import BadRequest
from proxy.protocol import sse

Json = Any

TEXTS = st.text(min_size=1, max_size=20)


# --- completions ------------------------------------------------------------------------------------------------------


@st.composite
def completions(draw: st.DrawFn) -> Json:
    """A chat completion: reasoning, text, calls, in any combination that an upstream may answer."""
    message: Json = {"role": "assistant", "content": draw(TEXTS | st.none())}
    if draw(st.booleans()):
        message["reasoning_content"] = draw(TEXTS)
    names = draw(st.lists(st.sampled_from(["look", "note", "search"]), max_size=3))
    if names:
        message["tool_calls"] = [
            {
                "id": f"call_{at}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps({"q": draw(TEXTS)})},
            }
            for at, name in enumerate(names)
        ]
    finish = "tool_calls" if names else draw(st.sampled_from(["stop", "length", "content_filter"]))
    usage = draw(st.none() | st.just({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}))
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {**head, "choices": [choice], **({"usage": usage} if usage else {})}


# --- Responses --------------------------------------------------------------------------------------------------------


@st.composite
def inputs(draw: st.DrawFn) -> list[Json]:
    """The input of a request: turns of a user's message, and what the model said and did, as a client sends it back."""
    items: list[Json] = []
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        parts = [{"type": "input_text", "text": draw(TEXTS)}]
        if draw(st.booleans()):
            parts.append({"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"})
        content = draw(st.sampled_from([parts, draw(TEXTS)]))
        items.append({"role": "user", "content": content, **({"type": "message"} if draw(st.booleans()) else {})})
        for _ in range(draw(st.integers(0, 2))):
            items += draw(st.just([]) | st.just([thought(number)]))
            calls = draw(st.integers(1, 2))
            ids = [f"call_{number + at}" for at in range(calls)]
            items += [draw(st.sampled_from([call(id_), free_call(id_)])) for id_ in ids]
            kinds = {item["call_id"]: item["type"] for item in items[-calls:]}
            items += [{"type": f"{kinds[id_]}_output", "call_id": id_, "output": draw(TEXTS)} for id_ in ids]
            number += calls
        if draw(st.booleans()):
            number += 1
            items += [thought(number)] if draw(st.booleans()) else []
            items.append(said(number, draw(TEXTS)))
    return items


def thought(number: int) -> Json:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"sealed {number}"}


def call(call_id: str) -> Json:
    named = {"id": f"fc_{call_id}", "call_id": call_id, "name": "look"}
    return {"type": "function_call", **named, "arguments": '{"q": 1}', "status": "completed"}


def free_call(call_id: str) -> Json:
    return {"type": "custom_tool_call", "id": f"ctc_{call_id}", "call_id": call_id, "name": "patch", "input": "*** a"}


def said(number: int, text: str) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}


def misplaced_items(items: Sequence[Mapping[str, Json]]) -> list[str]:
    """The faults of an input: an output without its call, a call without its output, reasoning that stands alone."""
    faults: list[str] = []
    calls: dict[str, str] = {}
    answered: set[str] = set()
    for at, item in enumerate(items):
        kind = item.get("type", "message")
        if kind in ("function_call", "custom_tool_call"):
            calls[str(item.get("call_id"))] = kind
        elif kind in ("function_call_output", "custom_tool_call_output"):
            if calls.get(str(item.get("call_id"))) != kind.removesuffix("_output"):
                faults.append(f"{at}: output of no such call")
            answered.add(str(item.get("call_id")))
        elif kind == "reasoning":
            after = items[at + 1] if at + 1 < len(items) else {"type": "nothing"}
            is_followed = after.get("type", "message") in ("function_call", "custom_tool_call", "reasoning") or (
                after.get("role") == "assistant"
            )
            faults += [] if is_followed else [f"{at}: reasoning without what follows it"]
    return faults + [f"{each}: unanswered" for each in calls if each not in answered]


def misplaced_events(events: Sequence[Mapping[str, Json]]) -> list[str]:
    """The faults in the order of the events of a response, as the API documents it."""
    faults = [f"{at}: number" for at, event in enumerate(events) if event["sequence_number"] != at]
    kinds = [str(event["type"]) for event in events]
    if kinds[:2] != ["response.created", "response.in_progress"]:
        faults.append("the beginning")
    if kinds[-1] not in ("response.completed", "response.incomplete", "response.failed"):
        faults.append("the end")
    if len({event["response"]["id"] for event in events if "response" in event}) != 1:
        faults.append("ids of the response")
    return faults + _misplaced_in_items(events, kinds)


def _misplaced_in_items(events: Sequence[Mapping[str, Json]], kinds: Sequence[str]) -> list[str]:
    faults: list[str] = []
    item, part, told = None, None, 0
    for at, event in enumerate(events):
        kind = kinds[at]
        if kind == "response.output_item.added":
            if item is not None or event["output_index"] != told:
                faults.append(f"{at}: an item inside of another, or out of order")
            item, part = event["item"]["id"], None
        elif kind == "response.output_item.done":
            if event["item"]["id"] != item or part is not None:
                faults.append(f"{at}: the end of another item, or with an open part")
            item, told = None, told + 1
        elif kind.endswith("part.added"):
            part = kind
        elif kind.endswith("part.done"):
            part = None
        elif kind.endswith((".delta", ".done")) and event["item_id"] != item:
            faults.append(f"{at}: of another item")
        elif kind.endswith(("text.delta", "refusal.delta")) and part is None:
            faults.append(f"{at}: text before its part")
    return faults


# --- Messages ---------------------------------------------------------------------------------------------------------


@st.composite
def dialogues(draw: st.DrawFn) -> list[Json]:
    """The messages of a request: a user's texts and images, and what the model said and did."""
    messages: list[Json] = [{"role": "user", "content": draw(TEXTS)}]
    number = 0
    for _ in range(draw(st.integers(0, 4))):
        blocks: list[Json] = []
        if draw(st.booleans()):
            blocks.append({"type": "thinking", "thinking": draw(TEXTS), "signature": f"signed {number}"})
        if draw(st.booleans()):
            blocks.append({"type": "text", "text": draw(TEXTS)})
        ids = [f"toolu_{number + at}" for at in range(draw(st.integers(0 if blocks else 1, 2)))]
        blocks += [{"type": "tool_use", "id": id_, "name": "look", "input": {"q": 1}} for id_ in ids]
        number += len(ids)
        messages.append({"role": "assistant", "content": blocks})
        results: list[Json] = [{"type": "tool_result", "tool_use_id": id_, "content": draw(TEXTS)} for id_ in ids]
        if not ids or draw(st.booleans()):
            results.append({"type": "text", "text": draw(TEXTS), "cache_control": {"type": "ephemeral"}})
        if draw(st.booleans()) and not ids:
            source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
            results.append({"type": "image", "source": source})
        messages.append({"role": "user", "content": results})
    return messages


def misplaced_blocks(messages: Sequence[Mapping[str, Json]]) -> list[str]:
    """The faults of the messages of a request: a use of a tool that the next message does not answer, an answer to
    none, results behind other blocks, an empty message, more than four breakpoints."""
    faults: list[str] = []
    wanted: list[str] = []
    breakpoints = 0
    for at, message in enumerate(messages):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        faults += [] if blocks else [f"{at}: empty"]
        breakpoints += sum("cache_control" in block for block in blocks)
        kinds = [block["type"] for block in blocks]
        given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if message["role"] == "user":
            if sorted(given) != sorted(wanted):  # in which order is not demanded
                faults.append(f"{at}: results {given} of {wanted}")
            if kinds[: len(given)] != ["tool_result"] * len(given):
                faults.append(f"{at}: results behind other blocks")
            wanted = []
        else:
            faults += [f"{at}: unanswered"] if wanted else []
            wanted = [block["id"] for block in blocks if block["type"] == "tool_use"]
    return faults + (["too many breakpoints"] if breakpoints > 4 else []) + (["unanswered"] if wanted else [])


def misplaced_message_events(events: Sequence[Mapping[str, Json]]) -> list[str]:
    """The faults in the order of the events of a message, as the API documents it."""
    kinds = [str(event["type"]) for event in events]
    faults = [] if kinds[0] == "message_start" and kinds[-2:] == ["message_delta", "message_stop"] else ["the ends"]
    opened, told = None, 0
    for at, event in enumerate(events[1:-2]):
        match event:
            case {"type": "content_block_start", "index": index}:
                faults += [] if opened is None and index == told else [f"{at}: a block inside of another"]
                opened, told = index, told + 1
            case {"type": "content_block_delta", "index": index}:
                faults += [] if opened == index else [f"{at}: of another block"]
            case {"type": "content_block_stop", "index": index}:
                faults += [] if opened == index else [f"{at}: the end of another block"]
                opened = None
            case _:
                faults.append(f"{at}: {event['type']}")
    return faults + ([] if opened is None else ["an open block"])


def refusal(parse: Callable[[bytes], object], body: bytes) -> tuple[type[BadRequest], str | None]:
    """The error that a body is refused with, and the field that it names."""
    with pytest.raises(BadRequest) as raised:
        parse(body)
    return type(raised.value), raised.value.param


def fed(feed: Callable[[Json], bytes], completion: Json) -> bytes:
    """The events that come of a completion as it streams, chunk by chunk."""
    parser = sse.SseParser()
    data = [event.data for raw in sse.as_sse(completion, include_usage=True) for event in parser.feed(raw)]
    return b"".join(feed(json.loads(each)) for each in data if each is not None and each != sse.DONE_DATA)


def events_of(stream: bytes) -> list[Json]:
    """The data of events, each under its type's name."""
    events = []
    for block in stream.decode().split("\n\n"):
        if block:
            name, _, data = block.partition("\n")
            events.append(json.loads(data.removeprefix("data: ")))
            assert name == f"event: {events[-1]['type']}"
    return events
