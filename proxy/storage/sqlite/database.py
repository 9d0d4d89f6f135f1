"""An SQLite database as its stores use it: a file (WAL, one writer, reads in threads of their own, several processes
may share it), memory, or one that keeps nothing."""

import asyncio
import functools
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from proxy.lru import Lru
from proxy.storage.base import PARTS, Part, StorageError
from proxy.storage.database import READ_SECONDS, Observed, Values, Watchful
from proxy.storage.erasures import MARKS
from proxy.storage.pending import WriterLimits
from proxy.storage.sqlite.connection import MEMORY, connect, drop_vectors_of_others, open_database, storage_errors
from proxy.storage.sqlite.writer import Discarding, Writer
from proxy.storage.versions import COLUMNS, MOST_SCOPES, NONE, Versions
from proxy.tasks import Tasks

T = TypeVar("T")
READERS = 2
LOCK_SECONDS = 2.0  # how long a statement waits for another process


READ_VERSIONS = f"SELECT {', '.join(COLUMNS)} FROM scopes WHERE name = :scope"  # noqa: S608 (our own column names)


class Database(Watchful):
    """The database that the stores of a process share, in a file or in memory (`path` is None). Its opener closes it.

    A file has a connection that writes and some that read. Memory has one connection, in the writer's thread: so a
    read sees a whole number of batches there as well. Raises StorageError if it cannot be opened, DatabaseCorrupt and
    DatabaseTooNew among them. `embedding` names the model that makes vectors: those of another are dropped.
    """

    keeps = True  # False: what is put is not stored

    def __init__(
        self,
        path: Path | None,
        tasks: Tasks,
        limits: WriterLimits | None = None,
        *,
        lock_seconds: float = LOCK_SECONDS,
        embedding: str = "",
        observed: Observed = lambda _operation, _seconds: None,
    ) -> None:
        self.folder = path.parent if path else None
        self.path = path or MEMORY
        self._observed = observed
        self._lock_seconds = lock_seconds
        with storage_errors(self.path):
            connection = open_database(self.path, lock_seconds)
            if embedding:
                drop_vectors_of_others(connection, embedding)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="storage-reader")
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._closed = False
        self._known = Versions()
        self._looked_as_of: Lru[str, int] = Lru(MOST_SCOPES)  # `WriteQueue.foreign_writes` when a scope was looked at
        self.writer: Writer = self._writing(connection, tasks, limits)
        self.erasures.learn(connection.execute(MARKS.format("?"), (0,)).fetchall())

    async def read(
        self,
        query: Callable[[sqlite3.Connection], T],
        seconds: float = READ_SECONDS,  # noqa: ARG002 (a disk answers)
    ) -> T:
        """Runs `query` with a read-only connection, in a thread, and returns its result. Raises StorageError."""
        if self._closed:
            raise StorageError(f"{self.path} is closed")
        with storage_errors(self.path):
            if self.folder is None:
                return await self.writer.read(functools.partial(self._query, query))
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._query, query)

    async def rows(
        self, statement: str, values: Values, of: Callable[[Sequence[Any]], T], seconds: float = READ_SECONDS
    ) -> list[T]:
        """Returns what `of` makes, in the reader's thread, of each row of a statement. Raises StorageError."""
        return await self.read(lambda connection: list(map(of, connection.execute(statement, values))), seconds)

    async def row(
        self, statement: str, values: Values, of: Callable[[Sequence[Any]], T], seconds: float = READ_SECONDS
    ) -> T | None:
        """Returns what `of` makes of the first row; None if there is none. Raises StorageError."""
        return next(iter(await self.rows(statement, values, of, seconds)), None)

    async def _foreign(self, scope: str, part: Part) -> int:
        """Looks at the scope once another process has written to the file at all."""
        if self.folder is None or not (writes := await self.writer.foreign_writes()):
            return 0
        seen = self._known.get(scope)
        if seen is None or self._looked_as_of.get(scope) != writes:
            found = await self.row(READ_VERSIONS, {"scope": scope}, tuple)
            seen = self._known.looked(scope, self.erasures.since(scope, found or NONE), time.monotonic())
            self._looked_as_of.put(scope, writes)
        return seen.foreign[PARTS.index(part)]

    @property
    def trouble(self) -> str | None:
        """The reason why it cannot do its work now; None if it can."""
        failing = self.writer.failing
        return None if failing is None else f"cannot be written: {failing}"

    @property
    def losing(self) -> str | None:
        return self.trouble

    @property
    def is_away(self) -> bool:
        return False

    @property
    def shared(self) -> None:
        return None

    async def has_scope(self, scope: str) -> bool:
        """Returns True if a row of the scope has been written. Raises StorageError."""
        return await self.row("SELECT 1 FROM scopes WHERE name = ?", (scope,), bool) is not None

    async def close(self) -> None:
        """Writes what is queued, then closes the file. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        await self.writer.close()
        await asyncio.to_thread(self._threads.shutdown)
        for connection in self._readers:
            connection.close()

    def _writing(self, connection: sqlite3.Connection, tasks: Tasks, limits: WriterLimits | None) -> Writer:
        return Writer(
            connection,
            tasks,
            limits,
            observed=functools.partial(self._observed, "write"),
            known=self._known if self.folder else None,
        )

    def _query(self, query: Callable[[sqlite3.Connection], T], connection: sqlite3.Connection | None = None) -> T:
        """Runs `query` on this connection, or on the thread's own."""
        if connection is None:
            connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self.path, self._lock_seconds)
            connection.execute("PRAGMA query_only = ON")
            self._readers.append(connection)
        started = time.perf_counter()
        try:
            return query(connection)
        finally:
            self._observed("read", time.perf_counter() - started)


class NoDatabase(Database):
    """A database that keeps nothing: what is put is dropped, and not counted as lost; reads find empty tables."""

    keeps = False

    def __init__(self) -> None:
        super().__init__(None, Tasks())

    def _writing(self, connection: sqlite3.Connection, tasks: Tasks, limits: WriterLimits | None) -> Writer:
        return Discarding(connection, tasks, limits)
