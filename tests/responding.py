"""An upstream of the Responses API whose model says given rounds of items, over real sockets: it numbers its events and
repeats its request as the provider does, refuses what the API does not allow, and writes down all requests."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from tests.other_apis import misplaced_items
from tests.servers import body_of, run_app

Json = Any
SEALED = "c2VhbGVk"  # begins all that is encrypted


def thought(id_: str, told: str = "", *, sealed: bool = True) -> Json:
    parts = [{"type": "summary_text", "text": told}] if told else []
    return {
        "id": f"rs_{id_}",
        "type": "reasoning",
        "summary": parts,
        "encrypted_content": f"{SEALED}{id_}" if sealed else None,
    }


def text(id_: str, told: str) -> Json:
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": told}
    return {"id": f"msg_{id_}", "type": "message", "status": "completed", "role": "assistant", "content": [part]}


def use(id_: str, name: str, **given: Json) -> Json:
    return {
        "id": f"fc_{id_}",
        "type": "function_call",
        "status": "completed",
        "call_id": f"call_{id_}",
        "name": name,
        "arguments": json.dumps(given, ensure_ascii=False),
    }


def free(id_: str, name: str, given: str) -> Json:
    head = {"id": f"ctc_{id_}", "type": "custom_tool_call", "status": "completed"}
    return {**head, "call_id": f"call_{id_}", "name": name, "input": given}


def searched(id_: str) -> Json:
    action = {"type": "search", "query": "weather", "sources": None}
    return {"id": f"ws_{id_}", "type": "web_search_call", "status": "completed", "action": action}


@dataclass(frozen=True, slots=True)
class Round:
    """What the model says to one request."""

    items: Sequence[Json]
    fault: str = ""  # error: a status; hang: silence; cut, event, failed, garbage: in the middle of a stream
    passing: int = -3  # events that pass before the fault
    as_stream: bool | None = None  # None: as it was asked for
    only_ends: bool = False  # its events are the beginning and the end alone
    says_done: bool = False  # its stream ends as one of chat completions
    status: str = "completed"
    id: str = "resp_1"
    created: int = 7

    def response(self, asked: Json) -> Json:
        """The response; it repeats its request, as the provider's do."""
        usage = {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 120,
        }
        cut = {"reason": "max_output_tokens"} if self.status == "incomplete" else None
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": self.status,
            "error": None,
            "incomplete_details": cut,
            "instructions": asked.get("instructions"),
            "metadata": asked.get("metadata") or {},
            "model": "gpt-x-2026",
            "output": list(self.items),
            "parallel_tool_calls": True,
            "previous_response_id": asked.get("previous_response_id"),
            "store": asked.get("store", True),
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": asked.get("tool_choice") or "auto",
            "tools": [{"strict": True, "description": None, **tool} for tool in asked.get("tools") or ()],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": usage,
        }

    def events(self, asked: Json) -> list[bytes]:
        """As the provider streams it: each item begun, told in pieces, and ended."""
        whole = self.response(asked)
        begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
        told: list[Json] = [{"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")]
        for at, item in enumerate(() if self.only_ends else self.items):
            told += _told(item, at)
        told.append({"type": f"response.{self.status}", "response": whole})
        events = [{"type": each["type"], "sequence_number": number, **each} for number, each in enumerate(told)]
        if not self.fault:
            return [*map(encoded, events), *([b"data: [DONE]\n\n"] if self.says_done else [])]
        events = events[: self.passing]
        number = len(events)
        error = {"code": "server_error", "message": "busy"}
        last: dict[str, list[Json]] = {
            "event": [{"type": "error", "sequence_number": number, **error, "param": None}],
            "failed": [
                {
                    "type": "response.failed",
                    "sequence_number": number,
                    "response": {**begun, "status": "failed", "error": error},
                }
            ],
        }
        garbage = [b"data: {no\n\n"] if self.fault == "garbage" else []
        return [*map(encoded, [*events, *last.get(self.fault, ())]), *garbage]


