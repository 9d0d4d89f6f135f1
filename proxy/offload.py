"""CPU-heavy work off the event loop, and light work on it: a thread's round trip costs about 50 µs of CPU itself."""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

# Parsing, hashing and encoding this much JSON takes about a millisecond.
INLINE_BYTES = 256 * 1024
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


async def in_slices(
    executor: Executor, steps: Generator[None, None, T], turn: asyncio.Lock, *, seconds: float = SLICE
) -> T:
    """What `steps` returns, worked off in threads: after each `seconds` whatever else waits for a thread comes first,
    and whatever else takes its slices by the same `turn`, so that they never take all threads at once. A step is never
    cut short."""
    done: tuple[T] | None = None
    while done is None:
        async with turn:
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
