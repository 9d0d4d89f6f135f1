"""Chunks of a completion as the events of a message: one block after another, each begun, told and ended.

The prompt's tokens are known to most upstreams only at the end: they are told in `message_delta`, whose numbers replace
those of `message_start`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from proxy.protocol.in_order import InOrder, Piece
from proxy.protocol.messages import output
from proxy.protocol.messages.output import Frame
from proxy.types import Json

_encode = msgspec.json.Encoder().encode


def event(data: Mapping[str, Json]) -> bytes:
    """Encodes an event under its type's name."""
    return b"event: %s\ndata: %s\n\n" % (str(data["type"]).encode(), _encode(data))


def events_of(message: Mapping[str, Json]) -> bytes:
    """Returns the events of a message that has come whole."""
    content = message.get("content")
    told = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    parts = [event({"type": "message_start", "message": told})]
    for index, block in enumerate(content if isinstance(content, list) else ()):
        parts.append(event({"type": "content_block_start", "index": index, "content_block": block}))
        parts.append(event({"type": "content_block_stop", "index": index}))
    delta = {name: message.get(name) for name in ("stop_reason", "stop_sequence")}
    parts.append(event({"type": "message_delta", "delta": delta, "usage": message.get("usage")}))
    return b"".join([*parts, event({"type": "message_stop"})])


@dataclass(slots=True)
class _Open:
    """The block that is being told."""

    kind: str  # thinking, text, call
    index: int
    call: int = -1  # its number


class MessageEvents:
    """Writes one message as events. Feed it the chunks of a completion; then `ended`, or `failed`."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._order = InOrder()
        self._open: _Open | None = None
        self._next = 0  # index of the next block
        self._choice: Mapping[str, Json] = {}  # that has told why it stopped
        self._has_calls = self._refuses = False
        self._usage: Json = None
        self._model = ""
        self._has_begun = False
        self._characters = 0

    def feed(self, chunk: Mapping[str, Json]) -> bytes:
        """Returns the events of a chunk."""
        return b"".join(self._events(chunk))

    def ended(self) -> bytes:
        """Returns the last events."""
        rest = [*self._begun(), *self._told(self._order.rest()), *self._closed()]
        usage = output.usage_of(self._usage, self._frame, self._characters)
        stop, sequence = output.stop_of(self._choice, self._frame, has_calls=self._has_calls, refuses=self._refuses)
        delta = {"stop_reason": stop, "stop_sequence": sequence}
        last = event({"type": "message_delta", "delta": delta, "usage": usage})
        return b"".join([*rest, last, event({"type": "message_stop"})])

    def failed(self, error: Mapping[str, Json]) -> bytes:
        """Returns the event of an answer that has broken off. `error`: in OpenAI's shape."""
        told = {"type": output.kind_of(error), "message": str(error.get("message") or "The upstream failed.")}
        return event({"type": "error", "error": told})

    # --- one chunk ---

    def _events(self, chunk: Mapping[str, Json]) -> Iterator[bytes]:
        if not self._model and isinstance(model := chunk.get("model"), str):
            self._model = model
        yield from self._begun()
        choice = self._order.choice(chunk)
        for usage in (chunk.get("usage"), choice.get("usage")):
            if isinstance(usage, dict):
                self._usage = usage
        yield from self._told(self._order.feed(choice))
        if choice.get("finish_reason") is not None:
            self._choice = choice

    def _told(self, pieces: Iterable[Piece]) -> Iterator[bytes]:
        for piece in pieces:
            if piece.kind == "call":
                yield from self._call(piece)
            elif piece.kind == "reasoning":
                yield from self._piece("thinking", piece.text, {"type": "thinking_delta", "thinking": piece.text})
            else:
                self._refuses = self._refuses or piece.kind == "refusal"
                yield from self._piece("text", piece.text, {"type": "text_delta", "text": piece.text})

    def _piece(self, kind: str, piece: str, delta: Mapping[str, Json]) -> Iterator[bytes]:
        if self._open is None or self._open.kind != kind:
            block: dict[str, Json] = {"type": "text", "text": "", "citations": None}
            if kind == "thinking":
                block = {"type": "thinking", "thinking": "", "signature": ""}
            yield from self._opened(_Open(kind, self._next), block)
        assert self._open is not None
        self._characters += len(piece)
        yield event({"type": "content_block_delta", "index": self._open.index, "delta": delta})

    def _call(self, piece: Piece) -> Iterator[bytes]:
        self._has_calls = True
        if self._open is None or self._open.call != piece.call:
            named = {"id": self._frame.call_id(piece.call_id, self._next), "name": piece.name}
            block: dict[str, Json] = {"type": "tool_use", **named, "input": {}}
            yield from self._opened(_Open("call", self._next, piece.call), block)
        assert self._open is not None
        if piece.text:
            self._characters += len(piece.text)
            delta = {"type": "input_json_delta", "partial_json": piece.text}
            yield event({"type": "content_block_delta", "index": self._open.index, "delta": delta})

    def _opened(self, opened: _Open, block: Mapping[str, Json]) -> Iterator[bytes]:
        yield from self._closed()
        self._open = opened
        self._next += 1
        yield event({"type": "content_block_start", "index": opened.index, "content_block": block})

    def _closed(self) -> Iterator[bytes]:
        opened, self._open = self._open, None
        if opened is None:
            return
        if opened.kind == "thinking":
            delta = {"type": "signature_delta", "signature": ""}
            yield event({"type": "content_block_delta", "index": opened.index, "delta": delta})
        yield event({"type": "content_block_stop", "index": opened.index})

    def _begun(self) -> Iterator[bytes]:
        if self._has_begun:
            return
        self._has_begun = True
        usage = output.usage_of(None, self._frame, 0)
        message = self._frame.message([], usage, model=self._model)
        yield event({"type": "message_start", "message": message})
