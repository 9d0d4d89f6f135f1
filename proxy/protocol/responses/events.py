"""Chunks of a completion as the events of a response: one item after another, each begun, told and ended; numbered.

The upstream's order is kept: reasoning, text, calls of tools, as they come. An item is ended when another one begins,
as the API's own are; calls that come interleaved are told one after the other (in_order.py). The input of a tool with
free text is told whole, since the upstream writes it as JSON."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from proxy.protocol.in_order import InOrder, Piece
from proxy.protocol.responses import output
from proxy.protocol.responses.output import Frame
from proxy.types import Json

_encode = msgspec.json.Encoder().encode


def event(data: Mapping[str, Json]) -> bytes:
    """Encodes an event under its type's name."""
    return b"event: %s\ndata: %s\n\n" % (str(data["type"]).encode(), _encode(data))


@dataclass(slots=True)
class _Open:
    """The item that is being told."""

    kind: str  # reasoning, text, refusal, call
    index: int  # in the output
    id: str
    pieces: list[str] = field(default_factory=list)
    call: int = -1  # its number
    call_id: str = ""
    name: str = ""

    @property
    def told(self) -> str:
        return "".join(self.pieces)


class ResponseEvents:
    """Writes one response as events. Feed it the chunks of a completion; then `ended`, or `failed`."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._sequence = 0
        self._order = InOrder()
        self._open: _Open | None = None
        self._output: list[Json] = []
        self._finish: Json = None
        self._usage: Json = None
        self._model = ""
        self._has_begun = False
        self._characters = 0  # told so far

    def feed(self, chunk: Mapping[str, Json]) -> bytes:
        """Returns the events of a chunk."""
        return b"".join(self._events(chunk))

    def ended(self) -> tuple[bytes, dict[str, Any]]:
        """Returns the last events, without the one that tells the end, and the whole response, which that one
        carries."""
        events = b"".join([*self._begun(), *self._told(self._order.rest())])
        events += b"".join(self._closed(output.item_status(self._finish)))
        status, more = output.ending(self._finish)
        usage = output.usage_of(self._usage, self._frame, self._characters)
        return events, self._frame.response(status, self._output, usage, model=self._model, **more)

    def last(self, whole: Mapping[str, Json]) -> bytes:
        """Returns the event that tells the end."""
        return self._event(f"response.{whole['status']}", response=whole)

    def failed(self, error: Mapping[str, Json]) -> bytes:
        """Returns the events of an answer that has broken off. `error`: in OpenAI's shape."""
        code, message = error.get("code"), str(error.get("message") or "The upstream failed.")
        code = None if code is None else str(code)  # some upstreams give an HTTP status
        told = {"code": "server_error", "message": message}
        whole = self._frame.response("failed", self._output, None, model=self._model, error=told)
        begun = b"".join(self._begun())
        return (
            begun
            + self._event("error", code=code, message=message, param=None)
            + self._event("response.failed", response=whole)
        )

    # --- one chunk ---

    def _events(self, chunk: Mapping[str, Json]) -> Iterator[bytes]:
        if not self._model and isinstance(model := chunk.get("model"), str):
            self._model = model
        yield from self._begun()
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = usage
        choice = self._order.choice(chunk)
        if isinstance(usage := choice.get("usage"), dict):
            self._usage = usage
        yield from self._told(self._order.feed(choice))
        if (finish := choice.get("finish_reason")) is not None:
            self._finish = finish

    def _told(self, pieces: Iterable[Piece]) -> Iterator[bytes]:
        for piece in pieces:
            yield from self._call(piece) if piece.kind == "call" else self._piece(piece.kind, piece.text)

    def _call(self, piece: Piece) -> Iterator[bytes]:
        opened = self._open
        if opened is None or opened.call != piece.call:
            yield from self._closed()
            opened = self._open = _Open("call", len(self._output), "", call=piece.call)
            opened.call_id, opened.name = piece.call_id, piece.name
            item = output.call_item(self._frame, opened.index, opened.call_id, opened.name, "", "in_progress")
            opened.id = item["id"]
            yield self._event("response.output_item.added", output_index=opened.index, item=item)
        if piece.text:
            opened.pieces.append(piece.text)
            if opened.name not in self._frame.origin.custom:
                where = {"item_id": opened.id, "output_index": opened.index}
                yield self._event("response.function_call_arguments.delta", **where, delta=piece.text)

    def _piece(self, kind: str, piece: str) -> Iterator[bytes]:
        opened = self._open
        if opened is None or opened.kind != kind:
            yield from self._closed()
            opened = self._open = _Open(kind, len(self._output), "")
            yield from self._opening(opened)
        opened.pieces.append(piece)
        self._characters += len(piece)
        where = {"item_id": opened.id, "output_index": opened.index}
        if kind == "reasoning":
            yield self._event("response.reasoning_summary_text.delta", **where, summary_index=0, delta=piece)
        elif kind == "text":
            yield self._event("response.output_text.delta", **where, content_index=0, delta=piece, logprobs=[])
        else:
            yield self._event("response.refusal.delta", **where, content_index=0, delta=piece)

    def _opening(self, opened: _Open) -> Iterator[bytes]:
        frame, index = self._frame, opened.index
        if opened.kind == "reasoning":
            opened.id = frame.item_id("rs", index)
            item = {"id": opened.id, "type": "reasoning", "summary": []}
            yield self._event("response.output_item.added", output_index=index, item=item)
            where = {"item_id": opened.id, "output_index": index, "summary_index": 0}
            part = {"type": "summary_text", "text": ""}
            yield self._event("response.reasoning_summary_part.added", **where, part=part)
            return
        item = output.message_item(frame, index, (), "in_progress")
        opened.id = item["id"]
        yield self._event("response.output_item.added", output_index=index, item=item)
        empty = output.text_part("") if opened.kind == "text" else {"type": "refusal", "refusal": ""}
        where = {"item_id": opened.id, "output_index": index, "content_index": 0}
        yield self._event("response.content_part.added", **where, part=empty)

    def _closed(self, status: str = "completed") -> Iterator[bytes]:
        opened, self._open = self._open, None
        if opened is None:
            return
        told, where = opened.told, {"item_id": opened.id, "output_index": opened.index}
        match opened.kind:
            case "reasoning":
                item = output.reasoning_item(self._frame, opened.index, told)
                yield self._event("response.reasoning_summary_text.done", **where, summary_index=0, text=told)
                part = {"type": "summary_text", "text": told}
                yield self._event("response.reasoning_summary_part.done", **where, summary_index=0, part=part)
            case "call":
                item = output.call_item(self._frame, opened.index, opened.call_id, opened.name, told, status)
                self._characters += len(opened.name) + len(told)
                if item["type"] == "custom_tool_call":
                    yield self._event("response.custom_tool_call_input.delta", **where, delta=item["input"])
                    yield self._event("response.custom_tool_call_input.done", **where, input=item["input"])
                else:
                    yield self._event("response.function_call_arguments.done", **where, arguments=told)
            case _:
                is_text = opened.kind == "text"
                part = output.text_part(told) if is_text else {"type": "refusal", "refusal": told}
                item = output.message_item(self._frame, opened.index, [part], status)
                if is_text:
                    yield self._event("response.output_text.done", **where, content_index=0, text=told, logprobs=[])
                else:
                    yield self._event("response.refusal.done", **where, content_index=0, refusal=told)
                yield self._event("response.content_part.done", **where, content_index=0, part=part)
        self._output.append(item)
        yield self._event("response.output_item.done", output_index=opened.index, item=item)

    def _begun(self) -> Iterator[bytes]:
        if self._has_begun:
            return
        self._has_begun = True
        begun = self._frame.response("in_progress", model=self._model)
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)

    def _event(self, kind: str, **fields: Json) -> bytes:
        told = {"type": kind, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return event(told)
