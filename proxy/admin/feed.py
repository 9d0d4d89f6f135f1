"""The live feed: polls the storage once a second for all listeners of this process, and not at all while there are
none. It reads the storage, and not the requests of this process, since others may serve beside it.

A slow listener misses old events, never new ones; nothing waits for it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from time import time

import msgspec

from proxy.admin import codec
from proxy.storage.base import Accounts, Width
from proxy.tasks import Tasks
from proxy.types import Json

log = logging.getLogger(__name__)

MOST_EVENTS = 8  # queued for a listener, at most
MOST_ROWS = 100  # rows of one event, at most: the newest of a second
MINUTE: Width = 60


@dataclass(frozen=True, slots=True)
class Pace:
    """Intervals of the feed, in seconds."""

    look: float = 1.0
    heartbeat: float = 15.0  # else a proxy in between takes a silent stream for a dead one


class Feed:
    """Events of new requests and totals, for any number of listeners."""

    def __init__(
        self, accounts: Accounts, tasks: Tasks, *, pace: Pace | None = None, clock: Callable[[], float] = time
    ) -> None:
        self._accounts = accounts
        self._tasks = tasks
        self._pace = pace or Pace()
        self._clock = clock
        self._listeners: set[Listener] = set()
        self._looking: asyncio.Task[None] | None = None
        self._is_closed = False
        self._totals = b""  # as last sent

    @property
    def listeners(self) -> int:
        """The number of listeners."""
        return len(self._listeners)

    @property
    def is_looking(self) -> bool:
        """True while the storage is polled."""
        return self._looking is not None

    def listen(self) -> "Listener":
        """A stream of the events from now on; it has to be iterated, and closed."""
        listener = Listener(self._left, self._pace.heartbeat)
        if self._is_closed:
            listener.end()
            return listener
        self._listeners.add(listener)
        if self._looking is not None and self._totals:
            listener.give(self._totals)
        if self._looking is None:
            self._looking = self._tasks.spawn(self._look(), name="live feed")
        return listener

    def close(self) -> None:
        """Ends all listeners, and those that come later."""
        self._is_closed = True
        for listener in list(self._listeners):
            listener.end()
        self._stop()

    def _left(self, listener: "Listener") -> None:
        self._listeners.discard(listener)
        if not self._listeners:
            self._stop()

    def _stop(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _look(self) -> None:
        newest: int | None = None
        minute = 0.0
        while True:
            try:
                last, now = await self._accounts.last(), self._clock()
                if newest is not None and last > newest:
                    self._tell(await self._new(newest))
                if last != newest or now - now % MINUTE != minute:
                    self._totals = await self._totals_at(now)
                    self._tell(self._totals)
                newest, minute = last, now - now % MINUTE
            except Exception:
                # Storage that can't be read now may be later, and the page has more to show than this.
                log.exception("the live feed could not look")
            await asyncio.sleep(self._pace.look)

    def _tell(self, event: bytes) -> None:
        for listener in self._listeners:
            listener.give(event)

    async def _new(self, newest: int) -> bytes:
        found = await self._accounts.rows(limit=MOST_ROWS)
        return _event(
            "requests", {"requests": [codec.row_json(each, row) for each, row in found[::-1] if each > newest]}
        )

    async def _totals_at(self, now: float) -> bytes:
        """Of the minute that runs, and of it and the 59 before."""
        minute = now - now % MINUTE
        buckets = await self._accounts.buckets(minute - 59 * MINUTE, minute + MINUTE, MINUTE)
        hour = codec.total(each.sums for each in buckets)
        running = codec.total(each.sums for each in buckets if each.at >= minute)
        return _event("totals", {"minute": codec.sums_json(running), "hour": codec.sums_json(hour), "at": now})


class Listener:
    """One stream of events. Iterate it once; `aclose` it in any case."""

    def __init__(self, left: Callable[["Listener"], None], heartbeat: float) -> None:
        self._left = left
        self._heartbeat = heartbeat
        self._waiting = deque([b": here\n\n"], maxlen=MOST_EVENTS)  # so that the client has an answer at once
        self._news = asyncio.Event()
        self._has_ended = False

    def give(self, event: bytes) -> None:
        """Queues an event; the oldest one is dropped if too many wait."""
        self._waiting.append(event)
        self._news.set()

    def end(self) -> None:
        """Ends the stream, whatever waits in it."""
        self._has_ended = True
        self._news.set()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while not self._has_ended:
            if self._waiting:
                return self._waiting.popleft()
            self._news.clear()
            try:
                async with asyncio.timeout(self._heartbeat):
                    await self._news.wait()
            except TimeoutError:
                return b": still here\n\n"
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Leaves the feed."""
        self._left(self)


def _event(name: str, data: Json) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))
