"""What the pipeline needs from storage. Every method takes the scope; nothing can be read across it. Names of scopes
and sessions are ours and hold no NUL: a database may end a text there.

Reads are awaited and run off the event loop. Writes are queued (`put`-like methods return at once, None) and are
durable after at most one batch interval, or after `flush()`.

What storage raises, so that nobody outside has to know sqlite3's or diskcache's errors:

    StorageError
    ├── DatabaseCorrupt      the file is no SQLite database, or a damaged one
    ├── DatabaseTooNew       a newer version of this program has written it
    ├── AnswersUnavailable   the answer cache is damaged, locked, or its disk is full
    └── SecretUnsafe         the tenant secret is readable by others, damaged, or cannot be kept
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from proxy.types import (
    Bucket,
    Contents,
    LedgerRow,
    ReuseDecision,
    ReuseEntry,
    SessionCard,
    StoredAnswer,
    TurnCard,
    Vector,
)

PAGE = 64  # entries that a reader takes in at once: that holds the event loop for a millisecond or two


class StorageError(Exception):
    """The root of what storage raises. Its message names the file and what to do."""


class DatabaseCorrupt(StorageError):
    """The file is no SQLite database, or a damaged one."""


class DatabaseTooNew(StorageError):
    """The database has migrations that this version doesn't know."""


class AnswersUnavailable(StorageError):
    """The answer cache cannot be read or written."""


class SecretUnsafe(StorageError):
    """The tenant secret is readable by others, damaged, or cannot be kept."""


@dataclass(frozen=True, slots=True)
class KnownPrefix:
    """The longest part of a chain that an earlier request of this scope already had."""

    length: int  # messages
    sessions: tuple[str, ...]  # the sessions that went through this link, newest first; at most two are told
    is_tip: bool  # no session of this scope went on from here


class SessionStore(Protocol):
    """Which hash-chain links were seen in which session."""

    async def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        """The longest prefix of `chain` whose last link is known in `scope`, or None."""
        ...

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        """Queue links `chain[start:]` of `session`. Idempotent. `start` is the number already known; link
        `chain[start - 1]`, if any, stops being a tip."""
        ...

    async def flush(self) -> None: ...
    async def close(self) -> None: ...


class Ledger(Protocol):
    """One row a request."""

    def append(self, row: LedgerRow) -> None:
        """Queue the row; a second row with the same request id in the same scope is ignored."""
        ...

    async def recent(self, scope: str, limit: int = 100) -> list[LedgerRow]:
        """The rows of a scope that were written last, newest first."""
        ...

    async def flush(self) -> None: ...
    async def close(self) -> None: ...


class AnswerCache(Protocol):
    """Complete answers under a key that already contains the scope; the scope is still stored and compared."""

    async def get(self, scope: str, key: str, now: float) -> StoredAnswer | None:
        """The answer, unless it is absent, expired at `now`, or was stored under another scope."""
        ...

    async def put(self, scope: str, key: str, answer: StoredAnswer, ttl: float) -> None:
        """Store until `answer.created_at + ttl`; the oldest answers leave when the size limit is reached. An answer
        larger than its share is not kept."""
        ...

    async def delete(self, scope: str, key: str) -> bool: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ReuseChanges:
    """What has changed in a partition since a reader asked last."""

    entries: tuple[tuple[ReuseEntry, Vector], ...] = ()  # in the order they changed; evicted ones as well
    upto: int = 0  # where to go on the next time
    more: bool = False  # that was a page, and not the last


