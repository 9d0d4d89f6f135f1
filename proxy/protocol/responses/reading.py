"""Events of a response, read along as they pass, as the completion that they are. The interface is that of
`accumulate.Accumulator`."""

from collections.abc import Sequence
from typing import Any

import msgspec

from proxy.protocol.answers import parse_usage
from proxy.protocol.responses.output import completion_of
from proxy.types import Json, Usage

_decode = msgspec.json.Decoder(dict[str, Any]).decode

_TEXT = b'"response.output_text.delta"'
# What else is worth decoding: the others repeat what the last one holds.
_TELLING = (b'"response.created"', b'"response.completed"', b'"response.incomplete"', b'"response.failed"', b'"error"')
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
# Bytes at the beginning of an event, or at its end (vLLM writes its fields by their names), in which its type stands.
_HEAD = 200
_TAIL = 100


def _edges(data: bytes) -> bytes:
    """Returns the parts of an event in which its type stands."""
    return data if len(data) <= _HEAD + _TAIL else data[:_HEAD] + data[-_TAIL:]


def ended_in(data: bytes) -> dict[str, Any] | None:
    """Returns the response that an event tells the end of; None if it tells none, or that it has failed."""
    edges = _edges(data)
    if b'"response.completed"' not in edges and b'"response.incomplete"' not in edges:
        return None
    try:
        event = _decode(data)
    except (ValueError, RecursionError):
        return None
    response = event.get("response")
    is_end = event.get("type") in ("response.completed", "response.incomplete")
    return response if is_end and isinstance(response, dict) else None


class ResponseReader:
    """Reads the events of one response. Never raises."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.error: Json = None
        self.garbage = 0
        self.done = False
        self.started = False
        self.finished = False
        self.model: str | None = None
        self._texts: list[str] = []
        self._last: dict[str, Any] | None = None

    @property
    def complete(self) -> bool:
        """True for a whole answer without an error."""
        return self._last is not None and self.error is None and not self.garbage

    def feed_all(self, datas: Sequence[bytes]) -> bool:
        """Adds the data of events. Returns False: none of them carries nothing but usage."""
        for data in datas:
            edges = _edges(data)
            is_text = _TEXT in edges
            if not is_text and not any(name in edges for name in _TELLING):
                continue
            try:
                self._take(_decode(data), is_text=is_text)
            except (ValueError, RecursionError, TypeError, AttributeError):  # of no such shape
                self.garbage += 1
        return False

    def completion(self) -> dict[str, Any]:
        """Returns the completion so far."""
        if self._last is not None:
            return self._last
        message = {"role": "assistant", "content": "".join(self._texts)}
        choice = {"index": 0, "message": message, "finish_reason": None}
        return {"object": "chat.completion", "model": self.model, "choices": [choice] if self.started else []}

    def _take(self, event: dict[str, Any], *, is_text: bool) -> None:
        kind = event.get("type")
        if is_text and kind == "response.output_text.delta":
            self._texts.append(str(event.get("delta", "")))
            return
        if kind == "error":
            self.error = event
        response = event.get("response")
        if not isinstance(response, dict):
            return
        self.started = True
        self.model = response.get("model") or self.model
        if kind in _LAST:
            self._last = completion_of(response)
            self.usage = parse_usage(self._last.get("usage"))
            self.error = response.get("error") or self.error
            self.finished = self.done = True
