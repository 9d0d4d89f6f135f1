"""The one writer of a database: what is put is durable within `interval` seconds, a batch in one short transaction.

A second writer would only wait for the first; a transaction for every row would cost a disk write each. Durable means
that killing the process loses nothing (WAL, synchronous=NORMAL); a power cut may take the last batches, whole.

While the database cannot be written (a full or broken disk, read-only, held by another process) the batch goes back
into the queue, to be tried again every `retry` seconds: rows wait in their order as far as the shares of the queue go
(`shares.py`), and what is too much is dropped and counted. `failing` says so.
"""

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from proxy.storage.sqlite.shares import Kind, Shares
from proxy.tasks import Tasks

T = TypeVar("T")

log = logging.getLogger(__name__)


# What is wrong with the disk or the file, and not with what is written. The rest is an error of the statement.
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


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """One piece of work. It must be idempotent: after a failure it is applied again.

    `apply` runs in the writer's thread, inside a transaction, once for all writes of a batch that share it: with the
    `what` of each, in the order they were queued. Python's sqlite3 gives the GIL away at every step of a statement, and
    in a busy server getting it back costs more than the step; so many rows should be one statement.
    """

    rows: int
    apply: Callable[[sqlite3.Connection, Sequence[Any]], object]
    what: Any = None
    kind: Kind = field(kw_only=True)
    scope: str = field(kw_only=True)  # whose share of the queue it takes
    settled: Callable[[], object] | None = None  # called in the event loop once it is durable, or dropped
    queued_at: float = field(default_factory=time.monotonic)
    erases: bool = False  # what it deletes shall not stay in the log either
    in_order: bool = False  # after all that was queued before it, before all that was queued after, of a batch as well


@dataclass(frozen=True, slots=True)
class WriterLimits:
    interval: float = 0.25  # seconds that a write may wait for others
    batch_rows: int = 2_000  # as many don't wait any longer
    bulk_rows: int = 80_000  # in the queue, see shares.py; more are dropped: memory must not grow with a stuck disk
    small_rows: int = 20_000
    pauses: tuple[float, ...] = (0.05, 0.25, 1.0)  # seconds between the attempts for one batch, or to empty the log
    retry: float = 5.0  # seconds between the attempts while the database cannot be written


