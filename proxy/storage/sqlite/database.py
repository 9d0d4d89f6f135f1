"""An SQLite database with its connections: a file (WAL, one writer, reads in threads of their own, several processes
may share it), memory, or one that keeps nothing. The stores have the statements."""

import asyncio
import functools
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from proxy.storage.base import StorageError
from proxy.storage.secret import private_file, private_folder
from proxy.storage.shares import Kind
from proxy.storage.sqlite.migrations import drop_vectors_of_others, migrate, storage_errors
from proxy.storage.sqlite.writer import Writer
from proxy.storage.write_queue import Write, WriterLimits
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

T = TypeVar("T")
Observed = Callable[[str, float], object]  # gets "read" or "write", and its seconds; called in any thread

MEMORY = Path(":memory:")  # as SQLite calls it
READERS = 2
LOCK_SECONDS = 2.0  # how long a statement waits for another process

HAS_SCOPE = "SELECT 1 FROM scopes WHERE name = ?"


class Database:
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
        self.is_on_disk = path is not None
        self.path = path or MEMORY
        self._observed = observed
        self._lock_seconds = lock_seconds
        with storage_errors(self.path):
            connection = _open(path, lock_seconds)
            if embedding:
                drop_vectors_of_others(connection, embedding)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="storage-reader")
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._closed = False
        self._invalidating: list[Callable[[], object]] = []
        self.writer = self._writing(connection, tasks, limits)

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `query` with a read-only connection, in a thread, and returns its result. Raises StorageError."""
        if self._closed:
            raise StorageError(f"{self.path} is closed")
        with storage_errors(self.path):
            if not self.is_on_disk:
                return await self.writer.read(functools.partial(self._query, query))
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._query, query)

    def on_foreign_write(self, invalidate: Callable[[], object]) -> None:
        """Registers a function that is called when another process has written: a store drops what it has in memory."""
        self._invalidating.append(invalidate)

    async def has_scope(self, scope: str) -> bool:
        """Returns True if a row of the scope has been written. Raises StorageError."""
        return await self.read(lambda connection: connection.execute(HAS_SCOPE, (scope,)).fetchone()) is not None

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
            on_foreign_write=self._invalidate,
            observed=functools.partial(self._observed, "write"),
        )

    def _invalidate(self) -> None:
        for invalidate in self._invalidating:
            invalidate()

    def _query(self, query: Callable[[sqlite3.Connection], T], connection: sqlite3.Connection | None = None) -> T:
        """Runs `query` on this connection, or on the thread's own."""
        if connection is None:
            connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = _connect(self.path, self._lock_seconds)
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
        return _Discarding(connection, tasks, limits)


class _Discarding(Writer):
    def put(self, write: Write) -> bool:  # noqa: ARG002 (a Writer)
        return False

    def drop(self, kind: Kind, rows: int) -> None: ...

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        return query(self._connection)


def _open(path: Path | None, lock_seconds: float) -> sqlite3.Connection:
    if path is not None:
        private_folder(path.parent)
        private_file(path)
    connection = _connect(path or MEMORY, lock_seconds)
    try:
        # Only a file with nothing in it takes this: from now on freed pages can be given back in small steps.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        if path is not None:
            _use_wal(connection, lock_seconds)
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, lock_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=lock_seconds, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    # Deleted rows are overwritten. Some builds of SQLite do so by default. It can't be done for a DELETE alone: a
    # page that was split without it keeps copies (of 300 deleted rows among 3,000 that was so for 49).
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _use_wal(connection: sqlite3.Connection, lock_seconds: float) -> None:
    deadline = time.monotonic() + lock_seconds
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError:
            # Another process is switching the same new file: SQLite answers "locked" without waiting.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            if mode != "wal":
                log.warning("no WAL on this file system: readers will wait for the writer", extra={"mode": mode})
            return
