"""Facts in this process, bounded; and in the SQLite file that everything else is in."""

import functools
import itertools
import operator
import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import msgspec

from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.scoped import ScopedWrites
from proxy.storage.sqlite.shares import FACTS
from proxy.storage.sqlite.statements import ADD_SCOPE, SCOPE_ID
from proxy.types import Fact

# A field that is added to Fact without a migration fails on the first row that is written or read.
COLUMNS = tuple(field.name for field in fields(Fact))
PUT_AT_ONCE = 500  # facts: where they are more than fit into the queue, some still do
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


class MemoryFacts:
    """Keeps `max_facts` at most; the oldest of the scope that changed least recently leave."""

    keeps = True

    def __init__(self, max_facts: int = 100_000) -> None:
        self._max_facts = max_facts
        self._facts: OrderedDict[str, dict[str, Fact]] = OrderedDict()
        self._count = 0

    def put(self, scope: str, facts: Sequence[Fact]) -> None:
        here = self._facts.setdefault(scope, {})
        self._facts.move_to_end(scope)
        self._count -= len(here)
        here.update((fact.id, fact) for fact in facts)
        self._count += len(here)
        while self._count > self._max_facts:
            longest_ago, theirs = next(iter(self._facts.items()))
            self._remove(longest_ago, next(iter(theirs)))
        self._drop_if_empty(scope)

    def forget(self, scope: str, ids: Sequence[str]) -> None:
        for fact_id in ids:
            self._remove(scope, fact_id)

    def take_out(self, scope: str, until: float) -> list[Fact]:
        """Facts that are as old as that, which are here no longer."""
        found = [fact for fact in self._facts.get(scope, {}).values() if fact.created_at <= until]
        self.forget(scope, [fact.id for fact in found])
        return found

    def put_back(self, scope: str, facts: Sequence[Fact]) -> None:
        """As they were taken out, if they have not come again."""
        here = self._facts.get(scope, {})
        self.put(scope, [fact for fact in facts if fact.id not in here])

    async def all(self, scope: str) -> list[Fact]:
        return sorted(self._facts.get(scope, {}).values(), key=operator.attrgetter("created_at"))

    async def find(self, fact_id: str) -> tuple[str, Fact] | None:
        return next(((scope, facts[fact_id]) for scope, facts in self._facts.items() if fact_id in facts), None)

    async def scopes(self) -> list[str]:
        return sorted(self._facts)

    async def flush(self) -> None: ...
    async def close(self) -> None: ...

    def _remove(self, scope: str, fact_id: str) -> None:
        if self._facts.get(scope, {}).pop(fact_id, None) is not None:
            self._count -= 1
            self._drop_if_empty(scope)

    def _drop_if_empty(self, scope: str) -> None:
        if not self._facts.get(scope, True):
            del self._facts[scope]


@dataclass(frozen=True, slots=True)
class _Change:
    statement: str
    scope: str
    rows: Sequence[Mapping[str, Any]]


class SqliteFacts:
    keeps = True

    def __init__(self, database: Database) -> None:
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
    """In the order they were queued."""
    connection.executemany(ADD_SCOPE, {(change.scope,) for change in changes})
    for statement, run in itertools.groupby(changes, key=operator.attrgetter("statement")):
        connection.executemany(statement, [row for change in run for row in change.rows])


def _all(scope: str, connection: sqlite3.Connection) -> list[Fact]:
    return [fact_of(row) for row in connection.execute(ALL, {"scope": scope})]


def _row(scope: str, fact: Fact) -> Mapping[str, Any]:
    values = {name: getattr(fact, name) for name in COLUMNS}
    return {**values, "scope": scope, "links": msgspec.json.encode(fact.links).decode()}


def fact_of(row: Sequence[Any]) -> Fact:
    values = dict(zip(COLUMNS, row, strict=True))
    values["pinned"] = bool(values["pinned"])
    values["links"] = msgspec.json.decode(values["links"], type=tuple[bytes, ...])
    return Fact(**values)
