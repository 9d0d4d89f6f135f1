"""Partitions of reuse by intent: their entries, in memory. They are loaded from the store at a partition's first use,
kept up to date with what this process does at once, and with what others do within a second."""

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

import numpy as np

from proxy.reuse.index import VectorIndex
from proxy.storage.base import ForeignWrites, none_foreign
from proxy.storage.reuse import ReuseStore, evicted, merged, with_strike
from proxy.types import Candidate, Judgement, ReuseEntry, Vector

MAX_BYTES = 256 * 2**20
INLINE_ROWS = 20_000  # a search among as many takes half a millisecond
JUDGED_BYTES = 400  # of a ruling on an entry
ENTRY_OVERHEAD = 800  # bytes of an entry besides its texts and its vector: the objects themselves, ids, keys
PARTITION_OVERHEAD = 2_000
MAX_PARTITIONS = 10_000  # an empty one takes 2 kB; one that has left is loaded again


class Partitions:
    """By scope and partition. Those that were not used for longest leave when the bytes are too many, and come back
    from the store. `bytes` is an estimate; what is measured differs from it by less than a fifth."""

    def __init__(
        self,
        store: ReuseStore,
        executor: Executor,
        *,
        max_bytes: int = MAX_BYTES,
        max_partitions: int = MAX_PARTITIONS,
        foreign_writes: ForeignWrites = none_foreign,
        inline_rows: int = INLINE_ROWS,
        is_over: Callable[[str], bool] = lambda _scope: False,
    ) -> None:
        self.bytes = 0
        self.entries = 0
        self._store = store
        self._executor = executor
        self._max_bytes = max_bytes
        self._max_partitions = max_partitions
        self._foreign_writes = foreign_writes
        self._inline_rows = inline_rows
        self._is_over = is_over  # tells whether a scope was erased since this request began
        self._partitions: OrderedDict[tuple[str, str], Partition] = OrderedDict()

    @property
    def partitions(self) -> int:
        """The number of partitions in memory."""
        return len(self._partitions)

    async def nearest(
        self, scope: str, partition: str, vector: Vector, k: int, min_cosine: float, now: float
    ) -> list[Candidate]:
        """The `k` nearest entries that are alive at `now`, nearest first. Raises StorageError."""
        here = await self._current(scope, partition, now)
        search = partial(here.index.nearest, vector, k, min_cosine)
        if len(here.index) <= self._inline_rows:
            found = search()
        else:
            found = await asyncio.get_running_loop().run_in_executor(self._executor, search)
        entries = ((here.entries.get(entry_id), cosine) for entry_id, cosine in found)
        return [Candidate(entry, cosine) for entry, cosine in entries if entry and entry.is_alive(now)]

    async def holds_any(self, scope: str, partition: str, now: float) -> bool:
        """Tells whether there is anything that a search might find. If not, the question need not be embedded. Raises
        StorageError."""
        return len((await self._current(scope, partition, now)).index) > 0

    def add(self, scope: str, entry: ReuseEntry, vector: Vector) -> None:
        """Into the store, and in sight of the next search."""
        if self._is_over(scope):
            return
        self._store.add(scope, entry, vector)
        self._take(scope, entry, vector)

    def raise_threshold(self, scope: str, entry: ReuseEntry, min_cosine: float, at: float, *, evict: bool) -> None:
        """A strike, in the store and for the next search."""
        self._store.raise_threshold(scope, entry.id, min_cosine, at, evict=evict)
        known = self._open(scope, entry.partition).entries.get(entry.id, entry)
        self._take(scope, with_strike(known, min_cosine, at, evict=evict))

    def judge(self, scope: str, entry: ReuseEntry, judgement: Judgement) -> None:
        """Keeps a ruling on an entry, in the store and for the next search."""
        self._store.judge(scope, entry.id, judgement)
        self._take(scope, replace(entry, judged=(*entry.judged, judgement)))

    def evict(self, scope: str, entry: ReuseEntry, at: float) -> None:
        """The end of what was created by `at`, in the store and for the next search."""
        self._store.evict(scope, entry.id, at)
        self._take(scope, evicted(entry, at))

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased from memory."""
        for key in [key for key in self._partitions if key[0] == scope]:
            left = self._partitions.pop(key)
            self.bytes -= left.counted_bytes
            self.entries -= left.counted_entries

    async def _current(self, scope: str, partition: str, now: float) -> "Partition":
        here = self._open(scope, partition)
        await self._refresh(scope, partition, here, now)
        here.expire(now)
        self._count(scope, partition, here)
        return here

    def _open(self, scope: str, partition: str) -> "Partition":
        if (here := self._partitions.get((scope, partition))) is None:
            here = self._partitions[scope, partition] = Partition()
        return here

    def _take(self, scope: str, entry: ReuseEntry, vector: Vector | None = None) -> None:
        # Before its first search as well: what is loaded then may be older than this.
        here = self._open(scope, entry.partition)
        here.take([(entry, vector)])
        self._count(scope, entry.partition, here)

    async def _refresh(self, scope: str, partition: str, here: "Partition", now: float) -> None:
        """Loads a partition once: whoever comes meanwhile waits for that; whoever is cancelled leaves the rest to the
        next."""
        if here.as_of == await self._foreign_writes(scope, "reuse"):
            return
        async with here.loading:
            foreign = await self._foreign_writes(scope, "reuse")
            if here.as_of == foreign:
                return
            more = True
            while more:
                changes = await self._store.changes(scope, partition, here.upto, now)
                here.take(changes.entries)
                here.upto, more = changes.upto, changes.more
                self._count(scope, partition, here)
            here.as_of = foreign

    def _count(self, scope: str, partition: str, here: "Partition") -> None:
        """Keep the sums, and keep within them: others go before any of this one's entries."""
        if self._partitions.get((scope, partition)) is not here:
            return  # it has left meanwhile: who still holds it may end what they do
        self._partitions.move_to_end((scope, partition))
        self._add_up(here)
        while (self.bytes > self._max_bytes or self.partitions > self._max_partitions) and self.partitions > 1:
            _, left = self._partitions.popitem(last=False)
            self.bytes -= left.counted_bytes
            self.entries -= left.counted_entries
        while self.bytes > self._max_bytes and here.entries:
            here.forget_oldest()
            self._add_up(here)

    def _add_up(self, here: "Partition") -> None:
        self.bytes += here.bytes - here.counted_bytes
        self.entries += len(here.index) - here.counted_entries
        here.counted_bytes, here.counted_entries = here.bytes, len(here.index)


