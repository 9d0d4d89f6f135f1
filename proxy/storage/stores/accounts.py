"""Reads for administration: ledger rows, sums and lists of conversations. However many requests there were, a
statement reads what it returns and little more: rows by an index, sums by the buckets of the span, scopes from one to
the next. No request waits for any of it. The statements are those of a kind of database.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeVar

import msgspec

from proxy.storage.accounts import Dimension, Width
from proxy.storage.database import LONG_SECONDS, Database, Store, Values
from proxy.storage.pending import tenant_of
from proxy.storage.stores.ledger import numbered
from proxy.storage.stores.whose import Whose, is_tenant, whose
from proxy.types import ANY_ROW, MANAGED_ROUTE, Bucket, LedgerRow, RowFilter, SessionCard, Sums, TurnCard

T = TypeVar("T")

BEGINNING = 120  # characters of a turn's user message
LAST = 2**62  # above every number and time of a row
FILTERS = "/* filters */"  # in a statement: where the conditions of a filter stand
# What a filter asks of a row, in every database's SQL. A saving that nobody could see is none.
CONDITIONS: Mapping[str, str] = {
    "model": "ledger.model = {}",
    "route": "ledger.route = {}",
    "source": "ledger.source = {}",
    "plan": f"ledger.plan = {{}} AND ledger.source = 'upstream' AND ledger.route = '{MANAGED_ROUTE}'",
    "unmanaged": f"ledger.route <> '{MANAGED_ROUTE}'",
    "failed": "ledger.status >= 400 OR ledger.outcome IN ('upstream_broken', 'upstream_error', 'our_error')",
    "dearer": "ledger.cost_saved < -0.0000000005",
    "since": "ledger.at >= {}",
    "until": "ledger.at < {}",
}


@dataclass(frozen=True, slots=True)
class AccountStatements:
    """The statements of accounts in one kind of database. A list ends at `limit`; what comes by time or number is from
    before `before`."""

    parameter: str  # how a statement names a value

    # By `first`, `past` (beginnings of buckets), `width` and `scope` or None: beginning, name, SUMS.
    buckets: Mapping[Dimension, str]
    buckets_of_tenant: Mapping[Dimension, str]  # the same, `scope` being a tenant
    scopes: str  # scope, time of its last request; latest first
    scopes_of_tenant: str  # the same, of the tenant `scope`
    # READ of the ledger, newest first, by `scope` and `session`, from number `first` on; FILTERS stands for more.
    rows: Mapping[Whose, str]
    at: str  # number and time of the first row from `number` on
    row: str  # READ, by `request` and `scope`
    row_of_any: str  # READ, by `request`
    between: str  # READ, by `scope`, `session`, `start` and `end`; oldest first
    until: str  # the sums of MEASURES, by `scope`, `session` and `end`
    last: str  # the highest number of a row, or NULL
    # Scope, session, times of its first and last request, SUMS; latest first.
    sessions: str
    sessions_of_scope: str  # the same, by `scope`
    sessions_of_tenant: str  # the same, of the tenant `scope`
    # Scope, session, beginning of its first question, of those in `wanted`, JSON, or in the lists `scopes` and
    # `sessions`.
    questions: str
    turns: str  # link, parent, turn, time, beginning of the user message; by `scope` and `session`, newest first


class DatabaseAccounts(Store):
    """The `Accounts` of a database: each read is one statement."""

    def __init__(self, database: Database, statements: AccountStatements) -> None:
        super().__init__(database)
        self._statements = statements

    async def buckets(
        self, start: float, end: float, width: Width, scope: str | None = None, by: Dimension = ""
    ) -> list[Bucket]:
        values = {"first": _aligned(start, width), "past": _aligned(end, width), "width": width, "scope": scope}
        of_tenant = scope is not None and is_tenant(scope)
        statements = self._statements.buckets_of_tenant if of_tenant else self._statements.buckets
        return await self._rows(statements[by], values, lambda row: Bucket(float(row[0]), row[1], Sums(*row[2:])))

    async def scopes(
        self, limit: int = 200, before: float | None = None, tenant: str | None = None
    ) -> list[tuple[str, float]]:
        values = {"limit": max(0, limit), "before": LAST if before is None else before, "scope": tenant}
        statement = self._statements.scopes if tenant is None else self._statements.scopes_of_tenant
        return await self._rows(statement, values, lambda row: (row[0], row[1]))

    async def rows(
        self,
        *,
        scope: str | None = None,
        session: str | None = None,
        before: int | None = None,
        limit: int = 100,
        like: RowFilter = ANY_ROW,
        first: int = 0,
    ) -> list[tuple[int, LedgerRow]]:
        asked = {name: value for name in CONDITIONS if (value := getattr(like, name)) is not None}
        more = "".join(f" AND ({self._condition(name, value)})" for name, value in asked.items())
        statement = self._statements.rows[whose(scope, session)].replace(FILTERS, more)
        values = {"scope": scope, "session": session, "limit": max(0, limit), "first": first, **asked}
        values["before"] = LAST if before is None else before
        return await self._rows(statement, values, numbered)

    def _condition(self, name: str, value: object) -> str:
        condition = CONDITIONS[name]
        if isinstance(value, bool):
            return condition if value else f"NOT ({condition})"
        return condition.format(self._statements.parameter.format(name))

    async def number_at(self, at: float) -> int:
        low, high = 0, await self.last() + 1  # the number is in [low, high]
        while low < high:
            middle = (low + high) // 2
            found = await self._rows(self._statements.at, {"number": middle}, lambda row: (int(row[0]), float(row[1])))
            if not found or found[0][1] >= at:
                high = middle
            else:
                low = found[0][0] + 1
        return low

    async def row(self, request_id: str, scope: str | None = None) -> LedgerRow | None:
        of_many = scope is None or is_tenant(scope)
        statement = self._statements.row_of_any if of_many else self._statements.row
        values = {"request": request_id, "scope": scope}
        found = next(iter(await self._rows(statement, values, lambda row: numbered(row)[1])), None)
        is_other = found is not None and scope is not None and of_many and tenant_of(found.scope) != scope
        return None if is_other else found

    async def between(self, scope: str, session: str, start: float, end: float) -> list[LedgerRow]:
        values = {"scope": scope, "session": session, "start": start, "end": end}
        return await self._rows(self._statements.between, values, lambda row: numbered(row)[1])

    async def until(self, scope: str, session: str, end: float) -> Sums:
        values = {"scope": scope, "session": session, "end": end}
        return (await self._rows(self._statements.until, values, lambda row: Sums(*row)))[0]

    async def last(self) -> int:
        return (await self._rows(self._statements.last, (), itemgetter(0)))[0] or 0

    async def sessions(
        self, *, scope: str | None = None, before: float | None = None, limit: int = 50
    ) -> list[SessionCard]:
        statement = {
            "everybody": self._statements.sessions,
            "tenant": self._statements.sessions_of_tenant,
        }.get(whose(scope, None), self._statements.sessions_of_scope)
        values = {"scope": scope, "before": LAST if before is None else before, "limit": max(0, limit)}
        return await self._rows(statement, values, _card)

    async def questions(self, sessions: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
        wanted = sorted(set(sessions))
        values = {
            "wanted": msgspec.json.encode(wanted).decode(),
            "scopes": [scope for scope, _ in wanted],
            "sessions": [session for _, session in wanted],
        }
        found = await self._rows(self._statements.questions, values, tuple)
        return {(scope, session): question for scope, session, question in found if question}

    async def turns(self, scope: str, session: str, limit: int = 2_000) -> list[TurnCard]:
        values = {"scope": scope, "session": session, "limit": max(0, limit)}
        return (await self._rows(self._statements.turns, values, lambda row: TurnCard(*row)))[::-1]

    async def _rows(self, statement: str, values: Values, of: Callable[[Sequence[Any]], T]) -> list[T]:
        return await self._database.rows(statement, values, of, LONG_SECONDS)


def _card(row: Sequence[Any]) -> SessionCard:
    scope, session, first_at, last_at, *sums = row
    return SessionCard(scope, session, first_at, last_at, Sums(*sums))


def _aligned(at: float, width: int) -> int:
    """Returns the beginning of the first bucket that does not begin before `at`."""
    return int(-(-at // width)) * width
