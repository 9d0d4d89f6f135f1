"""Facts in a database, superseded ones included. The statements are those of its kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Any

import msgspec

from proxy.storage.database import Database, Store
from proxy.storage.pending import FACTS, Apply
from proxy.storage.scoped_writes import ScopedWrites
from proxy.types import Fact, fact_source

# A field that is added to Fact without a migration fails on the first row that is written or read.
COLUMNS = tuple(field.name for field in fields(Fact))
PUT_AT_ONCE = 500  # facts of one write: if the queue has no room for all of them, some still fit

FactRow = Mapping[str, Any]  # the values of COLUMNS and the scope, by name


@dataclass(frozen=True, slots=True)
class FactStatements:
    """The statements of facts in one kind of database."""

    put: Apply  # of sequences of FactRow
    forget: Apply  # of sequences of {"scope", "id"}
    all: str  # selects COLUMNS by `scope`, oldest first
    find: str  # selects the scope and COLUMNS by `id`
    scopes: str  # selects the scopes that have facts, sorted


class DatabaseFacts(Store):
    """The `FactStore` of a database."""

    def __init__(self, database: Database, statements: FactStatements) -> None:
        super().__init__(database)
        self._statements = statements
        self._writes = ScopedWrites(database.writer, FACTS)

    def put(self, scope: str, facts: Sequence[Fact]) -> None:
        for start in range(0, len(facts), PUT_AT_ONCE):
            rows = [_row(scope, fact) for fact in facts[start : start + PUT_AT_ONCE]]
            self._writes.put(scope, self._statements.put, rows, len(rows))

    def forget(self, scope: str, ids: Sequence[str]) -> None:
        if ids:
            rows = [{"scope": scope, "id": fact_id} for fact_id in ids]
            self._writes.delete(scope, self._statements.forget, rows, len(ids))

    async def all(self, scope: str) -> list[Fact]:
        await self._writes.settled(scope, strictly=True)
        return await self._database.rows(self._statements.all, {"scope": scope}, fact_of)

    async def find(self, fact_id: str) -> tuple[str, Fact] | None:
        await self._writes.settled()
        return await self._database.row(self._statements.find, {"id": fact_id}, lambda row: (row[0], fact_of(row[1:])))

    async def scopes(self) -> list[str]:
        await self._writes.settled()
        return await self._database.rows(self._statements.scopes, {}, itemgetter(0))


def _row(scope: str, fact: Fact) -> FactRow:
    values = {name: getattr(fact, name) for name in COLUMNS}
    return {**values, "scope": scope, "links": msgspec.json.encode(fact.links).decode()}


_PINNED, _SOURCE, _LINKS = (COLUMNS.index(name) for name in ("pinned", "source", "links"))
_links = msgspec.json.Decoder(tuple[bytes, ...]).decode


def links_of(stored: Sequence[str]) -> tuple[bytes, ...]:
    """Returns the links of facts, of their columns of that name, each once."""
    return tuple(dict.fromkeys(link for each in stored for link in _links(each)))


def fact_of(row: Sequence[Any]) -> Fact:
    """Returns the fact of a row of `COLUMNS`, which are in the order of its fields."""
    values = list(row)
    values[_PINNED] = bool(values[_PINNED])
    values[_SOURCE] = fact_source(values[_SOURCE])
    values[_LINKS] = _links(values[_LINKS])
    return Fact(*values)
