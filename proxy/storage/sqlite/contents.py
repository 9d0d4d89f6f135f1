"""Bodies of requests and answers in SQLite, for a while. They are only looked at by people, so no request waits for
them, and entries that are too large, too old or too many are not kept."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import msgspec

from proxy.storage.sqlite.database import PAGE_BYTES, SCOPE_ID, Database, Store, add_names, rows_of, whose
from proxy.storage.write_queue import ScopedWrites
from proxy.storage.writes import CONTENTS
from proxy.types import Contents

COLUMNS = tuple(field.name for field in fields(Contents))
MOST_GONE = 4 * 2**20  # bytes that a batch deletes, beyond what it adds

PUT = """
    INSERT INTO contents (scope_id, session_id, request_id, at, size, headers, body, sent, fates, answer)
    SELECT scopes.id, sessions.id, :request_id, :at, :size, :headers, :body, :sent, :fates, :answer
    FROM scopes CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = :session
    WHERE scopes.name = :scope
    ON CONFLICT (scope_id, request_id) DO NOTHING
"""
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
    connection.executemany(PUT, [_row(contents) for contents, _ in puts])
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


def _row(contents: Contents) -> dict[str, Any]:
    values = {name: getattr(contents, name) for name in COLUMNS}
    return values | {"size": contents.size, "headers": msgspec.json.encode(contents.headers).decode()}


def _entry(row: Sequence[Any]) -> Contents:
    values = dict(zip(COLUMNS, row, strict=True))
    return Contents(**values | {"headers": msgspec.json.decode(row[-1], type=dict[str, str])})
