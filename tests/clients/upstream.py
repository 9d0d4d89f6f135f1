"""An upstream for whole applications: the scripted one, and beside it the Responses and the Messages API, as far as a
client needs them to be content. It takes any model, and writes down which path was asked with which headers."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.servers import run_app

ANSWER = "Because short waves of light are scattered most."
USAGE = {"input_tokens": 12, "output_tokens": 9}

Event = tuple[str, Mapping[str, Any]]  # of a stream: its name and its data


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that arrived."""

    path: str
    headers: Mapping[str, str]
    body: Any


@contextmanager
def running() -> Iterator[tuple[str, list[Asked]]]:
    """Serves it; gives its address and what arrives, oldest first."""
    asked: list[Asked] = []

    async def answer(request: Request) -> Response:
        raw = await request.body()
        body = msgspec.json.decode(raw) if raw else {}
        asked.append(Asked(request.url.path, dict(request.headers), body))
        return _answered(request.url.path, body)

    with run_app(Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])) as url:
        yield url, asked


def _answered(path: str, body: Any) -> Response:
    model = body.get("model", "")
    if path.endswith("/chat/completions"):
        return _sent(body, chat(model, _call(body)), chat_events(model))
    if path.endswith("/responses"):
        return _sent(body, response(model), response_events(model))
    if path.endswith("/messages"):
        return _sent(body, message(model), message_events(model))
    if path.endswith("/completions"):
        return JSONResponse({"id": "cmpl-1", "object": "text_completion", "created": 1, "model": model,
                             "choices": [{"index": 0, "text": ANSWER, "finish_reason": "stop"}]})  # fmt: skip
    if path.endswith("/models"):
        return JSONResponse({"object": "list", "data": [{"id": "kimi-k2.6", "object": "model"}]})
    if path.endswith("/count_tokens"):
        return JSONResponse({"input_tokens": 12})
    return JSONResponse({"error": {"message": f"no {path}", "type": "invalid_request_error"}}, 404)


def _sent(body: Any, whole: Mapping[str, Any], events: Sequence[Event]) -> Response:
    """The answer as a whole, or as a stream if it was asked for."""
    return (
        StreamingResponse(_stream(events), media_type="text/event-stream")
        if body.get("stream")
        else JSONResponse(whole)
    )


async def _stream(events: Sequence[Event]) -> AsyncIterator[bytes]:
    for name, data in events:
        head = f"event: {name}\n" if name else ""
        yield f"{head}data: {msgspec.json.encode(data).decode()}\n\n".encode()
    if not events[0][0]:
        yield b"data: [DONE]\n\n"


# --- Chat Completions ------------------------------------------------------------------------------------------------


def _call(body: Any) -> Mapping[str, Any] | None:
    """The call of a tool that a client insists on; None if it does not."""
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        return None
    name = choice["function"]["name"]
    tool = next(each["function"] for each in body["tools"] if each["function"]["name"] == name)
    wanted = tool["parameters"]["properties"].items()
    given = {key: ANSWER if each.get("type") == "string" else 1 for key, each in wanted}
    return {"id": "call_1", "type": "function",
            "function": {"name": name, "arguments": msgspec.json.encode(given).decode()}}  # fmt: skip


def chat(model: str, call: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": None if call else ANSWER}
    if call:
        said["tool_calls"] = [call]
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if call else "stop"}
    usage = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice],
            "usage": usage}  # fmt: skip


def chat_events(model: str) -> Sequence[Event]:
    def piece(delta: Mapping[str, Any], end: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return "", {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
                    "choices": [choice]}  # fmt: skip

    return [piece({"role": "assistant", "content": ""}), piece({"content": ANSWER}), piece({}, "stop")]


# --- Responses -------------------------------------------------------------------------------------------------------


def response(model: str, status: str = "completed") -> Mapping[str, Any]:
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": model, "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True, "tools": [],
        "temperature": 1.0, "tool_choice": "auto", "top_p": 1.0, "output": [_item()] if status == "completed" else [],
        "usage": {**USAGE, "total_tokens": 21, "input_tokens_details": {"cached_tokens": 0},
                  "output_tokens_details": {"reasoning_tokens": 0}} if status == "completed" else None,
    }  # fmt: skip


def _item(text: str = ANSWER, status: str = "completed") -> Mapping[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content}


def response_events(model: str) -> Sequence[Event]:
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    told: Sequence[Event] = [
        ("response.created", {"response": response(model, "in_progress")}),
        ("response.output_item.added", {"output_index": 0, "item": _item("", "in_progress")}),
        ("response.content_part.added", {**at, "part": part}),
        ("response.output_text.delta", {**at, "delta": ANSWER, "logprobs": []}),
        ("response.output_text.done", {**at, "text": ANSWER, "logprobs": []}),
        ("response.content_part.done", {**at, "part": {**part, "text": ANSWER}}),
        ("response.output_item.done", {"output_index": 0, "item": _item()}),
        ("response.completed", {"response": response(model)}),
    ]
    return [(name, {"type": name, "sequence_number": number, **data}) for number, (name, data) in enumerate(told)]


# --- Messages --------------------------------------------------------------------------------------------------------


def message(model: str) -> Mapping[str, Any]:
    content = [{"type": "text", "text": ANSWER}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE}  # fmt: skip


def message_events(model: str) -> Sequence[Event]:
    begun = {**message(model), "content": [], "stop_reason": None}
    told: Sequence[Event] = [
        ("message_start", {"message": begun}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": ANSWER}}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 9}}),
        ("message_stop", {}),
    ]
    return [(name, {"type": name, **data}) for name, data in told]
