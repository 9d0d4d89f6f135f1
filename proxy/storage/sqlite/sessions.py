"""The index of hash-chain links in SQLite. A running conversation is recognised without SQLite: its links are in memory
(`Recent`), and so are queued ones (`Pending`), which the next request must already see."""

import functools
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from proxy.lru import Lru
from proxy.protocol.turns import LINK_BYTES
from proxy.storage.base import KnownPrefix
from proxy.storage.links import Key, Link, Pending, Recent, passage
from proxy.storage.shares import CUT_LINKS, LINKS
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.rows import ADD_SCOPES, ADD_SESSIONS
from proxy.storage.write_queue import Write

MAX_LOOKED_UP = 1_000  # requests between their look-up and their end
# The last links of one request that are stored: a longer history is recognised if it goes on, or is edited within as
# many messages of its end.
MOST_LINKS = 2_000

# Links come as one JSON array with one blob beside it: a statement a batch, see `Write`. (Ledger rows have too many
# columns for that: taking them out of JSON costs 43 µs a row, binding them 7.)

# `Link.merged` in SQL. Every right side sees the old row; the session that comes must be strictly newer to lead.
MERGE_LINKS = """
    INSERT INTO links (scope_id, link, session_id, at, went_on)
    SELECT scopes.id, substr(:digests, each.key * :width + 1, :width), sessions.id,
        json_extract(each.value, '$[2]'), json_extract(each.value, '$[3]')
    FROM json_each(:rows) AS each
    CROSS JOIN scopes ON scopes.name = json_extract(each.value, '$[0]')
    CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = json_extract(each.value, '$[1]')
    WHERE true
    ON CONFLICT (scope_id, link) DO UPDATE SET
        other_session_id = CASE
            WHEN excluded.session_id = session_id THEN other_session_id
            WHEN excluded.at > at THEN session_id
            WHEN other_at IS NULL OR excluded.at > other_at THEN excluded.session_id
            ELSE other_session_id END,
        other_at = CASE
            WHEN excluded.session_id = session_id THEN other_at
            WHEN excluded.at > at THEN at
            WHEN other_at IS NULL OR excluded.at > other_at THEN excluded.at
            ELSE other_at END,
        session_id = CASE WHEN excluded.at > at THEN excluded.session_id ELSE session_id END,
        at = max(at, excluded.at),
        went_on = max(went_on, excluded.went_on)
"""
GO_ON = """
    UPDATE links SET went_on = 1 WHERE (scope_id, link) IN (
        SELECT scopes.id, substr(:digests, each.key * :width + 1, :width)
        FROM json_each(:rows) AS each CROSS JOIN scopes ON scopes.name = json_extract(each.value, '$[0]')
    )
"""
# One statement however long the chain is: it walks from the newest link back and stops at the first that is known.
LONGEST_PREFIX = """
    WITH RECURSIVE
        scope (id) AS (SELECT id FROM scopes WHERE name = :scope),
        newest (length) AS (SELECT :length UNION ALL SELECT length - 1 FROM newest WHERE length > 1),
        known (length) AS (
            SELECT length FROM newest
            WHERE EXISTS (
                SELECT 1 FROM links
                WHERE scope_id = (SELECT id FROM scope) AND link = substr(:chain, (length - 1) * :width + 1, :width)
            )
            LIMIT 1
        )
    SELECT known.length, links.went_on, lead.name, links.at, other.name, links.other_at
    FROM known
    JOIN links ON links.scope_id = (SELECT id FROM scope)
        AND links.link = substr(:chain, (known.length - 1) * :width + 1, :width)
    JOIN sessions AS lead ON lead.id = links.session_id
    LEFT JOIN sessions AS other ON other.id = links.other_session_id
"""


