"""A message out of several rounds, as a stream: for its events, what `splicing.py` and `rounds.py` of the parent
package do for the chunks of a completion.

Blocks pass as they arrive, by indices that go on from round to round; those of calls that are answered here never do. A
call of a tool that the client has too is held back until its arguments are known, and with it what comes behind. Of all
rounds the client gets the first one's beginning and the last one's end, with the sum of all usages.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proxy.protocol.message import spanned
from proxy.protocol.messages.blocks import are_signed
from proxy.protocol.messages.events import event
from proxy.protocol.messages.reading import MessageReader
from proxy.protocol.rounds import Whose
from proxy.protocol.splicing import added
from proxy.protocol.sse import Event, SseParser
from proxy.protocol.tool_results import Said, said_in
from proxy.types import Json, Message, ToolCall

_decode = msgspec.json.Decoder(dict[str, Any]).decode
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


class MessageRound:
    """Reader of one round. `feed` and `end` return what the client gets of it, `closing` the end of the message."""

    def __init__(self, splice: MessageSplice, whose: Whose, max_event_bytes: int = 16 * 2**20) -> None:
        self._splice = splice
        self._whose = whose
        self._parser = SseParser(max_event_bytes)
        self._read = MessageReader()
        self._is_ours: dict[int, bool | None] = {}  # by index of a block; None until it is known
        self._calls: list[int] = []  # indices of blocks that are calls
        self._index: dict[int, int] = {}  # by which the client knows a block
        self._held: deque[tuple[Event, dict[str, Any]]] = deque()
        self._delta: dict[str, Any] | None = None  # the end, held back
        self._stop = b""
        self._is_first = splice.rounds == 0
        self.failed = False  # an event was an error, or no event of a message, and was not passed
        self.has_text = False  # a text for the client, thinking aside

    @property
    def ours(self) -> tuple[int, ...]:
        """Positions of the calls that are answered here, in the message that the round adds up to."""
        return tuple(at for at, index in enumerate(sorted(self._calls)) if self._is_ours[index])

    @property
    def has_theirs(self) -> bool:
        """True if there is a call of the client's."""
        return any(self._is_ours[index] is False for index in self._calls)

    @property
    def is_untouched(self) -> bool:
        """True if the whole round was passed as it came, its end included."""
        return self._is_first and not self.ours and not self.failed

    def said(self, completion: Mapping[str, Json]) -> Said | None:
        """Returns the model's message of the round; None if there is none. `completion`: the round as it was read."""
        found = said_in(completion, self.ours)
        blocks = [(each, _encode(_as_given(each))) for each in self._read.content()]
        return None if found is None else in_blocks(found, blocks)

    def feed(self, chunk: bytes) -> bytes:
        """Returns what may pass now that these bytes have arrived. Raises EventTooLargeError."""
        return b"".join(map(self._take, self._parser.feed(chunk)))

    def end(self) -> bytes:
        """Returns what may pass now that the round has ended, but for its end."""
        rest = b"".join(map(self._take, self._parser.flush()))
        for index in self._calls:
            self._decide(index)
        self._splice.add(self._read.told_usage)
        return rest + b"".join(self._released())

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

    def _take(self, given: Event) -> bytes:
        data = given.data
        if not data or data.isspace():
            return given.raw  # a comment that keeps the connection alive
        try:
            told = _decode(data)
        except (ValueError, RecursionError):
            return self._unusable(given)
        kind = told.get("type")
        if kind == "error":
            return self._unusable(given)
        self._read.feed_all([data])
        if kind == "message_start":
            return self._splice.passed(given.raw, data) if self._is_first else b""
        if kind in ("message_delta", "message_stop"):
            return self._ending(given, told, data)
        if isinstance(kind, str) and kind.startswith("content_block_") and isinstance(told.get("index"), int):
            return self._block(given, told)
        return given.raw  # a ping, or what is not known yet

    def _unusable(self, given: Event) -> bytes:
        """Passes an error, or what is no event, unless something is hidden: then another answer is to follow."""
        if self._is_first and not self._held and not self.ours:
            return given.raw
        self.failed = True
        return b""

    def _ending(self, given: Event, told: dict[str, Any], data: bytes) -> bytes:
        if self._is_first and not self.ours:
            return self._splice.passed(given.raw, data)
        if told["type"] == "message_delta":
            self._delta = told
        else:
            self._stop = given.raw
        return b""

    def _block(self, given: Event, told: dict[str, Any]) -> bytes:
        index = told["index"]
        if told["type"] == "content_block_start":
            self._begin(index, told.get("content_block"))
        self._held.append((given, told))
        if told["type"] == "content_block_stop" and index in self._calls:
            self._decide(index)
        return b"".join(self._released())

    def _begin(self, index: int, block: Json) -> None:
        self._is_ours[index] = False
        if not isinstance(block, dict) or block.get("type") != "tool_use":
            return
        self._calls.append(index)
        name = block.get("name")
        if name in self._whose.may_be_ours:
            self._is_ours[index] = None if name in self._whose.client else True

    def _decide(self, index: int) -> None:
        """Decides whose a call is, now that its arguments are known."""
        if self._is_ours[index] is None:
            block = self._read.block(index)
            arguments = _encode(block.get("input") or {}).decode()
            call = ToolCall(str(block.get("id") or ""), str(block.get("name") or ""), arguments)
            self._is_ours[index] = self._whose.answers(call)

    def _released(self) -> Iterator[bytes]:
        """Passes the held events of which it is known whose they are, up to the first of which it is not."""
        while self._held and self._is_ours.get(self._held[0][1]["index"], False) is not None:
            given, told = self._held.popleft()
            if not self._is_ours.get(told["index"], False):
                yield self._passed(given, told)

    def _passed(self, given: Event, told: dict[str, Any]) -> bytes:
        own = told["index"]
        if own not in self._index:
            self._index[own] = self._splice.next_index()
        self._note(told)
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
        self._splice.has_calls |= block.get("type") == "tool_use"


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
