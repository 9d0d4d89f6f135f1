"""Ledger rows, sums and lists of conversations for the page, from SQLite. However many requests there were, a statement
reads what it returns and little more: rows by an index, sums by the buckets of the span, scopes from one to the
next."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, get_args

from proxy.storage.base import Dimension, Width
from proxy.storage.sqlite.database import OWNERS, SCOPE_ID, Store, rows_of, whose
from proxy.storage.sqlite.ledger import READ, SUMS, numbered
from proxy.types import Bucket, LedgerRow, SessionCard, Sums, TurnCard

BEGINNING = 120  # characters of a turn's user message
LAST = 2**62  # above every number and time of a row

_LISTED = ", ".join(SUMS)


def _buckets(by: Dimension) -> str:
    """Returns the statement of `Accounts.buckets`: a look-up for every bucket of the span, and for every minute that is
    not in its hour and day yet."""
    return f"""
        WITH RECURSIVE
            span (first, past) AS (
                SELECT
                    max(:first, (SELECT min(at) FROM rollups WHERE width = :width)),
                    min(:past, (SELECT max(at) FROM rollups WHERE width = 60) + :width)
            ),
            buckets (at) AS (
                SELECT first FROM span WHERE first < past
                UNION ALL
                SELECT at + :width FROM buckets WHERE at + :width < (SELECT past FROM span)
            ),
            fresh (first, past) AS (
                SELECT
                    max(:first, (SELECT condensed FROM rollup_progress), (
                        SELECT min(at) FROM rollups
                        WHERE width = 60 AND at >= (SELECT condensed FROM rollup_progress)
                    )),
                    min(:past, (SELECT max(at) + 60 FROM rollups WHERE width = 60))
                WHERE :width > 60
            ),
            minutes (at) AS (
                SELECT first FROM fresh WHERE first < past
                UNION ALL
                SELECT at + 60 FROM minutes WHERE at + 60 < (SELECT past FROM fresh)
            ),
            found AS (
                SELECT rollups.* FROM buckets
                CROSS JOIN rollups
                    ON rollups.width = :width AND rollups.at = buckets.at AND rollups.scope_id = {_OWNER}
                UNION ALL
                SELECT rollups.* FROM minutes
                CROSS JOIN rollups ON rollups.width = 60 AND rollups.at = minutes.at AND rollups.scope_id = {_OWNER}
            )
        SELECT found.at / :width * :width, {"''" if by == "" else "rollup_labels.name"},
            {", ".join(f"sum(found.{name})" for name in SUMS)}
        FROM found {"" if by == "" else f"CROSS JOIN rollup_labels ON rollup_labels.id = found.{by}"}
        GROUP BY 1, 2 ORDER BY 1, 2
    """  # noqa: S608 (our own text)


_OWNER = f"iif(:scope IS NULL, 0, coalesce({SCOPE_ID}, -1))"
BUCKETS: Mapping[Dimension, str] = {by: _buckets(by) for by in get_args(Dimension)}

SCOPES = f"""
    WITH RECURSIVE {OWNERS}
    SELECT scopes.name, (SELECT max(last_at) FROM session_sums WHERE scope_id = owners.id) AS last
    FROM owners CROSS JOIN scopes USING (id) WHERE last < :before ORDER BY last DESC, scopes.name LIMIT :limit
"""  # noqa: S608 (our own text)

_ROWS = f"SELECT {READ} FROM ledger CROSS JOIN scopes ON scopes.id = ledger.scope_id"  # noqa: S608 (same)
ROWS_BEFORE = {
    whose: f"{_ROWS} WHERE {found} AND ledger.id < :before ORDER BY ledger.id DESC LIMIT :limit"
    for whose, found in rows_of("ledger").items()
}
ROWS_AFTER = {
    whose: f"{_ROWS} WHERE {found} AND ledger.id > :after AND ledger.id < :before ORDER BY ledger.id LIMIT :limit"
    for whose, found in rows_of("ledger").items()
}
ROW = f"{_ROWS} WHERE ledger.scope_id = {SCOPE_ID} AND ledger.request_id = :request"
ROW_OF_ANY = f"""
    WITH RECURSIVE {OWNERS}
    SELECT {READ} FROM owners
    CROSS JOIN ledger ON ledger.scope_id = owners.id AND ledger.request_id = :request
    CROSS JOIN scopes ON scopes.id = ledger.scope_id
    LIMIT 1
