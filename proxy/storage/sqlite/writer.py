"""The one writer of an SQLite database: a batch of its queue is durable as one short transaction.

Durable means that killing the process loses nothing (WAL, synchronous=NORMAL); a power cut may take the last batches,
whole. Python's sqlite3 releases the GIL at every step of a statement, and in a busy server getting it back costs more
than the step: so the stores write the rows of a batch with one statement, where they can.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from proxy.storage.write_queue import Write, WriteQueue, WriterLimits, apply_all
from proxy.tasks import Tasks

T = TypeVar("T")

# Primary codes of errors of the disk or the file; any other is an error of the statement.
CANNOT_WRITE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)


class Writer(WriteQueue):
    """The writer of `connection` (autocommit mode, usable from another thread), which it closes."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        tasks: Tasks,
        limits: WriterLimits | None = None,
        on_foreign_write: Callable[[], object] | None = None,
        observed: Callable[[float], object] = lambda _seconds: None,
    ) -> None:
        super().__init__(tasks, limits, on_foreign_write)
        self._connection = connection
        self._observed = observed  # called in the thread with the seconds that a batch took
        self._version = self._data_version()

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `query` on this connection, between two batches: for a database that has no other."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, query, self._connection)

    def _apply(self, writes: Sequence[Write]) -> bool:
        """Writes a batch in one BEGIN IMMEDIATE transaction, then empties the log if something is to be erased."""
        started = time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            apply_all(self._connection, writes)
            version = self._data_version()
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # SQLite has rolled back by itself if the disk was full
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._observed(time.perf_counter() - started)
        if self._unerased or any(write.erases for write in writes):
            self._erase()
        foreign, self._version = version != self._version, version
        return foreign

    def _erase(self) -> None:
        """Empties SQLite's log, which keeps what a page said before. A reader, in any process, may need it a moment
        longer."""
        try:
            is_busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            is_busy = 1
        self._unerased = bool(is_busy)

    def _data_version(self) -> int:
        # Our own commits on this connection don't change it.
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def _cannot_write(self, error: Exception) -> bool:
        code: int | None = getattr(error, "sqlite_errorcode", None)  # extended: the primary code is the lowest byte
        return code is not None and code & 0xFF in CANNOT_WRITE

    def _disconnect(self) -> None:
        self._connection.close()
