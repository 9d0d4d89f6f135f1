"""Events of a message, read along as they pass, as the completion that they are. The interface is that of
`accumulate.Accumulator`."""

from collections.abc import Sequence
from typing import Any

import msgspec

from proxy.protocol.answers import parse_usage
from proxy.protocol.messages.blocks import arguments_of
from proxy.protocol.messages.output import completion_of
from proxy.types import Json, Usage

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class MessageReader:
    """Reads the events of one message. Never raises."""

    def __init__(self) -> None:
        self.error: Json = None
        self.garbage = 0
        self.done = False
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}

    @property
    def started(self) -> bool:
        """True once the message has begun."""
        return bool(self._message)

    @property
    def finished(self) -> bool:
        """True once its stop reason is known."""
        return bool(self.stop_reason)

    @property
    def complete(self) -> bool:
        """True for a whole answer without an error."""
        return self.finished and self.error is None and not self.garbage

    @property
    def model(self) -> str | None:
        """The model's name as the upstream gives it."""
        model = self._message.get("model")
        return model if isinstance(model, str) and model else None

    @property
    def usage(self) -> Usage | None:
        """The usage so far; None before any is known."""
        return parse_usage(self.completion().get("usage")) if self._message.get("usage") else None

    def feed_all(self, datas: Sequence[bytes]) -> bool:
        """Adds the data of events. Returns False: none of them carries nothing but usage."""
        for data in datas:
            try:
                self._take(_decode(data))
            except (ValueError, RecursionError, KeyError):
                self.garbage += 1
        return False

    def completion(self) -> dict[str, Any]:
        """Returns the completion so far."""
        return completion_of({**self._message, "content": self.content()})

    @property
    def stop_reason(self) -> str:
        """The stop reason; "" before it is known."""
        return str(self._message.get("stop_reason") or "")

    def content(self) -> list[dict[str, Any]]:
        """Returns the blocks so far, in their order."""
        return [self.block(at) for at in sorted(self._blocks)]

    @property
    def told_usage(self) -> Json:
        """The usage as the upstream has told it so far; None before it has."""
        return self._message.get("usage")

    def _take(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                message = _object(event["message"])
                self._message = {**message, "usage": _object(message.get("usage") or {})}
            case "content_block_start":
                self._blocks[_index(event)] = _object(event["content_block"])
            case "content_block_delta":
                at, delta = _index(event), _object(event["delta"])
                piece = next((delta[name] for name in ("text", "partial_json", "thinking") if name in delta), None)
                if isinstance(piece, str):
                    self._pieces.setdefault(at, []).append(piece)
                elif delta.get("signature"):
                    self._blocks[at]["signature"] = delta["signature"]
                elif "citation" in delta:
                    before = self._blocks[at].get("citations")
                    self._blocks[at]["citations"] = [*(before if isinstance(before, list) else ()), delta["citation"]]
            case "message_delta":
                delta, usage = _object(event["delta"]), _object(event.get("usage") or {})
                counts = self._message.get("usage") or {}
                self._message |= {name: value for name, value in delta.items() if value is not None}
                self._message["usage"] = counts | {name: value for name, value in usage.items() if value is not None}
            case "message_stop":
                self.done = True
            case "error":
                self.error = event.get("error") or event

    def block(self, at: int) -> dict[str, Any]:
        """Returns the block with this index so far. Raises KeyError."""
        block, told = self._blocks[at], "".join(self._pieces.get(at, ()))
        match block.get("type"):
            case "text":
                return {**block, "text": f"{block.get('text') or ''}{told}"}
            case "thinking":
                return {**block, "thinking": f"{block.get('thinking') or ''}{told}"}
            case "tool_use" if told:
                return {**block, "input": arguments_of(told)}
            case _:
                return block


def _object(value: Json) -> dict[str, Any]:
    """Returns a copy of an object. Raises ValueError for anything else."""
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 (what its callers count as garbage)
    return dict(value)


def _index(event: dict[str, Any]) -> int:
    index = event["index"]
    if not isinstance(index, int):
        raise ValueError("no index")  # noqa: TRY004 (likewise)
    return index
