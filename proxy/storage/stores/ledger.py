"""The ledger in a database: rows, and the sums that they add to: the measures of a row, and the buckets of time. The
statements are those of its kind.

Sums are written in the transaction of the rows that they add up, so they cannot disagree with these. A row is added to
its minute and to its session, of its scope and of all scopes together (scope 0). Hours and days get whole minutes later
(`condense`), since adding every row to them as well would triple the cost of a request: `rollup_progress` says up to
which minute, and a reader adds the minutes after that. A late row is added to its hour and day at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Any

import msgspec

from proxy.storage.database import Database, Store
from proxy.storage.pending import LEDGER, Apply, Write
from proxy.types import MANAGED_ROUTE, LedgerRow, Sums, Trail
from proxy.types.plan import Mechanisms
from proxy.types.quality import COMPARING

# A field that is added to LedgerRow without a migration fails on the first row that is written or read.
COLUMNS = tuple(field.name for field in fields(LedgerRow) if field.name != "scope")
ENCODED = ("mechanisms", "trail", "stage_seconds")  # columns of JSON; the last ones
UNANSWERED_ROWS = 10_000  # of scopes that no upstream has answered
# The columns that `numbered` reads: number, scope, the fields of LedgerRow.
READ = ", ".join(("ledger.id", "scopes.name", *(f"ledger.{name}" for name in COLUMNS)))

MINUTE = 60
MECHANISMS = tuple(each.name for each in fields(Mechanisms))


def _number(condition: str) -> str:
    return _if(condition, "1")


def _if(condition: str, then: str, otherwise: str = "0") -> str:
    return f"CASE WHEN {condition} THEN {then} ELSE {otherwise} END"


# What a row adds to each sum, in every database's SQL; `mechanisms` is JSON. A prompt that was not changed saved
# nothing by context management. A request to another route counts in the sums that are named for it, no other; one of
# ours that compares answers in no sum but its cost: it is no client's.
_CHANGED = "mechanisms != '{}'"
_OTHER = f"route != '{MANAGED_ROUTE}'"
_MANAGED = f"route = '{MANAGED_ROUTE}'"
_COMPARES = f"reuse_reason IN ({', '.join(map(repr, sorted(COMPARING)))})"
_OURS = f"{_MANAGED} AND NOT {_COMPARES}"
_SENT = f"source = 'upstream' AND {_OURS}"
_REUSED = "source != 'upstream'"
_MEASURES: Mapping[str, str] = {
    "requests": _number(_OURS),
    "errors": _number(f"{_OURS} AND (status >= 400 OR outcome IN ('upstream_broken', 'our_error'))"),
    "reused_exact": _number("source = 'exact'"),
    "reused_intent": _number("source = 'intent'"),
    "managed": _number(f"{_SENT} AND plan = 'managed'"),
    "over_budget": _number(f"{_SENT} AND plan = 'over-budget'"),
    "failed_open": _number(f"{_SENT} AND plan = 'fail-open'"),
    "tokens_original": _if(_SENT, "tokens_original"),
    "tokens_sent": _if(_OURS, "tokens_sent"),
    "tokens_cached": _if(_OURS, "tokens_cached"),
    "tokens_billed": _if(_OURS, "tokens_billed"),
    "tokens_completion": _if(_SENT, "tokens_completion"),
    "tokens_measured": _if(f"measured = 1 AND {_OURS}", "tokens_sent"),
    "tokens_reused": _if(_REUSED, "tokens_original + tokens_completion"),
    "tokens_reused_prompt": _if(_REUSED, "tokens_original"),
    "tokens_busted": _if(_OURS, "tokens_busted"),
    "cost": _if(_MANAGED, "cost"),
    "saved_exact": _if("source = 'exact'", "cost_saved"),
    "saved_intent": _if("source = 'intent'", "cost_saved"),
    "saved_context": _if(f"{_CHANGED} AND cost_saved > 0", "cost_saved"),
    "added_context": _if(f"{_CHANGED} AND cost_saved < 0", "-cost_saved"),
    **{name: _if(_CHANGED, f"CAST(coalesce(mechanisms ->> '{name}', '0') AS BIGINT)") for name in MECHANISMS},
    "memory": _if("reuse_reason = 'memory'", "cost"),
    "overhead_seconds": _if(f"total_seconds > upstream_seconds AND {_OURS}", "total_seconds - upstream_seconds"),
    "unmanaged": _number(_OTHER),
    "unmanaged_cost": _if(_OTHER, "cost"),
    "quality": _if(_COMPARES, "cost"),
}
SUMS = tuple(each.name for each in fields(Sums))
# A sum without a measure fails at once.
MEASURES = tuple(_MEASURES[name] for name in SUMS)
LISTED = ", ".join(SUMS)

_trail = msgspec.json.Decoder(Trail | None)
_object = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class LedgerStatements:
    """The statements of the ledger in one kind of database."""

    add: Apply  # of LedgerRow; rows whose request is known already are left out
    recent: str  # selects READ by `scope`, newest first, `limit` rows
    judged: str  # selects what the judge of reuse has cost, by `scope` and `since`


class DatabaseLedger(Store):
    """The `Ledger` of a database."""

    def __init__(self, database: Database, statements: LedgerStatements) -> None:
        super().__init__(database)
        self._statements = statements

    def append(self, row: LedgerRow) -> None:
        self._database.writer.put(Write(1, self._statements.add, row, kind=LEDGER, scope=row.scope))

    async def recent(self, scope: str, limit: int = 100) -> list[LedgerRow]:
        values = {"scope": scope, "limit": max(0, limit)}
        return await self._database.rows(self._statements.recent, values, lambda row: numbered(row)[1])

    async def judged(self, scope: str, since: float) -> float:
        values = {"scope": scope, "since": since}
        (cost,) = await self._database.rows(self._statements.judged, values, itemgetter(0))
        return float(cost)


def encoded(row: LedgerRow) -> tuple[str, ...]:
    """Returns the JSON of the columns of `ENCODED`."""
    return tuple(msgspec.json.encode(getattr(row, column)).decode() for column in ENCODED)


def numbered(read: Sequence[Any]) -> tuple[int, LedgerRow]:
    """Returns number and ledger row of a row of `READ`."""
    number, scope, *columns = read
    values = dict(zip(COLUMNS, columns, strict=True))
    values["trail"] = _trail.decode(values["trail"])
    for name in ("mechanisms", "stage_seconds"):
        values[name] = _object.decode(values[name])
    for name in ("stream", "measured"):
        values[name] = bool(values[name])
    return number, LedgerRow(scope=scope, **values)
