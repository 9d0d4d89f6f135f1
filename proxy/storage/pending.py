"""The part of storage that is in memory, in front of a database: kinds of writes that wait for it, and how many rows of
them a tenant may have waiting, so that none makes another's disappear; links of hash chains with the sessions that had
them (`Link`), queued ones (`Pending`) and those used last (`Recent`).

There are two lanes, so that what is many (links, turns, vectors, contents) never crowds out what is little (ledger
rows, facts). In each lane a tenant may hold as many rows as are left free in it: one alone half of the lane, two a
third each, n of them 1/(n+1) each; there is always room for the next one. (Choudhury and Hahne, Dynamic Queue Length
Thresholds for Shared-Memory Packet Switches, 1998, with alpha = 1.) Deletions are never refused: users were promised
them.
"""

import itertools
import operator
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from proxy.lru import Lru
from proxy.storage.base import KnownPrefix
from proxy.types import RowKind

Lane = Literal["bulk", "small", "deletion"]
Apply: TypeAlias = Callable[[Any, Sequence[Any]], object]  # gets the connection, and the `what` of some writes


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows, as the metrics name it, and its lane."""

    name: RowKind
    lane: Lane


LINKS = Kind("links", "bulk")
CUT_LINKS = Kind("cut_links", "bulk")  # of a history that is longer than what one request may write of it
TURNS = Kind("turns", "bulk")
STATES = Kind("states", "bulk")
CONTENTS = Kind("contents", "bulk")
REUSE = Kind("reuse", "bulk")
LEDGER = Kind("ledger", "small")
FACTS = Kind("facts", "small")
SHELVES = Kind("shelves", "bulk")
JOBS = Kind("jobs", "small")
DESKS = Kind("desks", "small")
KEYS = Kind("keys", "small")
QUALITY = Kind("quality", "bulk")
DELETIONS = Kind("deletions", "deletion")

# The number of the newest erasure that was known when the request of a task began, see `erasures.py`; None: no request.
BEGUN: ContextVar[int | None] = ContextVar("begun", default=None)

PAGE_BYTES = 4096  # of a database: a write that fills several counts as several rows

KINDS = (
    *(LINKS, CUT_LINKS, TURNS, STATES, CONTENTS, REUSE, LEDGER, FACTS, SHELVES, JOBS, DESKS, KEYS, QUALITY),
    DELETIONS,
)


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """A queued change of the database. It must be idempotent: after a failure it is applied again.

    `apply` runs in the writer's thread, inside a transaction, once for all writes of a batch that share it: with the
    connection, and the `what` of each in the order they were queued. So many rows can be one statement. Writes of one
    `store` keep their order among each other.
    """

    rows: int
    apply: Apply
    what: Any = None
    kind: Kind = field(kw_only=True)
    scope: str = field(kw_only=True)  # whose share of the queue it takes
    settled: Callable[[], object] | None = None  # called in the event loop once it is durable, or dropped
    queued_at: float = field(default_factory=time.monotonic)
    erases: bool = False  # what it deletes must not stay in a log of the database either
    in_order: bool = False  # applied after all that was queued before it, and before all that was queued after it
    store: object = None
    spooled: int | None = None  # its number in the spool, which has `what` now
    begun: int | None = field(default_factory=BEGUN.get)  # erasures of its scope after this number refuse it
    waited: bool = False  # somebody waits for what it returns, and goes on without: it is no row that could be lost


@dataclass(frozen=True, slots=True)
class WriterLimits:
    """Limits of the queue, and how long writes wait."""

    interval: float = 0.25  # seconds that a write may wait for others
    batch_rows: int = 2_000  # queued rows that are written without waiting
    bulk_rows: int = 80_000  # in the queue, see Shares; more are dropped: memory must not grow with a stuck disk
    small_rows: int = 20_000
    pauses: tuple[float, ...] = (0.05, 0.25, 1.0)  # seconds between the attempts for one batch, or to empty the log
    retry: float = 5.0  # seconds between the attempts while the database cannot be written


def apply_all(connection: Any, writes: Sequence[Write]) -> None:
    """Applies the writes of a batch: those that share `apply` by one call, except across one that is `in_order`."""
    for in_order, run in itertools.groupby(writes, key=operator.attrgetter("in_order")):
        if in_order:
            for write in run:
                write.apply(connection, [write.what])
        else:
            together: dict[object, list[Write]] = {}
            for write in run:
                together.setdefault(write.store or write.apply, []).append(write)
            for writes_of_one in together.values():
                for apply, same in itertools.groupby(writes_of_one, key=operator.attrgetter("apply")):
                    apply(connection, [write.what for write in same])


def one_less(counter: Counter[str], scope: str) -> None:
    """Subtracts one; what is 0 leaves."""
    counter[scope] -= 1
    if not counter[scope]:
        del counter[scope]


def tenant_of(scope: str) -> str:
    """Returns the tenant of a scope: all users of one API key have one share, however many end users they name."""
    return scope.partition("/")[0]


@dataclass(slots=True)
class _Held:
    """Rows of one lane that are queued."""

    limit: int
    total: int = 0
    by_tenant: Counter[str] = field(default_factory=Counter)


class Shares:
    """The counts of queued rows, by lane and tenant; `bulk` and `small` are the most of a lane. Tenants without rows
    take no memory."""

    def __init__(self, bulk: int, small: int) -> None:
        self._lanes = {"bulk": _Held(bulk), "small": _Held(small)}

    def take(self, kind: Kind, scope: str, rows: int) -> bool:
        """Returns True if these rows may be queued; then they are counted until they are given back."""
        if (lane := self._lanes.get(kind.lane)) is None:
            return True
        tenant = tenant_of(scope)
        if lane.by_tenant.get(tenant, 0) + rows > lane.limit - lane.total - rows:
            return False
        lane.by_tenant[tenant] += rows
        lane.total += rows
        return True

    def give_back(self, kind: Kind, scope: str, rows: int) -> None:
        """Takes these rows off the count."""
        if (lane := self._lanes.get(kind.lane)) is None:
            return
        tenant = tenant_of(scope)
        lane.total -= rows
        lane.by_tenant[tenant] -= rows
        if lane.by_tenant[tenant] <= 0:
            del lane.by_tenant[tenant]


Key = tuple[str, bytes]  # scope, link

HOLDS_SECONDS = 60.0  # by which the time of a link may be late
MOST_SESSIONS = 2  # of a link: enough to say "only this one" or "several"


@dataclass(frozen=True, slots=True)
class Link:
    """A link's sessions, each with the last time it had it (Unix seconds), newest first, at most two. `went_on`: a
    session has a link after it."""

    sessions: tuple[tuple[str, float], ...] = ()
    went_on: bool = False

    def merged(self, later: "Link") -> "Link":
        """Returns both together. Of two sessions at the same time, the one of `self` stays first."""
        went_on = self.went_on or later.went_on
        if not self.sessions or not later.sessions:
            return Link(self.sessions or later.sessions, went_on)
        seen = dict(self.sessions)
        for session, at in reversed(later.sessions):
            seen[session] = max(at, seen.get(session, at))
        newest = sorted(seen.items(), key=lambda item: -item[1])
        return Link(tuple(newest[:MOST_SESSIONS]), went_on)

    def as_prefix(self, length: int) -> KnownPrefix:
        """Returns the prefix of `length` messages that ends with this link."""
        return KnownPrefix(length, tuple(session for session, _ in self.sessions), is_tip=not self.went_on)


def changes_of(session: str, chain: Sequence[bytes], start: int, at: float) -> Iterator[tuple[bytes, Link]]:
    """Yields the changes of one `SessionStore.remember`: each link, and the Link to merge into it. The first may be the
    link before `start`, with no session: it only stops being a tip, and only if it is known."""
    if start > 0:
        yield chain[start - 1], Link(went_on=True)
    through = ((session, at),)
    on_the_way = Link(through, went_on=True)
    for index in range(start, len(chain) - 1):
        yield chain[index], on_the_way
    yield chain[-1], Link(through)


class Pending:
    """The queued changes of each link, until the last write that touches it has settled."""

    def __init__(self) -> None:
        self._links: dict[Key, tuple[int, Link]] = {}
        self.settlements = 0  # a reader that sees it change may have read an older state

    def get(self, key: Key) -> Link | None:
        """Returns what is queued for a link, or None."""
        found = self._links.get(key)
        return None if found is None else found[1]

    def add(self, key: Key, link: Link) -> None:
        """Adds a queued change of a link."""
        writes, queued = self._links.get(key, (0, None))
        self._links[key] = (writes + 1, link if queued is None else queued.merged(link))

    def settle(self, keys: Iterable[Key]) -> None:
        """Counts one write of each link as durable or dropped."""
        self.settlements += 1
        for key in keys:
            writes, queued = self._links[key]
            if writes == 1:
                del self._links[key]
            else:
                self._links[key] = (writes - 1, queued)


class Recent(Lru[Key, tuple[int, Link]]):
    """The links that were used last, least recently used out first: each with all that the database had of it when it
    was read, and how often other processes had written to its scope until then (`ForeignWrites`). At another number it
    is as if it were not here.

    A chain is recognised without the database if its last link is here, or one that no session went on from: then the
    database cannot know a longer prefix.
    """

    def find(self, scope: str, chain: Sequence[bytes], as_of: int) -> KnownPrefix | None:
        """Returns the longest known prefix of `chain`; None: ask the database."""
        for length in range(len(chain), 0, -1):
            key = (scope, chain[length - 1])
            if (known := self.get(key)) is not None and known[0] == as_of:
                link = known[1]
                if link.went_on and length < len(chain):
                    return None
                self.move_to_end(key)
                return link.as_prefix(length)
        return None

    def holds(self, changes: Iterable[tuple[Key, Link]], as_of: int) -> bool:
        """Returns True if these changes alter nothing but a time, by less than a minute: then they need not be written,
        as for a request that is sent again and again."""
        for key, link in changes:
            if (found := self.get(key)) is None or found[0] != as_of:
                return False
            known = found[1]
            if link.went_on and not known.went_on:
                return False
            if link.sessions:
                (session, at), (lead, last) = link.sessions[0], known.sessions[0]
                if session != lead or at - last > HOLDS_SECONDS:
                    return False
        return True

    def follow(self, changes: Iterable[tuple[Key, Link]], as_of: int, *, new: bool) -> None:
        """Applies the changes of one `remember`. A link that is not here is added only if it is `new` to the database
        as well: otherwise the database may know more of it."""
        for key, link in changes:
            if (known := self.get(key)) is not None and known[0] == as_of:
                self.put(key, (as_of, known[1].merged(link)))
            elif new and link.sessions:
                self.put(key, (as_of, link))