class Writer:
    """Owns `connection` (autocommit mode, usable from another thread) and closes it. Its task lives as long as
    something is queued, so that draining the tasks also waits for what is not written yet."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        tasks: Tasks,
        limits: WriterLimits | None = None,
        on_foreign_write: Callable[[], object] | None = None,
        observed: Callable[[float], object] = lambda _seconds: None,
    ) -> None:
        self.dropped: Counter[str] = Counter()  # rows that were lost, by kind: too many, or the database refused them
        self.failing: str | None = None  # why the database cannot be written now
        self.erasing: Counter[str] = Counter()  # writes that are to erase something of a scope, and are not durable yet
        self._connection = connection
        self._tasks = tasks
        self._limits = limits or WriterLimits()
        self._on_foreign_write = on_foreign_write  # another process has written since our last batch
        self._observed = observed  # in the thread: how long a batch took
        self._version = self._data_version()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="storage-writer")
        self._queue: deque[Write] = deque()
        self._batch: deque[Write] = deque()  # being written
        self._rows = 0  # in both
        self._shares = Shares(self._limits.bulk_rows, self._limits.small_rows)
        self._queued = 0  # writes since the start
        self._settled = 0  # of these: durable, or dropped
        self._barriers: deque[tuple[int, asyncio.Future[None]]] = deque()  # who waits for so many to be settled
        self._retrying: asyncio.TimerHandle | None = None
        self._hurry = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._given_up = False  # closed, and it cannot be written
        self._unerased = False  # the log still holds what a write was to erase
        self._full = False  # since the queue was last empty a share of it has been full: that is logged once

    @property
    def depth(self) -> int:
        """Rows that are not durable yet."""
        return self._rows

    @property
    def lag(self) -> float:
        """Seconds since the oldest of them was queued."""
        oldest = (self._batch or self._queue or (None,))[0]
        return time.monotonic() - oldest.queued_at if oldest else 0.0

    def put(self, write: Write) -> bool:
        """Queue it; False if it was dropped because its tenant's share of the queue is full, or the queue is closed."""
        if self._closed or not self._shares.take(write.kind, write.scope, write.rows):
            self.drop(write.kind, write.rows)
            if not self._full:
                log.error("storage queue is full: writes are dropped", extra={"kind": write.kind.name})
            self._full = True
            return False
        self._queue.append(write)
        if write.erases and write.scope:
            self.erasing[write.scope] += 1
        self._queued += 1
        self._rows += write.rows
        if self._rows >= self._limits.batch_rows:
            self._hurry.set()
        if self.failing is None:
            self._start()
        return True

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run `query` on this connection, between two batches: for a database that has no other."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, query, self._connection)

    def drop(self, kind: Kind, rows: int) -> None:
        """Count rows that are not written."""
        self.dropped[kind.name] += rows

    async def flush(self) -> None:
        """Returns when everything queued so far is durable, or has been dropped and counted; at once while the database
        cannot be written."""
        if not self._rows or (self.failing is not None and not self._closed):
            return
        barrier = asyncio.get_running_loop().create_future()
        self._barriers.append((self._queued, barrier))
        try:
            while not barrier.done():
                self._hurry.set()
                # The task is started again if somebody has cancelled it.
                await asyncio.wait({barrier, self._start()}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            barrier.cancel()
            self._relax()

    async def close(self) -> None:
        """Flush, then close the connection; later writes are dropped, and so is what cannot be written now."""
        if self._closed:
            return
        self._closed = True
        if self._retrying is not None:
            self._retrying.cancel()
        await self.flush()
        await asyncio.to_thread(self._thread.shutdown)
        self._connection.close()

    def _start(self) -> asyncio.Task[None]:
        if self._task is None or self._task.done():
            self._task = self._tasks.spawn(self._write_out(), name="storage-writer")
        return self._task

    async def _write_out(self) -> None:
        pauses = iter(self._limits.pauses)
        while self._queue or (self._unerased and not self._closed):
            if not self._queue:
                if (pause := next(pauses, None)) is None:
                    log.warning("storage could not empty its log: what was forgotten stays there until the next batch")
                    break
                await self._wait(pause)
                if not self._closed:
                    await asyncio.get_running_loop().run_in_executor(self._thread, self._erase)
                continue
            await self._wait(self._limits.interval)
            self._take()
            try:
                is_written = await self._commit(tuple(self._batch))
            finally:  # cancelled, or not written: nothing is lost
                self._queue.extendleft(reversed(self._batch))
                self._batch.clear()
            if not is_written and not self._given_up:
                self._retrying = asyncio.get_running_loop().call_later(self._limits.retry, self._start)
                break
        self._task = None

    async def _wait(self, seconds: float) -> None:
        """Or until what is queued is in a hurry."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), seconds)

    def _take(self) -> None:
        rows = 0
        while self._queue and rows < self._limits.batch_rows:
            rows += self._queue[0].rows
            self._batch.append(self._queue.popleft())
        self._relax()

    def _relax(self) -> None:
        waiting = self._rows - sum(write.rows for write in self._batch)
        is_flushing = any(not barrier.done() for _, barrier in self._barriers)
        if not is_flushing and waiting < self._limits.batch_rows:
            self._hurry.clear()

    async def _commit(self, writes: Sequence[Write]) -> bool:
        """Write them in one transaction and settle each. False if the database cannot be written: then what is left of
        them is still the batch."""
        if self._given_up:
            self._drop(writes)
            self._settle(writes)
            return True
        pauses = self._limits.pauses if self.failing is None else ()
        for pause in (*pauses, None):
            try:
                await self._transact(writes)
                break
            except Exception as error:  # noqa: BLE001 (a bad write must not end the writer)
                if not _cannot_write(error):
                    return await self._without_the_bad(writes, error)
                if pause is not None:
                    log.warning("storage will try again", extra={"error": str(error)})
                    await asyncio.sleep(pause)
                else:
                    self._fail(error)
                    return False
        if self.failing is not None:
            log.warning("storage can be written again")
            self.failing = None
        self._settle(writes)
        return True

    async def _without_the_bad(self, writes: Sequence[Write], error: Exception) -> bool:
        """Some of them are refused: by themselves the others still get through."""
        if len(writes) > 1:
            for write in writes:
                if not await self._commit((write,)):
                    return False
            return True
        log.error("storage refused a write", exc_info=error)
        self._drop(writes)
        self._settle(writes)
        return True

    def _fail(self, error: Exception) -> None:
        if self.failing is None:
            log.error("storage cannot be written: it is tried again until it can", extra={"error": str(error)})
        self.failing = str(error)
        if self._closed:  # shutting down doesn't wait for the same failure batch after batch
            self._given_up = True
            return
        while self._barriers:
            _resolve(self._barriers.popleft()[1])

    async def _transact(self, writes: Sequence[Write]) -> None:
        foreign = await asyncio.get_running_loop().run_in_executor(self._thread, self._apply, writes)
        if foreign and self._on_foreign_write:
            self._on_foreign_write()

    def _drop(self, writes: Sequence[Write]) -> None:
        for write in writes:
            self.drop(write.kind, write.rows)

    def _apply(self, writes: Sequence[Write]) -> bool:
        """In the thread. True if another process has written since the last time."""
        started = time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for run in _runs(writes):
                together: dict[Callable[[sqlite3.Connection, Sequence[Any]], object], list[Any]] = {}
                for write in run:
                    together.setdefault(write.apply, []).append(write.what)
                for apply, whats in together.items():
                    apply(self._connection, whats)
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
        """In the thread. SQLite's log keeps what a page said before, until it is empty; whoever reads, in any process,
        may need it for a moment."""
        try:
            is_busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            is_busy = 1
        self._unerased = bool(is_busy)

    def _data_version(self) -> int:
        # Our own commits on this connection don't change it.
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def _settle(self, writes: Sequence[Write]) -> None:
        for write in writes:
            self._batch.popleft()  # writes are settled in the order they were queued
            self._rows -= write.rows
            self._settled += 1
            self._shares.give_back(write.kind, write.scope, write.rows)
            if write.erases and write.scope:
                self.erasing[write.scope] -= 1
                if not self.erasing[write.scope]:
                    del self.erasing[write.scope]
            if write.settled:
                write.settled()
        while self._barriers and self._barriers[0][0] <= self._settled:
            _resolve(self._barriers.popleft()[1])
        if not self._rows:
            self._full = False


def _runs(writes: Sequence[Write]) -> Iterator[Sequence[Write]]:
    """Those that may be applied together."""
    run: list[Write] = []
    for write in writes:
        if write.in_order:
            yield run
            yield [write]
            run = []
        else:
            run.append(write)
    yield run


def _cannot_write(error: Exception) -> bool:
    """Is it the disk or the file, and not what is written?"""
    code: int | None = getattr(error, "sqlite_errorcode", None)  # extended: what it is about is in the lowest byte
    return code is not None and code & 0xFF in CANNOT_WRITE


def _resolve(barrier: asyncio.Future[None]) -> None:
    if not barrier.done():
        barrier.set_result(None)
