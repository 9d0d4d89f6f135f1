"""Bodies of requests and answers in PostgreSQL.

What they take together is a sum of parts in `contents_size`: every batch adds a row of its own, since a single row
would be a lock that all processes wait for; now and then one process makes them one again. One process at a time makes
room; beyond the limit there may be as much as the batches under way add. It waits for no row that others hold.
"""

import time
from collections.abc import Callable, Sequence

from proxy.storage.database import Database
from proxy.storage.postgres.accounts import rows_of
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.migrating import CONTENTS_LOCK, try_lock
from proxy.storage.postgres.names import SCOPE_ID, add_names
from proxy.storage.stores.contents import MOST_GONE, ContentLimits, ContentStatements, DatabaseContents, row_of
from proxy.types import Contents

MOST_PARTS = 100  # of the size

_PUT = "request_id, at, size, headers, body, sent, fates, answer"
_TYPES = ("text", "text", "text", "float8", "bigint", "text")
_TOLD = ", ".join([*(f"%s::{kind}[]" for kind in _TYPES), *["%b::bytea[]"] * 4])  # bodies as they are, not as hex
PUT = f"""
    WITH added AS (
        INSERT INTO contents (scope_id, session_id, {_PUT})
        SELECT scopes.id, sessions.id, {_PUT}
        FROM unnest({_TOLD}) WITH ORDINALITY AS told (scope, session, {_PUT}, place)
        JOIN scopes ON scopes.name = told.scope
        JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = told.session
        ORDER BY told.place
        ON CONFLICT (scope_id, request_id) DO NOTHING
        RETURNING size
    )
    INSERT INTO contents_size SELECT coalesce(sum(size), 0) FROM added RETURNING bytes
""".encode()  # noqa: S608 (our own text)
SIZE = b"SELECT coalesce(sum(bytes), 0)::bigint, count(*) FROM contents_size"
MAKE_ONE = b"""
    WITH parts AS (DELETE FROM contents_size RETURNING bytes)
    INSERT INTO contents_size SELECT coalesce(sum(bytes), 0) FROM parts
"""
_DELETE = "gone AS (DELETE FROM contents WHERE id IN (SELECT id FROM leaving) RETURNING size)"
# The first ones by number: up to `limit` bytes, or one entry, or (`over`) with the one that exceeds it.
LEAVE = f"""
    WITH
        first AS MATERIALIZED (
            SELECT id, at, size FROM contents ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED
        ),
        summed AS (SELECT id, size, sum(size) OVER (ORDER BY id) AS upto FROM first WHERE at <= %(until)s),
        leaving AS (
            SELECT id FROM summed WHERE upto - %(over)s::bigint * size < %(limit)s::bigint + 1 - %(over)s::bigint
            UNION ALL (SELECT id FROM summed ORDER BY id LIMIT 1)
        ),
        {_DELETE},
        sized AS (INSERT INTO contents_size SELECT -sum(size) FROM gone HAVING count(*) > 0)
    SELECT count(*) FROM gone
""".encode()  # noqa: S608 (our own text)
FORGET = f"""
    WITH
        leaving AS MATERIALIZED (
            SELECT id FROM contents WHERE scope_id = {SCOPE_ID} ORDER BY id FOR UPDATE
        ),
        {_DELETE}
    INSERT INTO contents_size SELECT -sum(size) FROM gone HAVING count(*) > 0
""".encode()  # noqa: S608 (our own text)

_READ = """
    SELECT scopes.name, request_id, sessions.name, at, body, sent, fates, answer, headers
    FROM contents JOIN sessions ON sessions.id = contents.session_id JOIN scopes ON scopes.id = contents.scope_id
"""


def _put(connection: Connection, puts: Sequence[tuple[Contents, int]]) -> None:
    """Writes entries, each with the most bytes of all."""
    add_names(connection, ((contents.scope, contents.session) for contents, _ in puts))
    columns = zip(*(row_of(contents) for contents, _ in puts), strict=True)
    ((added,),) = connection.execute(PUT, [list(column) for column in columns]).fetchall()
    ((kept, parts),) = connection.execute(SIZE).fetchall()
    _, most = puts[-1]
    if (kept > most or parts > MOST_PARTS) and try_lock(connection, CONTENTS_LOCK):
        if kept > most:
            # A limit that was lowered is reached batch by batch.
            limit = min(kept - most, added + MOST_GONE)
            connection.execute(LEAVE, {"until": float("inf"), "limit": limit, "over": 1})
        if parts > MOST_PARTS:
            connection.execute(MAKE_ONE)


def remove_expired(connection: Connection, until: float, limit: int) -> int:
    """Deletes entries from `until` or before among those that were put first: up to `limit` bytes, or one entry.
    Returns how many."""
    ((count,),) = connection.execute(LEAVE, {"until": until, "limit": limit, "over": 0}).fetchall()
    return int(count)


def _forget(connection: Connection, scopes: Sequence[str]) -> None:
    for scope in sorted(set(scopes)):
        connection.execute(FORGET, {"scope": scope})


STATEMENTS = ContentStatements(
    put=_put,
    forget=_forget,
    get=f"{_READ} WHERE contents.scope_id = {SCOPE_ID} AND request_id = %(request_id)s AND at > %(since)s",
    several="""
        SELECT scopes.name, request_id, sessions.name, at, body, ''::bytea, ''::bytea, answer, headers
        FROM unnest(%(scopes)s::text[], %(requests)s::text[]) AS wanted (scope, request)
        JOIN scopes ON scopes.name = wanted.scope
        JOIN contents ON contents.scope_id = scopes.id AND request_id = wanted.request
        JOIN sessions ON sessions.id = contents.session_id
        WHERE at > %(since)s
    """,
    recent={
        whose: f"{_READ} WHERE {found} AND at > %(since)s ORDER BY contents.id DESC LIMIT %(limit)s"
        for whose, found in rows_of("contents").items()
    },
)


class PostgresContents(DatabaseContents):
    """Contents in PostgreSQL."""

    def __init__(
        self, database: Database, limits: ContentLimits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(database, STATEMENTS, limits, clock)
