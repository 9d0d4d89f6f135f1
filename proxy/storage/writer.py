"""The one writer of a database: what is put is durable within `interval` seconds, a batch in one short transaction.

A second writer would only wait for the first; a transaction for every row would cost a disk write each. Durable means
that killing the process loses nothing (WAL, synchronous=NORMAL); a power cut may take the last batches, whole.
"""

import asyncio
import contextlib
import functools
import logging
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from proxy.tasks import Tasks

log = logging.getLogger(__name__)


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
    settled: Callable[[], object] | None = None  # called in the event loop once it is durable, or dropped
    queued_at: float = field(default_factory=time.monotonic)
    erases: bool = False  # what it deletes shall not stay in the log either
    in_order: bool = False  # after all that was queued before it, before all that was queued after, of a batch as well


@dataclass(frozen=True, slots=True)
class WriterLimits:
    interval: float = 0.25  # seconds that a write may wait for others
    batch_rows: int = 2_000  # as many don't wait any longer
    queue_rows: int = 100_000  # more are dropped: memory must not grow while a disk is stuck
    pauses: tuple[float, ...] = (0.05, 0.25, 1.0)  # seconds between the attempts for one batch, or to empty the log


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
        self.dropped = 0  # rows that were lost: the queue was full, or the database refused them
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
        self._flushing = 0
        self._hurry = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._unerased = False  # the log still holds what a write was to erase
        self._full = False  # the last write was dropped for it: a burst is logged once
        self._stuck = False  # the last batch was given up

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
        """Queue it; False if it was dropped because the queue is full or closed."""
        if self._closed or self._rows + write.rows > self._limits.queue_rows:
            self.dropped += write.rows
            if not self._full:
                log.error("storage queue is full: writes are dropped", extra={"rows": self._rows})
            self._full = True
            return False
        self._enqueue(write)
        return True

    async def flush(self) -> None:
        """Returns when everything queued so far is durable, or has been dropped and counted."""
        if not self._rows:
            return
        barrier = asyncio.get_running_loop().create_future()
        self._flushing += 1
        try:
            self._enqueue(Write(0, _nothing, settled=functools.partial(_resolve, barrier)))
            while not barrier.done():
                self._hurry.set()
                # The task is started again if somebody has cancelled it.
                await asyncio.wait({barrier, self._start()}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._flushing -= 1
            self._relax()

    async def close(self) -> None:
        """Flush, then close the connection; later writes are dropped."""
        if self._closed:
            return
        self._closed = True
        await self.flush()
        await asyncio.to_thread(self._thread.shutdown)
        self._connection.close()

    def _enqueue(self, write: Write) -> None:
        self._queue.append(write)
        self._rows += write.rows
        if self._rows >= self._limits.batch_rows:
            self._hurry.set()
        self._start()

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
                await self._commit(tuple(self._batch))
            except asyncio.CancelledError:
                self._queue.extendleft(reversed(self._batch))
                self._batch.clear()
                raise
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
        self._full = False

    def _relax(self) -> None:
        waiting = self._rows - sum(write.rows for write in self._batch)
        if not self._flushing and waiting < self._limits.batch_rows:
            self._hurry.clear()

    async def _commit(self, writes: Sequence[Write]) -> None:
        """Write them in one transaction and settle each."""
        if self._closed and self._stuck:  # shutting down doesn't wait for the same failure batch after batch
            self._drop(writes)
            self._settle(writes)
            return
        for pause in (*self._limits.pauses, None):
            try:
                await self._transact(writes)
                self._stuck = False
                break
            except sqlite3.OperationalError as error:  # locked, disk full, I/O: may pass
                if pause is None:
                    log.exception("storage gave up on a batch", extra={"writes": len(writes)})
                    self._drop(writes)
                    self._stuck = True
                    break
                log.warning("storage will try again", extra={"error": str(error)})
                await asyncio.sleep(pause)
            except Exception:
                if len(writes) > 1:  # one of them is bad: by themselves the others still get through
                    for write in writes:
                        await self._commit((write,))
                    return
                log.exception("storage refused a write")
                self._drop(writes)
                break
        self._settle(writes)

    async def _transact(self, writes: Sequence[Write]) -> None:
        foreign = await asyncio.get_running_loop().run_in_executor(self._thread, self._apply, writes)
        if foreign and self._on_foreign_write:
            self._on_foreign_write()

    def _drop(self, writes: Sequence[Write]) -> None:
        self.dropped += sum(write.rows for write in writes)

    def _apply(self, writes: Sequence[Write]) -> bool:
        """In the thread. True if another process has written since the last time."""
        if not any(write.rows for write in writes):
            return False
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
            if write.settled:
                write.settled()


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


def _nothing(_: sqlite3.Connection, __: Sequence[Any]) -> None: ...


def _resolve(barrier: asyncio.Future[None]) -> None:
    if not barrier.done():
        barrier.set_result(None)
