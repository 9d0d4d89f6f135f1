"""The caches of exact answers: in the memory of this process; and in diskcache, with the ones just used in memory too.

A thread hop costs more than the look-up itself (measured: 50-250 µs of CPU against 10), so an answer that was read or
stored within the last second is served without it. That is also how long another process may still serve an answer
that this one has deleted or refreshed.

The folder's contents are taken as data, whoever put them there: values are msgpack of one type, nothing is unpickled.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, TypeVar

import diskcache
import msgspec

from proxy.lru import Lru
from proxy.storage.base import AnswersUnavailable
from proxy.storage.folder import private_file, private_folder
from proxy.types import StoredAnswer

T = TypeVar("T")

LOCK_SECONDS = 2.0  # how long a write waits for another process
TRUST_SECONDS = 1.0  # how long an answer in memory is served without looking at the disk
ENTRY_OVERHEAD = 512  # bytes of an answer besides its completion: key, scope, names, the objects themselves


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer as it is stored, with its scope and its end (Unix seconds)."""

    scope: str
    expires_at: float
    answer: StoredAnswer

    @property
    def size(self) -> int:
        """Bytes, about."""
        return len(self.answer.completion) + ENTRY_OVERHEAD

    @classmethod
    def of(cls, scope: str, answer: StoredAnswer, ttl: float) -> "Entry":
        """Builds the entry of an answer that is kept for `ttl` seconds."""
        return cls(scope, answer.created_at + ttl, answer)

    def open(self, scope: str, now: float) -> StoredAnswer | None:
        """Returns the answer if it belongs to `scope` and has not expired at `now`, else None."""
        return self.answer if self.scope == scope and now < self.expires_at else None


class MemoryAnswers:
    """The answer cache of this process, in memory: an LRU of up to `max_bytes`. It keeps nothing where that is 0."""

    def __init__(self, max_bytes: int = 64 * 2**20, max_entry_bytes: int = 4 * 2**20) -> None:
        self._max_entry_bytes = max_entry_bytes
        self._entries: Lru[str, Entry] = Lru(cost=attrgetter("size"), most_cost=max_bytes)

    async def get(self, scope: str, key: str, now: float) -> StoredAnswer | None:
        entry = self._entries.get(key)
        return None if entry is None else entry.open(scope, now)

    async def put(self, scope: str, key: str, answer: StoredAnswer, ttl: float) -> None:
        if ttl > 0 and len(answer.completion) <= self._max_entry_bytes:
            self._entries.put(key, Entry.of(scope, answer, ttl))

    async def delete(self, scope: str, key: str) -> bool:
        entry = self._entries.get(key)
        if entry is None or entry.scope != scope:
            return False
        self._entries.drop(key)
        return True

    async def close(self) -> None: ...


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Entry).decode


