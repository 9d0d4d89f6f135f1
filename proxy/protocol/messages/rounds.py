"""A message out of several rounds, as a stream: for its events, what `splicing.py` and `rounds.py` of the parent
package do for the chunks of a completion.

Blocks pass by indices that go on from round to round (`by_index.py`). Of all rounds the client gets the first one's
beginning and the last one's end, with the sum of all usages.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proxy.protocol.by_index import IndexedRound
from proxy.protocol.message import spanned
from proxy.protocol.messages.blocks import UNFINISHED, are_signed
from proxy.protocol.messages.events import event
from proxy.protocol.messages.reading import MessageReader
from proxy.protocol.rounds import Whose
from proxy.protocol.splicing import added
from proxy.protocol.sse import Event
from proxy.protocol.tool_results import Said, said_in
from proxy.types import Json, Message, ToolCall

_encode = msgspec.json.Encoder().encode


class MessageSplice:
    """One streamed message on its way to the client, round after round: the state that outlasts a round."""

    def __init__(self) -> None:
        self.rounds = 0  # that have ended
        self.has_said = False  # a text has been passed, thinking aside
        self.has_calls = False  # a call of the client's has been passed
        self.usage: Mapping[str, Json] | None = None  # sum of the rounds that have ended, as a completion's
        self.answer = MessageReader()  # as the client got it so far
        self._told: Mapping[str, Json] | None = None  # the same sum, as a message's
        self._open: dict[int, str] = {}  # blocks that are being told: their kinds, by index
        self._next = 0  # index of the next block

    def end_round(self, usage: Mapping[str, Json] | None) -> None:
        """Ends a round that has not ended the answer. `usage`: as that of a completion."""
        self.rounds += 1
        self.usage = added(self.usage, usage)

    def add(self, told: Json) -> None:
        """Adds the usage of a round, as a message tells it."""
        self._told = added(self._told, told if isinstance(told, dict) else None)

    @property
    def told(self) -> Mapping[str, Json] | None:
        """The sum of the usages that were added."""
        return self._told

    def next_index(self) -> int:
        """Returns the index of one more block."""
        self._next += 1
        return self._next - 1

    def passed(self, raw: bytes, data: bytes) -> bytes:
        """Returns an event as the client gets it, which is noted."""
        self.answer.feed_all([data])
        return raw

    def told_of(self, index: int, told: Mapping[str, Json]) -> None:
        """Notes an event of the block with this index, by which the client knows it."""
        match told:
            case {"type": "content_block_start", "content_block": {"type": str(kind)}}:
                self._open[index] = kind
                self.has_calls |= kind == "tool_use"
            case {"type": "content_block_stop"}:
                self._open.pop(index, None)

    def left_open(self) -> bytes:
        """Returns the end of blocks that a round which was cut off has left open."""
        events: list[dict[str, Any]] = []
        for index, kind in sorted(self._open.items()):
            if kind == "thinking":  # its provider has not signed it: it is marked, and left out when it comes back
                unfinished = {"type": "signature_delta", "signature": UNFINISHED}
                events.append({"type": "content_block_delta", "index": index, "delta": unfinished})
            events.append({"type": "content_block_stop", "index": index})
        self._open.clear()
        return b"".join([self.passed(event(each), _encode(each)) for each in events])


class MessageRound(IndexedRound):
    """Reader of one round; `closing` returns the end of the message."""

    def __init__(self, splice: MessageSplice, whose: Whose, max_event_bytes: int = 16 * 2**20) -> None:
        super().__init__(whose, index="index", is_first=splice.rounds == 0, max_event_bytes=max_event_bytes)
        self._splice = splice
        self._read = MessageReader()
        self._index: dict[int, int] = {}  # by which the client knows a block
        self._delta: dict[str, Any] | None = None  # the end, held back
        self._stop = b""

    def said(self, completion: Mapping[str, Json]) -> Said | None:
        """Returns the model's message of the round; None if there is none. `completion`: the round as it was read."""
        found = said_in(completion, self.ours)
        blocks = [(each, _encode(_as_given(each))) for each in self._read.content()]
        return None if found is None else in_blocks(found, blocks)

    def end(self) -> bytes:
        """Returns what may pass now that the round has ended, but for its end."""
        rest = super().end()
        self._splice.add(self._read.told_usage)
        return rest

    def closing(self) -> bytes:
        """Returns the end of the message, as far as the upstream has sent it."""
        parts = []
        if self._delta is not None:
            delta = dict(self._delta.get("delta") or {})
            if delta.get("stop_reason") == "tool_use" and not self.has_theirs:
                delta["stop_reason"] = "end_turn"
            told = {**self._delta, "delta": delta, "usage": self._splice.told or self._delta.get("usage")}
            parts.append(self._splice.passed(event(told), _encode(told)))
        return b"".join([*parts, self._stop])

    # --- one event ---

    def _event(self, given: Event, told: dict[str, Any], data: bytes) -> bytes:
        has_begun = self._is_first or self._index
        return (b"" if has_begun else self._splice.left_open()) + self._taken(given, told, data)

    def _taken(self, given: Event, told: dict[str, Any], data: bytes) -> bytes:
        kind = told.get("type")
        self._read.feed_all([data])
        if kind == "message_start":
            return self._splice.passed(given.raw, data) if self._is_first else b""
        if kind in ("message_delta", "message_stop"):
            return self._ending(given, told, data)
        if isinstance(kind, str) and kind.startswith("content_block_") and isinstance(told.get("index"), int):
            return self._block(given, told)
        return given.raw  # a ping, or what is not known yet

    def _ending(self, given: Event, told: dict[str, Any], data: bytes) -> bytes:
        if not self._hides:
            return self._splice.passed(given.raw, data)
        if told["type"] == "message_delta":
            self._delta = told
        else:
            self._stop = given.raw
        return b""

    def _block(self, given: Event, told: dict[str, Any]) -> bytes:
        index = told["index"]
        if told["type"] == "content_block_start":
            block = told.get("content_block")
            if isinstance(block, dict) and block.get("type") == "tool_use":
                self._begin_call(index, str(block.get("name")))
        elif told["type"] == "content_block_stop" and index in self._calls:
            self._decide(index)
        return self._hold(given, told)

    def _call_at(self, index: int) -> ToolCall:
        block = self._read.block(index)
        arguments = _encode(block.get("input") or {}).decode()
        return ToolCall(str(block.get("id") or ""), str(block.get("name") or ""), arguments)

    def _passed(self, given: Event, told: dict[str, Any]) -> bytes:
        own = told["index"]
        if own not in self._index:
            self._index[own] = self._splice.next_index()
        self._note(told)
        self._splice.told_of(self._index[own], told)
        if self._index[own] == own:
            return self._splice.passed(given.raw, given.data or b"")
        changed = {**told, "index": self._index[own]}
        return self._splice.passed(event(changed), _encode(changed))

    def _note(self, told: Mapping[str, Json]) -> None:
        """Notes what the client has been told."""
        block, delta = told.get("content_block") or {}, told.get("delta") or {}
        text = block.get("text") if block.get("type") == "text" else delta.get("text")
        if isinstance(text, str) and text.strip():
            self.has_text = self._splice.has_said = True


def in_blocks(said: Said, blocks: Sequence[tuple[Mapping[str, Json], bytes]]) -> Said:
    """Returns the message of a round with its blocks, each decoded and in the bytes in which it goes back."""
    ours = {call.id for call in said.ours}
    rest = [each for each in blocks if each[0].get("type") != "tool_use" or each[0].get("id") not in ours]
    return Said(_with_blocks(said.message, blocks), said.ours, _with_blocks(said.rest, rest))


def _with_blocks(said: Message, blocks: Sequence[tuple[Mapping[str, Json], bytes]]) -> Message:
    return spanned(said, b",".join([raw for _, raw in blocks]), is_sealed=are_signed([each for each, _ in blocks]))


def _as_given(block: Mapping[str, Json]) -> dict[str, Json]:
    """Returns a block of an answer as a request has it: what is null is left out."""
    return {name: value for name, value in block.items() if value is not None}
