"""CPU-heavy work off the event loop, and light work on it: a thread's round trip costs about 50 µs of CPU itself."""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

# Parsing, hashing and encoding this much JSON takes about a millisecond.
INLINE_BYTES = 256 * 1024
SAVED = 1.0  # seconds: fifty slices
SLICE = 0.02  # seconds that a thread works on one thing before others have their turn


class Offload:
    """Runs functions where the size of what they work on says they belong."""

    __slots__ = ("_executor", "_inline")

    def __init__(self, executor: Executor, size: int, *, inline_bytes: int = INLINE_BYTES) -> None:
        self._executor = executor
        self._inline = size <= inline_bytes

    async def __call__(self, work: Callable[[], T]) -> T:
        if self._inline:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


class Turns:
    """Whose turn is next of those who wait for the same thing: whoever has had it for the shortest time. So who has
    much to do holds up nobody who has little, however often that one comes. Of the time that somebody did not ask for
    no more than `saved` seconds are made up for."""

    def __init__(self, clock: Callable[[], float] = monotonic, saved: float = SAVED) -> None:
        self._clock = clock
        self._saved = saved
        self._had: dict[str, float] = {}  # seconds; of those alone who have had more than `_least`
        self._least = -saved  # that anybody is taken to have had
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []  # in the order they came
        self._taken = False

    @asynccontextmanager
    async def of(self, whose: str) -> AsyncIterator[None]:
        if self._taken:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((whose, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # it was given, and is not wanted any more
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
    executor: Executor, steps: Generator[None, None, T], turns: Turns, whose: str, *, seconds: float = SLICE
) -> T:
    """What `steps` returns, worked off in threads: after each `seconds` whatever else waits for a thread comes first,
    and whatever else takes its slices by the same `turns`, so that they never take all threads at once. A step is never
    cut short."""
    done: tuple[T] | None = None
    while done is None:
        async with turns.of(whose):
            done = await asyncio.get_running_loop().run_in_executor(executor, _advance, steps, seconds)
    return done[0]


def _advance(steps: Generator[None, None, T], seconds: float) -> tuple[T] | None:
    """In the thread. None: there is more to do."""
    until = monotonic() + seconds
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return (end.value,)
        if monotonic() >= until:
            return None
