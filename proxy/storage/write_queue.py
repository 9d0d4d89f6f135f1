"""The queue in front of a database that takes writes in batches: retries, flushes. What waits in it: `backlog.py`.

One thread writes: a second writer would only wait for the first. A batch is one transaction: a transaction for every
row would cost a disk write each. A subclass says what that transaction is (`Writer` in `sqlite/database.py`).

While the database cannot be written (a full or broken disk, read-only, held by another process) the batch goes back
into the queue, to be tried again every `retry` seconds: rows wait in their order as far as the shares of the queue go
(`pending.py`), and what is too much is dropped and counted; where there is a spool (`spool.py`), they wait there, and
survive this process. `failing` says so.
"""

import asyncio
import contextlib
import logging
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from proxy.storage.backlog import Backlog
from proxy.storage.erasures import Erasures, Found
from proxy.storage.pending import Kind, Write, WriterLimits
from proxy.storage.spool import Spool
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0  # after which it is looked again whether another process has written
LOOK_PATIENCE = 0.1  # seconds that a reader waits for that


class WriteQueue(ABC):
    """The queue of one database, and the task that writes it out in batches, in a thread of its own. The task lives as
    long as something is queued, so that draining the tasks also waits for what is not written yet."""

    def __init__(self, tasks: Tasks, limits: WriterLimits | None = None, spool: Spool | None = None) -> None:
        self.dropped: Counter[str] = Counter()  # rows that were lost, by kind: too many, or refused by the database
        self.failing: str | None = None  # why the database cannot be written now
        self.erasures = Erasures()
        self._erased: Found = ()  # found in the thread, and not learnt yet
        self._tasks = tasks
        self._limits = limits or WriterLimits()
        self._backlog = Backlog(self._limits)
        self.erasing = self._backlog.erasing
        self._spool = spool  # takes what the database cannot
        self._spool_takes = True  # it did when it was asked last
        self._retry_at = 0.0  # while it cannot: when it is tried again (monotonic seconds)
        self._foreign = 0  # how often that was
        self._looked_at = time.monotonic()
        self._looking: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="storage-writer")
        self._retrying: asyncio.TimerHandle | None = None
        self._hurry = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._given_up = False  # closed, and it cannot be written
        self._unerased = False  # a log of the database still holds what a write was to erase
        self._full = False  # since the queue was last empty a share of it has been full: that is logged once

    @property
    def is_spooling(self) -> bool:
        """True if what the database cannot take is kept in a spool."""
        return self._spool is not None and self._spool_takes

    @property
    def depth(self) -> int:
        """Rows that are not durable yet."""
        return self._backlog.rows

    @property
    def lag(self) -> float:
        """Seconds since the oldest of these rows was queued."""
        return self._backlog.lag

    def put(self, write: Write) -> bool:
        """Queues a write; False if it was dropped because its tenant's share of the queue is full, or the queue is
        closed."""
        if write.begun is None:
            write = replace(write, begun=self.erasures.seen)
        if self._closed or not self._backlog.offer(write):
            self._dropped(write)
            if not self._full:
                log.error("storage queue is full: writes are dropped", extra={"kind": write.kind.name})
            self._full = True
            return False
        if self._backlog.rows >= self._limits.batch_rows:
            self._hurry.set()
        if self.failing is None or self._spool is not None:
            self._start()
        return True

    def drop(self, kind: Kind, rows: int) -> None:
        """Counts rows that are not written."""
        self.dropped[kind.name] += rows

    def _dropped(self, write: Write) -> None:
        if not write.waited:
            self.drop(write.kind, write.rows)

    def adopt(self) -> None:
        """Queues what earlier processes have left in the spool, before anything else. Called once, at the start."""
        for write in self._spool.adopt() if self._spool else ():
            self._backlog.append(write)
        if self._backlog:
            log.warning("rows that had to wait are written now", extra={"rows": self.depth})
            self._start()

    async def foreign_writes(self) -> int:
        """Returns how often another process was seen to have written, as of a second ago: every batch looks. As of
        longer ago while the thread is too busy to say."""
        if time.monotonic() - self._looked_at > LOOK_SECONDS and not self._closed:
            if self._looking is None or self._looking.done():
                self._looking = self._tasks.spawn(self._look(), name="look for foreign writes")
            await asyncio.wait({self._looking}, timeout=LOOK_PATIENCE)
        return self._foreign

    async def _look(self) -> None:
        at = time.monotonic()
        self._seen(await asyncio.get_running_loop().run_in_executor(self._thread, self._has_changed), at)

    def _seen(self, is_foreign: bool, at: float) -> None:
        self._looked_at = at
        self._foreign += is_foreign
        self._learn()

    def _learn(self) -> None:
        """Learns of the erasures that the thread has found."""
        found, self._erased = self._erased, ()
        self.erasures.learn(found)

    async def flush(self) -> None:
        """Returns when everything queued so far is durable, or has been dropped and counted; at once while the database
        cannot be written."""
        if not self.depth or (self.failing is not None and not self._closed):
            return
        barrier = asyncio.get_running_loop().create_future()
        self._backlog.let_wait(barrier)
        try:
            while not barrier.done():
                self._hurry.set()
                # The task is started again if somebody has cancelled it.
                await asyncio.wait({barrier, self._start()}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            barrier.cancel()
            self._relax()

    async def close(self) -> None:
        """Flushes, then closes the connection. Later writes are dropped, and so is what cannot be written now."""
        if self._closed:
            return
        self._closed = True
        if self._retrying is not None:
            self._retrying.cancel()
        await self.flush()
        await asyncio.to_thread(self._thread.shutdown)
        if self._spool is not None:
            self._spool.close()
        self._disconnect()

    def _start(self) -> asyncio.Task[None]:
        if self._task is None or self._task.done():
            self._task = self._tasks.spawn(self._write_out(), name="storage-writer")
        return self._task

    async def _write_out(self) -> None:
        pauses = iter(self._limits.pauses)
        while self._backlog or (self._unerased and not self._closed):
            if not self._backlog:
                if (pause := next(pauses, None)) is None:
                    log.warning("storage could not empty its log: what was forgotten stays there until the next batch")
                    break
                await self._wait(pause)
                if not self._closed:
                    await asyncio.get_running_loop().run_in_executor(self._thread, self._erase)
                continue
            await self._wait(self._limits.interval)
            if self._waits():
                await self._to_spool()
                self._try_again()
                break
            batch = self._backlog.take()
            self._relax()
            try:
                is_written = await self._commit(batch)
            finally:  # cancelled, or not written: nothing is lost
                self._backlog.put_back()
            if not is_written and not self._given_up:
                self._retry_at = time.monotonic() + self._limits.retry
                await self._to_spool()
                self._try_again()
                break
        self._task = None

    def _waits(self) -> bool:
        """Tells whether the database cannot be written, and it is too soon to try again."""
        return self.failing is not None and time.monotonic() < self._retry_at and not self._closed

    def _try_again(self) -> None:
        if self._retrying is not None:
            self._retrying.cancel()
        left = self._retry_at - time.monotonic()
        self._retrying = asyncio.get_running_loop().call_later(max(0.0, left), self._start)

    async def _to_spool(self) -> None:
        """Moves what is queued to the spool, if there is one: it survives this process there."""
        latest, length = self._backlog.unspooled(), len(self._backlog)
        stored = await self._spooled(latest)
        if stored is not latest:
            self._backlog.moved(latest, stored, length)

    async def _spooled(self, writes: Sequence[Write]) -> Sequence[Write]:
        """Returns writes as they are now: in the spool, if there is one that can take them. Whoever cancels it waits:
        what is in the spool must not be in the queue as well."""
        if self._spool is None or all(write.spooled is not None for write in writes):
            return writes
        storing = asyncio.get_running_loop().run_in_executor(self._thread, self._spool.put, writes)
        while not storing.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({storing})
        try:
            stored = storing.result()
        except Exception as error:  # noqa: BLE001 (then they wait in memory)
            log.error("the spool cannot be written", extra={"error": str(error)})  # noqa: TRY400 (the text says it all)
            self._spool_takes = False
            return writes
        self._spool_takes = all(write.spooled is not None or write.waited for write in stored)
        return stored

    async def _give_up(self, writes: Sequence[Write]) -> bool:
        """Settles writes at the end of the process: those that the spool does not take are lost."""
        for write in await self._spooled(writes):
            if write.spooled is None:
                self._dropped(write)
        self._settle(writes)
        return True

    async def _wait(self, seconds: float) -> None:
        """Waits, or until what is queued shall be written at once."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), seconds)

    def _relax(self) -> None:
        if not self._backlog.is_urgent:
            self._hurry.clear()

    async def _commit(self, writes: Sequence[Write]) -> bool:
        """Writes them in one transaction and settles each. False if the database cannot be written: then what is left
        of them is still the batch."""
        if self._given_up:
            return await self._give_up(writes)
        pauses = self._limits.pauses if self.failing is None else ()
        for pause in (*pauses, None):
            at = time.monotonic()
            try:
                is_foreign = await asyncio.get_running_loop().run_in_executor(self._thread, self._written, writes)
                break
            except Exception as error:  # noqa: BLE001 (a bad write must not end the writer)
                if not self._cannot_write(error):
                    return await self._without_the_bad(writes, error)
                if pause is None:
                    self._fail(error)
                    return False
                log.warning("storage will try again", extra={"error": str(error)})
                await asyncio.sleep(pause)
        self._seen(is_foreign, at)
        if self.failing is not None:
            log.warning("storage can be written again")
            self.failing = None
        self._settle(writes)
        return True

    async def _without_the_bad(self, writes: Sequence[Write], error: Exception) -> bool:
        """Writes them one by one, where the database refuses some of them: the others still get through."""
        if len(writes) > 1:
            for write in writes:
                if not await self._commit((write,)):
                    return False
            return True
        log.error("storage refused a write", exc_info=error)
        if self._spool is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._spool.remove, writes)
        return self._lose(writes)

    def _fail(self, error: Exception) -> None:
        if self.failing is None:
            log.error("storage cannot be written: it is tried again until it can", extra={"error": str(error)})
        self.failing = str(error)
        if self._closed:  # shutting down doesn't wait for the same failure batch after batch
            self._given_up = True
        else:
            self._backlog.release_all()

    def _lose(self, writes: Sequence[Write]) -> bool:
        for write in writes:
            self._dropped(write)
        self._settle(writes)
        return True

    def _written(self, writes: Sequence[Write]) -> bool:
        if self._spool is None:
            return self._apply(writes)
        is_foreign = self._apply(self._spool.loaded(writes))
        self._spool.remove(writes)
        return is_foreign

    @abstractmethod
    def _apply(self, writes: Sequence[Write]) -> bool:
        """Writes a batch in one transaction, or raises. True if another process has written since the last batch. Runs
        in the thread, and sets `_unerased`."""

    @abstractmethod
    def _has_changed(self) -> bool:
        """Returns True if another process has written since the last batch or look. Runs in the thread."""

    @abstractmethod
    def _erase(self) -> None:
        """Removes deleted rows from the logs of the database. Runs in the thread, and sets `_unerased`."""

    @abstractmethod
    def _cannot_write(self, error: Exception) -> bool:
        """True for an error of the disk or the database, False for one of what was to be written."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Closes the connection."""

    def _settle(self, writes: Sequence[Write]) -> None:
        self._backlog.settle(writes)
        if not self.depth:
            self._full = False
