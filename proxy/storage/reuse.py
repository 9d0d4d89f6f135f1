"""The store of reuse by intent: answered questions with their vectors, and the log of decisions; and how two versions
of an entry become one, the same in every database."""

from dataclasses import dataclass, replace
from typing import Protocol

from proxy.storage.base import PAGE, Queued
from proxy.types import Judgement, ReuseDecision, ReuseEntry, Vector


@dataclass(frozen=True, slots=True)
class ReuseChanges:
    """A page of the changes in a partition since a reader's last one."""

    entries: tuple[tuple[ReuseEntry, Vector], ...] = ()  # in the order they changed; evicted ones as well
    upto: int = 0  # number of the last change: `after` of the next call
    more: bool = False  # there may be another page


class ReuseStore(Queued, Protocol):
    """The entries of reuse by intent (answered questions with their vectors), and the log of its decisions.

    Of an entry that is added again the newest question counts, and the strikes of all that were before. An entry is
    alive if it was created after its last eviction: so the order in which processes hear of both does not matter.
    """

    def add(self, scope: str, entry: ReuseEntry, vector: Vector) -> None:
        """Queues the entry; `vector` is that of its question, one dimension. It keeps the strikes and the threshold of
        an earlier one with the same id, and is ignored unless it is newer. The partition of an id never changes."""

    def raise_threshold(self, scope: str, entry_id: str, min_cosine: float, at: float, *, evict: bool) -> None:
        """Queues a strike: the entry's threshold is at least `min_cosine` from now on. `evict`: it is evicted too."""

    def evict(self, scope: str, entry_id: str, at: float) -> None:
        """Queues the eviction of the entry if it was created by `at`, without a strike."""

    def judge(self, scope: str, entry_id: str, judgement: Judgement) -> None:
        """Queues a ruling of the judge on the entry: kept if the entry is alive and as it was when it was judged, and
        there are fewer than `MOST_JUDGED`. The first on a question stays; a strike, an eviction or a newer answer
        deletes all."""

    def served(self, scope: str, entry_id: str) -> None:
        """Queues that the entry was reused once more."""

    async def changes(self, scope: str, partition: str, after: int, now: float, limit: int = PAGE) -> ReuseChanges:
        """Returns the changes of the partition after change number `after` (0: all), at most `limit`, oldest first:
        entries that have not expired at `now`, and those with strikes. Vectors have the precision of float16."""

    async def get(self, scope: str, entry_id: str) -> ReuseEntry | None:
        """Returns the entry, alive or not, or None. Writes what is queued first."""

    async def find(self, entry_id: str) -> tuple[str, ReuseEntry] | None:
        """Returns the scope and the entry, whichever scope has it: for administration. Writes what is queued first."""

    def log(self, scope: str, decision: ReuseDecision) -> None:
        """Queues a line of the log; the oldest lines of the scope are deleted beyond its limit."""

    async def recent(self, scope: str, limit: int = 100) -> list[ReuseDecision]:
        """Returns the last `limit` lines of a scope, newest first, without those that are queued."""


KEPT_AFTER_EXPIRY = 30 * 86_400.0  # seconds that an entry with strikes is kept after it has expired
LOG_ROWS = 1_000  # lines of the reuse log that a scope has
MOST_JUDGED = 64  # rulings of the judge on an entry


def merged(one: ReuseEntry, other: ReuseEntry) -> ReuseEntry:
    """Merges two versions of an entry: the newer question, the higher count of strikes. Idempotent and commutative,
    but for two that were created at the same time: then it takes the first one's question."""
    newer = other if other.created_at > one.created_at else one
    both = replace(
        newer,
        min_cosine=max(one.min_cosine, other.min_cosine),
        strikes=max(one.strikes, other.strikes),
        served=max(one.served, other.served),
        evicted_at=max(one.evicted_at, other.evicted_at),
    )
    if not one.judged and not other.judged:
        return both
    rulings = sorted({*one.judged, *other.judged}, key=lambda ruling: (ruling.same, ruling.model), reverse=True)
    # Of two rulings on one question a no stays.
    held = {ruling.asked_id: ruling for ruling in rulings if both.is_about_this(ruling) and not both.is_evicted}
    return replace(both, judged=tuple(held[asked_id] for asked_id in sorted(held)))


def with_strike(entry: ReuseEntry, min_cosine: float, at: float, *, evict: bool) -> ReuseEntry:
    """Returns the entry after a report that its answer was wrong."""
    after = replace(entry, min_cosine=max(entry.min_cosine, min_cosine), strikes=entry.strikes + 1, judged=())
    return evicted(after, at) if evict else after


def evicted(entry: ReuseEntry, at: float) -> ReuseEntry:
    """Returns the entry as evicted at `at`."""
    after = replace(entry, evicted_at=max(entry.evicted_at, at))
    return replace(after, judged=()) if after.is_evicted else after
