"""Compared answers in a database, and what comparing has cost. The statements are those of its kind; values stand in
them as `:name`, which a kind of database says in its own way."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from proxy.lru import Lru
from proxy.storage.database import LONG_SECONDS, Database, Store
from proxy.storage.jobs import DAY
from proxy.storage.pending import LEDGER, PAGE_BYTES, QUALITY, Apply
from proxy.storage.scoped_writes import ScopedWrites
from proxy.storage.stores.job_rows import Dialect
from proxy.storage.stores.whose import SCOPES_OF_TENANT, is_tenant
from proxy.storage.transactions import carried_out
from proxy.types.quality import Comparison, HeldSums, Measures, QualityPair

MOST_SCOPES = 10_000  # of which it is known how often they were forgotten
_LAST = 2**62  # above every number of a row
_SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"
_PLAIN = ("request_id", "session", "at", "model", "upstream", "saved", "cost", "tokens_original", "tokens_sent")
_DECIDED = ("held", "reason", "way")
_TEXTS = ("question", "managed", "original", "verdict")

_PUT_COLUMNS = (*_PLAIN, *_DECIDED, "measures", "texts")
PUT = f"""
    INSERT INTO quality (scope_id, {", ".join(_PUT_COLUMNS)})
    SELECT id, {", ".join(f":{name}" for name in _PUT_COLUMNS)} FROM scopes WHERE name = :scope
    ON CONFLICT (scope_id, request_id) DO NOTHING
"""  # noqa: S608 (our own column names)
_READ = f"""
    SELECT quality.number, scopes.name, {", ".join(_PLAIN)}, {", ".join(_DECIDED)}, measures, texts
    FROM quality JOIN scopes ON scopes.id = quality.scope_id
"""  # noqa: S608 (same)
_RECENT = (
    f"{_READ} WHERE {{whose}} AND quality.number < :before AND {{which}} ORDER BY quality.number DESC LIMIT :limit"
)
_GET = f"{_READ} WHERE {{whose}} AND request_id = :request ORDER BY quality.number DESC LIMIT 1"
_SUMS = """
    SELECT count(*), coalesce(sum(held), 0), coalesce(sum(cost), 0.0) FROM quality
    WHERE {whose} AND at >= :start AND at < :end
