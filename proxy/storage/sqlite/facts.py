"""Facts in SQLite, superseded ones included."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import itemgetter
from typing import Any

import msgspec

from proxy.storage.sqlite.database import ADD_SCOPE, SCOPE_ID, Database, Store
from proxy.storage.write_queue import ScopedWrites
from proxy.storage.writes import FACTS
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


class SqliteFacts(Store):
    """Facts in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._writes = ScopedWrites(database.writer, FACTS)

    def put(self, scope: str, facts: Sequence[Fact]) -> None:
        for start in range(0, len(facts), PUT_AT_ONCE):
            rows = [_row(scope, fact) for fact in facts[start : start + PUT_AT_ONCE]]
            self._writes.put(scope, _put, rows, len(rows))

    def forget(self, scope: str, ids: Sequence[str]) -> None:
        if ids:
            self._writes.delete(scope, _forget, [{"scope": scope, "id": fact_id} for fact_id in ids], len(ids))

    async def all(self, scope: str) -> list[Fact]:
        await self._writes.settled(scope, strictly=True)
        return await self._database.rows(ALL, {"scope": scope}, fact_of)

    async def find(self, fact_id: str) -> tuple[str, Fact] | None:
        await self._writes.settled()
        found = await self._database.rows(FIND, (fact_id,), tuple)
        return (found[0][0], fact_of(found[0][1:])) if found else None

    async def scopes(self) -> list[str]:
        await self._writes.settled()
        return await self._database.rows(SCOPES, (), itemgetter(0))


def _put(connection: sqlite3.Connection, puts: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    rows = [row for each in puts for row in each]
    connection.executemany(ADD_SCOPE, {(row["scope"],) for row in rows})
    connection.executemany(PUT, rows)


def _forget(connection: sqlite3.Connection, forgotten: Sequence[Sequence[Mapping[str, str]]]) -> None:
    connection.executemany(FORGET, [row for each in forgotten for row in each])


def _row(scope: str, fact: Fact) -> Mapping[str, Any]:
    values = {name: getattr(fact, name) for name in COLUMNS}
    return {**values, "scope": scope, "links": msgspec.json.encode(fact.links).decode()}


def fact_of(row: Sequence[Any]) -> Fact:
    """Returns the fact of a row of `COLUMNS`."""
    values = dict(zip(COLUMNS, row, strict=True))
    values["pinned"] = bool(values["pinned"])
    values["links"] = msgspec.json.decode(values["links"], type=tuple[bytes, ...])
    return Fact(**values)
