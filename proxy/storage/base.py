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
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from proxy.types import Contents, LedgerRow, StoredAnswer

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
