"""A PostgreSQL database as its stores use it: a writer, and readers in threads, with connections of one pool.

Every read has a deadline, after which its connection is broken off: a server that is silent costs a thread no longer
than that. A batch of the writer's queue is one transaction, which first locks the scopes that it changes, in their
order: so no two batches wait for each other in a circle, and the numbers of a scope's rows grow in the order in which
they become visible. A batch that fails on its way may have been committed: writes are idempotent, it is applied again.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from proxy.storage.base import PARTS, Part, StorageError
from proxy.storage.database import LONG_SECONDS, READ_SECONDS, Observed, Shared, Values
from proxy.storage.pending import LEDGER, Write, WriterLimits, apply_all
from proxy.storage.postgres import migrating, versions
from proxy.storage.postgres.connection import (
    CANNOT_WRITE,
    Connection,
    Pool,
    break_off,
    check_server,
    connect,
    explained,
    open_pool,
    storage_errors,
)
from proxy.storage.postgres.health import Health, State
from proxy.storage.postgres.versions import Numbers, Versions
from proxy.storage.spool import Spool
from proxy.storage.write_queue import WriteQueue
from proxy.tasks import Tasks

T = TypeVar("T")

WRITE_SECONDS = 10.0  # of a batch
FRESH_SECONDS = 0.02  # that a version which was read holds: a request asks for it several times
# Fewer rows are waited for than on a disk: other processes shall see them soon.
LIMITS = WriterLimits(interval=0.1, pauses=(0.05, 0.25), retry=0.5)

SCOPE_ID = "(SELECT id FROM scopes WHERE name = %(scope)s)"
# Names are sorted, here and wherever rows are locked.
ADD_SCOPES = b"INSERT INTO scopes (name) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING"


class Connections:
    """The pool, as threads use it: each use has a deadline."""

    def __init__(self, url: str, size: int) -> None:
        self._url = url
        self._loop = asyncio.get_running_loop()
        self.pool: Pool = open_pool(url, size)

    @contextlib.contextmanager
    def one(self, seconds: float) -> Iterator[Connection]:
        """Holds a connection of the pool, in a thread, for `seconds` at most: then it is broken off, and what it was
        doing raises. Raises StorageError."""
        until = time.monotonic() + seconds
        with storage_errors(self._url), self.pool.connection(timeout=seconds) as connection:
            timer: list[asyncio.TimerHandle] = []
            left = max(0.0, until - time.monotonic())
            self._soon(lambda: timer.append(self._loop.call_later(left, break_off, connection)))
            try:
                yield connection
            finally:
                self._soon(lambda: timer[0].cancel() if timer else None)

    def _soon(self, work: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(work)

    def explained(self, error: Exception) -> str:
        """Returns an error's text, without secrets."""
        return explained(error, self._url)


def in_turn(writes: Sequence[Write]) -> Sequence[Write]:
    """Returns the writes of a batch as they are applied: what takes a lock that all processes need (`ledger.py`) comes
    last, the ledger and then the job in the background, which is no store's; as they were queued, where something is to
    be in order. What a store prunes of all scopes stays before what it adds later."""
    if any(write.in_order for write in writes):
        return writes
    return sorted(writes, key=lambda write: 1 if write.kind is LEDGER else 2 * (write.scope == "" and not write.store))


class Writer(WriteQueue):
    """The writer of a database."""

    def __init__(
        self,
        connections: Connections,
        tasks: Tasks,
        limits: WriterLimits,
        known: Versions,
        observed: Callable[[float], object],
        spool: Spool | None,
    ) -> None:
        super().__init__(tasks, limits, spool)
        self._connections = connections
        self._known = known
        self._observed = observed  # called in the thread with the seconds that a batch took
        self._made: tuple[dict[str, Numbers], dict[str, frozenset[Part]]] = ({}, {})  # by the last batch

    def _apply(self, writes: Sequence[Write]) -> bool:
        started = time.perf_counter()
        try:
            with self._connections.one(WRITE_SECONDS) as connection, connection.transaction():
                parts = versions.changed(writes)
                made = versions.count(connection, parts)
                apply_all(connection, in_turn(writes))
        except StorageError as error:
            raise error.__cause__ or error from None
        finally:
            self._observed(time.perf_counter() - started)
        self._made = made, parts
        return False

    def _seen(self, is_foreign: bool, at: float) -> None:  # noqa: ARG002 (a WriteQueue)
        self._known.wrote(*self._made)
        self._made = ({}, {})

    def _has_changed(self) -> bool:
        return False  # versions tell, by scope

    def _erase(self) -> None:
        self._unerased = False  # what was deleted is the server's to overwrite: it keeps no log that a reader sees

    def _cannot_write(self, error: Exception) -> bool:
        return isinstance(error, CANNOT_WRITE)

    def _disconnect(self) -> None: ...