class SqliteSessions:
    """The index of links in SQLite. `max_recent`: links in memory."""

    def __init__(self, database: Database, max_recent: int = 50_000) -> None:
        self._database = database
        database.on_foreign_write(self.invalidate)
        self._pending = Pending()
        self._recent = Recent(max_recent)
        self._looked_up: Lru[Key, int] = Lru(MAX_LOOKED_UP)  # last link of a chain → how much of it was known

    async def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        if not chain or not self._database.keeps:
            return None
        if (known := self._recent.find(scope, chain)) is not None:
            self._looked_up.put((scope, chain[-1]), known.length)
            return known
        # Pending first, then the database: what leaves the one in between is in the other.
        settlements = self._pending.settlements
        queued = {n: waiting for n, digest in enumerate(chain, 1) if (waiting := self._pending.get((scope, digest)))}
        stored, link = await self._database.read(functools.partial(_longest_prefix, scope, chain))
        length = max(stored, max((n for n, waiting in queued.items() if waiting.sessions), default=0))
        if settlements == self._pending.settlements:
            self._looked_up.put((scope, chain[-1]), length)
        if length == 0:
            return None
        key = (scope, chain[length - 1])
        link = link if stored == length else Link()
        for later in (queued.get(length), self._pending.get(key)):
            link = link.merged(later) if later else link
        if settlements == self._pending.settlements:
            self._recent.put(key, link)
        return link.as_prefix(length)

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        if start >= len(chain) or not self._database.keeps:
            return
        if (first := len(chain) - MOST_LINKS) > start:
            self._database.writer.drop(CUT_LINKS, first - start)
            start = first
        changes = [((scope, digest), link) for digest, link in passage(session, chain, start, at)]
        keys = [key for key, _ in changes]
        if self._recent.holds(changes):
            return
        passed = _Passage(scope, session, at, changes)
        settled = functools.partial(self._pending.settle, keys)
        write = Write(len(changes), _merge_links, passed, settled, kind=LINKS, scope=scope)
        self._recent.follow(changes, new=self._is_new(scope, chain, start))
        if self._database.writer.put(write):
            for key, link in changes:
                self._pending.add(key, link)

    def invalidate(self) -> None:
        """Empties the cache after another process has written: it may have used the same links."""
        self._recent.clear()
        self._looked_up.clear()

    def _is_new(self, scope: str, chain: Sequence[bytes], start: int) -> bool:
        """Returns True if a look-up has found nothing of `chain[start:]`. The request's chain was this one, or all of
        it but the answer's link."""
        lengths = [self._looked_up.pop((scope, link), None) for link in chain[-2:]]
        return any(known is not None and known <= start for known in lengths)

    async def flush(self) -> None:
        await self._database.writer.flush()

    async def close(self) -> None:
        await self.flush()


def _longest_prefix(scope: str, chain: Sequence[bytes], connection: sqlite3.Connection) -> tuple[int, Link]:
    """Returns length and last link of the longest known prefix; 0 and an empty link if there is none."""
    parameters = {"scope": scope, "length": len(chain), "chain": b"".join(chain), "width": len(chain[0])}
    row = connection.execute(LONGEST_PREFIX, parameters).fetchone()
    if row is None:
        return 0, Link()
    length, went_on, lead, at, other, other_at = row
    sessions = ((lead, at),) if other is None else ((lead, at), (other, other_at))
    return length, Link(sessions, bool(went_on))


@dataclass(frozen=True, slots=True)
class _Passage:
    """The changes of one `remember`, as they are written."""

    scope: str
    session: str
    at: float
    changes: Sequence[tuple[Key, Link]]


def _merge_links(connection: sqlite3.Connection, passages: Sequence[_Passage]) -> None:
    merged, went_on = [], []
    digests, gone = bytearray(), bytearray()
    for passed in passages:
        for (_, digest), link in passed.changes:
            if link.sessions:
                merged.append((passed.scope, passed.session, passed.at, link.went_on))
                digests += digest
            else:
                went_on.append((passed.scope,))
                gone += digest
    rows = {"rows": msgspec.json.encode(merged), "digests": bytes(digests), "width": LINK_BYTES}
    connection.execute(ADD_SCOPES, rows)
    connection.execute(ADD_SESSIONS, rows)
    connection.execute(MERGE_LINKS, rows)
    if went_on:
        rows = {"rows": msgspec.json.encode(went_on), "digests": bytes(gone), "width": LINK_BYTES}
        connection.execute(GO_ON, rows)
