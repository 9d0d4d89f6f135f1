"""What is kept in this process: sessions, ledger and answers, bounded; and the parts that the backends on disk share:
what is known of a link (`Link`), what they keep in front of the disk (`Pending`, `Recent`, `Shelf`), and an answer with
its wall and its end (`Entry`)."""

import itertools
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from proxy.storage.base import KnownPrefix
from proxy.types import UNANSWERED, LedgerRow, StoredAnswer

V = TypeVar("V")
Key = tuple[str, bytes]  # scope, link

HOLDS_SECONDS = 60.0
SESSIONS_TOLD = 2  # enough to say "only this one" or "several"
ENTRY_OVERHEAD = 512  # bytes of an answer besides its completion: key, scope, names, the objects themselves


@dataclass(frozen=True, slots=True)
class Link:
    """What is known of one link: `sessions` with the time each went through it last, newest first, at most two."""

    sessions: tuple[tuple[str, float], ...] = ()
    went_on: bool = False

    def merged(self, later: "Link") -> "Link":
        """Of two sessions at the same time, the one that was here before stays first."""
        went_on = self.went_on or later.went_on
        if not self.sessions or not later.sessions:
            return Link(self.sessions or later.sessions, went_on)
        seen = dict(self.sessions)
        for session, at in reversed(later.sessions):
            seen[session] = max(at, seen.get(session, at))
        newest = sorted(seen.items(), key=lambda item: -item[1])
        return Link(tuple(newest[:SESSIONS_TOLD]), went_on)

    def as_prefix(self, length: int) -> KnownPrefix:
        return KnownPrefix(length, tuple(session for session, _ in self.sessions), is_tip=not self.went_on)


def passage(session: str, chain: Sequence[bytes], start: int, at: float) -> Iterator[tuple[bytes, Link]]:
    """What `SessionStore.remember` changes: each link with what is to be merged into it. The first may be the link
    before `start`, with no session: it only stops being a tip, and only if it is known."""
    if start > 0:
        yield chain[start - 1], Link(went_on=True)
    through = ((session, at),)
    on_the_way = Link(through, went_on=True)
    for index in range(start, len(chain) - 1):
        yield chain[index], on_the_way
    yield chain[-1], Link(through)


class MemorySessions:
    """Keeps the `max_links` links that were used last."""

    def __init__(self, max_links: int = 100_000) -> None:
        self._max_links = max_links
        self._links: OrderedDict[Key, Link] = OrderedDict()

    async def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        for length in range(len(chain), 0, -1):
            key = (scope, chain[length - 1])
            if (link := self._links.get(key)) is not None:
                self._links.move_to_end(key)
                return link.as_prefix(length)
        return None

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        if start >= len(chain):
            return
        for digest, link in passage(session, chain, start, at):
            key = (scope, digest)
            known = self._links.get(key)
            if known is not None:
                self._links[key] = known.merged(link)
                self._links.move_to_end(key)
            elif link.sessions:
                self._links[key] = link
        while len(self._links) > self._max_links:
            self._links.popitem(last=False)

    async def flush(self) -> None: ...
    async def close(self) -> None: ...


class Pending:
    """What is queued for each link, until the last write that touches it has settled."""

    def __init__(self) -> None:
        self._links: dict[Key, tuple[int, Link]] = {}
        self.settlements = 0  # a reader that sees it change may have read an older state

    def get(self, key: Key) -> Link | None:
        found = self._links.get(key)
        return None if found is None else found[1]

    def add(self, key: Key, link: Link) -> None:
        writes, queued = self._links.get(key, (0, None))
        self._links[key] = (writes + 1, link if queued is None else queued.merged(link))

    def settle(self, keys: Iterable[Key]) -> None:
        self.settlements += 1
        for key in keys:
            writes, queued = self._links[key]
            if writes == 1:
                del self._links[key]
            else:
                self._links[key] = (writes - 1, queued)


