"""CPU-heavy work off the event loop, and light work on it: a thread's round trip costs about 50 µs of CPU itself."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

T = TypeVar("T")

# Parsing, hashing and encoding this much JSON takes about a millisecond.
INLINE_BYTES = 256 * 1024


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
