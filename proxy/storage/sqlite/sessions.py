"""Conversations in SQLite: the index of hash-chain links that recognises them, and their states.

A running conversation is recognised without SQLite: its links are in memory (`Recent`), and so are queued links
(`Pending`) and queued states, which the next request, within the batch interval, must already see.
"""

import functools
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from proxy.lru import Lru
from proxy.protocol.chat import LINK_BYTES
from proxy.storage.base import KnownPrefix
from proxy.storage.database import Database, Store
from proxy.storage.pending import CUT_LINKS, LINKS, STATES, Key, Link, Pending, Recent, Write, changes_of
from proxy.storage.recollection import STATE_SECONDS, STATES_PER_SESSION
from proxy.storage.sqlite.database import NAMED, SCOPE_ID, add_names
from proxy.storage.write_queue import ScopedWrites

# The changes of one `remember`, with its scope, its session and its time.
_Passage = tuple[str, str, float, Sequence[tuple[Key, Link]]]

PRUNED = 200  # expired states that one batch deletes, at most
MOST_SCOPES = 50_000
MAX_LOOKED_UP = 1_000  # requests between their look-up and their end
# The last links of one request that are stored: a longer history is recognised if it goes on, or is edited within as
# many messages of its end.
MOST_LINKS = 2_000

# Links come as one JSON array with one blob beside it: a statement a batch, see `Write`. (Ledger rows have too many
# columns for that: taking them out of JSON costs 43 µs a row, binding them 7.)

# `Link.merged` in SQL. Every right side sees the old row; the session that comes must be strictly newer to lead.
MERGE_LINKS = f"""
    INSERT INTO links (scope_id, link, session_id, at, went_on)
    SELECT scopes.id, substr(:digests, each.key * :width + 1, :width), sessions.id,
        json_extract(each.value, '$[2]'), json_extract(each.value, '$[3]') {NAMED}
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
        longest (length) AS (
            SELECT length FROM newest
            WHERE EXISTS (
                SELECT 1 FROM links
                WHERE scope_id = (SELECT id FROM scope) AND link = substr(:chain, (length - 1) * :width + 1, :width)
            )
            LIMIT 1
        )
    SELECT longest.length, links.went_on, lead.name, links.at, other.name, links.other_at
    FROM longest
    JOIN links ON links.scope_id = (SELECT id FROM scope)
        AND links.link = substr(:chain, (longest.length - 1) * :width + 1, :width)
    JOIN sessions AS lead ON lead.id = links.session_id
    LEFT JOIN sessions AS other ON other.id = links.other_session_id
"""


# One statement a batch, see `Write`: links and states are parts of one blob, and JSON says where each is.
PUT_STATES = f"""
    INSERT OR REPLACE INTO path_states (scope_id, session_id, at, link, state)
    SELECT scopes.id, sessions.id, json_extract(each.value, '$[2]'),
        substr(:data, json_extract(each.value, '$[3]'), json_extract(each.value, '$[4]')),
        substr(:data, json_extract(each.value, '$[5]'), json_extract(each.value, '$[6]'))
    {NAMED}
"""
KEEP_NEWEST = f"""
    DELETE FROM path_states WHERE id IN (
        SELECT id FROM (
            SELECT path_states.id, row_number() OVER (
                PARTITION BY path_states.session_id ORDER BY path_states.at DESC, path_states.id DESC
            ) AS place
            FROM (SELECT DISTINCT sessions.id {NAMED}) AS touched
            CROSS JOIN path_states ON path_states.session_id = touched.id
        ) WHERE place > :kept
    )
"""  # noqa: S608 (our own text)
PRUNE_STATES = """
    DELETE FROM path_states WHERE id IN (SELECT id FROM path_states WHERE at <= :until ORDER BY at LIMIT :limit)
"""
FORGET_STATES = f"DELETE FROM path_states WHERE scope_id = {SCOPE_ID}"  # noqa: S608 (our own text)
# It stops at the first link that has a state.
GET_STATE = f"""
    WITH RECURSIVE
        scope (id) AS (SELECT {SCOPE_ID}),
        each (place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM each WHERE place + 1 < :count)
    SELECT place, state FROM each CROSS JOIN path_states
        ON scope_id = (SELECT id FROM scope) AND link = substr(:links, place * :width + 1, :width)
    LIMIT 1
"""  # noqa: S608 (our own text)


