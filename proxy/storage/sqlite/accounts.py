"""Reads for administration, from SQLite: ledger rows, sums and lists of conversations; bodies of requests and answers,
which are kept for a while. However many requests there were, a statement reads what it returns and little
more: rows by an index, sums by the buckets of the span, scopes from one to the next. No request waits for any of it.
"""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Any, get_args

import msgspec

from proxy.storage.base import Dimension, Width
from proxy.storage.database import Database, Store
from proxy.storage.pending import CONTENTS, PAGE_BYTES
from proxy.storage.sqlite.database import (
    OWNERS,
    SCOPE_ID,
    add_names,
    put_rows,
    rows_of,
    whose,
)
from proxy.storage.stores.ledger import READ, SUMS, numbered
from proxy.storage.write_queue import ScopedWrites
from proxy.types import Bucket, Contents, LedgerRow, SessionCard, Sums, TurnCard

COLUMNS = tuple(field.name for field in fields(Contents))
MOST_GONE = 4 * 2**20  # bytes that a batch deletes, beyond what it adds

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
RECENT = {
    whose: f"{_READ} WHERE {found} AND at > :since ORDER BY contents.id DESC LIMIT :limit"
    for whose, found in rows_of("contents").items()
}


@dataclass(frozen=True, slots=True)
class ContentLimits:
    """Limits of what is kept of contents."""

    seconds: float = 7 * 86_400.0  # that an entry is kept; 0: for ever
    bytes: int = 256 * 2**20  # of all entries; beyond them the oldest are deleted
    entry_bytes: int = 2 * 2**20  # of one entry; a larger one is not kept

    def since(self, now: float) -> float:
        """Returns the time before which entries have expired at `now`."""
        return now - self.seconds if self.seconds else 0.0


