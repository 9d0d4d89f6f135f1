"""The admin API's own parts, beside the services of the proxy that it administers: the live feed, and a thread for long
work.

The feed polls the storage once a second for all listeners of this process, and not at all while there are none. It
reads the storage, and not the requests of this process, since others may serve beside it. A slow listener misses old
events, never new ones; nothing waits for it.

The thread has an event loop of its own and does one piece of work at a time, so that requests neither wait for it nor
for the threads that they share.
"""

import asyncio
import logging
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from time import time
from typing import Any, TypeVar

import msgspec

from proxy.admin import codec
from proxy.admin.auth import AdminAuthenticator
from proxy.config import shows_content
from proxy.errors import Conflict
from proxy.observe.siblings import Siblings
from proxy.pipeline import Services
from proxy.storage.accounts import Accounts, Width
from proxy.tasks import Tasks
from proxy.types import Json

T = TypeVar("T")

log = logging.getLogger(__name__)

MOST_EVENTS = 8  # queued for a listener, at most
MOST_ROWS = 100  # rows of one event, at most: the newest of a second
MINUTE: Width = 60

# Seconds after which the thread lets go of the interpreter if the event loop wants it; Python's own 5 ms would be added
# to every wait of every request.
SWITCH_SECONDS = 0.0005


@dataclass(frozen=True, slots=True)
class Pace:
    """Intervals of the feed, in seconds."""

    look: float = 1.0
    heartbeat: float = 15.0  # else a proxy in between takes a silent stream for a dead one


class Feed:
    """Events of new requests and totals, for any number of listeners."""

    def __init__(
        self,
        accounts: Accounts,
        tasks: Tasks,
        *,
        pace: Pace | None = None,
        clock: Callable[[], float] = time,
        with_questions: bool = False,
    ) -> None:
        """`with_questions`: a request is told with the first question of its conversation."""
        self._accounts = accounts
        self._tasks = tasks
        self._pace = pace or Pace()
        self._clock = clock
        self._with_questions = with_questions
        self._listeners: set[Listener] = set()
        self._looking: asyncio.Task[None] | None = None
        self._is_closed = False
        self._totals: dict[str | None, bytes] = {}  # as last sent, by whose they are

    @property
    def listeners(self) -> int:
        """The number of listeners."""
        return len(self._listeners)

    @property
    def is_looking(self) -> bool:
        """True while the storage is polled."""
        return self._looking is not None

    def listen(self, scope: str | None = None) -> "Listener":
        """A stream of the events from now on, of a scope or a tenant if one is given; it has to be iterated, and
        closed."""
        listener = Listener(self._left, self._pace.heartbeat, scope)
        if self._is_closed:
            listener.end()
            return listener
        self._listeners.add(listener)
        if self._looking is not None and (totals := self._totals.get(scope)):
            listener.give(totals)
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
                scopes = {listener.scope for listener in self._listeners}
                for scope in scopes:
                    if newest is not None and last > newest and (new := await self._new(newest, scope)):
                        self._tell(new, scope)
                if last != newest or now - now % MINUTE != minute or scopes - self._totals.keys():
                    self._totals = {scope: await self._totals_at(now, scope) for scope in scopes}
                    for scope in scopes:
                        self._tell(self._totals[scope], scope)
                newest, minute = last, now - now % MINUTE
            except Exception:
                # Storage that can't be read now may be later, and the page has more to show than this.
                log.exception("the live feed could not look")
            await asyncio.sleep(self._pace.look)

    def _tell(self, event: bytes, scope: str | None) -> None:
        for listener in self._listeners:
            if listener.scope == scope:
                listener.give(event)

    async def _new(self, newest: int, scope: str | None) -> bytes:
        """The event with the new requests; b"" if there are none."""
        rows = await self._accounts.rows(scope=scope, limit=MOST_ROWS)
        found = [each for each in rows[::-1] if each[0] > newest]
        questions: Mapping[tuple[str, str], str] = {}
        if self._with_questions:
            questions = await self._accounts.questions({(row.scope, row.session) for _, row in found})
        told = [codec.listed_json(number, row, questions) for number, row in found]
        return _event("requests", {"requests": told}) if told else b""

    async def _totals_at(self, now: float, scope: str | None) -> bytes:
        """The event with the totals of the current minute, and of the hour that ends with it."""
        minute = now - now % MINUTE
        buckets = await self._accounts.buckets(minute - 59 * MINUTE, minute + MINUTE, MINUTE, scope)
        hour = codec.total(each.sums for each in buckets)
        running = codec.total(each.sums for each in buckets if each.at >= minute)
        return _event("totals", {"minute": codec.sums_json(running), "hour": codec.sums_json(hour), "at": now})


class Listener:
    """One stream of events. Iterate it once; `aclose` it in any case."""

    def __init__(self, left: Callable[["Listener"], None], heartbeat: float, scope: str | None = None) -> None:
        self.scope = scope  # or tenant, whose events it gets; None: all
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


# --- the thread ---


class Stopped(Exception):
    """The work was cancelled."""


class Worker:
    """A thread for long work, one piece at a time."""

    def __init__(self) -> None:
        self._stop: Event | None = None  # of the running work
        self._running: asyncio.Future[Any] | None = None

    @property
    def is_busy(self) -> bool:
        """True while something runs."""
        return self._stop is not None

    async def run(self, work: Callable[[Callable[[], None]], Coroutine[Any, Any, T]]) -> T:
        """Runs `work` in the thread and returns its result. It is given a function to call between its steps, which
        raises Stopped once the caller was cancelled. Raises Conflict while something else runs."""
        if self._stop is not None:
            raise Conflict("Another one is under way. Try again when it has ended.")
        self._stop = stop = Event()

        def go_on() -> None:
            if stop.is_set():
                raise Stopped

        executor = ThreadPoolExecutor(1, thread_name_prefix="worker")
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        running = asyncio.get_running_loop().run_in_executor(executor, lambda: asyncio.run(work(go_on)))
        self._running = running
        executor.shutdown(wait=False)

        def ended(future: asyncio.Future[T]) -> None:
            sys.setswitchinterval(before)
            self._stop = self._running = None
            if not future.cancelled():
                future.exception()  # retrieved, so that asyncio does not log it

        running.add_done_callback(ended)
        try:
            return await asyncio.shield(running)
        finally:
            stop.set()

    def stop(self) -> None:
        """Ends the running work at its next step."""
        if self._stop is not None:
            self._stop.set()

    async def close(self, seconds: float) -> None:
        """Ends the running work and waits for it, so many seconds at most: an interpreter does not exit before its
        threads have."""
        self.stop()
        if self._running is not None:
            await asyncio.wait([self._running], timeout=seconds)


# --- all of them ---


@dataclass(frozen=True, slots=True)
class Admin:
    """The parts that its handlers share; `services` are closed by whoever built them."""

    services: Services
    auth: AdminAuthenticator
    feed: Feed
    worker: Worker
    siblings: Siblings | None = None  # None: this process serves alone

    @classmethod
    def of(cls, services: Services, siblings: Siblings | None = None) -> "Admin":
        """Builds the parts for these services."""
        return cls(
            services,
            AdminAuthenticator(services.config, services.shared.throttle, services.shared.logouts, keys=services.keys),
            Feed(services.storage.accounts, services.tasks, with_questions=shows_content(services.config)),
            Worker(),
            siblings,
        )

    async def close(self) -> None:
        """Ends the live feed and the background thread, which has `server.drain` seconds to end."""
        self.feed.close()
        await self.worker.close(self.services.config.server.drain)
