"""Reading of one round of an answer whose events tell of things by their index, one thing after the other: blocks of a
message, items of a response. What `rounds.py` does for the chunks of a completion, as far as both have it in common.

Things pass as they arrive; those that are calls which are answered here never do. A call of a tool that the client has
too is held back until its arguments are known, and with it what comes behind.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec

from proxy.protocol.rounds import Whose
from proxy.protocol.sse import DONE_DATA, Event, SseParser
from proxy.types import ToolCall

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class IndexedRound(ABC):
    """Reader of one round. `feed` and `end` return what the client gets of it."""

    def __init__(self, whose: Whose, *, index: str, is_first: bool, max_event_bytes: int) -> None:
        """`index`: the field of an event that says which thing it tells of."""
        self._whose = whose
        self._by = index
        self._is_first = is_first
        self._parser = SseParser(max_event_bytes)
        self._is_ours: dict[int, bool | None] = {}  # by index; None until it is known
        self._calls: list[int] = []  # indices of those that are calls
        self._held: deque[tuple[Event, dict[str, Any]]] = deque()
        self._done = b""
        self.failed = False  # an event was an error, or none of this API, and was not passed
        self.has_text = False  # a text for the client, reasoning aside

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
        """True if the whole round was passed, its end included."""
        return self._is_first and not self.ours and not self.failed

    def feed(self, chunk: bytes) -> bytes:
        """Returns what may pass now that these bytes have arrived. Raises EventTooLargeError."""
        return b"".join(map(self._take, self._parser.feed(chunk)))

    def end(self) -> bytes:
        """Returns what may pass now that the round has ended, but for its end."""
        return b"".join(map(self._take, self._parser.flush())) + self._decided()

    # --- what an API says of its events ---

    @abstractmethod
    def _event(self, given: Event, told: dict[str, Any], data: bytes) -> bytes:
        """Takes an event that can be read; returns what passes."""

    @abstractmethod
    def _call_at(self, index: int) -> ToolCall:
        """Returns the call with this index, as far as it is known."""

    @abstractmethod
    def _passed(self, given: Event, told: dict[str, Any]) -> bytes:
        """Returns an event of a thing that is not ours, as the client gets it."""

    # --- in common ---

    @property
    def _hides(self) -> bool:
        """True if the round is not the first one, or has calls that the client is not to see."""
        return not self._is_first or bool(self.ours)

    def _take(self, given: Event) -> bytes:
        data = given.data
        if not data or data.isspace():
            return given.raw  # a comment that keeps the connection alive
        if data.startswith(DONE_DATA):  # the end of a stream, as some upstreams tell it in any API
            self._done = given.raw
            return b"" if self._hides else given.raw
        try:
            told = _decode(data)
        except (ValueError, RecursionError):
            return self._unusable(given)
        return self._unusable(given) if told.get("type") == "error" else self._event(given, told, data)

    def _unusable(self, given: Event) -> bytes:
        """Passes an error, or what is no event, unless something is hidden: then another answer is to follow."""
        if not self._held and not self._hides:
            return given.raw
        self.failed = True
        return b""

    def _begin_call(self, index: int, name: str) -> None:
        """Notes that a call begins, and whose it is, as far as its name tells."""
        self._calls.append(index)
        self._is_ours[index] = False
        if self._whose.may_take(name):
            self._is_ours[index] = None if name in self._whose.client else True

    def _hold(self, given: Event, told: dict[str, Any]) -> bytes:
        """Takes an event of a thing; returns what may pass of all that is held."""
        self._held.append((given, told))
        return b"".join(self._released())

    def _decided(self) -> bytes:
        """Decides on all calls: they are as whole as they will be. Returns what may pass."""
        for index in self._calls:
            self._decide(index)
        return b"".join(self._released())

    def _decide(self, index: int) -> None:
        """Decides whose a call is, now that its arguments are known."""
        if self._is_ours[index] is None:
            self._is_ours[index] = self._whose.answers(self._call_at(index))

    def _released(self) -> Iterator[bytes]:
        """Passes the held events of which it is known whose they are, up to the first of which it is not."""
        while self._held and self._is_ours.get(self._held[0][1][self._by], False) is not None:
            given, told = self._held.popleft()
            if not self._is_ours.get(told[self._by], False):
                yield self._passed(given, told)
