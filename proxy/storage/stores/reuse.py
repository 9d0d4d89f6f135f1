"""Entries of reuse by intent, with their vectors, and the reuse log, in a database. The statements are those of its
kind. Batches that change entries delete expired ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import msgspec

from proxy.storage.base import PAGE
from proxy.storage.database import Database, Store
from proxy.storage.pending import DELETIONS, REUSE, Apply, Kind, Write
from proxy.storage.reuse import LOG_ROWS, ReuseChanges
from proxy.storage.vectors import packed, unpacked
from proxy.types import Judgement, ReuseDecision, ReuseEntry, Vector

PRUNED = 1_000  # expired entries that one batch deletes, at most

# A field that is added to ReuseEntry without a migration fails on the first row that is written or read.
COLUMNS = tuple(field.name for field in fields(ReuseEntry))
LOG_COLUMNS = tuple(field.name for field in fields(ReuseDecision))
# As JSON.
_ENCODED: Mapping[str, msgspec.json.Decoder[Any]] = {
    "context": msgspec.json.Decoder(tuple[str, ...]),
    "judged": msgspec.json.Decoder(tuple[Judgement, ...]),
}


@dataclass(frozen=True, slots=True)
class ReuseChange:
    """A change of an entry, as it is queued."""

    operation: Literal["add", "strike", "judge", "served"]
    scope: str
    entry_id: str
    entry: ReuseEntry | None = None  # to add
    vector: bytes = b""  # of its question
    at: float = 0.0  # of an eviction; 0: none
    strikes: int = 0  # 0: an eviction alone
    min_cosine: float = 0.0
    judgement: Judgement | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the log, as it is queued."""

    scope: str
    decision: ReuseDecision
    kept: int  # lines that the scope has


@dataclass(frozen=True, slots=True)
class ReuseStatements:
    """The statements of reuse in one kind of database."""

    apply: Apply  # of ReuseChange, in their order: a strike is for an entry that was added before it
    log: Apply  # of LogLine
    # Selects change number, COLUMNS and vector by `scope`, `partition` and `after`, in order; `now`, `limit`.
    changes: str
    get: str  # selects COLUMNS by `scope` and `id`
    find: str  # selects scope and COLUMNS by `id`
    recent: str  # selects LOG_COLUMNS by `scope`, newest first, `limit` lines


class DatabaseReuse(Store):
    """The `ReuseStore` of a database. `log_rows`: lines of the log that a scope has."""

    def __init__(self, database: Database, statements: ReuseStatements, log_rows: int = LOG_ROWS) -> None:
        super().__init__(database)
        self._statements = statements
        self._log_rows = log_rows

    def add(self, scope: str, entry: ReuseEntry, vector: Vector) -> None:
        self._put(REUSE, ReuseChange("add", scope, entry.id, entry, packed(vector)))

    def raise_threshold(self, scope: str, entry_id: str, min_cosine: float, at: float, *, evict: bool) -> None:
        evicted_at = at if evict else 0.0
        self._put(DELETIONS, ReuseChange("strike", scope, entry_id, at=evicted_at, strikes=1, min_cosine=min_cosine))

    def evict(self, scope: str, entry_id: str, at: float) -> None:
        self._put(DELETIONS, ReuseChange("strike", scope, entry_id, at=at))

    def judge(self, scope: str, entry_id: str, judgement: Judgement) -> None:
        self._put(REUSE, ReuseChange("judge", scope, entry_id, judgement=judgement))

    def served(self, scope: str, entry_id: str) -> None:
        self._put(REUSE, ReuseChange("served", scope, entry_id))

    async def changes(self, scope: str, partition: str, after: int, now: float, limit: int = PAGE) -> ReuseChanges:
        values = {"scope": scope, "partition": partition, "after": after, "now": now, "limit": limit}
        rows = await self._database.rows(
            self._statements.changes, values, lambda row: (row[0], (entry_of(row[1:-1]), unpacked(row[-1])))
        )
        upto = rows[-1][0] if rows else after
        return ReuseChanges(tuple(entry for _, entry in rows), upto, more=len(rows) == limit)

    async def get(self, scope: str, entry_id: str) -> ReuseEntry | None:
        await self.flush()
        return await self._database.row(self._statements.get, {"scope": scope, "id": entry_id}, entry_of)

    async def find(self, entry_id: str) -> tuple[str, ReuseEntry] | None:
        await self.flush()
        return await self._database.row(
            self._statements.find, {"id": entry_id}, lambda row: (row[0], entry_of(row[1:]))
        )

    def log(self, scope: str, decision: ReuseDecision) -> None:
        line = LogLine(scope, decision, self._log_rows)
        self._database.writer.put(Write(1, self._statements.log, line, kind=REUSE, scope=scope))

    async def recent(self, scope: str, limit: int = 100) -> list[ReuseDecision]:
        values = {"scope": scope, "limit": max(0, limit)}
        return await self._database.rows(self._statements.recent, values, lambda row: ReuseDecision(*row))

    def _put(self, kind: Kind, change: ReuseChange) -> None:
        self._database.writer.put(Write(1, self._statements.apply, change, kind=kind, scope=change.scope))


def values_of(entry: ReuseEntry) -> list[Any]:
    """Returns the values of `COLUMNS`."""
    values = {name: getattr(entry, name) for name in COLUMNS}
    return list((values | {name: msgspec.json.encode(values[name]).decode() for name in _ENCODED}).values())


def entry_of(row: Sequence[Any]) -> ReuseEntry:
    """Returns the entry of a row of `COLUMNS`."""
    values = dict(zip(COLUMNS, row, strict=True))
    return ReuseEntry(**values | {name: decoder.decode(values[name]) for name, decoder in _ENCODED.items()})
