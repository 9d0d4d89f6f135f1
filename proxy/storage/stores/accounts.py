"""Reads for administration: ledger rows, sums and lists of conversations. However many requests there were, a
statement reads what it returns and little more: rows by an index, sums by the buckets of the span, scopes from one to
the next. No request waits for any of it. The statements are those of a kind of database.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeVar

from proxy.storage.base import Dimension, Width
from proxy.storage.database import LONG_SECONDS, Database, Store, Values
from proxy.storage.pending import tenant_of
from proxy.storage.stores.ledger import numbered
from proxy.storage.stores.whose import Whose, is_tenant, whose
from proxy.types import Bucket, LedgerRow, SessionCard, Sums, TurnCard

T = TypeVar("T")

BEGINNING = 120  # characters of a turn's user message
LAST = 2**62  # above every number and time of a row


@dataclass(frozen=True, slots=True)
class AccountStatements:
    """The statements of accounts in one kind of database. A list ends at `limit`; what comes by time or number is from
    before `before`."""

    # By `first`, `past` (beginnings of buckets), `width` and `scope` or None: beginning, name, SUMS.
    buckets: Mapping[Dimension, str]
    buckets_of_tenant: Mapping[Dimension, str]  # the same, `scope` being a tenant
    scopes: str  # scope, time of its last request; latest first
    scopes_of_tenant: str  # the same, of the tenant `scope`
    rows: Mapping[Whose, str]  # READ of the ledger, newest first, by `scope` and `session`
    row: str  # READ, by `request` and `scope`
    row_of_any: str  # READ, by `request`
    between: str  # READ, by `scope`, `session`, `start` and `end`; oldest first
    until: str  # the sums of MEASURES, by `scope`, `session` and `end`
    last: str  # the highest number of a row, or NULL
    # Scope, session, times of its first and last request, SUMS; latest first.
    sessions: str
    sessions_of_scope: str  # the same, by `scope`
    sessions_of_tenant: str  # the same, of the tenant `scope`
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
    ) -> list[tuple[int, LedgerRow]]:
        values = {"scope": scope, "session": session, "limit": max(0, limit)}
        values["before"] = LAST if before is None else before
        return await self._rows(self._statements.rows[whose(scope, session)], values, numbered)

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
