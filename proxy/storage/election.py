"""The election of the one process, of all that share a storage, that does a kind of work now.

A lock file in the storage folder: the system frees the lock of whoever ends, however it ends, and the file says when
the work was done last. Where nothing is shared every process elects itself.
"""

import asyncio
import fcntl
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

log = logging.getLogger(__name__)

_LENGTH = 32  # bytes of a lock file


class Election(Protocol):
    """The election among the processes that share a storage. A backend answers within a moment, and in doubt no."""

    def turn(self, work: str, every: float) -> AbstractAsyncContextManager[bool]:
        """Gives True inside the block if this process is to do `work` now: no other one is at it, nor has any finished
        it within the last `every` seconds. It counts as finished when the block ends without an error."""


class Alone:
    """The election of a process that shares nothing: always this one."""

    @asynccontextmanager
    async def turn(self, work: str, every: float) -> AsyncIterator[bool]:  # noqa: ARG002 (an Election's)
        yield True


class FileElection:
    """An election by lock files in `folder`: nobody is elected while it cannot be written. `clock` returns Unix
    seconds."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock

    @asynccontextmanager
    async def turn(self, work: str, every: float) -> AsyncIterator[bool]:
        held = await asyncio.to_thread(self._hold, self._folder / f"{work}.turn", every)
        if held is None:
            yield False
            return
        try:
            yield True
            os.pwrite(held, f"{self._clock():.3f}\n".ljust(_LENGTH).encode(), 0)
        finally:
            os.close(held)

    def _hold(self, file: Path, every: float) -> int | None:
        try:
            held = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            log.warning("no process can be elected", extra={"work": file.stem, "why": error.strerror})
            return None
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A time in the future is of a clock that was wrong.
            if not 0 <= self._clock() - _time_in(os.pread(held, _LENGTH, 0)) < every:
                return held
        except BlockingIOError:
            pass
        os.close(held)
        return None


def _time_in(content: bytes) -> float:
    """Returns when the work was finished last; 0 if it never was."""
    try:
        return float(content)
    except ValueError:
        return 0.0
