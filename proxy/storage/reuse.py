"""Reuse by intent in this process, bounded; and what every backend does with an entry: how two of the same id become
one (`joined`), and how a vector is kept (`packed`)."""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from proxy.storage.base import PAGE, ReuseChanges
from proxy.types import ReuseDecision, ReuseEntry, Vector

KEPT_AFTER_EXPIRY = 30 * 86_400.0  # seconds that an entry with strikes is remembered after its end
LOG_ROWS = 1_000  # of a scope
LOGGED_SCOPES = 1_000  # in this process


def joined(one: ReuseEntry, other: ReuseEntry) -> ReuseEntry:
    """What is known of an entry from both: the newer question, the strikes of either. In any order, any number of
    times, it is the same; of two at the same time the first is taken."""
    newer = other if other.created_at > one.created_at else one
    return replace(
        newer,
        min_cosine=max(one.min_cosine, other.min_cosine),
        strikes=max(one.strikes, other.strikes),
        served=max(one.served, other.served),
        evicted_at=max(one.evicted_at, other.evicted_at),
    )


def struck(entry: ReuseEntry, min_cosine: float, at: float, *, evict: bool) -> ReuseEntry:
    """The entry after a report."""
    after = replace(entry, min_cosine=max(entry.min_cosine, min_cosine), strikes=entry.strikes + 1)
    return evicted(after, at) if evict else after


def evicted(entry: ReuseEntry, at: float) -> ReuseEntry:
    return replace(entry, evicted_at=max(entry.evicted_at, at))


def packed(vector: Vector) -> bytes:
    """As float16, two bytes a dimension: that changes a cosine by 0.0005 at most."""
    return vector.astype("<f2").tobytes()


def unpacked(stored: bytes) -> Vector:
    return np.frombuffer(stored, "<f2").astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Row:
    change: int
    entry: ReuseEntry
    vector: bytes


class MemoryReuse:
    """Keeps the `max_entries` entries that changed last, and the newest `log_rows` lines of each scope."""

    def __init__(self, max_entries: int = 10_000, log_rows: int = LOG_ROWS) -> None:
        self._max_entries = max_entries
        self._rows: OrderedDict[tuple[str, str], _Row] = OrderedDict()  # in the order of their last change
        self._changes = 0
        self._log_rows = log_rows
        self._log: OrderedDict[str, deque[ReuseDecision]] = OrderedDict()  # by scope, least recently written first

    def add(self, scope: str, entry: ReuseEntry, vector: Vector) -> None:
        known = self._rows.get((scope, entry.id))
        if known is None or entry.created_at > known.entry.created_at:
            self._put(scope, entry if known is None else joined(known.entry, entry), packed(vector))
        while len(self._rows) > self._max_entries:
            self._rows.popitem(last=False)

    def raise_threshold(self, scope: str, entry_id: str, min_cosine: float, at: float, *, evict: bool) -> None:
        self._change(scope, entry_id, lambda entry: struck(entry, min_cosine, at, evict=evict))

    def evict(self, scope: str, entry_id: str, at: float) -> None:
        self._change(scope, entry_id, lambda entry: evicted(entry, at))

    def served(self, scope: str, entry_id: str) -> None:
        if (known := self._rows.get((scope, entry_id))) is not None:  # that is not news to any reader
            self._rows[scope, entry_id] = replace(known, entry=replace(known.entry, served=known.entry.served + 1))

    async def entries(self, scope: str, partition: str, after: int, now: float, limit: int = PAGE) -> ReuseChanges:
        found: list[_Row] = []
        for (owner, _), row in reversed(self._rows.items()):
            if row.change <= after:
                break
            if (
                owner == scope
                and row.entry.partition == partition
                and (row.entry.strikes or now < row.entry.expires_at)
            ):
                found.append(row)
        page = found[-limit:][::-1]
        return ReuseChanges(
            tuple((row.entry, unpacked(row.vector)) for row in page),
            page[-1].change if page else after,
            more=len(page) == limit,
        )

    async def get(self, scope: str, entry_id: str) -> ReuseEntry | None:
        row = self._rows.get((scope, entry_id))
        return None if row is None else row.entry

    async def find(self, entry_id: str) -> tuple[str, ReuseEntry] | None:
        return next(((scope, row.entry) for (scope, name), row in self._rows.items() if name == entry_id), None)

    def log(self, scope: str, decision: ReuseDecision) -> None:
        self._log.setdefault(scope, deque(maxlen=self._log_rows)).append(decision)
        self._log.move_to_end(scope)
        if len(self._log) > LOGGED_SCOPES:
            self._log.popitem(last=False)

    async def recent(self, scope: str, limit: int = 100) -> list[ReuseDecision]:
        lines = self._log.get(scope, ())
        return list(reversed(lines))[: max(0, limit)]

    async def flush(self) -> None: ...
    async def close(self) -> None: ...

    def _put(self, scope: str, entry: ReuseEntry, vector: bytes) -> None:
        self._changes += 1
        key = (scope, entry.id)
        self._rows[key] = _Row(self._changes, entry, vector)
        self._rows.move_to_end(key)

    def _change(self, scope: str, entry_id: str, change: Callable[[ReuseEntry], ReuseEntry]) -> None:
        if (known := self._rows.get((scope, entry_id))) is not None:
            self._put(scope, change(known.entry), known.vector)
