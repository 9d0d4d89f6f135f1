"""The writes of one database that are not durable yet, in their order: those that are queued, by tenant and kind within
their shares, and those of the batch that is being written; and who waits for them."""

import asyncio
import itertools
import time
from collections import Counter, deque
from collections.abc import Sequence

from proxy.storage.pending import Shares, Write, WriterLimits, one_less


class Backlog:
    """The writes that wait. True if any is queued; its length is the number of these."""

    def __init__(self, limits: WriterLimits) -> None:
        self.rows = 0  # of all writes, queued or being written
        self.erasing: Counter[str] = Counter()  # writes that are to erase something of a scope
        self._batch_rows = limits.batch_rows
        self._shares = Shares(limits.bulk_rows, limits.small_rows)
        self._queue: deque[Write] = deque()
        self._batch: deque[Write] = deque()  # being written
        self._queued = 0  # writes since the start
        self._settled = 0  # of these: durable, or dropped
        self._barriers: deque[tuple[int, asyncio.Future[None]]] = deque()  # who waits for so many to be settled

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def lag(self) -> float:
        """Seconds since the oldest write was queued."""
        return time.monotonic() - oldest[0].queued_at if (oldest := self._batch or self._queue) else 0.0

    @property
    def is_urgent(self) -> bool:
        """True if what is queued is to be written at once: it is a whole batch, or somebody waits."""
        queued = self.rows - sum(write.rows for write in self._batch)
        return queued >= self._batch_rows or not all(barrier.done() for _, barrier in self._barriers)

    def offer(self, write: Write) -> bool:
        """Queues a write; False if its tenant's share is full."""
        if not self._shares.take(write.kind, write.scope, write.rows):
            return False
        self.append(write)
        return True

    def append(self, write: Write) -> None:
        """Queues a write that takes no share: it comes from the spool."""
        self._queue.append(write)
        if write.erases and write.scope:
            self.erasing[write.scope] += 1
        self._queued += 1
        self.rows += write.rows

    def take(self) -> tuple[Write, ...]:
        """Makes a batch of what is queued, the oldest first."""
        rows = 0
        while self._queue and rows < self._batch_rows:
            rows += self._queue[0].rows
            self._batch.append(self._queue.popleft())
        return tuple(self._batch)

    def put_back(self) -> None:
        """Queues again what is left of the batch, before all else."""
        self._queue.extendleft(reversed(self._batch))
        self._batch.clear()

    def settle(self, writes: Sequence[Write]) -> None:
        """Removes writes of the batch, its first, which are durable or dropped; tells whoever waits."""
        for write in writes:
            self._batch.popleft()  # writes are settled in the order they were queued
            self.rows -= write.rows
            self._settled += 1
            if write.spooled is None:
                self._shares.give_back(write.kind, write.scope, write.rows)
            if write.erases and write.scope:
                one_less(self.erasing, write.scope)
            if write.settled:
                write.settled()
        self._release(self._settled)

    def let_wait(self, barrier: asyncio.Future[None]) -> None:
        """Sets the result of `barrier` once all that has been queued so far is settled."""
        self._barriers.append((self._queued, barrier))

    def release_all(self) -> None:
        """Lets all go on who wait, whatever is settled."""
        self._release(self._queued)

    def _release(self, settled: int) -> None:
        """Lets those go on who wait for so many writes to be settled, or fewer."""
        while self._barriers and self._barriers[0][0] <= settled:
            if not (barrier := self._barriers.popleft()[1]).done():
                barrier.set_result(None)

    def unspooled(self) -> tuple[Write, ...]:
        """Returns the queued writes that are in no spool: the latest ones, all before them are in it already."""
        # A long queue is not gone through each time.
        return tuple(itertools.takewhile(lambda write: write.spooled is None, reversed(self._queue)))[::-1]

    def moved(self, latest: Sequence[Write], stored: Sequence[Write], length: int) -> None:
        """Puts `stored`, which a spool has taken, in the place of `latest`, the end of the queue when it had this
        `length`. What the spool has takes no share any more."""
        newer = [self._queue.pop() for _ in range(len(self._queue) - length)]
        for before, after in zip(reversed(latest), reversed(stored), strict=True):
            self._queue.pop()
            if before is not after:
                self._shares.give_back(after.kind, after.scope, after.rows)
        self._queue.extend(stored)
        self._queue.extend(reversed(newer))