class Partition:
    """The entries of one partition. `entries` also holds those that were evicted, and those with strikes after their
    end: for the case that they come again."""

    def __init__(self) -> None:
        self.index = VectorIndex()
        self.entries: dict[str, ReuseEntry] = {}  # in the order of their last change
        self.upto = 0  # changes of the store that are in here
        self.as_of: int | None = None  # `ForeignWrites` when it was last brought up to date; None: never
        self.loading = asyncio.Lock()
        self.counted_bytes = 0
        self.counted_entries = 0
        self._entry_bytes = 0
        self._ends: list[tuple[float, str]] = []  # a heap; an entry may have come again since

    def take(self, stored: Iterable[tuple[ReuseEntry, Vector | None]]) -> None:
        """Takes in what the store or this process says of entries; it may come twice and in any order. A vector is
        needed for what is new."""
        fresh: dict[str, Vector] = {}
        for entry, vector in stored:
            known = self.entries.pop(entry.id, None)
            latest = entry if known is None else merged(known, entry)
            self._entry_bytes += _weight(latest) - (0 if known is None else _weight(known))
            self.entries[entry.id] = latest
            if latest.is_evicted:
                self.index.remove(entry.id)
            elif vector is not None and (
                entry.id not in self.index or known is None or entry.created_at > known.created_at
            ):
                fresh[entry.id] = vector
                heapq.heappush(self._ends, (entry.expires_at, entry.id))
        if fresh:
            self.index.extend(tuple(fresh), np.stack(tuple(fresh.values())))

    def expire(self, now: float) -> None:
        """Drops entries whose time has passed at `now`."""
        while self._ends and self._ends[0][0] <= now:
            _, entry_id = heapq.heappop(self._ends)
            entry = self.entries.get(entry_id)
            if entry is not None and entry.expires_at <= now:
                self.index.remove(entry_id)
                if not entry.strikes:
                    self._forget(entry_id)

    def forget_oldest(self) -> None:
        """Drops the entry that came first."""
        self._forget(next(iter(self.entries)))

    @property
    def bytes(self) -> int:
        """The memory that the partition takes, in bytes."""
        return PARTITION_OVERHEAD + self._entry_bytes + len(self.index) * self.index.row_bytes

    def _forget(self, entry_id: str) -> None:
        self.index.remove(entry_id)
        self._entry_bytes -= _weight(self.entries.pop(entry_id))


def _weight(entry: ReuseEntry) -> int:
    return ENTRY_OVERHEAD + len(entry.question) + sum(map(len, entry.context)) + JUDGED_BYTES * len(entry.judged)