class SqliteSessions(Store):
    """The index of links in SQLite. `max_recent`: links in memory."""

    def __init__(self, database: Database, max_recent: int = 50_000) -> None:
        super().__init__(database)
        self._pending = Pending()
        self._recent = Recent(max_recent)
        self._looked_up: Lru[Key, int] = Lru(MAX_LOOKED_UP)  # last link of a chain → how much of it was known
        self._as_of: Lru[str, int] = Lru(MOST_SCOPES)  # `ForeignWrites` of the scopes whose links are in `_recent`

    async def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        if not chain or not self.keeps:
            return None
        if (foreign := await self._database.foreign_writes(scope, "paths")) != self._as_of.get(scope, foreign):
            self.invalidate()
        self._as_of.put(scope, foreign)
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
        if start >= len(chain) or not self.keeps:
            return
        if (first := len(chain) - MOST_LINKS) > start:
            self._database.writer.drop(CUT_LINKS, first - start)
            start = first
        changes = [((scope, digest), link) for digest, link in changes_of(session, chain, start, at)]
        keys = [key for key, _ in changes]
        if self._recent.holds(changes):
            return
        passage = (scope, session, at, changes)
        settled = functools.partial(self._pending.settle, keys)
        write = Write(len(changes), _merge_links, passage, settled, kind=LINKS, scope=scope)
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


def _longest_prefix(scope: str, chain: Sequence[bytes], connection: sqlite3.Connection) -> tuple[int, Link]:
    """Returns length and last link of the longest known prefix; 0 and an empty link if there is none."""
    parameters = {"scope": scope, "length": len(chain), "chain": b"".join(chain), "width": len(chain[0])}
    row = connection.execute(LONGEST_PREFIX, parameters).fetchone()
    if row is None:
        return 0, Link()
    length, went_on, lead, at, other, other_at = row
    sessions = ((lead, at),) if other is None else ((lead, at), (other, other_at))
    return length, Link(sessions, bool(went_on))


def _merge_links(connection: sqlite3.Connection, passages: Sequence[_Passage]) -> None:
    merged, went_on = [], []
    digests, gone = bytearray(), bytearray()
    for scope, session, at, changes in passages:
        for (_, digest), link in changes:
            if link.sessions:
                merged.append((scope, session, at, link.went_on))
                digests += digest
            else:
                went_on.append((scope,))
                gone += digest
    rows = add_names(connection, merged)
    connection.execute(MERGE_LINKS, {"rows": rows, "digests": bytes(digests), "width": LINK_BYTES})
    if went_on:
        rows = msgspec.json.encode(went_on)
        connection.execute(GO_ON, {"rows": rows, "digests": bytes(gone), "width": LINK_BYTES})


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    scope: str
    session: str
    link: bytes
    at: float
    state: bytes


class SqliteStates(Store):
    """States of conversations in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._queued: dict[Key, _State] = {}
        self._writes = ScopedWrites(database.writer, STATES)

    def put(self, scope: str, session: str, link: bytes, at: float, state: bytes) -> None:
        queued = _State(scope, session, link, at, state)
        settled = functools.partial(self._settle, queued)
        write = Write(1, _put_states, queued, settled, kind=STATES, scope=scope, store=self._writes)
        if self._database.writer.put(write):
            self._queued[scope, link] = queued

    def forget(self, scope: str) -> None:
        for key in [key for key in self._queued if key[0] == scope]:
            del self._queued[key]
        self._writes.delete(scope, _forget_states, scope)

    async def get(self, scope: str, links: Sequence[bytes]) -> tuple[bytes, bytes] | None:
        await self._writes.erased(scope)
        queued = None
        for place, link in enumerate(links):
            if (waiting := self._queued.get((scope, link))) is not None:
                links, queued = links[:place], (link, waiting.state)
                break
        if not links:
            return queued
        return await self._database.read(functools.partial(_get_state, scope, links)) or queued

    def _settle(self, written: _State) -> None:
        if self._queued.get((written.scope, written.link)) is written:
            del self._queued[written.scope, written.link]


def _forget_states(connection: sqlite3.Connection, scopes: Sequence[str]) -> None:
    connection.executemany(FORGET_STATES, [{"scope": scope} for scope in scopes])


def _put_states(connection: sqlite3.Connection, states: Sequence[_State]) -> None:
    rows: list[tuple[str, str, float, int, int, int, int]] = []
    data = bytearray()
    for each in states:
        link, state = len(data) + 1, len(data) + 1 + len(each.link)
        rows.append((each.scope, each.session, each.at, link, len(each.link), state, len(each.state)))
        data += each.link + each.state
    encoded = add_names(connection, rows)
    connection.execute(PUT_STATES, {"rows": encoded, "data": bytes(data)})
    connection.execute(KEEP_NEWEST, {"rows": encoded, "kept": STATES_PER_SESSION})
    until = max(each.at for each in states) - STATE_SECONDS
    connection.execute(PRUNE_STATES, {"until": until, "limit": PRUNED})


def _get_state(scope: str, links: Sequence[bytes], connection: sqlite3.Connection) -> tuple[bytes, bytes] | None:
    values = {"scope": scope, "links": b"".join(links), "count": len(links), "width": len(links[0])}
    row = connection.execute(GET_STATE, values).fetchone()
    return None if row is None else (links[row[0]], row[1])
