"""An upstream of the Messages API whose model keeps a memory: it says given rounds of blocks, over real sockets,
refuses what the API does not allow, and writes down all requests."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
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


def cited(said: str, *pages: int) -> Json:
    """A text that cites these pages of a document."""
    head = {"type": "page_location", "cited_text": said, "document_index": 0, "document_title": None, "file_id": None}
    return {**text(said), "citations": [{**head, "start_page_number": at, "end_page_number": at + 1} for at in pages]}


def use(id_: str, name: str, **given: Json) -> Json:
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def remembers(id_: str, command: str, **given: Json) -> Json:
    return use(id_, "memory", command=command, **given)


@dataclass(frozen=True, slots=True)
class Round:
    """What the model says to one request."""

    blocks: Sequence[Json]
    fault: str = ""  # error: a status; hang: silence; cut, event, garbage: in the middle of a stream
    passing: int = -3  # events that pass before the fault
    fresh: int = 10  # tokens of the prompt that no cache had
    as_stream: bool | None = None  # None: as it was asked for
    id: str = "msg_01"

    @property
    def message(self) -> Json:
        has_calls = any(block["type"] == "tool_use" for block in self.blocks)
        usage = {"input_tokens": self.fresh, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5}
        return {
            "id": self.id,
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
        parts.append(event({"type": "message_stop"}))
        if not self.fault:
            return parts
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
        broken = {"event": [event(error)], "garbage": [b"event: content_block_delta\ndata: {no\n\n"]}
        return [*parts[: self.passing], *broken.get(self.fault, ())]


def _told(block: Json) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "text":
            half = len(block["text"]) // 2
            pieces = [block["text"][:half], block["text"][half:]]
            told = [{"type": "citations_delta", "citation": each} for each in block.get("citations") or ()]
            told += [{"type": "text_delta", "text": piece} for piece in pieces if piece]
            return {**block, "text": "", "citations": [] if block.get("citations") else None}, told
        case "thinking":
            said = {"type": "thinking_delta", "thinking": block["thinking"]}
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [said, signed]
        case "tool_use":
            given = json.dumps(block["input"])
            half = len(given) // 2
            pieces = ["", given[:half], given[half:]]
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
        self.signed: set[tuple[str, str]] = set()  # thinking and signature that were told
        self.hanging = 0  # requests that get no further answer
        self.left = 0  # of these, those whose client has left
        self.pick: Callable[[Json, dict[bytes, bytes]], Round] = self._next

    def will(self, *rounds: Round | Sequence[Json]) -> None:
        self.rounds = deque(each if isinstance(each, Round) else Round(each) for each in rounds)

    def _next(self, _asked: Json, _headers: dict[bytes, bytes]) -> Round:
        return self.rounds.popleft() if len(self.rounds) > 1 else self.rounds[0]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        raw = await body_of(receive)
        asked = msgspec.json.decode(raw)
        self.asked.append(asked)
        self.raw.append(raw)
        wrong = [*misplaced_blocks(asked["messages"]), *unsigned(asked["messages"], self.signed)]
        self.refused += wrong
        said = self.pick(asked, dict(scope["headers"]))
        self.signed |= {(each["thinking"], each["signature"]) for each in said.blocks if each["type"] == "thinking"}
        status, kind, body = 200, b"application/json", json.dumps(said.message).encode()
        if wrong or said.fault == "error":
            error = {"type": "api_error", "message": wrong[0] if wrong else "not today"}
            status, body = 400 if wrong else 500, json.dumps({"type": "error", "error": error}).encode()
        elif asked.get("stream") if said.as_stream is None else said.as_stream:
            kind, body = b"text/event-stream", b"".join(said.events())
        elif said.fault == "event":
            body = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}).encode()
        elif said.fault:
            body = body[: len(body) // 2]
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": body, "more_body": said.fault == "hang"})
        if said.fault == "hang":
            self.hanging += 1
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left += 1


def unsigned(messages: Sequence[Json], signed: set[tuple[str, str]]) -> list[str]:
    """The faults of a request's thinking: what this provider has not signed. `signed`: what it has."""
    blocks = [block for each in messages if isinstance(each["content"], list) for block in each["content"]]
    thinking = [block for block in blocks if block["type"] == "thinking"]
    return [
        f"thinking that is not signed: {each['thinking']}"
        for each in thinking
        if (each["thinking"], each["signature"]) not in signed
    ]


@contextmanager
def run_minder() -> Iterator[Minder]:
    upstream = Minder()
    with run_app(upstream) as url:
        upstream.url = url
        yield upstream
