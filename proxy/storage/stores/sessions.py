"""Conversations in a database: the index of hash-chain links that recognises them.

A running conversation is recognised without the database: its links are in memory (`Recent`), and so are queued links
(`Pending`), which the next request, within the batch interval, must already see. What is in memory holds until another
process has written to the scope: each look-up asks first.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.lru import Lru
from proxy.storage.base import KnownPrefix
from proxy.storage.database import Database, Store
from proxy.storage.pending import CUT_LINKS, LINKS, Apply, Key, Link, Pending, Recent, Write, changes_of

# The changes of one `remember`, with its scope, its session and its time.
Passage = tuple[str, str, float, Sequence[tuple[Key, Link]]]

MOST_SCOPES = 50_000
MAX_LOOKED_UP = 1_000  # requests between their look-up and their end
# The last links of one request that are stored: a longer history is recognised if it goes on, or is edited within as
# many messages of its end.
MOST_LINKS = 2_000
_NEVER = -1  # as a number of foreign writes: nothing of the scope has been read


@dataclass(frozen=True, slots=True)
class SessionStatements:
    """The statements of links in one kind of database."""

    merge: Apply  # of Passages; see `Link.merged`
    # Gets the connection, a scope and a chain. Returns length and last link of the longest known prefix; 0 and an empty
    # link if there is none.
    longest_prefix: Callable[[Any, str, Sequence[bytes]], tuple[int, Link]]


class DatabaseSessions(Store):
    """The `SessionStore` of a database. `max_recent`: links in memory."""

    def __init__(self, database: Database, statements: SessionStatements, max_recent: int = 50_000) -> None:
        super().__init__(database)
        self._statements = statements
        self._pending = Pending()
        self._recent = Recent(max_recent)
        # The last link of a chain → how much of it was known, as of how many foreign writes.
        self._looked_up: Lru[Key, tuple[int, int]] = Lru(MAX_LOOKED_UP)
        self._as_of: Lru[str, int] = Lru(MOST_SCOPES)  # `ForeignWrites` of a scope at its last look-up

    async def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        if not chain or not self.keeps:
            return None
        as_of = await self._database.foreign_writes(scope, "paths")
        self._as_of.put(scope, as_of)
        if (known := self._recent.find(scope, chain, as_of)) is not None:
            self._looked_up.put((scope, chain[-1]), (known.length, as_of))
            return known
        # Pending first, then the database: what leaves the one in between is in the other.
        settlements = self._pending.settlements
        queued = {n: waiting for n, digest in enumerate(chain, 1) if (waiting := self._pending.get((scope, digest)))}
        stored, link = await self._database.read(
            lambda connection: self._statements.longest_prefix(connection, scope, chain)
        )
        length = max(stored, max((n for n, waiting in queued.items() if waiting.sessions), default=0))
        if settlements == self._pending.settlements:
            self._looked_up.put((scope, chain[-1]), (length, as_of))
        if length == 0:
            return None
        key = (scope, chain[length - 1])
        link = link if stored == length else Link()
        for later in (queued.get(length), self._pending.get(key)):
            link = link.merged(later) if later else link
        if settlements == self._pending.settlements:
            self._recent.put(key, (as_of, link))
        return link.as_prefix(length)

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        if start >= len(chain) or not self.keeps:
            return
        if (first := len(chain) - MOST_LINKS) > start:
            self._database.writer.drop(CUT_LINKS, first - start)
            start = first
        changes = [((scope, digest), link) for digest, link in changes_of(session, chain, start, at)]
        keys = [key for key, _ in changes]
        as_of = self._as_of.get(scope, _NEVER)
        if self._recent.holds(changes, as_of):
            return
        passage: Passage = (scope, session, at, changes)
        settled = functools.partial(self._pending.settle, keys)
        write = Write(len(changes), self._statements.merge, passage, settled, kind=LINKS, scope=scope)
        self._recent.follow(changes, as_of, new=self._is_new(scope, chain, start, as_of))
        if self._database.writer.put(write):
            for key, link in changes:
                self._pending.add(key, link)

    def invalidate(self) -> None:
        """Empties the cache."""
        self._recent.clear()
        self._looked_up.clear()

    def _is_new(self, scope: str, chain: Sequence[bytes], start: int, as_of: int) -> bool:
        """Returns True if a look-up has found nothing of `chain[start:]`. The request's chain was this one, or all of
        it but the answer's link."""
        found = [self._looked_up.pop((scope, link), None) for link in chain[-2:]]
        return any(known is not None and known[0] <= start and known[1] == as_of for known in found)
