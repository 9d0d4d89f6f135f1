"""Entries of reuse by intent, with their vectors, and the reuse log in SQLite. Batches that add entries delete expired
ones."""

import itertools
import operator
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import msgspec

from proxy.storage.base import KEPT_AFTER_EXPIRY, LOG_ROWS, MOST_JUDGED, PAGE, ReuseChanges
from proxy.storage.database import Database, Store
from proxy.storage.pending import DELETIONS, REUSE, Kind, Write
from proxy.storage.sqlite.database import ADD_SCOPE
from proxy.storage.vectors import packed, unpacked
from proxy.types import Judgement, ReuseDecision, ReuseEntry, Vector

PRUNED = 1_000  # expired entries that one batch deletes, at most

# A field that is added to ReuseEntry without a migration fails on the first row that is written or read.
COLUMNS = tuple(field.name for field in fields(ReuseEntry))
# As JSON.
ENCODED: Mapping[str, msgspec.json.Decoder[Any]] = {
    "context": msgspec.json.Decoder(tuple[str, ...]),
    "judged": msgspec.json.Decoder(tuple[Judgement, ...]),
}
# A changed row gets a number above all others: so the row with the highest one is never deleted.
NEXT = "(SELECT max(change) + 1 FROM reuse_entries)"
SCOPE_ID = "(SELECT id FROM scopes WHERE name = ?)"

# `merged` in SQL; every right side sees the old row.
ADD_ENTRY = f"""
    INSERT INTO reuse_entries (scope_id, {", ".join(COLUMNS)}, vector)
    VALUES ({SCOPE_ID}, {", ".join("?" * len(COLUMNS))}, ?)
    ON CONFLICT (id, scope_id) DO UPDATE SET
        change = {NEXT},
        question = excluded.question,
        context = excluded.context,
        answer_key = excluded.answer_key,
        created_at = excluded.created_at,
        expires_at = excluded.expires_at,
        min_cosine = max(min_cosine, excluded.min_cosine),
        strikes = max(strikes, excluded.strikes),
        served = max(served, excluded.served),
        evicted_at = max(evicted_at, excluded.evicted_at),
        judged = excluded.judged,
        vector = excluded.vector
    WHERE excluded.created_at > created_at
"""  # noqa: S608 (our own column names)
STRIKE = f"""
    UPDATE reuse_entries SET change = {NEXT},
        min_cosine = max(min_cosine, ?1), strikes = strikes + ?2, evicted_at = max(evicted_at, ?3),
        judged = iif(?2 > 0 OR created_at <= ?3, '[]', judged)
    WHERE scope_id = (SELECT id FROM scopes WHERE name = ?4) AND id = ?5
"""  # noqa: S608 (our own column names)
JUDGE = f"""
    UPDATE reuse_entries SET change = {NEXT}, judged = json_insert(judged, '$[#]', json(?1))
    WHERE scope_id = (SELECT id FROM scopes WHERE name = ?2) AND id = ?3
        AND created_at = ?4 AND strikes = ?5 AND evicted_at < created_at AND json_array_length(judged) < {MOST_JUDGED}
        AND NOT EXISTS (SELECT 1 FROM json_each(judged) AS ruling WHERE ruling.value ->> 'asked_id' = ?6)
"""  # noqa: S608 (our own column names)
SERVED = f"UPDATE reuse_entries SET served = served + 1 WHERE scope_id = {SCOPE_ID} AND id = ?"  # noqa: S608 (same)
PRUNE = """
    DELETE FROM reuse_entries WHERE change IN (
        SELECT change FROM reuse_entries
        WHERE expires_at <= :now AND (strikes = 0 OR expires_at <= :now - :kept)
            AND change < (SELECT max(change) FROM reuse_entries)
        LIMIT :limit
    )
"""
CHANGES = f"""
    SELECT change, {", ".join(COLUMNS)}, vector FROM reuse_entries
    WHERE scope_id = {SCOPE_ID} AND partition = ? AND change > ? AND (strikes > 0 OR expires_at > ?)
    ORDER BY change LIMIT ?
"""  # noqa: S608 (our own column names)
GET = f"SELECT {', '.join(COLUMNS)} FROM reuse_entries WHERE scope_id = {SCOPE_ID} AND id = ?"  # noqa: S608 (same)
FIND = f"""
    SELECT scopes.name, {", ".join(f"reuse_entries.{column}" for column in COLUMNS)}
    FROM reuse_entries JOIN scopes ON scopes.id = scope_id WHERE reuse_entries.id = ?
"""  # noqa: S608 (our own column names)

