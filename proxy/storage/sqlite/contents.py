"""Bodies of requests and answers in SQLite."""

import sqlite3
import time
from collections.abc import Callable, Sequence

from proxy.storage.database import Database
from proxy.storage.sqlite.names import SCOPE_ID, add_names, put_rows, rows_of
from proxy.storage.stores.contents import MOST_GONE, ContentLimits, ContentStatements, DatabaseContents, row_of
from proxy.types import Contents

_PUT = "request_id, at, size, headers, body, sent, fates, answer"
PUT = f"""
    WITH told (scope, session, {_PUT}) AS ({{rows}})
    INSERT INTO contents (scope_id, session_id, {_PUT})
    SELECT scopes.id, sessions.id, {_PUT}
    FROM told CROSS JOIN scopes ON scopes.name = told.scope
    CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = told.session
    WHERE true
    ON CONFLICT (scope_id, request_id) DO NOTHING
"""  # noqa: S608 (our own column names)
NEWEST = "SELECT coalesce(max(id), 0) FROM contents"
ADDED = "SELECT coalesce(sum(size), 0) FROM contents WHERE id > :before"
RESIZE = "UPDATE contents_size SET bytes = bytes + :more RETURNING bytes"
LEAVE = "DELETE FROM contents WHERE id <= :last"
FIRST = "SELECT id, at, size FROM contents ORDER BY id LIMIT 1000"
DELETE = "DELETE FROM contents WHERE id = ?"
FORGET = f"DELETE FROM contents WHERE scope_id = {SCOPE_ID} RETURNING size"  # noqa: S608 (our own text)

_READ = """
    SELECT scopes.name, request_id, sessions.name, at, body, sent, fates, answer, headers
    FROM contents CROSS JOIN sessions ON sessions.id = contents.session_id
    CROSS JOIN scopes ON scopes.id = contents.scope_id
"""
GET = f"{_READ} WHERE contents.scope_id = {SCOPE_ID} AND request_id = :request_id AND at > :since"
SEVERAL = """
    SELECT scopes.name, request_id, sessions.name, at, body, x'', x'', answer, headers
    FROM json_each(:wanted) AS wanted
    CROSS JOIN scopes ON scopes.name = wanted.value ->> '$[0]'
    CROSS JOIN contents ON contents.scope_id = scopes.id AND request_id = wanted.value ->> '$[1]'
    CROSS JOIN sessions ON sessions.id = contents.session_id
    WHERE at > :since
"""
RECENT = {
    whose: f"{_READ} WHERE {found} AND at > :since ORDER BY contents.id DESC LIMIT :limit"
    for whose, found in rows_of("contents").items()
}


def _forget(connection: sqlite3.Connection, scopes: Sequence[str]) -> None:
    for scope in scopes:
        resize(connection, -sum(size for (size,) in connection.execute(FORGET, {"scope": scope}).fetchall()))


def _put(connection: sqlite3.Connection, puts: Sequence[tuple[Contents, int]]) -> None:
    """Writes entries, each with the most bytes of all."""
    add_names(connection, [(contents.scope, contents.session) for contents, _ in puts])
    (before,) = connection.execute(NEWEST).fetchone()
    put_rows(connection, PUT, [row_of(contents) for contents, _ in puts])
    (added,) = connection.execute(ADDED, {"before": before}).fetchone()
    kept, (_, most) = resize(connection, added), puts[-1]
    if kept > most:
        # A limit that was lowered is reached batch by batch.
        _make_room(connection, min(kept - most, added + MOST_GONE))


def _make_room(connection: sqlite3.Connection, wanted: int) -> None:
    gone = last = 0
    for number, _, size in connection.execute(FIRST):
        last, gone = number, gone + size
        if gone >= wanted:
            break
    connection.execute(LEAVE, {"last": last})
    resize(connection, -gone)


def remove_expired(connection: sqlite3.Connection, until: float, limit: int) -> int:
    """Deletes entries from `until` or before among those that were put first: up to `limit` bytes, or one entry.
    Returns how many."""
    numbers: list[tuple[int]] = []
    gone = 0
    for number, at, size in connection.execute(FIRST).fetchall():
        if at <= until and (not numbers or gone + size <= limit):
            numbers.append((number,))
            gone += size
    if numbers:
        connection.executemany(DELETE, numbers)
        resize(connection, -gone)
    return len(numbers)


def resize(connection: sqlite3.Connection, more: int) -> int:
    """Adds `more` bytes to the stored size of all entries, and returns it."""
    ((kept,),) = connection.execute(RESIZE, {"more": more}).fetchall()
    return int(kept)


STATEMENTS = ContentStatements(put=_put, forget=_forget, get=GET, several=SEVERAL, recent=RECENT)


class SqliteContents(DatabaseContents):
    """Contents in SQLite."""

    def __init__(
        self, database: Database, limits: ContentLimits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(database, STATEMENTS, limits, clock)
