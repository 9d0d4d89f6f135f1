"""Conversations in SQLite: the index of hash-chain links that recognises them, and their states."""

import sqlite3
from collections.abc import Sequence

import msgspec

from proxy.protocol.chains import LINK_BYTES
from proxy.storage.database import Database
from proxy.storage.pending import Link
from proxy.storage.recollection import STATE_SECONDS, STATES_PER_SESSION
from proxy.storage.sqlite.names import NAMED, SCOPE_ID, add_names
from proxy.storage.stores.sessions import DatabaseSessions, Passage, SessionStatements
from proxy.storage.stores.states import PRUNED, DatabaseStates, State, StateStatements

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


def _longest_prefix(connection: sqlite3.Connection, scope: str, chain: Sequence[bytes]) -> tuple[int, Link]:
    parameters = {"scope": scope, "length": len(chain), "chain": b"".join(chain), "width": len(chain[0])}
    row = connection.execute(LONGEST_PREFIX, parameters).fetchone()
    if row is None:
        return 0, Link()
    length, went_on, lead, at, other, other_at = row
    sessions = ((lead, at),) if other is None else ((lead, at), (other, other_at))
    return length, Link(sessions, bool(went_on))


def _merge_links(connection: sqlite3.Connection, passages: Sequence[Passage]) -> None:
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


class SqliteSessions(DatabaseSessions):
    """The index of links in SQLite. `max_recent`: links in memory."""

    def __init__(self, database: Database, max_recent: int = 50_000) -> None:
        super().__init__(database, SessionStatements(_merge_links, _longest_prefix), max_recent)


def _forget_states(connection: sqlite3.Connection, scopes: Sequence[str]) -> None:
    connection.executemany(FORGET_STATES, [{"scope": scope} for scope in scopes])


def _put_states(connection: sqlite3.Connection, states: Sequence[State]) -> None:
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


def _get_state(connection: sqlite3.Connection, scope: str, links: Sequence[bytes]) -> tuple[int, bytes] | None:
    values = {"scope": scope, "links": b"".join(links), "count": len(links), "width": len(links[0])}
    row: tuple[int, bytes] | None = connection.execute(GET_STATE, values).fetchone()
    return row


class SqliteStates(DatabaseStates):
    """States of conversations in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, StateStatements(_put_states, _forget_states, _get_state))
