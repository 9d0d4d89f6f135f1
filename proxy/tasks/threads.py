"""CPU-heavy work in threads, light work on the event loop: a thread's round trip costs about 50 µs of CPU itself. Long
work takes turns, slice by slice.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from time import monotonic
from typing import TypeVar, cast

T = TypeVar("T")

# Parsing, hashing and encoding this much JSON takes about a millisecond.
INLINE_BYTES = 256 * 1024
SAVED = 1.0  # seconds (fifty slices) that an idle user catches up on at most
SLICE = 0.02  # seconds of work before others have their turn
MOMENT = 0.001  # the same, on the event loop


class Offload:
    """Runs functions on the event loop or in a thread, by the size of their input in bytes."""

    __slots__ = ("_executor", "_inline")

    def __init__(self, executor: Executor, size: int, *, inline_bytes: int = INLINE_BYTES) -> None:
        self._executor = executor
        self._inline = size <= inline_bytes

    async def __call__(self, work: Callable[[], T]) -> T:
        """Returns the result of `work`, run where its size belongs."""
        if self._inline:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


class FairQueue:
    """A fair queue for one resource: whoever has used it for the least time is next, so heavy users never hold up light
    ones. An idle user catches up on at most `saved` seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic, saved: float = SAVED) -> None:
        self._clock = clock
        self._saved = saved
        self._had: dict[str, float] = {}  # seconds of use, of users above `_least`
        self._least = -saved  # seconds of use that every user is assumed to have had
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []  # in order of arrival
        self._taken = False

    @asynccontextmanager
    async def turn(self, whose: str) -> AsyncIterator[None]:
        """Holds the resource for `whose` inside the block; waits until it is free."""
        if self._taken:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((whose, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # granted, and not wanted any more
                    self._next()
                raise
        self._taken = True
        had = self._so_far(whose)
        self._least = max(self._least, had - self._saved)
        began = self._clock()
        try:
            yield
        finally:
            self._had[whose] = had + self._clock() - began
            self._next()

    def _so_far(self, whose: str) -> float:
        return max(self._had.get(whose, 0.0), self._least)

    def _next(self) -> None:
        self._had = {whose: had for whose, had in self._had.items() if had > self._least}
        self._waiting = [each for each in self._waiting if not each[1].done()]
        self._taken = bool(self._waiting)
        if self._waiting:
            which = min(range(len(self._waiting)), key=lambda at: self._so_far(self._waiting[at][0]))
            self._waiting.pop(which)[1].set_result(None)


async def in_slices(
    executor: Executor, steps: Generator[None, None, T], queue: FairQueue, whose: str, *, seconds: float = SLICE
) -> T:
    """Returns the result of `steps`, run in threads in slices of `seconds`, by turns with other work in the same queue,
    so that it never takes all threads at once. A step is never interrupted."""
    done: tuple[T] | None = None
    while done is None:
        async with queue.turn(whose):
            done = await asyncio.get_running_loop().run_in_executor(executor, _advance, steps, seconds)
    return done[0]


async def in_place(steps: Generator[None, None, T], *, seconds: float = MOMENT) -> T:
    """Returns the result of short `steps`, run on the event loop: whatever else is due comes first after `seconds`. A
    thread's round trip and its struggle for the interpreter would cost more than they do."""
    until = monotonic() + seconds
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(T, end.value)
        if monotonic() >= until:
            await asyncio.sleep(0)
            until = monotonic() + seconds


def _advance(steps: Generator[None, None, T], seconds: float) -> tuple[T] | None:
    """Runs steps for `seconds`, in the thread. Returns the result; None if there is more to do."""
    until = monotonic() + seconds
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return (end.value,)
        if monotonic() >= until:
            return None
