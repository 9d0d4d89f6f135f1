"""States of conversations in SQLite. Queued states are also in memory: the next request may come within the batch
interval."""

import functools
import itertools
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.storage.links import Key
from proxy.storage.recollection import STATE_SECONDS, STATES_PER_SESSION
from proxy.storage.scoped import ScopedWrites
from proxy.storage.shares import STATES
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.rows import ADD_SCOPES, ADD_SESSIONS, SCOPE_ID
from proxy.storage.write_queue import Write

PRUNED = 200  # expired states that one batch deletes, at most

# One statement a batch, see `Write`: links and states are parts of one blob, and JSON says where each is.
PUT = """
    INSERT OR REPLACE INTO path_states (scope_id, session_id, at, link, state)
    SELECT scopes.id, sessions.id, json_extract(each.value, '$[2]'),
        substr(:data, json_extract(each.value, '$[3]'), json_extract(each.value, '$[4]')),
        substr(:data, json_extract(each.value, '$[5]'), json_extract(each.value, '$[6]'))
    FROM json_each(:rows) AS each
    CROSS JOIN scopes ON scopes.name = json_extract(each.value, '$[0]')
    CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = json_extract(each.value, '$[1]')
"""
KEEP_NEWEST = """
    DELETE FROM path_states WHERE id IN (
        SELECT id FROM (
            SELECT path_states.id, row_number() OVER (
                PARTITION BY path_states.session_id ORDER BY path_states.at DESC, path_states.id DESC
            ) AS place
            FROM (
                SELECT DISTINCT sessions.id
                FROM json_each(:rows) AS each
                CROSS JOIN scopes ON scopes.name = json_extract(each.value, '$[0]')
                CROSS JOIN sessions
                    ON sessions.scope_id = scopes.id AND sessions.name = json_extract(each.value, '$[1]')
            ) AS touched CROSS JOIN path_states ON path_states.session_id = touched.id
        ) WHERE place > :kept
    )
"""
PRUNE = """
    DELETE FROM path_states WHERE id IN (SELECT id FROM path_states WHERE at <= :until ORDER BY at LIMIT :limit)
"""
FORGET = f"DELETE FROM path_states WHERE scope_id = {SCOPE_ID}"  # noqa: S608 (our own text)
# It stops at the first link that has a state.
GET = f"""
    WITH RECURSIVE
        scope (id) AS (SELECT {SCOPE_ID}),
        each (place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM each WHERE place + 1 < :count)
    SELECT place, state FROM each CROSS JOIN path_states
        ON scope_id = (SELECT id FROM scope) AND link = substr(:links, place * :width + 1, :width)
    LIMIT 1
"""  # noqa: S608 (our own text)


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    scope: str
    session: str
    link: bytes
    at: float
    state: bytes


class SqliteStates:
    """States of conversations in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queued: dict[Key, _State] = {}
        self._forgets = ScopedWrites(database.writer, STATES, _apply)

    def put(self, scope: str, session: str, link: bytes, at: float, state: bytes) -> None:
        queued = _State(scope, session, link, at, state)
        settled = functools.partial(self._settle, queued)
        write = Write(1, _apply, queued, settled, kind=STATES, scope=scope)
        if self._database.writer.put(write):
            self._queued[scope, link] = queued

    def forget(self, scope: str) -> None:
        for key in [key for key in self._queued if key[0] == scope]:
            del self._queued[key]
        self._forgets.delete(scope, scope)

    async def get(self, scope: str, links: Sequence[bytes]) -> tuple[bytes, bytes] | None:
        await self._forgets.settled(scope)
        queued = None
        for place, link in enumerate(links):
            if (waiting := self._queued.get((scope, link))) is not None:
                links, queued = links[:place], (link, waiting.state)
                break
        if not links:
            return queued
        return await self._database.read(functools.partial(_get, scope, links)) or queued

    async def flush(self) -> None:
        await self._database.writer.flush()

    async def close(self) -> None:
        await self.flush()

    def _settle(self, written: _State) -> None:
        if self._queued.get((written.scope, written.link)) is written:
            del self._queued[written.scope, written.link]


def _apply(connection: sqlite3.Connection, changes: Sequence[_State | str]) -> None:
    """Applies changes in the order they were queued: states to put, and scopes (str) to forget."""
    for kind, run in itertools.groupby(changes, key=type):
        if kind is str:
            connection.executemany(FORGET, [{"scope": scope} for scope in run])
        else:
            _put(connection, [state for state in run if isinstance(state, _State)])


def _put(connection: sqlite3.Connection, states: Sequence[_State]) -> None:
    rows: list[tuple[str, str, float, int, int, int, int]] = []
    data = bytearray()
    for each in states:
        link, state = len(data) + 1, len(data) + 1 + len(each.link)
        rows.append((each.scope, each.session, each.at, link, len(each.link), state, len(each.state)))
        data += each.link + each.state
    values: dict[str, Any] = {"rows": msgspec.json.encode(rows), "data": bytes(data), "kept": STATES_PER_SESSION}
    connection.execute(ADD_SCOPES, values)
    connection.execute(ADD_SESSIONS, values)
    connection.execute(PUT, values)
    connection.execute(KEEP_NEWEST, values)
    until = max(each.at for each in states) - STATE_SECONDS
    connection.execute(PRUNE, {"until": until, "limit": PRUNED})


def _get(scope: str, links: Sequence[bytes], connection: sqlite3.Connection) -> tuple[bytes, bytes] | None:
    values = {"scope": scope, "links": b"".join(links), "count": len(links), "width": len(links[0])}
    row = connection.execute(GET, values).fetchone()
    return None if row is None else (links[row[0]], row[1])