class ReuseStore(Protocol):
    """Questions that were answered, each with its vector, for reuse by intent; and the log of what was decided.

    Of an entry that is added again the newest question counts, and the strikes of all that were before. An entry is
    alive if it was created after its last eviction: so the order in which workers hear of both does not matter.
    """

    def add(self, scope: str, entry: ReuseEntry, vector: Vector) -> None:
        """Queue the entry. It keeps what an earlier one of the same id had in strikes and threshold. Not newer than
        that: ignored. The partition of an id never changes."""
        ...

    def raise_threshold(self, scope: str, entry_id: str, min_cosine: float, at: float, *, evict: bool) -> None:
        """Queue a strike: the entry's threshold is at least `min_cosine` from now on, and it is evicted if so told."""
        ...

    def evict(self, scope: str, entry_id: str, at: float) -> None:
        """Queue the end of what was created by `at`, and is no one's fault."""
        ...

    def served(self, scope: str, entry_id: str) -> None:
        """Queue that it was reused once more."""
        ...

    async def entries(self, scope: str, partition: str, after: int, now: float, limit: int = PAGE) -> ReuseChanges:
        """What has changed after `after` (0: everything), the oldest first: entries that have not expired at `now`,
        and those with strikes. Vectors are what float16 makes of them."""
        ...

    async def get(self, scope: str, entry_id: str) -> ReuseEntry | None:
        """The entry, alive or not, as of now: what is queued is written first."""
        ...

    async def find(self, entry_id: str) -> tuple[str, ReuseEntry] | None:
        """The same with its scope, for whoever administers all of them."""
        ...

    def log(self, scope: str, decision: ReuseDecision) -> None:
        """Queue the line; the oldest lines of the scope leave."""
        ...

    async def recent(self, scope: str, limit: int = 100) -> list[ReuseDecision]:
        """The lines of a scope that were logged last, newest first."""
        ...

    async def flush(self) -> None: ...
    async def close(self) -> None: ...


Width = Literal[60, 3_600, 86_400]  # seconds of a bucket
Dimension = Literal["", "model", "upstream", "source", "plan"]  # what sums are told by; "": by nothing
OTHER = (
    "other"  # the model of requests for one that no upstream has answered for: clients can invent as many as they like
)
LONGEST_NAME = 100  # characters of a model that has a name of its own


class Accounts(Protocol):
    """Read across scopes if none is named: only for whoever runs the proxy. What is queued may be missing."""

    async def buckets(
        self, start: float, end: float, width: Width, scope: str | None = None, by: Dimension = ""
    ) -> list[Bucket]:
        """Every bucket that begins within [start, end) and is not empty, oldest first; of each a bucket for every name,
        in their order, if sums are told `by` something."""
        ...

    async def scopes(self, limit: int = 200, before: float | None = None) -> list[tuple[str, float]]:
        """Scopes and when each was last heard of, if that was before `before`, latest first."""
        ...

    async def rows(
        self,
        *,
        scope: str | None = None,
        session: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> list[tuple[int, LedgerRow]]:
        """Rows with their numbers, which grow as rows are written. The newest first; with `after`, those that were
        written after that one, oldest first."""
        ...

    async def row(self, request_id: str, scope: str | None = None) -> LedgerRow | None: ...

    async def last(self) -> int:
        """The number of the newest row; 0 if there is none."""
        ...

    async def sessions(
        self, *, scope: str | None = None, before: float | None = None, limit: int = 50
    ) -> list[SessionCard]:
        """Conversations whose last request was before `before`, latest first."""
        ...

    async def turns(self, scope: str, session: str, limit: int = 2_000) -> list[TurnCard]:
        """The newest archived turns of a conversation, all its branches, oldest first."""
        ...


class ContentStore(Protocol):
    """Bodies of requests, for a while (`storage.keep`)."""

    @property
    def keeps(self) -> bool:
        """Is anything kept here? Where not, nobody need put it together."""
        ...

    def put(self, contents: Contents) -> None:
        """Queue. One that is larger than its share is not kept."""
        ...

    async def get(self, scope: str, request_id: str) -> Contents | None: ...

    async def recent(self, limit: int, *, scope: str | None = None, session: str | None = None) -> Sequence[Contents]:
        """The newest ones, oldest first."""
        ...

    def forget(self, scope: str) -> None:
        """Queue the end of everything that this scope said."""
        ...


KEPT_AFTER_EXPIRY = 30 * 86_400.0  # seconds that an entry with strikes is remembered after its end
LOG_ROWS = 1_000  # of a scope


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
