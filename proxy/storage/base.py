"""Protocols of the stores that the pipeline uses, and the errors that storage raises. This is the place where their
methods are documented: an implementation adds only what is its own.

For all of them: every method takes the scope (`Scope.id`), and nothing can be read across it. Names of scopes and
sessions are made by the proxy and hold no NUL, where a database may end a text. Times are Unix seconds.

A read is a coroutine, runs off the event loop, and raises StorageError if the store cannot be read. A write is a plain
method that puts rows into a queue and returns at once. It raises nothing: rows that the queue has no room for, or that
the database refuses, are dropped and counted. The others are durable after one batch interval (0.25 s), or when
`flush` returns.

Errors, so that no caller has to know sqlite3's or diskcache's:

    StorageError
    ├── DatabaseCorrupt      the file is no SQLite database, or a damaged one
    ├── DatabaseTooNew       a newer version of this program has written it
    ├── DatabaseTooOld       it has the schema of an older version, and is upgraded by a command
    ├── AnswersUnavailable   the answer cache is damaged, locked, or its disk is full
    ├── SharedUnavailable    what several processes share cannot be reached in time
    ├── Unavailable          the server of the database, or the way to it, does not answer, or not in time
    │   └── Unfit            it answers, and in its present state can do nothing: read-only, rights or tables missing
    ├── ScopeErased          what a transaction is about was erased since its task began
    └── SecretUnsafe         the tenant secret is readable by others, damaged, or cannot be kept
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

from proxy.types import (
    ANY_ROW,
    Bucket,
    Contents,
    Judgement,
    LedgerRow,
    ReuseDecision,
    ReuseEntry,
    RowFilter,
    SessionCard,
    StoredAnswer,
    Sums,
    TurnCard,
    Vector,
)

PAGE = 64  # entries that a reader takes at a time: that holds the event loop for a millisecond or two


class StorageError(Exception):
    """The root of the errors of storage. Its message names the file and what to do."""


class DatabaseCorrupt(StorageError):
    """An error for a file that is no SQLite database, or a damaged one."""


class DatabaseTooNew(StorageError):
    """An error for a database with migrations that this version does not know."""


class DatabaseTooOld(StorageError):
    """An error for a database whose schema lacks steps of this version."""


class AnswersUnavailable(StorageError):
    """An error for an answer cache that cannot be read or written."""


class SharedUnavailable(StorageError):
    """An error for a command that the server of what processes share has not carried out, as far as is known. `reason`:
    why, of a bounded set."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unavailable(StorageError):
    """An error for a server that does not answer, or not in time."""


class Unfit(Unavailable):
    """An error for a server that answers, and in its present state can do nothing for us."""


class ScopeErased(StorageError):
    """An error for a transaction whose scope was erased since the task that waits for it began."""


class SecretUnsafe(StorageError):
    """An error for a tenant secret that others can read, that is damaged, or that cannot be written."""


@dataclass(frozen=True, slots=True)
class KnownPrefix:
    """The longest prefix of a hash chain that an earlier request of the same scope had."""

    length: int  # messages
    sessions: tuple[str, ...]  # the newest sessions that have its last link, newest first, at most two
    is_tip: bool  # no session of the scope has a link after it


# What is kept of a scope, in parts that change by themselves: conversations (links and states), facts, turns, entries
# for reuse.
Part = Literal["paths", "facts", "turns", "reuse"]
PARTS: tuple[Part, ...] = get_args(Part)
# Returns how often another process has been seen to write this part of a scope, or more than that, as of a second ago
# at most: what was read at another number may be old.
ForeignWrites = Callable[[str, Part], Awaitable[int]]


async def none_foreign(scope: str, part: Part) -> int:  # noqa: ARG001 (a ForeignWrites)
    """Returns 0: nobody else writes."""
    return 0


class Queued(Protocol):
    """A store that queues its writes."""

    async def flush(self) -> None:
        """Returns when what is queued is durable, or dropped."""


class SessionStore(Queued, Protocol):
    """The index from links of hash chains to the sessions that had them: it recognises a conversation by its history.

    A chain is that of `Identity.chain`: 16 bytes a link, a link a message.
    """

    async def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        """Returns the longest prefix of `chain` whose last link is known in `scope`; None if no link is. Sees what this
        process has queued."""

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        """Queues the links `chain[start:]` of `session`, which had them at `at`. Idempotent. `start` is the number of
        links that are known already; link `chain[start - 1]`, if any, stops being a tip."""


class Ledger(Queued, Protocol):
    """The accounts of requests: one row each."""

    def append(self, row: LedgerRow) -> None:
        """Queues the row; a second row with the same request id in the same scope is ignored."""

    async def recent(self, scope: str, limit: int = 100) -> list[LedgerRow]:
        """Returns the last `limit` rows of a scope, newest first, without those that are queued."""

    async def judged(self, scope: str, since: float) -> float:
        """Returns the US dollars that the judge of reuse has cost a scope since then (unix seconds), without what is
        queued."""


