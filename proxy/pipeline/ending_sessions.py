"""The end of a conversation: by idleness, at the client's word (a header, the API, `/clear`), or with the process.

Whoever wants to know is told once for each end, off the way of requests; a conversation that goes on after its end is
open again, and has another one. What a listener does may fail: that is counted, and costs nobody an answer. Without a
listener ends are only noted, and no timer runs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Literal, TypeAlias

from proxy.lru import Lru
from proxy.storage.erasures import base_of
from proxy.tasks import Attempts, Tasks, within

MOST_OPEN = 20_000  # conversations; of more, the one that has been quiet for longest ends early
MOST_ENDED = 20_000  # conversations of which it is known that they have ended
DEADLINE = 30.0  # seconds that a listener has
SETTLING = 5.0  # seconds that what was just said may take to get into memory
CLOSING = 5.0  # seconds for all conversations that are open when the process ends
AT_ONCE = 8  # listeners at work when the process ends

Why: TypeAlias = Literal["idle", "header", "api", "clear", "shutdown"]
# Gets the scope of memory, the session, and the cause of its end.
OnEnd: TypeAlias = Callable[[str, str, Why], Awaitable[object]]
Key: TypeAlias = tuple[str, str]  # scope of memory, session


def to_all(listeners: Sequence[OnEnd]) -> OnEnd:
    """Returns one that tells all of these, at once, and raises the first failure when all are done."""

    async def tell(scope: str, session: str, why: Why) -> None:
        told = await asyncio.gather(*(each(scope, session, why) for each in listeners), return_exceptions=True)
        for failure in told:
            if isinstance(failure, BaseException):
                raise failure

    return tell


@dataclass(frozen=True, slots=True)
class Listener:
    """The one that is told of ends."""

    on_end: OnEnd
    settled: Callable[[str, str], Awaitable[None]]  # returns once what was said in a session is in memory
    failed_open: Callable[[str, str], None]  # the metric of stages that failed
    tasks: Tasks


class Ends:
    """The conversations that are open, and those that have ended. For the event loop."""

    def __init__(
        self,
        idle: float,
        listener: Listener | None = None,
        *,
        clock: Callable[[], float] = monotonic,
        most: int = MOST_OPEN,
    ) -> None:
        """`idle`: seconds after its last request at which a conversation has ended."""
        self._idle = idle
        self._listener = listener
        self._clock = clock
        self._most = most
        self._open: Lru[Key, float] = Lru()  # time of the last request; the one that came longest ago is first
        self._ended: Lru[Key, bool] = Lru(MOST_ENDED)
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def heard(self, scope: str, session: str) -> None:
        """Takes note of a request: its conversation is open."""
        self._ended.pop((scope, session), None)
        self._open.put((scope, session), self._clock())
        if len(self._open) > self._most:
            self._end(next(iter(self._open)), "idle")
        if self._timer is None:
            self._wait()

    def end(self, scope: str, session: str, why: Why) -> bool:
        """Ends a conversation; False if it has ended already. One that nobody here has heard of was begun by another
        process, or before this one."""
        if (scope, session) in self._ended:
            return False
        self._end((scope, session), why)
        return True

    def knows(self, scope: str, session: str) -> bool:
        """Tells whether a conversation has been heard of here."""
        return (scope, session) in self._open or (scope, session) in self._ended

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased, and those of its single conversations."""
        for known in (self._open, self._ended):
            for key in [key for key in known if base_of(key[0]) == scope]:
                known.pop(key, None)

    def stop(self) -> None:
        """Stops the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def close(self, seconds: float = CLOSING) -> None:
        """Ends all conversations that are open, as far as `seconds` allow."""
        self.stop()
        left, listener = list(self._open), self._listener
        self._open.clear()
        if listener is None or not left:
            return

        async def work() -> None:
            while left:
                await _tell(listener, left.pop(), "shutdown")

        try:
            await within(seconds, _all(work, min(AT_ONCE, len(left))))
        except TimeoutError:
            listener.failed_open("end", "deadline")

    def _end(self, key: Key, why: Why) -> None:
        self._open.pop(key, None)
        self._ended.put(key, True)
        if (listener := self._listener) is not None:
            listener.tasks.spawn(_tell(listener, key, why), name="end")

    def _wait(self) -> None:
        """Sets the timer for the conversation that has been quiet for longest. It is not set anew by a request: when it
        rings, the rest of the time is waited for."""
        if self._listener is not None and self._open:
            due = next(iter(self._open.values())) + self._idle
            self._timer = asyncio.get_running_loop().call_later(max(0.0, due - self._clock()), self._ring)

    def _ring(self) -> None:
        self._timer = None
        quiet_since = self._clock() - self._idle
        while self._open and next(iter(self._open.values())) <= quiet_since:
            self._end(next(iter(self._open)), "idle")
        self._wait()


async def _all(work: Callable[[], Awaitable[None]], number: int) -> None:
    await asyncio.gather(*(work() for _ in range(number)))


async def _tell(listener: Listener, key: Key, why: Why) -> None:
    attempts = Attempts(listener.failed_open)
    await attempts.run("end", _told(listener, key, why), fallback=None, deadline=DEADLINE)


async def _told(listener: Listener, key: Key, why: Why) -> None:
    with suppress(TimeoutError):  # then what is there is told
        await within(SETTLING, _settled(listener, key))
    await listener.on_end(*key, why)


async def _settled(listener: Listener, key: Key) -> None:
    await listener.settled(*key)