class Recent:
    """The links that were used last, each with all that is known of it; least recently used out first.

    A chain is recognised without the database where nothing longer can be known: its last link is here, or a link
    that no session has gone on from.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._links: OrderedDict[Key, Link] = OrderedDict()

    def find(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        """None: the database has to be asked."""
        for length in range(len(chain), 0, -1):
            key = (scope, chain[length - 1])
            if (link := self._links.get(key)) is not None:
                if link.went_on and length < len(chain):
                    return None
                self._links.move_to_end(key)
                return link.as_prefix(length)
        return None

    def holds(self, changes: Iterable[tuple[Key, Link]]) -> bool:
        """Would these changes change nothing but a time by less than a minute? A request that is sent again and again
        needs no writing."""
        for key, link in changes:
            known = self._links.get(key)
            if known is None or (link.went_on and not known.went_on):
                return False
            if link.sessions:
                (session, at), (lead, last) = link.sessions[0], known.sessions[0]
                if session != lead or at - last > HOLDS_SECONDS:
                    return False
        return True

    def follow(self, changes: Iterable[tuple[Key, Link]], *, new: bool) -> None:
        """Follow one `remember`. A link that is not here is only added if it is `new`, to the database as well:
        otherwise that may know of it what we do not."""
        for key, link in changes:
            if (known := self._links.get(key)) is not None:
                self.add(key, known.merged(link))
            elif new and link.sessions:
                self.add(key, link)

    def add(self, key: Key, link: Link) -> None:
        self._links[key] = link
        self._links.move_to_end(key)
        if len(self._links) > self._limit:
            self._links.popitem(last=False)

    def clear(self) -> None:
        self._links.clear()


class MemoryLedger:
    """Keeps the `max_rows` rows that were appended last."""

    def __init__(self, max_rows: int = 10_000) -> None:
        self._max_rows = max_rows
        self._numbers = itertools.count(1)
        self._rows: OrderedDict[tuple[str, str], tuple[int, LedgerRow]] = OrderedDict()
        self._unanswered: deque[tuple[str, str]] = deque()  # they may take a tenth of the rows

    def append(self, row: LedgerRow) -> None:
        if (key := (row.scope, row.request_id)) not in self._rows:
            self._rows[key] = (next(self._numbers), replace(row, stage_seconds=dict(row.stage_seconds)))
            if row.scope == UNANSWERED:
                self._unanswered.append(key)
        if len(self._unanswered) > self._max_rows // 10:
            self._rows.pop(self._unanswered.popleft(), None)
        if len(self._rows) > self._max_rows:
            self._rows.popitem(last=False)

    async def recent(self, scope: str, limit: int = 100) -> list[LedgerRow]:
        latest_first = (row for _, row in reversed(self._rows.values()) if row.scope == scope)
        return list(itertools.islice(latest_first, max(0, limit)))

    def numbered(self) -> list[tuple[int, LedgerRow]]:
        """Every row with its number, oldest first."""
        return list(self._rows.values())

    async def flush(self) -> None: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer as it is stored: nobody gets it but its own scope, and only before it expires."""

    scope: str
    expires_at: float
    answer: StoredAnswer

    @property
    def size(self) -> int:
        return len(self.answer.completion) + ENTRY_OVERHEAD

    @classmethod
    def of(cls, scope: str, answer: StoredAnswer, ttl: float) -> "Entry":
        return cls(scope, answer.created_at + ttl, answer)

    def open(self, scope: str, now: float) -> StoredAnswer | None:
        return self.answer if self.scope == scope and now < self.expires_at else None


class Shelf(Generic[V]):
    """Values by key, up to a sum of bytes. What was put first leaves first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._values: OrderedDict[str, tuple[int, V]] = OrderedDict()

    def get(self, key: str) -> V | None:
        found = self._values.get(key)
        return None if found is None else found[1]

    def put(self, key: str, value: V, size: int) -> None:
        self.pop(key)
        self._values[key] = (size, value)
        self._bytes += size
        while self._bytes > self._max_bytes:
            _, (left, _) = self._values.popitem(last=False)
            self._bytes -= left

    def pop(self, key: str) -> V | None:
        size, value = self._values.pop(key, (0, None))
        self._bytes -= size
        return value


class MemoryAnswers:
    def __init__(self, max_bytes: int = 64 * 2**20, max_entry_bytes: int = 4 * 2**20) -> None:
        self._max_entry_bytes = max_entry_bytes
        self._shelf: Shelf[Entry] = Shelf(max_bytes)

    async def get(self, scope: str, key: str, now: float) -> StoredAnswer | None:
        entry = self._shelf.get(key)
        return None if entry is None else entry.open(scope, now)

    async def put(self, scope: str, key: str, answer: StoredAnswer, ttl: float) -> None:
        if ttl > 0 and len(answer.completion) <= self._max_entry_bytes:
            entry = Entry.of(scope, answer, ttl)
            self._shelf.put(key, entry, entry.size)

    async def delete(self, scope: str, key: str) -> bool:
        entry = self._shelf.get(key)
        if entry is None or entry.scope != scope:
            return False
        self._shelf.pop(key)
        return True

    async def close(self) -> None: ...