class AnswerCache(Protocol):
    """The cache of complete answers for exact reuse. A key already contains the scope; the scope is still stored and
    compared. Every method may raise AnswersUnavailable."""

    async def get(self, scope: str, key: str, now: float) -> StoredAnswer | None:
        """Returns the answer; None if it is absent, expired at `now`, or stored under another scope."""

    async def put(self, scope: str, key: str, answer: StoredAnswer, ttl: float) -> None:
        """Stores the answer until `answer.created_at + ttl`, `ttl` in seconds; not if it is larger than one answer may
        be. The answers that were stored first are evicted when the cache is full, or those that the server of a
        cache chooses."""

    async def delete(self, scope: str, key: str) -> bool:
        """Deletes the answer; False if the scope has none under this key."""

    async def close(self) -> None:
        """Closes the cache. A second call does nothing."""


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


Width = Literal[60, 3_600, 86_400]  # seconds of a bucket
Dimension = Literal["", "model", "upstream", "source", "plan", "route"]  # by which sums are grouped; "": not at all
# The group of requests for models that no upstream has answered for: clients can invent as many names as they like.
OTHER = "other"
LONGEST_NAME = 100  # characters; a model with a longer name is in that group too


class Accounts(Protocol):
    """The reader of ledger, sums and conversations, for administration: of all scopes where `scope` is None. A scope
    without a slash is a tenant: all scopes of it. It does not see rows that are queued."""

    async def buckets(
        self, start: float, end: float, width: Width, scope: str | None = None, by: Dimension = ""
    ) -> list[Bucket]:
        """Returns the buckets of `width` seconds that begin within [start, end) and are not empty, oldest first. With
        `by`, each is split into one bucket per name, sorted by name."""

    async def scopes(
        self, limit: int = 200, before: float | None = None, tenant: str | None = None
    ) -> list[tuple[str, float]]:
        """Returns scopes, of a tenant if one is given, with the time of their last request, if that was before
        `before`, latest first."""

    async def rows(
        self,
        *,
        scope: str | None = None,
        session: str | None = None,
        before: int | None = None,
        limit: int = 100,
        like: RowFilter = ANY_ROW,
        first: int = 0,
    ) -> list[tuple[int, LedgerRow]]:
        """Returns ledger rows with their numbers, which grow as rows are written: the newest before number `before`,
        newest first. `like`: those alone. `first`: none below this number is looked at."""

    async def number_at(self, at: float) -> int:
        """Returns the number of the first row from `at` on, as far as rows are written in the order of time; the number
        after the newest if there is none."""

    async def row(self, request_id: str, scope: str | None = None) -> LedgerRow | None:
        """Returns the row of a request, or None."""

    async def between(self, scope: str, session: str, start: float, end: float) -> list[LedgerRow]:
        """Returns the rows of a conversation that came within [start, end], oldest first."""

    async def until(self, scope: str, session: str, end: float) -> Sums:
        """Returns the sums of a conversation's rows that came by `end`."""

    async def last(self) -> int:
        """Returns the number of the newest row; 0 if there is none."""

    async def sessions(
        self, *, scope: str | None = None, before: float | None = None, limit: int = 50
    ) -> list[SessionCard]:
        """Returns conversations whose last request was before `before`, latest first."""

    async def questions(self, sessions: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
        """Returns the beginning of the first question of each conversation (scope, session) that has one in the
        archive."""

    async def turns(self, scope: str, session: str, limit: int = 2_000) -> list[TurnCard]:
        """Returns the newest `limit` archived turns of a conversation, of all its branches, oldest first."""


class AliasStore(Protocol):
    """The names that people have given to scopes, for display. They are erased with their scope."""

    async def all(self) -> Mapping[str, str]:
        """Returns the alias of every scope that has one."""

    async def put(self, scope: str, alias: str) -> None:
        """Gives a scope an alias, "" to take it away. A scope of which nothing is kept gets none. Raises
        StorageError."""


class ContentStore(Protocol):
    """The bodies of requests and answers, kept for as long as `storage.keep` says. Reads see what this process has
    queued."""

    @property
    def keeps(self) -> bool:
        """False if the store keeps nothing: a caller need not put contents together."""

    def put(self, contents: Contents) -> None:
        """Queues the contents of a request; not if they are larger than one entry may be."""

    async def get(self, scope: str, request_id: str) -> Contents | None:
        """Returns the contents of a request, or None."""

    async def several(self, requests: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Contents]:
        """Returns the contents of requests (scope, request id) that are kept: bodies, answers and headers, without what
        was sent upstream."""

    async def recent(self, limit: int, *, scope: str | None = None, session: str | None = None) -> Sequence[Contents]:
        """Returns the newest `limit` contents, oldest first, of all scopes where `scope` is None."""

    def forget(self, scope: str) -> None:
        """Queues the deletion of all contents of the scope."""


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