def encoded(event: Json) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _halves(told: str) -> list[str]:
    return [piece for piece in (told[: len(told) // 2], told[len(told) // 2 :]) if piece]


def _told(item: Json, at: int) -> list[Json]:
    where = {"item_id": item["id"], "output_index": at}
    begun = {**item, **({"status": "in_progress"} if "status" in item else {})}
    inner: list[Json] = []
    match item["type"]:
        case "message":
            begun["content"] = []
            for number, part in enumerate(item["content"]):
                placed = {**where, "content_index": number}
                empty = {**part, "text": ""}
                inner.append({"type": "response.content_part.added", **placed, "part": empty})
                pieces = _halves(part["text"])
                inner += [
                    {"type": "response.output_text.delta", **placed, "delta": piece, "logprobs": []} for piece in pieces
                ]
                done = {"type": "response.output_text.done", **placed, "text": part["text"], "logprobs": []}
                inner += [done, {"type": "response.content_part.done", **placed, "part": part}]
        case "reasoning":
            begun["summary"] = []
            for number, part in enumerate(item["summary"]):
                placed = {**where, "summary_index": number}
                empty = {**part, "text": ""}
                inner.append({"type": "response.reasoning_summary_part.added", **placed, "part": empty})
                kind = "response.reasoning_summary_text"
                inner += [{"type": f"{kind}.delta", **placed, "delta": piece} for piece in _halves(part["text"])]
                inner.append({"type": f"{kind}.done", **placed, "text": part["text"]})
                inner.append({"type": "response.reasoning_summary_part.done", **placed, "part": part})
        case "function_call" | "custom_tool_call" as kind:
            name, events = ("arguments", "function_call_arguments") if kind == "function_call" else ("input", kind)
            events = "custom_tool_call_input" if name == "input" else events
            begun[name] = ""
            inner = [{"type": f"response.{events}.delta", **where, "delta": piece} for piece in _halves(item[name])]
            inner.append({"type": f"response.{events}.done", **where, name: item[name]})
        case "web_search_call":
            stages = ("in_progress", "searching", "completed")
            inner = [{"type": f"response.web_search_call.{stage}", **where} for stage in stages]
    added = {"type": "response.output_item.added", "output_index": at, "item": begun}
    return [added, *inner, {"type": "response.output_item.done", "output_index": at, "item": item}]


def wrong_in(asked: Json, sealed: set[str]) -> list[str]:
    """The faults of a request. `sealed`: what was encrypted by this provider."""
    given = asked["input"]
    items = [] if isinstance(given, str) else given
    faults = misplaced_items(items)
    names = [tool.get("name") for tool in asked.get("tools") or ()]
    faults += ["two tools of one name"] if len(names) > len(set(names)) else []
    for at, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        if (found := item.get("encrypted_content")) is None:
            faults += [f"{at}: item {item['id']} not found"] if item.get("id") else []
        elif found not in sealed:
            faults.append(f"{at}: the encrypted content could not be verified")
    return faults


class Responder:
    """An ASGI application that says one round after the other, and the last one for ever."""

    def __init__(self) -> None:
        self.url = ""
        self.rounds: deque[Round] = deque()
        self.asked: list[Json] = []
        self.raw: list[bytes] = []
        self.refused: list[str] = []
        self.sealed: set[str] = set()
        self.hanging = 0  # requests that get no further answer
        self.left = 0  # of these, those whose client has left
        self._numbers = count(1)
        self.pick: Callable[[Json, dict[bytes, bytes]], Round] = self._next

    def will(self, *rounds: Round | Sequence[Json]) -> None:
        self.rounds = deque(each if isinstance(each, Round) else Round(each) for each in rounds)

    def _next(self, _asked: Json, _headers: dict[bytes, bytes]) -> Round:
        said = self.rounds.popleft() if len(self.rounds) > 1 else self.rounds[0]
        number = next(self._numbers)
        return replace(said, id=f"resp_{number}", created=number)

    def whole(self, asked: Json, _headers: Mapping[bytes, bytes]) -> Json:
        """The request with what it only names, of what this provider has stored: nothing."""
        return asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        raw = await body_of(receive)
        headers = dict(scope["headers"])
        asked = self.whole(msgspec.json.decode(raw), headers)
        self.asked.append(asked)
        self.raw.append(raw)
        wrong = wrong_in(asked, self.sealed)
        self.refused += wrong
        said = self.pick(asked, headers)
        self.sealed |= {item["encrypted_content"] for item in said.items if item.get("encrypted_content")}
        status, kind = 200, b"application/json"
        body = json.dumps(said.response(asked), ensure_ascii=False).encode()
        if wrong or said.fault == "error":
            error = {"message": wrong[0] if wrong else "not today", "type": "invalid_request_error", "code": None}
            status, body = 400 if wrong else 500, json.dumps({"error": error}).encode()
        elif asked.get("stream") if said.as_stream is None else said.as_stream:
            kind, body = b"text/event-stream", b"".join(said.events(asked))
        elif said.fault in ("event", "failed"):
            error = {"code": "server_error", "message": "busy"}
            body = json.dumps({**said.response(asked), "status": "failed", "error": error}).encode()
        elif said.fault:
            body = body[: len(body) // 2]
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": body, "more_body": said.fault == "hang"})
        if said.fault == "hang":
            self.hanging += 1
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left += 1


@contextmanager
def run_responder() -> Iterator[Responder]:
    upstream = Responder()
    with run_app(upstream) as url:
        upstream.url = url
        yield upstream
