"""An SQLite database as its stores use it: a file (WAL, one writer, reads in threads of their own, several processes
may share it), memory, or one that keeps nothing; and what the stores have in common: SQL of names.

A batch of the writer's queue is durable as one short transaction. Durable means that killing the process loses nothing
(WAL, synchronous=NORMAL); a power cut may take the last batches, whole. Python's sqlite3 releases the GIL at every step
of a statement, and in a busy server getting it back costs more than the step: so the stores write the rows of a batch
with one statement, where they can.
"""

import asyncio
import functools
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proxy.lru import Lru
from proxy.storage.base import PARTS, Part, StorageError
from proxy.storage.database import READ_SECONDS, Observed, Values, Watchful
from proxy.storage.erasures import MARKS
from proxy.storage.pending import Kind, Write, WriterLimits, apply_all
from proxy.storage.spool import Spool
from proxy.storage.sqlite.connection import (
    CANNOT_WRITE,
    MEMORY,
    code_of,
    connect,
    drop_vectors_of_others,
    open_database,
    storage_errors,
)
from proxy.storage.stores.whose import OWNERS, SCOPES_OF_TENANT, Whose
from proxy.storage.versions import COLUMNS, MOST_SCOPES, NONE, Numbers, Versions, changed
from proxy.storage.write_queue import WriteQueue
from proxy.tasks import Tasks

T = TypeVar("T")
READERS = 2
LOCK_SECONDS = 2.0  # how long a statement waits for another process

SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"
# Names come as one JSON array, `[scope, session, …]` a row: a statement a batch, see `Write`. `NAMED`: each of these
# rows, with its scope and its session.
ADD_SCOPES = """
    INSERT INTO scopes (name) SELECT DISTINCT json_extract(value, '$[0]') FROM json_each(:rows) WHERE true
    ON CONFLICT DO NOTHING
"""
ADD_SESSIONS = """
    INSERT INTO sessions (scope_id, name)
    SELECT DISTINCT scopes.id, json_extract(value, '$[1]')
    FROM json_each(:rows) CROSS JOIN scopes ON scopes.name = json_extract(value, '$[0]') WHERE true
    ON CONFLICT DO NOTHING
"""
NAMED = """
    FROM json_each(:rows) AS each
    CROSS JOIN scopes ON scopes.name = json_extract(each.value, '$[0]')
    CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = json_extract(each.value, '$[1]')
"""
ADD_SCOPE = "INSERT INTO scopes (name) VALUES (?) ON CONFLICT DO NOTHING"


READ_VERSIONS = f"SELECT {', '.join(COLUMNS)} FROM scopes WHERE name = :scope"  # noqa: S608 (our own column names)
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
        return _Discarding(connection, tasks, limits)


class _Discarding(Writer):
    def put(self, write: Write) -> bool:  # noqa: ARG002 (a Writer)
        return False

    def drop(self, kind: Kind, rows: int) -> None: ...

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        return query(self._connection)


TENANT_IDS = SCOPES_OF_TENANT.format(":scope")


def rows_of(table: str) -> Mapping[Whose, str]:
    """Returns the conditions of a table's rows, by whose they are: `:scope`, `:session`."""
    return {
        "everybody": "true",
        "scope": f"{table}.scope_id = {SCOPE_ID}",
        "session": f"""{table}.session_id IN (
            WITH RECURSIVE {OWNERS}
            SELECT sessions.id FROM owners CROSS JOIN sessions ON sessions.scope_id = owners.id
            WHERE sessions.name = :session
        )""",  # noqa: S608 (our own names)
        "scope's session": f"""{table}.session_id = (
            SELECT id FROM sessions WHERE scope_id = {SCOPE_ID} AND name = :session
        )""",  # noqa: S608 (our own names)
        # Not by an index: the newest of all are walked through, until there are enough.
        "tenant": f"+{table}.scope_id IN ({TENANT_IDS})",
        "tenant's session": f"""{table}.session_id IN (
            SELECT id FROM sessions WHERE scope_id IN ({TENANT_IDS}) AND name = :session
        )""",  # noqa: S608 (our own names)
    }


# Rows that one statement takes, tried in this order. A step of a statement gives up the interpreter, and the writer's
# thread has to wait for it after every one.
_ROWS = (64, 8, 1)


def put_rows(connection: sqlite3.Connection, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    """Runs a statement over many rows, in their order: they are the table `{rows}` in it."""
    done = 0
    for size in _ROWS:
        while len(rows) - done >= size:
            values = [value for row in rows[done : done + size] for value in row]
            connection.execute(_over(statement, len(rows[0]), size), values)
            done += size


@functools.cache  # a few statements, of three sizes each
def _over(statement: str, columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return statement.format(rows=f"VALUES {', '.join([row] * rows)}")


def add_names(connection: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> bytes:
    """Adds the scopes and sessions that rows begin with, as far as they are new. Returns the rows as JSON."""
    encoded = msgspec.json.encode(rows)
    connection.execute(ADD_SCOPES, {"rows": encoded})
    connection.execute(ADD_SESSIONS, {"rows": encoded})
    return encoded