"""  # noqa: S608 (same)
LAST_ROW = "SELECT max(id) FROM ledger"

_CARDS = f"""
    SELECT scopes.name, sessions.name, first_at, last_at, {_LISTED}
    FROM session_sums CROSS JOIN sessions ON sessions.id = session_sums.session_id
    CROSS JOIN scopes ON scopes.id = session_sums.scope_id
"""  # noqa: S608 (same)
SESSIONS = f"{_CARDS} WHERE last_at < :before ORDER BY last_at DESC LIMIT :limit"
SESSIONS_OF_SCOPE = f"""
    {_CARDS} WHERE session_sums.scope_id = {SCOPE_ID} AND last_at < :before ORDER BY last_at DESC LIMIT :limit
"""

TURNS = f"""
    SELECT archive.link, archive.parent, archive.turn, archive.at,
        substr(iif(utterances ->> '$[0].role' = 'user', utterances ->> '$[0].text', ''), 1, {BEGINNING})
    FROM sessions CROSS JOIN archive ON archive.session_id = sessions.id
    WHERE sessions.scope_id = {SCOPE_ID} AND sessions.name = :session
    ORDER BY archive.at DESC, archive.turn DESC LIMIT :limit
"""  # noqa: S608 (same)


class SqliteAccounts(Store):
    """Accounts in SQLite: each read is one statement."""

    async def buckets(
        self, start: float, end: float, width: Width, scope: str | None = None, by: Dimension = ""
    ) -> list[Bucket]:
        values = {"first": _aligned(start, width), "past": _aligned(end, width), "width": width, "scope": scope}
        return await self._database.rows(BUCKETS[by], values, lambda row: Bucket(float(row[0]), row[1], Sums(*row[2:])))

    async def scopes(self, limit: int = 200, before: float | None = None) -> list[tuple[str, float]]:
        values = {"limit": max(0, limit), "before": LAST if before is None else before}
        return await self._database.rows(SCOPES, values, lambda row: (row[0], row[1]))

    async def rows(
        self,
        *,
        scope: str | None = None,
        session: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> list[tuple[int, LedgerRow]]:
        values = {"scope": scope, "session": session, "limit": max(0, limit), "after": after}
        values["before"] = LAST if before is None else before
        statements = ROWS_BEFORE if after is None else ROWS_AFTER
        return await self._database.rows(statements[whose(scope, session)], values, numbered)

    async def row(self, request_id: str, scope: str | None = None) -> LedgerRow | None:
        statement = ROW_OF_ANY if scope is None else ROW
        values = {"request": request_id, "scope": scope}
        return await self._database.row(statement, values, lambda row: numbered(row)[1])

    async def last(self) -> int:
        return await self._database.row(LAST_ROW, (), itemgetter(0)) or 0

    async def sessions(
        self, *, scope: str | None = None, before: float | None = None, limit: int = 50
    ) -> list[SessionCard]:
        statement = SESSIONS if scope is None else SESSIONS_OF_SCOPE
        values = {"scope": scope, "before": LAST if before is None else before, "limit": max(0, limit)}
        return await self._database.rows(statement, values, _card)

    async def turns(self, scope: str, session: str, limit: int = 2_000) -> list[TurnCard]:
        values = {"scope": scope, "session": session, "limit": max(0, limit)}
        return (await self._database.rows(TURNS, values, lambda row: TurnCard(*row)))[::-1]


def _card(row: Sequence[Any]) -> SessionCard:
    scope, session, first_at, last_at, *sums = row
    return SessionCard(scope, session, first_at, last_at, Sums(*sums))


def _aligned(at: float, width: int) -> int:
    """Returns the beginning of the first bucket that does not begin before `at`."""
    return int(-(-at // width)) * width
