"""The ledger in SQLite: rows, written in one transaction with the sums that they add to."""

import functools
import operator
import sqlite3
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import msgspec

from proxy.storage.shares import LEDGER
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.rollups import add_up, newest
from proxy.storage.sqlite.rows import ADD_SCOPES, ADD_SESSIONS
from proxy.storage.write_queue import Write
from proxy.types import UNANSWERED, LedgerRow, Trail

# A field that is added to LedgerRow without a migration fails on the first row that is written or read.
COLUMNS = tuple(field.name for field in fields(LedgerRow) if field.name != "scope")
ENCODED = ("mechanisms", "trail", "stage_seconds")  # columns of JSON; the last ones
_PLACES = {name: f"?{place}" for place, name in enumerate(("scope", *COLUMNS), 1)}
ADD_ROW = f"""
    INSERT INTO ledger (scope_id, session_id, {", ".join(COLUMNS)})
    VALUES (
        (SELECT id FROM scopes WHERE name = ?1),
        (SELECT sessions.id FROM scopes CROSS JOIN sessions ON sessions.scope_id = scopes.id
            WHERE scopes.name = ?1 AND sessions.name = {_PLACES["session"]}),
        {", ".join(_PLACES[name] for name in COLUMNS)}
    )
    ON CONFLICT (scope_id, request_id) DO NOTHING
"""  # noqa: S608 (our own column names)
# Deletes all but the newest rows of a scope; the sums have them by then.
SHORTEN = """
    DELETE FROM ledger WHERE scope_id = (SELECT id FROM scopes WHERE name = :scope)
        AND id <= (
            SELECT id FROM ledger WHERE scope_id = (SELECT id FROM scopes WHERE name = :scope)
            ORDER BY id DESC LIMIT 1 OFFSET :kept
        )
"""
UNANSWERED_ROWS = 10_000  # of scopes that no upstream has answered
# The columns that `numbered` reads: number, scope, the fields of LedgerRow.
READ = ", ".join(("ledger.id", "scopes.name", *(f"ledger.{name}" for name in COLUMNS)))
RECENT = f"""
    SELECT {READ} FROM scopes CROSS JOIN ledger ON ledger.scope_id = scopes.id WHERE scopes.name = ?
    ORDER BY ledger.id DESC LIMIT ?
"""  # noqa: S608 (our own column names)

JUDGED = """
    SELECT coalesce(sum(cost), 0.0) FROM ledger
    WHERE scope_id = (SELECT id FROM scopes WHERE name = ?) AND reuse_reason = 'judge' AND at >= ?
"""

_plain = operator.attrgetter("scope", *COLUMNS[: -len(ENCODED)])
_trail = msgspec.json.Decoder(Trail | None)
_object = msgspec.json.Decoder(dict[str, Any])


class SqliteLedger:
    """The ledger in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, row: LedgerRow) -> None:
        self._database.writer.put(Write(1, add_rows, row, kind=LEDGER, scope=row.scope))

    async def recent(self, scope: str, limit: int = 100) -> list[LedgerRow]:
        return await self._database.read(functools.partial(recent_rows, scope, limit))

    async def judged(self, scope: str, since: float) -> float:
        row = await self._database.read(lambda connection: connection.execute(JUDGED, (scope, since)).fetchone())
        return float(row[0])

    async def flush(self) -> None:
        await self._database.writer.flush()

    async def close(self) -> None:
        await self.flush()


def add_rows(connection: sqlite3.Connection, rows: Sequence[LedgerRow]) -> None:
    """Writes rows and adds them to the sums, except those whose request is known already."""
    names = {"rows": msgspec.json.encode([(row.scope, row.session) for row in rows])}
    connection.execute(ADD_SCOPES, names)
    connection.execute(ADD_SESSIONS, names)
    before = newest(connection)
    connection.executemany(ADD_ROW, [(*_plain(row), *_encoded(row)) for row in rows])
    add_up(connection, before)
    if any(row.scope == UNANSWERED for row in rows):
        connection.execute(SHORTEN, {"scope": UNANSWERED, "kept": UNANSWERED_ROWS})


def _encoded(row: LedgerRow) -> tuple[str, ...]:
    return tuple(msgspec.json.encode(getattr(row, column)).decode() for column in ENCODED)


def recent_rows(scope: str, limit: int, connection: sqlite3.Connection) -> list[LedgerRow]:
    """Returns the last `limit` rows of a scope, newest first."""
    return [row for _, row in map(numbered, connection.execute(RECENT, (scope, max(0, limit))))]


def numbered(read: Sequence[Any]) -> tuple[int, LedgerRow]:
    """Returns number and ledger row of a row of `READ`."""
    number, scope, *columns = read
    values = dict(zip(COLUMNS, columns, strict=True))
    values["trail"] = _trail.decode(values["trail"])
    values["mechanisms"] = _object.decode(values["mechanisms"])
    values["stage_seconds"] = _object.decode(values["stage_seconds"])
    values["stream"] = bool(values["stream"])
    values["measured"] = bool(values["measured"])
    return number, LedgerRow(scope=scope, **values)