class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache ships no types
    """A `diskcache.Disk` that keeps bytes in the database itself. diskcache's own class would unpickle what it finds,
    and open or remove files by names that it reads from the database."""

    def put(self, key: object) -> tuple[str, bool]:
        """Returns the key as stored, and that it is raw. Raises TypeError unless it is a string."""
        if not isinstance(key, str):
            raise TypeError("keys are strings")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Returns the key as read. Raises OSError for one that `put` did not make."""
        if not raw or not isinstance(key, str):
            raise OSError("not a key of ours")
        return key

    def store(self, value: object, read: object, key: object = None) -> tuple[int, int, None, bytes]:  # noqa: ARG002 (diskcache's signature)
        """Returns the row of a value: size, mode, no file name, the bytes. Raises TypeError unless it is bytes."""
        if not isinstance(value, bytes):
            raise TypeError("values are bytes")
        return 0, diskcache.core.MODE_RAW, None, value

    def fetch(self, mode: object, filename: object, value: object, read: object) -> bytes:  # noqa: ARG002 (diskcache's signature)
        """Returns the bytes of a row. Raises OSError for one that `store` did not make."""
        if mode != diskcache.core.MODE_RAW or not isinstance(value, bytes):
            raise OSError("not a value of ours")
        return value

    def remove(self, file_path: object) -> None:
        """Removes nothing: there are no files."""


class DiskAnswers:
    """The answer cache in `folder`, which it opens or creates. Raises AnswersUnavailable, as every method does.

    `memory_bytes`: of the answers that are also in memory; `clock` is monotonic, in seconds. The other sizes are bytes
    on disk.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_bytes: int = 512 * 2**20,
        max_entry_bytes: int = 4 * 2**20,
        memory_bytes: int = 16 * 2**20,
        lock_seconds: float = LOCK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._max_entry_bytes = max_entry_bytes
        self._clock = clock
        # With the time until which each is trusted, and its size. Small beside the disk, or what leaves the disk would
        # still be here.
        most = min(memory_bytes, max_bytes // 4)
        self._trusted: Lru[str, tuple[float, Entry, int]] = Lru(cost=itemgetter(2), most_cost=most)
        self._changes = 0  # a look-up that sees it change may have read an older answer
        # A look-up must not wait behind a write, nor do more than one of each crowd out the event loop.
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="answers-reader")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="answers-writer")
        self._closed = False
        try:
            private_folder(folder)
            private_file(folder / diskcache.core.DBNAME)
            self._cache = diskcache.Cache(
                str(folder),
                timeout=lock_seconds,
                disk=BytesDisk,
                size_limit=max_bytes,
                eviction_policy="least-recently-stored",
                sqlite_secure_delete=1,  # what leaves is overwritten
            )
            self._cache.close()  # only this thread's connection
        except (sqlite3.Error, OSError) as error:
            raise self._unavailable(error) from error

    async def get(self, scope: str, key: str, now: float) -> StoredAnswer | None:
        if (trusted := self._trusted.get(key)) is not None and self._clock() < trusted[0]:
            return trusted[1].open(scope, now)
        changes = self._changes
        entry = await self._in(self._reader, self._load, key)
        if entry is None:
            return None
        if changes == self._changes:
            self._trust(key, entry)
        return entry.open(scope, now)

    async def put(self, scope: str, key: str, answer: StoredAnswer, ttl: float) -> None:
        if ttl <= 0 or len(answer.completion) > self._max_entry_bytes:
            return
        entry = Entry.of(scope, answer, ttl)
        self._forget(key)
        self._trust(key, entry)  # who asks while it is being written must not get the one that it replaces
        try:
            await self._in(self._writer, self._store, key, entry, ttl)
        finally:
            self._forget(key)
        self._trust(key, entry)

    async def delete(self, scope: str, key: str) -> bool:
        self._forget(key)
        try:
            return await self._in(self._writer, self._remove, scope, key)
        finally:
            self._forget(key)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for thread in (self._writer, self._reader):
            await asyncio.get_running_loop().run_in_executor(thread, self._cache.close)
            await asyncio.to_thread(thread.shutdown)

    def _trust(self, key: str, entry: Entry) -> None:
        self._trusted.put(key, (self._clock() + TRUST_SECONDS, entry, entry.size))

    def _forget(self, key: str) -> None:
        self._trusted.drop(key)
        self._changes += 1

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[..., T], *arguments: Any) -> T:
        if self._closed:
            raise AnswersUnavailable(f"{self._folder} is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, work, *arguments)
        except (sqlite3.Error, OSError, diskcache.Timeout) as error:
            raise self._unavailable(error) from error

    def _load(self, key: str) -> Entry | None:
        value = self._cache.get(key)
        if value is None:
            return None
        try:
            return _decode(value)
        except msgspec.DecodeError:  # planted, or of another version
            return None

    def _store(self, key: str, entry: Entry, ttl: float) -> None:
        self._cache.set(key, _encode(entry), expire=ttl)

    def _remove(self, scope: str, key: str) -> bool:
        with self._cache.transact():
            entry = self._load(key)
            return entry is not None and entry.scope == scope and bool(self._cache.delete(key))

    def _unavailable(self, error: Exception) -> AnswersUnavailable:
        return AnswersUnavailable(f"answer cache {self._folder}: {str(error) or 'locked by another process'}")