"""
_OF_SCOPE = f"quality.scope_id = {_SCOPE_ID}"
_OF_TENANT = f"quality.scope_id IN ({SCOPES_OF_TENANT.format(':scope')})"
FORGET = f"UPDATE quality SET texts = :nothing WHERE scope_id = {_SCOPE_ID}"  # noqa: S608 (same)

_TODAY = "SELECT coalesce(sum(dollars), 0.0) FROM quality_spending WHERE day = :day"
_SPEND = "INSERT INTO quality_spending (day, at, dollars) VALUES (:day, :at, :dollars) RETURNING id"
_SETTLE = "UPDATE quality_spending SET dollars = :dollars WHERE id = :number"

_measures = msgspec.json.Decoder(Measures).decode
_texts = msgspec.json.Decoder(tuple[str, str, str, str]).decode


@dataclass(frozen=True, slots=True)
class QualityStatements:
    """The statements of compared answers in one kind of database."""

    put: Apply  # of pairs
    forget: Apply  # of scopes
    dialect: Dialect


class DatabaseQuality(Store):
    """The `QualityStore` of a database."""

    def __init__(self, database: Database, statements: QualityStatements) -> None:
        super().__init__(database)
        self._statements = statements
        self._dialect = statements.dialect
        self._writes = ScopedWrites(database.writer, QUALITY)
        self._forgets: Lru[str, int] = Lru(MOST_SCOPES)

    def put(self, pair: QualityPair) -> None:
        size = len(pair.question) + len(pair.managed) + len(pair.original)
        self._writes.put(pair.scope, self._statements.put, pair, 1 + size // PAGE_BYTES)

    async def recent(
        self, *, scope: str | None = None, before: int | None = None, limit: int = 50, only_lost: bool = False
    ) -> list[tuple[int, QualityPair]]:
        statement = _RECENT.format(whose=_whose(scope), which="held = 0" if only_lost else "true")
        values = {"before": _LAST if before is None else before, "limit": max(0, limit)}
        return await self._pairs(statement, scope, values)

    async def get(self, request_id: str, scope: str | None = None) -> QualityPair | None:
        found = await self._pairs(_GET.format(whose=_whose(scope)), scope, {"request": request_id})
        return found[0][1] if found else None

    async def sums(self, start: float, end: float, scope: str | None = None) -> HeldSums:
        await self._settled(scope)
        statement = self._dialect.said(_SUMS.format(whose=_whose(scope)))
        values = {"scope": scope, "start": start, "end": end}
        (sums,) = await self._database.rows(statement, values, lambda row: HeldSums(*row), LONG_SECONDS)
        return HeldSums(int(sums.pairs), int(sums.held), float(sums.cost))

    def forgets(self, scope: str) -> int:
        return self._forgets.get(scope, 0)

    def forget(self, scope: str) -> None:
        self._forgets.put(scope, self.forgets(scope) + 1)
        self._writes.delete(scope, self._statements.forget, scope)

    async def reserve(self, dollars: float, now: float, most: float) -> int | None:
        day = int(now // DAY)

        def step(connection: Any) -> int | None:
            self._dialect.lock(connection)
            (today,) = self._dialect.run(connection, _TODAY, {"day": day}).fetchone()
            if today + dollars > most:
                return None
            values = {"day": day, "at": now, "dollars": dollars}
            ((number,),) = self._dialect.run(connection, _SPEND, values).fetchall()
            return int(number)

        return await carried_out(self._database.writer, step, kind=LEDGER, store=self)

    async def settle(self, number: int, dollars: float) -> None:
        def step(connection: Any) -> None:
            self._dialect.run(connection, _SETTLE, {"number": number, "dollars": dollars})

        await carried_out(self._database.writer, step, kind=LEDGER, store=self)

    async def spent(self, now: float) -> float:
        values = {"day": int(now // DAY)}
        statement = self._dialect.said(_TODAY)
        (dollars,) = await self._database.rows(statement, values, lambda row: float(row[0]), LONG_SECONDS)
        return dollars

    async def _pairs(
        self, statement: str, scope: str | None, values: Mapping[str, Any]
    ) -> list[tuple[int, QualityPair]]:
        await self._settled(scope)
        said = self._dialect.said(statement)
        return await self._database.rows(said, {**values, "scope": scope}, _pair_of, LONG_SECONDS)

    async def _settled(self, scope: str | None) -> None:
        is_one = scope is not None and not is_tenant(scope)
        await self._writes.settled(scope if is_one else None)


def _whose(scope: str | None) -> str:
    if scope is None:
        return "true"
    return _OF_TENANT if is_tenant(scope) else _OF_SCOPE


def values_of(pair: QualityPair) -> dict[str, Any]:
    """Returns the values of PUT."""
    comparison = pair.comparison
    texts = tuple(getattr(pair, name) for name in _TEXTS)
    return {
        **{name: getattr(pair, name) for name in ("scope", *_PLAIN)},
        "held": int(comparison.held),
        "reason": comparison.reason,
        "way": comparison.way,
        "measures": msgspec.json.encode(asdict(comparison.measures)).decode(),
        "texts": msgspec.json.encode(texts) if any(texts) else b"",
    }


def _pair_of(row: Sequence[Any]) -> tuple[int, QualityPair]:
    number, scope, *plain = row
    *plain, held, reason, way, measures, texts = plain
    said = _texts(bytes(texts)) if texts else ("", "", "", "")
    comparison = Comparison(bool(held), reason, _measures(measures), way)
    values = {**dict(zip(_PLAIN, plain, strict=True)), **dict(zip(_TEXTS, said, strict=True))}
    return int(number), QualityPair(scope=scope, comparison=comparison, **values)
