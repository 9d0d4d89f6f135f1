"""An upstream of the Messages API whose model keeps a memory: it says given rounds of blocks, over real sockets,
refuses what the API does not allow, and writes down all requests."""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from proxy.protocol.messages.events import event
from tests.other_apis import misplaced_blocks
from tests.servers import body_of, run_app

Json = Any
SIGNED = "c2lnbmVk"


def thought(text: str) -> Json:
    return {"type": "thinking", "thinking": text, "signature": SIGNED}


def text(said: str) -> Json:
    return {"type": "text", "text": said, "citations": None}


def use(id_: str, name: str, **given: Json) -> Json:
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def remembers(id_: str, command: str, **given: Json) -> Json:
    return use(id_, "memory", command=command, **given)


@dataclass(frozen=True, slots=True)
class Round:
    """What the model says to one request."""

    blocks: Sequence[Json]
    fault: str = ""  # error: a status; cut: in the middle of a stream; event: an error event there
    fresh: int = 10  # tokens of the prompt that no cache had
    as_stream: bool | None = None  # None: as it was asked for

    @property
    def message(self) -> Json:
        has_calls = any(block["type"] == "tool_use" for block in self.blocks)
        usage = {"input_tokens": self.fresh, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5}
        return {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": list(self.blocks),
            "stop_reason": "tool_use" if has_calls else "end_turn",
            "stop_sequence": None,
            "usage": {**usage, "output_tokens": 20},
        }

    def events(self) -> list[bytes]:
        """As the provider streams it: each block begun, told in pieces, and ended."""
        whole = self.message
        usage = {**whole["usage"], "output_tokens": 1}
        begun = {**whole, "content": [], "stop_reason": None, "usage": usage}
        parts = [event({"type": "message_start", "message": begun}), event({"type": "ping"})]
        for index, block in enumerate(self.blocks):
            empty, deltas = _told(block)
            parts.append(event({"type": "content_block_start", "index": index, "content_block": empty}))
            parts += [event({"type": "content_block_delta", "index": index, "delta": delta}) for delta in deltas]
            parts.append(event({"type": "content_block_stop", "index": index}))
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        parts.append(event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}))
        return [*parts, event({"type": "message_stop"})]


def _told(block: Json) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "text":
            half = len(block["text"]) // 2
            pieces = [block["text"][:half], block["text"][half:]]
            return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces if piece]
        case "thinking":
            said = {"type": "thinking_delta", "thinking": block["thinking"]}
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [said, signed]
        case "tool_use":
            told = json.dumps(block["input"])
            half = len(told) // 2
            pieces = ["", told[:half], told[half:]]
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        case _:
            return block, []


class Minder:
    """An ASGI application that says one round after the other, and the last one for ever."""

    def __init__(self) -> None:
        self.url = ""
        self.rounds: deque[Round] = deque()
        self.asked: list[Json] = []
        self.raw: list[bytes] = []
        self.refused: list[str] = []

    def will(self, *rounds: Round | Sequence[Json]) -> None:
        self.rounds = deque(each if isinstance(each, Round) else Round(each) for each in rounds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        raw = await body_of(receive)
        asked = msgspec.json.decode(raw)
        self.asked.append(asked)
        self.raw.append(raw)
        wrong = misplaced_blocks(asked["messages"])
        self.refused += wrong
        said = self.rounds.popleft() if len(self.rounds) > 1 else self.rounds[0]
        status, kind, body = 200, b"application/json", json.dumps(said.message).encode()
        if wrong or said.fault == "error":
            error = {"type": "api_error", "message": wrong[0] if wrong else "not today"}
            status, body = 400 if wrong else 500, json.dumps({"type": "error", "error": error}).encode()
        elif asked.get("stream") if said.as_stream is None else said.as_stream:
            kind, events = b"text/event-stream", said.events()
            if said.fault:
                broken = event({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
                events = [*events[:-3], *([broken] if said.fault == "event" else [])]
            body = b"".join(events)
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": body})


@contextmanager
def run_minder() -> Iterator[Minder]:
    upstream = Minder()
    with run_app(upstream) as url:
        upstream.url = url
        yield upstream
