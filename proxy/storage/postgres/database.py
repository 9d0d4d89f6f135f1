"""A PostgreSQL database as its stores use it: a writer, and readers in threads, with connections of one pool.

Every read has a deadline, after which its connection is closed: a server that is silent costs a thread no longer than
that.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from proxy.storage.base import PARTS, Part, StorageError, Unavailable, Unfit
from proxy.storage.database import LONG_SECONDS, READ_SECONDS, Observed, Shared, Values, Watchful
from proxy.storage.erasures import MARKS, NEWEST, Found
from proxy.storage.pending import WriterLimits
from proxy.storage.postgres import migrating, versions
from proxy.storage.postgres.connection import Connection, check_server
from proxy.storage.postgres.health import Health, State
from proxy.storage.postgres.pool import Pool
from proxy.storage.postgres.writer import Writer
from proxy.storage.spool import Spool
from proxy.storage.versions import NONE, Numbers, Versions
from proxy.tasks import Tasks

T = TypeVar("T")

READY_SECONDS = 30.0  # of a start, which may wait for another that makes the tables
PROBE_SECONDS = 2.0
FRESH_SECONDS = 0.02  # that a version which was read holds: a request asks for it several times
# Fewer rows are waited for than on a disk: other processes shall see them soon.
LIMITS = WriterLimits(interval=0.1, pauses=(0.05, 0.25), retry=0.5)


class PostgresDatabase(Watchful):
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
        read_seconds: float = READ_SECONDS,
        spool: Spool | None = None,
        observed: Observed = lambda _operation, _seconds: None,
        on_change: Callable[[State], object] = lambda _state: None,
    ) -> None:
        self._observed = observed
        self._tasks = tasks
        self._url = url
        self._read_seconds = read_seconds  # that a request waits for a read
        self._spool = spool
        self._known = Versions()
        self._looking: dict[str, asyncio.Task[Numbers]] = {}
        self.connections = Pool(url, size, functools.partial(observed, "wait"))
        self._threads = ThreadPoolExecutor(max(1, size - 1), thread_name_prefix="storage-reader")
        # What may take long has threads of its own: requests do not wait behind it.
        self._long_threads = ThreadPoolExecutor(max(1, size // 4), thread_name_prefix="storage-long-reader")
        self._closed = False
        self._on_change = on_change
        self.health = Health(self._probe, tasks, self._changed)
        # Looks whether this database, when it is back, is the one that this process serves; raises StorageError.
        self.same: Callable[[Connection], object] = lambda _connection: None
        written = functools.partial(observed, "write")
        self.writer = Writer(
            self.connections, tasks, limits or LIMITS, self._known, written, spool, away=lambda: self.health.why
        )

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
    def is_away(self) -> bool:
        """True while it cannot be reached."""
        return self.health.why is not None

    @property
    def shared(self) -> Shared:
        """The present state, for metrics."""
        spooled, since = (0, None) if self._spool is None else (self._spool.rows, self._spool.oldest)
        return Shared(self.health.state, self.connections.used, self.connections.idle, spooled, since)

    async def ready(self) -> None:
        """Returns when the server was found fit, and its database to have the schema of this version: an empty one gets
        it. Raises StorageError, DatabaseTooOld and DatabaseTooNew among them."""
        await asyncio.to_thread(self._make_ready)

    def _make_ready(self, seconds: float = READY_SECONDS) -> None:
        with self.connections.one(seconds) as connection:
            check_server(connection)
            migrating.ready(connection)
            self.erasures.start(*connection.execute(NEWEST.encode()).fetchone() or (0,))

    def _probe(self) -> None:
        with self.connections.one(PROBE_SECONDS) as connection:
            check_server(connection)
            migrating.ready(connection, may_create=False)
            self.same(connection)

    def _changed(self, state: State) -> None:
        if state == "unreachable":
            self.connections.drop()  # none of them gets an answer: the writer, for one, would wait for it
        self._on_change(state)

    async def change(self, work: Callable[[Connection], T], seconds: float = LONG_SECONDS) -> T:
        """Runs `work` in one transaction, in a thread, and returns its result: for what cannot wait in the queue.
        Raises StorageError."""

        def run(connection: Connection) -> T:
            with connection.transaction():
                return work(connection)

        return await self.read(run, seconds)

    async def read(self, query: Callable[[Connection], T], seconds: float = READ_SECONDS) -> T:
        """Runs `query` with a connection, in a thread, for `seconds` at most, and returns its result. Raises
        StorageError."""
        self._raise_if_away()
        is_quick = seconds <= READ_SECONDS
        threads, seconds = (self._threads, self._read_seconds) if is_quick else (self._long_threads, seconds)
        until = time.monotonic() + seconds
        try:
            result = await asyncio.get_running_loop().run_in_executor(threads, self._query, query, until)
        except Unfit:
            raise  # that is an answer: whoever asks the next time need not wait for it
        except Unavailable as error:
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

    async def _foreign(self, scope: str, part: Part) -> int:
        """Looks at "paths", which a request asks for first, as of now; at the others as of a moment ago. Returns what
        was seen last while the database does not answer."""
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
            return NONE if seen is None else seen.foreign
        *numbers, newest = found or (*NONE, 0)
        if newest > self.erasures.seen:
            with contextlib.suppress(StorageError):  # the next look finds them
                marks: Found = await self.rows(MARKS.format("%s::bigint"), (self.erasures.seen,), _mark)
                self.erasures.learn(marks)
        return self._known.looked(scope, tuple(numbers), at).foreign

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
        await asyncio.to_thread(self._long_threads.shutdown)
        self.connections.close()

    def _raise_if_away(self) -> None:
        if self._closed:
            raise StorageError("the database is closed")
        if self.health.why is not None:
            raise Unavailable(self.health.why)

    def _query(self, query: Callable[[Connection], T], until: float) -> T:
        self._raise_if_away()  # it may have waited for a thread
        started = time.perf_counter()
        try:
            with self.connections.one(until - time.monotonic()) as connection:
                return query(connection)
        finally:
            self._observed("read", time.perf_counter() - started)


def _mark(row: Sequence[Any]) -> tuple[int, bytes]:
    number, mark = row
    return number, bytes(mark)