class PostgresDatabase:
    """The database at `url`, over at most `size` connections, one of which the writer takes now and then. Opening it
    waits for nothing: see `ready`. Raises StorageError for a URL that is none. `on_change` is called when it stops
    answering, and when it answers again."""

    keeps = True
    folder: Path | None = None

    def __init__(
        self,
        url: str,
        tasks: Tasks,
        size: int = 8,
        limits: WriterLimits | None = None,
        *,
        spool: Spool | None = None,
        observed: Observed = lambda _operation, _seconds: None,
        on_change: Callable[[State], object] = lambda _state: None,
    ) -> None:
        self._observed = observed
        self._tasks = tasks
        self._url = url
        self._spool = spool
        self._known = Versions()
        self._looking: dict[str, asyncio.Task[Numbers]] = {}
        self.connections = Connections(url, size)
        self._threads = ThreadPoolExecutor(max(1, size - 1), thread_name_prefix="storage-reader")
        self._closed = False
        self.health = Health(self._probe, tasks, on_change)
        written = functools.partial(observed, "write")
        self.writer = Writer(self.connections, tasks, limits or LIMITS, self._known, written, spool)

    @property
    def trouble(self) -> str | None:
        """The reason why it cannot do its work now; None if it can."""
        failing = self.writer.failing
        return self.health.why if failing is None else f"cannot be written: {failing}"

    @property
    def losing(self) -> str | None:
        """The reason why rows may be lost now: the spool takes no more either."""
        return self.writer.failing if self.writer.failing is not None and not self.writer.is_spooling else None

    @property
    def shared(self) -> Shared:
        """The present state, for metrics."""
        stats = self.connections.pool.get_stats()
        size, idle = stats.get("pool_size", 0), stats.get("pool_available", 0)
        spooled, since = (0, None) if self._spool is None else (self._spool.rows, self._spool.oldest)
        return Shared(self.health.state, max(0, size - idle), idle, spooled, since)

    async def ready(self) -> None:
        """Returns when the server was found fit, and its database to have the schema of this version: an empty one gets
        it. Raises StorageError, DatabaseTooOld and DatabaseTooNew among them."""
        await asyncio.to_thread(self._make_ready)

    def _make_ready(self) -> None:
        connection = connect(self._url)
        with storage_errors(self._url), connection:
            check_server(connection)
            migrating.ready(connection)

    def _probe(self) -> None:
        with self.connections.one(2.0) as connection:
            check_server(connection)
            migrating.ready(connection)

    async def change(self, work: Callable[[Connection], T], seconds: float = LONG_SECONDS) -> T:
        """Runs `work` in one transaction, in a thread, and returns its result: for what cannot wait in the queue.
        Raises StorageError."""

        def run(connection: Connection) -> T:
            with connection.transaction():
                return work(connection)

        return await asyncio.get_running_loop().run_in_executor(self._threads, self._query, run, seconds)

    async def read(self, query: Callable[[Connection], T], seconds: float = READ_SECONDS) -> T:
        """Runs `query` with a connection, in a thread, for `seconds` at most, and returns its result. Raises
        StorageError."""
        if self._closed:
            raise StorageError("the database is closed")
        if self.health.why is not None:
            raise StorageError(self.health.why)
        try:
            result = await asyncio.get_running_loop().run_in_executor(self._threads, self._query, query, seconds)
        except StorageError as error:
            if isinstance(error.__cause__, CANNOT_WRITE):
                self.health.failure(str(error))
            raise
        self.health.success()
        return result

    async def rows(
        self, statement: str, values: Values, of: Callable[[Sequence[Any]], T], seconds: float = READ_SECONDS
    ) -> list[T]:
        """Returns what `of` makes, in the reader's thread, of each row of a statement. Raises StorageError."""
        return await self.read(
            lambda connection: list(map(of, connection.execute(statement.encode(), values))), seconds
        )

    async def row(
        self, statement: str, values: Values, of: Callable[[Sequence[Any]], T], seconds: float = READ_SECONDS
    ) -> T | None:
        """Returns what `of` makes of the first row; None if there is none. Raises StorageError."""
        return next(iter(await self.rows(statement, values, of, seconds)), None)

    async def foreign_writes(self, scope: str, part: Part) -> int:
        """Returns how often another process was seen to have written this part of a scope: see `ForeignWrites`. Of
        "paths", which a request asks for first, as of now; of the others as of a moment ago. As of the last look while
        the database does not answer."""
        is_first = part == "paths"
        seen = self._known.get(scope)
        if is_first or seen is None or time.monotonic() - seen.at > FRESH_SECONDS:
            if is_first and (looking := self._looking.get(scope)) is not None:
                await asyncio.wait({looking})  # it has begun before this request; those who wait for it share the next
            looking = self._looking.get(scope)
            if looking is None or looking.done():
                looking = self._looking[scope] = self._tasks.spawn(self._look(scope), name="look for foreign writes")
                looking.add_done_callback(lambda _: self._looking.pop(scope, None))
            return (await asyncio.shield(looking))[PARTS.index(part)]
        return seen.foreign[PARTS.index(part)]

    async def _look(self, scope: str) -> Numbers:
        at = time.monotonic()
        try:
            found = await self.row(versions.READ, {"scope": scope}, tuple)
        except StorageError:
            seen = self._known.get(scope)
            return versions.NONE if seen is None else seen.foreign
        return self._known.looked(scope, found or versions.NONE, at).foreign

    async def has_scope(self, scope: str) -> bool:
        """Returns True if a row of the scope has been written. Raises StorageError."""
        return await self.row("SELECT 1 FROM scopes WHERE name = %s", (scope,), bool) is not None

    async def close(self) -> None:
        """Writes what is queued, then closes all connections. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self.health.close()
        await self.writer.close()
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self.connections.pool.close, 1.0)

    def _query(self, query: Callable[[Connection], T], seconds: float) -> T:
        started = time.perf_counter()
        try:
            with self.connections.one(seconds) as connection:
                return query(connection)
        finally:
            self._observed("read", time.perf_counter() - started)
