"""A message out of several rounds, as one body. The rules are those of a stream (rounds.py); the body of the last round
is the one that the client gets, with the blocks of earlier rounds before its own."""

from collections.abc import Mapping
from typing import Any

import msgspec

from proxy.protocol.messages.output import completion_of
from proxy.protocol.messages.rounds import in_blocks
from proxy.protocol.origin import elements
from proxy.protocol.rounds import Whose
from proxy.protocol.splicing import added
from proxy.protocol.tool_results import Said, said_in
from proxy.types import Json, ToolCall

_object = msgspec.json.Decoder(dict[str, Any])
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode = msgspec.json.Encoder().encode


class WholeMessageSplice:
    """The blocks and the usage of earlier rounds."""

    def __init__(self) -> None:
        self.rounds = 0  # that have ended
        self.has_said = False  # a text, thinking aside
        self.blocks: list[bytes] = []
        self.usage: Mapping[str, Json] | None = None  # their sum, as a message tells it


class WholeMessageRound:
    """One round whose body is read at once."""

    def __init__(self, splice: WholeMessageSplice, whose: Whose, body: bytes) -> None:
        """Raises ValueError if `body` is no JSON object."""
        self._splice = splice
        self._body = body
        self._message = _object.decode(body)
        content = self._message.get("content")
        self.failed = self._message.get("type") == "error" or not isinstance(content, list)
        spans = [] if self.failed else elements(_fields.decode(body)["content"])
        self._blocks = [
            (block, span) for block, span in zip(content or (), spans, strict=False) if isinstance(block, dict)
        ]
        self.completion: Mapping[str, Json] = {} if self.failed else completion_of(self._message)
        calls = [block for block, _ in self._blocks if block.get("type") == "tool_use"]
        self.ours = tuple(at for at, call in enumerate(calls) if _is_ours(call, whose))
        self.has_theirs = len(self.ours) < len(calls)
        self.has_text = any(str(block.get("text") or "").strip() for block, _ in self._blocks if _is_text(block))

    def said(self, completion: Mapping[str, Json]) -> Said | None:
        """Returns the model's message of the round; None if there is none."""
        found = said_in(completion, self.ours)
        return None if found is None else in_blocks(found, self._blocks)

    def end_round(self) -> None:
        """Ends a round that has not ended the answer."""
        splice = self._splice
        splice.rounds += 1
        splice.has_said |= self.has_text
        splice.blocks += self._passed()
        splice.usage = self._usage()

    def closing(self) -> bytes:
        """Returns the body of the message; it is the round's own, to the byte, if nothing was hidden."""
        if not self._splice.rounds and not self.ours:
            return self._body
        whole = _fields.decode(self._body)
        whole["content"] = msgspec.Raw(b"[%b]" % b",".join([*self._splice.blocks, *self._passed()]))
        if self._message.get("stop_reason") == "tool_use" and not self.has_theirs:
            whole["stop_reason"] = msgspec.Raw(b'"end_turn"')
        if (usage := self._usage()) is not None:
            whole["usage"] = msgspec.Raw(_encode(usage))
        return _encode(whole)

    def _usage(self) -> Mapping[str, Json] | None:
        usage = self._message.get("usage")
        return added(self._splice.usage, usage if isinstance(usage, dict) else None)

    def _passed(self) -> list[bytes]:
        """Returns the blocks that the client gets."""
        at = -1
        passed = []
        for block, span in self._blocks:
            at += block.get("type") == "tool_use"
            if block.get("type") != "tool_use" or at not in self.ours:
                passed.append(span)
        return passed


def _is_text(block: Mapping[str, Json]) -> bool:
    return block.get("type") == "text"


def _is_ours(block: Mapping[str, Json], whose: Whose) -> bool:
    name = str(block.get("name") or "")
    call = ToolCall(str(block.get("id") or ""), name, _encode(block.get("input") or {}).decode())
    return whose.may_take(name) and whose.answers(call)
