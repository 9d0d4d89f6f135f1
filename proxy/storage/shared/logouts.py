"""Admin cookies that were logged out before they expire: a cookie is valid by its signature, so its end must be stored.

They are in a file of the storage folder, so they stay ended after a restart, and every process that shares the folder
knows of them within a second. Where nothing is on disk they are known to this process, until it ends.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic, time

log = logging.getLogger(__name__)

FILE_NAME = "admin.logouts"
REREAD = 1.0  # seconds
MOST = 10_000  # cookies; the oldest are dropped


class FileLogouts:
    """Ended cookies in memory and, with a `folder`, in its file. `clock` returns Unix seconds."""

    def __init__(self, folder: Path | None, clock: Callable[[], float] = time) -> None:
        self._file = None if folder is None else folder / FILE_NAME
        self._clock = clock
        self._ended: dict[str, int] = {}  # id of a cookie → when it would have expired, Unix seconds
        self._read: tuple[int, int] = (0, 0)  # size and time of the file when it was read
        self._looked = float("-inf")  # monotonic

    def has(self, cookie_id: str) -> bool:
        """Returns True if the cookie of this id has ended."""
        return cookie_id in self._ended

    async def add(self, cookie_id: str, expires: int) -> None:
        """Ends a cookie, in the file as well. An error of the disk is logged."""
        self._note(cookie_id, expires)
        if self._file is not None:
            await self._at_the_file(lambda file: _append(file, cookie_id, expires))

    async def refresh(self) -> None:
        """Reads the file, once a second at most, if it has changed."""
        if self._file is None or monotonic() - self._looked < REREAD:
            return
        self._looked = monotonic()
        await self._at_the_file(self._reread)

    async def _at_the_file(self, work: Callable[[Path], None]) -> None:
        assert self._file is not None
        try:
            await asyncio.to_thread(work, self._file)
        except OSError as error:
            log.warning("logouts are known to this process alone", extra={"why": error.strerror})

    def _reread(self, file: Path) -> None:
        try:
            now_is = file.stat()
        except FileNotFoundError:
            return
        if (version := (now_is.st_size, now_is.st_mtime_ns)) == self._read:
            return
        for line in file.read_text("ascii", "replace").splitlines():
            cookie_id, _, expires = line.partition(" ")
            if expires.isascii() and expires.isdecimal():
                self._note(cookie_id, int(expires))
        self._read = version
        if not self._ended:
            file.unlink()  # every one of them has ended by itself

    def _note(self, cookie_id: str, expires: int) -> None:
        now = self._clock()
        kept = {each: at for each, at in self._ended.items() if at > now}
        if expires > now:
            kept[cookie_id] = expires
        self._ended = dict(list(kept.items())[-MOST:])  # at once: the event loop looks at it while a thread is here


def _append(file: Path, cookie_id: str, expires: int) -> None:
    """Adds a line in one write: other processes do the same."""
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, f"{cookie_id} {expires}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
