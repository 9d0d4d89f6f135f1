"""The one writer of an SQLite database: a batch of its queue is durable as one short transaction. Durable means that
killing the process loses nothing (WAL, synchronous=NORMAL); a power cut may take the last batches, whole."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from proxy.storage.base import PARTS, Part
from proxy.storage.erasures import MARKS
from proxy.storage.pending import Kind, Write, WriterLimits, apply_all
from proxy.storage.spool import Spool
from proxy.storage.sqlite.connection import CANNOT_WRITE, code_of, file_of, refuse_deleted
from proxy.storage.versions import COLUMNS, Numbers, Versions, changed
from proxy.storage.write_queue import WriteQueue
from proxy.tasks import Tasks

T = TypeVar("T")
_MORE = (f"{name} = {name} + json_extract(value, '$[{at}]')" for at, name in enumerate(COLUMNS, 1))
_COUNT = f"""
    UPDATE scopes SET {", ".join(_MORE)}
    FROM json_each(:rows) WHERE name = json_extract(value, '$[0]')
    RETURNING name, {", ".join(COLUMNS)}
"""  # noqa: S608 (our own column names)


def _counted(connection: sqlite3.Connection, parts: Mapping[str, frozenset[Part]]) -> dict[str, Numbers]:
    """Counts a change of these parts of scopes; returns their new versions."""
    rows = [(scope, *(int(part in of_it) for part in PARTS)) for scope, of_it in parts.items() if of_it]
    if not rows:
        return {}
    found = connection.execute(_COUNT, {"rows": msgspec.json.encode(rows)}).fetchall()
    return {name: tuple(numbers) for name, *numbers in found}


class Writer(WriteQueue):
    """The writer of `connection` (autocommit mode, usable from another thread), which it closes."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        tasks: Tasks,
        limits: WriterLimits | None = None,
        observed: Callable[[float], object] = lambda _seconds: None,
        spool: Spool | None = None,
        known: Versions | None = None,
    ) -> None:
        super().__init__(tasks, limits, spool)
        self._connection = connection
        self._file = file_of(connection)
        self._known = known  # of a file that other processes may share
        self._observed = observed  # called in the thread with the seconds that a batch took
        self._version = self._data_version()

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `query` on this connection, between two batches: for a database that has no other."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, query, self._connection)

    def _apply(self, writes: Sequence[Write]) -> bool:
        """Writes a batch in one BEGIN IMMEDIATE transaction, then empties the log if something is to be erased."""
        started = time.perf_counter()
        try:
            if self._file is not None:
                refuse_deleted(self._file)
            with self._connection:  # commits, or rolls back
                self._connection.execute("BEGIN IMMEDIATE")
                version = self._data_version()
                self._find_erased(version)
                is_any = self._erased or self.erasures.seen
                allowed = self.erasures.allowed(writes, self._erased) if is_any else writes
                apply_all(self._connection, allowed)
                if self._known is not None and (parts := changed(allowed)):
                    made = _counted(self._connection, parts)
                    self._known.making({name: self.erasures.since(name, made[name]) for name in made}, parts)
        except BaseException:
            if self._known is not None:
                self._known.failed()
            raise
        finally:
            self._observed(time.perf_counter() - started)
        if self._unerased or any(write.erases for write in writes):
            self._erase()
        return self._differs(version)

    def _seen(self, is_foreign: bool, at: float) -> None:
        super()._seen(is_foreign, at)
        if self._known is not None:
            self._known.wrote()

    def _has_changed(self) -> bool:
        try:
            version = self._data_version()
            self._find_erased(version)
            return self._differs(version)
        except sqlite3.Error:
            return False  # then the next batch tells

    def _find_erased(self, version: int) -> None:
        """Looks for erasures, which are always another process's."""
        if version != self._version:
            self._erased = self._connection.execute(MARKS.format("?"), (self.erasures.seen,)).fetchall()

    def _differs(self, version: int) -> bool:
        before, self._version = self._version, version
        return version != before

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
        return code_of(error) in CANNOT_WRITE

    def _disconnect(self) -> None:
        self._connection.close()


class Discarding(Writer):
    """The writer of a database that keeps nothing: what is put is dropped, and not counted as lost."""

    def put(self, write: Write) -> bool:  # noqa: ARG002 (a Writer)
        return False

    def drop(self, kind: Kind, rows: int) -> None: ...

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        return query(self._connection)