class SqliteContents(Store):
    """Contents in SQLite."""

    def __init__(
        self, database: Database, limits: ContentLimits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(database)
        self._limits = limits or ContentLimits()
        self._clock = clock
        self._writes = ScopedWrites(database.writer, CONTENTS)

    def put(self, contents: Contents) -> None:
        if self.keeps and contents.size <= self._limits.entry_bytes:
            rows = 1 + contents.size // PAGE_BYTES
            self._writes.put(contents.scope, _put, (contents, self._limits.bytes), rows)

    async def get(self, scope: str, request_id: str) -> Contents | None:
        return next(iter(await self._read(GET, {"scope": scope, "request_id": request_id})), None)

    async def recent(self, limit: int, *, scope: str | None = None, session: str | None = None) -> Sequence[Contents]:
        values = {"scope": scope, "session": session, "limit": max(0, limit)}
        return (await self._read(RECENT[whose(scope, session)], values))[::-1]

    def forget(self, scope: str) -> None:
        self._writes.delete(scope, _forget, scope)

    async def _read(self, statement: str, values: Mapping[str, Any]) -> list[Contents]:
        await self._writes.settled(values["scope"])
        values = {**values, "since": self._limits.since(self._clock())}
        return await self._database.rows(statement, values, _entry)


def _forget(connection: sqlite3.Connection, scopes: Sequence[str]) -> None:
    for scope in scopes:
        resize(connection, -sum(size for (size,) in connection.execute(FORGET, {"scope": scope}).fetchall()))


def _put(connection: sqlite3.Connection, puts: Sequence[tuple[Contents, int]]) -> None:
    """Writes entries, each with the most bytes of all."""
    add_names(connection, [(contents.scope, contents.session) for contents, _ in puts])
    (before,) = connection.execute(NEWEST).fetchone()
    put_rows(connection, PUT, [_row(contents) for contents, _ in puts])
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


def _row(contents: Contents) -> Sequence[Any]:
    headers = msgspec.json.encode(contents.headers).decode()
    named = (contents.scope, contents.session, contents.request_id, contents.at, contents.size, headers)
    return (*named, contents.body, contents.sent, contents.fates, contents.answer)


def _entry(row: Sequence[Any]) -> Contents:
    values = dict(zip(COLUMNS, row, strict=True))
    return Contents(**values | {"headers": msgspec.json.decode(row[-1], type=dict[str, str])})


BEGINNING = 120  # characters of a turn's user message
LAST = 2**62  # above every number and time of a row

_LISTED = ", ".join(SUMS)


def _buckets(by: Dimension) -> str:
    """Returns the statement of `Accounts.buckets`: a look-up for every bucket of the span, and for every minute that is
    not in its hour and day yet."""
    return f"""
        WITH RECURSIVE
            span (first, past) AS (
                SELECT
                    max(:first, (SELECT min(at) FROM rollups WHERE width = :width)),
                    min(:past, (SELECT max(at) FROM rollups WHERE width = 60) + :width)
            ),
            buckets (at) AS (
                SELECT first FROM span WHERE first < past
                UNION ALL
                SELECT at + :width FROM buckets WHERE at + :width < (SELECT past FROM span)
            ),
            fresh (first, past) AS (
                SELECT
                    max(:first, (SELECT condensed FROM rollup_progress), (
                        SELECT min(at) FROM rollups
                        WHERE width = 60 AND at >= (SELECT condensed FROM rollup_progress)
                    )),
                    min(:past, (SELECT max(at) + 60 FROM rollups WHERE width = 60))
                WHERE :width > 60
            ),
            minutes (at) AS (
                SELECT first FROM fresh WHERE first < past
                UNION ALL
                SELECT at + 60 FROM minutes WHERE at + 60 < (SELECT past FROM fresh)
            ),
            found AS (
                SELECT rollups.* FROM buckets
                CROSS JOIN rollups
                    ON rollups.width = :width AND rollups.at = buckets.at AND rollups.scope_id = {_OWNER}
                UNION ALL
                SELECT rollups.* FROM minutes
                CROSS JOIN rollups ON rollups.width = 60 AND rollups.at = minutes.at AND rollups.scope_id = {_OWNER}
            )
        SELECT found.at / :width * :width, {"''" if by == "" else "rollup_labels.name"},
            {", ".join(f"sum(found.{name})" for name in SUMS)}
        FROM found {"" if by == "" else f"CROSS JOIN rollup_labels ON rollup_labels.id = found.{by}"}
        GROUP BY 1, 2 ORDER BY 1, 2
    """  # noqa: S608 (our own text)


_OWNER = f"iif(:scope IS NULL, 0, coalesce({SCOPE_ID}, -1))"
BUCKETS: Mapping[Dimension, str] = {by: _buckets(by) for by in get_args(Dimension)}

SCOPES = f"""
    WITH RECURSIVE {OWNERS}
    SELECT scopes.name, (SELECT max(last_at) FROM session_sums WHERE scope_id = owners.id) AS last
    FROM owners CROSS JOIN scopes USING (id) WHERE last < :before ORDER BY last DESC, scopes.name LIMIT :limit
"""  # noqa: S608 (our own text)

_ROWS = f"SELECT {READ} FROM ledger CROSS JOIN scopes ON scopes.id = ledger.scope_id"  # noqa: S608 (same)
ROWS = {
    whose: f"{_ROWS} WHERE {found} AND ledger.id < :before ORDER BY ledger.id DESC LIMIT :limit"
    for whose, found in rows_of("ledger").items()
}
ROW = f"{_ROWS} WHERE ledger.scope_id = {SCOPE_ID} AND ledger.request_id = :request"
ROW_OF_ANY = f"""
    WITH RECURSIVE {OWNERS}
    SELECT {READ} FROM owners
    CROSS JOIN ledger ON ledger.scope_id = owners.id AND ledger.request_id = :request
    CROSS JOIN scopes ON scopes.id = ledger.scope_id
    LIMIT 1
"""  # noqa: S608 (same)
LAST_ROW = "SELECT max(id) FROM ledger"

_CARDS = f"""
    SELECT scopes.name, sessions.name, first_at, last_at, {_LISTED}
    FROM session_sums CROSS JOIN sessions ON sessions.id = session_sums.session_id
    CROSS JOIN scopes ON scopes.id = session_sums.scope_id
"""  # noqa: S608 (same)
SESSIONS = f"{_CARDS} WHERE last_at < :before ORDER BY last_at DESC LIMIT :limit"
SESSIONS_OF_SCOPE = f"""
    {_CARDS} WHERE session_sums.scope_id = {SCOPE_ID} AND last_at < :before ORDER BY last_at DESC LIMIT :limit
"""

TURNS = f"""
    SELECT archive.link, archive.parent, archive.turn, archive.at,
        substr(iif(utterances ->> '$[0].role' = 'user', utterances ->> '$[0].text', ''), 1, {BEGINNING})
    FROM sessions CROSS JOIN archive ON archive.session_id = sessions.id
    WHERE sessions.scope_id = {SCOPE_ID} AND sessions.name = :session
    ORDER BY archive.at DESC, archive.turn DESC LIMIT :limit
"""  # noqa: S608 (same)


class SqliteAccounts(Store):
    """Accounts in SQLite: each read is one statement."""

    async def buckets(
        self, start: float, end: float, width: Width, scope: str | None = None, by: Dimension = ""
    ) -> list[Bucket]:
        values = {"first": _aligned(start, width), "past": _aligned(end, width), "width": width, "scope": scope}
        return await self._database.rows(BUCKETS[by], values, lambda row: Bucket(float(row[0]), row[1], Sums(*row[2:])))

    async def scopes(self, limit: int = 200, before: float | None = None) -> list[tuple[str, float]]:
        values = {"limit": max(0, limit), "before": LAST if before is None else before}
        return await self._database.rows(SCOPES, values, lambda row: (row[0], row[1]))

    async def rows(
        self,
        *,
        scope: str | None = None,
        session: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[tuple[int, LedgerRow]]:
        values = {"scope": scope, "session": session, "limit": max(0, limit)}
        values["before"] = LAST if before is None else before
        return await self._database.rows(ROWS[whose(scope, session)], values, numbered)

    async def row(self, request_id: str, scope: str | None = None) -> LedgerRow | None:
        statement = ROW_OF_ANY if scope is None else ROW
        values = {"request": request_id, "scope": scope}
        return await self._database.row(statement, values, lambda row: numbered(row)[1])

    async def last(self) -> int:
        return await self._database.row(LAST_ROW, (), itemgetter(0)) or 0

    async def sessions(
        self, *, scope: str | None = None, before: float | None = None, limit: int = 50
    ) -> list[SessionCard]:
        statement = SESSIONS if scope is None else SESSIONS_OF_SCOPE
        values = {"scope": scope, "before": LAST if before is None else before, "limit": max(0, limit)}
        return await self._database.rows(statement, values, _card)

    async def turns(self, scope: str, session: str, limit: int = 2_000) -> list[TurnCard]:
        values = {"scope": scope, "session": session, "limit": max(0, limit)}
        return (await self._database.rows(TURNS, values, lambda row: TurnCard(*row)))[::-1]


def _card(row: Sequence[Any]) -> SessionCard:
    scope, session, first_at, last_at, *sums = row
    return SessionCard(scope, session, first_at, last_at, Sums(*sums))


def _aligned(at: float, width: int) -> int:
    """Returns the beginning of the first bucket that does not begin before `at`."""
    return int(-(-at // width)) * width
