"""Runs long work in a thread with an event loop of its own, one piece at a time, so that requests neither wait for it
nor for the threads that they share."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

from proxy.embedding.base import DelegatingEmbedder, Embedder, Vectors
from proxy.errors import Conflict

T = TypeVar("T")

# Seconds after which the thread lets go of the interpreter if the event loop wants it; Python's own 5 ms would be added
# to every wait of every request.
SWITCH_SECONDS = 0.0005


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


class CrossLoopEmbedder(DelegatingEmbedder):
    """An embedder for another event loop: the vectors are made on `home`."""

    def __init__(self, embedder: Embedder, home: asyncio.AbstractEventLoop) -> None:
        super().__init__(embedder)
        self._home = home

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, from the other event loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._embedder.embed(texts), self._home))