LOG_COLUMNS = tuple(field.name for field in fields(ReuseDecision))
LOG = f"""
    INSERT INTO reuse_log (scope_id, {", ".join(LOG_COLUMNS)}) VALUES ({SCOPE_ID}, {", ".join("?" * len(LOG_COLUMNS))})
"""  # noqa: S608 (our own column names)
SHORTEN_LOG = f"""
    DELETE FROM reuse_log WHERE scope_id = {SCOPE_ID} AND id <= (
        SELECT id FROM reuse_log WHERE scope_id = {SCOPE_ID} ORDER BY id DESC LIMIT 1 OFFSET ?
    )
"""  # noqa: S608 (our own column names)
RECENT = f"""
    SELECT {", ".join(LOG_COLUMNS)} FROM reuse_log WHERE scope_id = {SCOPE_ID} ORDER BY id DESC LIMIT ?
"""  # noqa: S608 (our own column names)


@dataclass(frozen=True, slots=True)
class _Change:
    statement: str
    values: tuple[Any, ...]
    scope: str | None = None  # to add, if it is new
    at: float = 0.0  # entries that have expired by then are deleted


class SqliteReuse(Store):
    """Entries of reuse by intent, and its log, in SQLite. `log_rows`: lines of the log that a scope has."""

    def __init__(self, database: Database, log_rows: int = LOG_ROWS) -> None:
        super().__init__(database)
        self._log_rows = log_rows

    def add(self, scope: str, entry: ReuseEntry, vector: Vector) -> None:
        values = {name: getattr(entry, name) for name in COLUMNS}
        values |= {name: msgspec.json.encode(values[name]).decode() for name in ENCODED}
        self._put(scope, REUSE, _Change(ADD_ENTRY, (scope, *values.values(), packed(vector)), scope, entry.created_at))

    def raise_threshold(self, scope: str, entry_id: str, min_cosine: float, at: float, *, evict: bool) -> None:
        self._put(scope, DELETIONS, _Change(STRIKE, (min_cosine, 1, at if evict else 0.0, scope, entry_id)))

    def evict(self, scope: str, entry_id: str, at: float) -> None:
        self._put(scope, DELETIONS, _Change(STRIKE, (0.0, 0, at, scope, entry_id)))

    def judge(self, scope: str, entry_id: str, judgement: Judgement) -> None:
        ruling = msgspec.json.encode(judgement).decode()
        values = (ruling, scope, entry_id, judgement.created_at, judgement.strikes, judgement.asked_id)
        self._put(scope, REUSE, _Change(JUDGE, values))

    def served(self, scope: str, entry_id: str) -> None:
        self._put(scope, REUSE, _Change(SERVED, (scope, entry_id)))

    async def changes(self, scope: str, partition: str, after: int, now: float, limit: int = PAGE) -> ReuseChanges:
        values = (scope, partition, after, now, limit)
        rows = await self._database.rows(CHANGES, values, lambda row: (row[0], (_entry(row[1:-1]), unpacked(row[-1]))))
        upto = rows[-1][0] if rows else after
        return ReuseChanges(tuple(entry for _, entry in rows), upto, more=len(rows) == limit)

    async def get(self, scope: str, entry_id: str) -> ReuseEntry | None:
        await self.flush()
        return await self._database.row(GET, (scope, entry_id), _entry)

    async def find(self, entry_id: str) -> tuple[str, ReuseEntry] | None:
        await self.flush()
        return await self._database.row(FIND, (entry_id,), lambda row: (row[0], _entry(row[1:])))

    def log(self, scope: str, decision: ReuseDecision) -> None:
        line = (self._log_rows, scope, astuple(decision))
        self._database.writer.put(Write(1, _write_log, line, kind=REUSE, scope=scope))

    async def recent(self, scope: str, limit: int = 100) -> list[ReuseDecision]:
        return await self._database.rows(RECENT, (scope, max(0, limit)), lambda row: ReuseDecision(*row))

    def _put(self, scope: str, kind: Kind, change: _Change) -> None:
        self._database.writer.put(Write(1, _apply, change, kind=kind, scope=scope))


def _apply(connection: sqlite3.Connection, changes: Sequence[_Change]) -> None:
    """Applies changes in the order they were queued: a strike is for an entry that was added before it."""
    connection.executemany(ADD_SCOPE, {(change.scope,) for change in changes if change.scope is not None})
    for statement, run in itertools.groupby(changes, key=operator.attrgetter("statement")):
        connection.executemany(statement, [change.values for change in run])
    now = max(change.at for change in changes)
    connection.execute(PRUNE, {"now": now, "kept": KEPT_AFTER_EXPIRY, "limit": PRUNED})


def _write_log(connection: sqlite3.Connection, lines: Sequence[tuple[int, str, tuple[Any, ...]]]) -> None:
    kept = {scope: rows for rows, scope, _ in lines}
    connection.executemany(ADD_SCOPE, [(scope,) for scope in kept])
    connection.executemany(LOG, [(scope, *values) for _, scope, values in lines])
    connection.executemany(SHORTEN_LOG, [(scope, scope, rows) for scope, rows in kept.items()])


def _entry(row: Sequence[Any]) -> ReuseEntry:
    values = dict(zip(COLUMNS, row, strict=True))
    return ReuseEntry(**values | {name: decoder.decode(values[name]) for name, decoder in ENCODED.items()})
