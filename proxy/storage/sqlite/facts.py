"""Facts in SQLite, superseded ones included."""

import functools
import itertools
import operator
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import msgspec

from proxy.storage.scoped import ScopedWrites
from proxy.storage.shares import FACTS
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.rows import ADD_SCOPE, SCOPE_ID
from proxy.types import Fact

# A field that is added to Fact without a migration fails on the first row that is written or read.
COLUMNS = tuple(field.name for field in fields(Fact))
PUT_AT_ONCE = 500  # facts of one write: if the queue has no room for all of them, some still fit
PUT = f"""
    INSERT INTO facts (scope_id, {", ".join(COLUMNS)}) VALUES ({SCOPE_ID}, {", ".join(f":{name}" for name in COLUMNS)})
    ON CONFLICT (id, scope_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in COLUMNS)}
"""  # noqa: S608 (our own column names)
FORGET = f"DELETE FROM facts WHERE id = :id AND scope_id = {SCOPE_ID}"  # noqa: S608 (same)
ALL = f"""
    SELECT {", ".join(COLUMNS)} FROM facts WHERE scope_id = {SCOPE_ID} ORDER BY created_at, number
"""  # noqa: S608 (our own column names)
FIND = f"""
    SELECT scopes.name, {", ".join(f"facts.{name}" for name in COLUMNS)}
    FROM facts JOIN scopes ON scopes.id = scope_id WHERE facts.id = ? LIMIT 1
"""  # noqa: S608 (our own column names)
# From one scope that has facts to the next, however many facts and scopes there are.
SCOPES = """
    WITH RECURSIVE owners (id) AS (
        SELECT min(scope_id) FROM facts
        UNION ALL
        SELECT (SELECT min(scope_id) FROM facts WHERE scope_id > owners.id) FROM owners WHERE owners.id IS NOT NULL
    )
    SELECT scopes.name FROM owners CROSS JOIN scopes USING (id) ORDER BY scopes.name
"""


@dataclass(frozen=True, slots=True)
class _Change:
    statement: str
    scope: str
    rows: Sequence[Mapping[str, Any]]


class SqliteFacts:
    """Facts in SQLite."""

    def __init__(self, database: Database) -> None:
        self.keeps = database.keeps
        self._database = database
        self._writes = ScopedWrites(database.writer, FACTS, _apply)

    def put(self, scope: str, facts: Sequence[Fact]) -> None:
        for start in range(0, len(facts), PUT_AT_ONCE):
            rows = [_row(scope, fact) for fact in facts[start : start + PUT_AT_ONCE]]
            self._writes.put(scope, _Change(PUT, scope, rows), len(rows))

    def forget(self, scope: str, ids: Sequence[str]) -> None:
        if ids:
            rows = [{"scope": scope, "id": fact_id} for fact_id in ids]
            self._writes.delete(scope, _Change(FORGET, scope, rows), len(rows))

    async def all(self, scope: str) -> list[Fact]:
        await self._writes.settled(scope, strictly=True)
        return await self._database.read(functools.partial(_all, scope))

    async def find(self, fact_id: str) -> tuple[str, Fact] | None:
        await self._writes.settled()
        row = await self._database.read(lambda connection: connection.execute(FIND, (fact_id,)).fetchone())
        return None if row is None else (row[0], fact_of(row[1:]))

    async def scopes(self) -> list[str]:
        await self._writes.settled()
        rows = await self._database.read(lambda connection: connection.execute(SCOPES).fetchall())
        return [name for (name,) in rows]

    async def flush(self) -> None:
        await self._writes.flush()

    async def close(self) -> None:
        await self.flush()


def _apply(connection: sqlite3.Connection, changes: Sequence[_Change]) -> None:
    """Applies changes in the order they were queued."""
    connection.executemany(ADD_SCOPE, {(change.scope,) for change in changes})
    for statement, run in itertools.groupby(changes, key=operator.attrgetter("statement")):
        connection.executemany(statement, [row for change in run for row in change.rows])


def _all(scope: str, connection: sqlite3.Connection) -> list[Fact]:
    return [fact_of(row) for row in connection.execute(ALL, {"scope": scope})]


def _row(scope: str, fact: Fact) -> Mapping[str, Any]:
    values = {name: getattr(fact, name) for name in COLUMNS}
    return {**values, "scope": scope, "links": msgspec.json.encode(fact.links).decode()}


def fact_of(row: Sequence[Any]) -> Fact:
    """Returns the fact of a row of `COLUMNS`."""
    values = dict(zip(COLUMNS, row, strict=True))
    values["pinned"] = bool(values["pinned"])
    values["links"] = msgspec.json.decode(values["links"], type=tuple[bytes, ...])
    return Fact(**values)
