"""Reads for administration, from SQLite."""

from collections.abc import Mapping
from typing import get_args

from proxy.storage.accounts import Dimension
from proxy.storage.database import Database
from proxy.storage.sqlite.names import SCOPE_ID, TENANT_IDS, rows_of
from proxy.storage.stores.accounts import BEGINNING, FILTERS, AccountStatements, DatabaseAccounts
from proxy.storage.stores.ledger import LISTED, MEASURES, READ, SUMS
from proxy.storage.stores.whose import OWNERS


def _buckets(by: Dimension, owner: str) -> str:
    """Returns the statement of `Accounts.buckets`: a look-up for every bucket of the span, and for every minute that is
    not in its hour and day yet. `owner`: the condition of its scopes."""
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
                    ON rollups.width = :width AND rollups.at = buckets.at AND rollups.scope_id {owner}
                UNION ALL
                SELECT rollups.* FROM minutes
                CROSS JOIN rollups ON rollups.width = 60 AND rollups.at = minutes.at AND rollups.scope_id {owner}
            )
        SELECT found.at / :width * :width, {"''" if by == "" else "rollup_labels.name"},
            {", ".join(f"sum(found.{name})" for name in SUMS)}
        FROM found {"" if by == "" else f"CROSS JOIN rollup_labels ON rollup_labels.id = found.{by}"}
        GROUP BY 1, 2 ORDER BY 1, 2
    """  # noqa: S608 (our own text)


_OWNER = f"= iif(:scope IS NULL, 0, coalesce({SCOPE_ID}, -1))"
BUCKETS: Mapping[Dimension, str] = {by: _buckets(by, _OWNER) for by in get_args(Dimension)}
BUCKETS_OF_TENANT = {by: _buckets(by, f"IN ({TENANT_IDS})") for by in get_args(Dimension)}

SCOPES = f"""
    WITH RECURSIVE {OWNERS}
    SELECT scopes.name, (SELECT max(last_at) FROM session_sums WHERE scope_id = owners.id) AS last
    FROM owners CROSS JOIN scopes USING (id) WHERE last < :before ORDER BY last DESC, scopes.name LIMIT :limit
"""  # noqa: S608 (our own text)

SCOPES_OF_TENANT = f"""
    SELECT scopes.name, max(last_at) AS last FROM session_sums CROSS JOIN scopes ON scopes.id = session_sums.scope_id
    WHERE session_sums.scope_id IN ({TENANT_IDS})
    GROUP BY scopes.name HAVING max(last_at) < :before ORDER BY last DESC, scopes.name LIMIT :limit
"""  # noqa: S608 (our own text)

_ROWS = f"SELECT {READ} FROM ledger CROSS JOIN scopes ON scopes.id = ledger.scope_id"  # noqa: S608 (same)
ROWS = {
    whose: f"""
        {_ROWS} WHERE {found} AND ledger.id < :before AND ledger.id >= :first{FILTERS}
        ORDER BY ledger.id DESC LIMIT :limit
    """
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
_OF_SESSION = rows_of("ledger")["scope's session"]
BETWEEN = f"{_ROWS} WHERE {_OF_SESSION} AND ledger.at BETWEEN :start AND :end ORDER BY ledger.at, ledger.id"
UNTIL = f"""
    SELECT {", ".join(f"coalesce(sum({measure}), 0)" for measure in MEASURES)}
    FROM ledger WHERE {_OF_SESSION} AND ledger.at <= :end
"""  # noqa: S608 (same)
LAST_ROW = "SELECT max(id) FROM ledger"
ROW_AT = "SELECT id, at FROM ledger WHERE id >= :number ORDER BY id LIMIT 1"

_CARDS = f"""
    SELECT scopes.name, sessions.name, first_at, last_at, {LISTED}
    FROM session_sums CROSS JOIN sessions ON sessions.id = session_sums.session_id
    CROSS JOIN scopes ON scopes.id = session_sums.scope_id
"""  # noqa: S608 (same)
# Not those that have only passed through.
SESSIONS = f"{_CARDS} WHERE requests > 0 AND last_at < :before ORDER BY last_at DESC LIMIT :limit"
SESSIONS_OF_TENANT = f"""
    {_CARDS} WHERE +session_sums.scope_id IN ({TENANT_IDS}) AND requests > 0 AND last_at < :before
    ORDER BY last_at DESC LIMIT :limit
"""
SESSIONS_OF_SCOPE = f"""
    {_CARDS} WHERE session_sums.scope_id = {SCOPE_ID} AND requests > 0 AND last_at < :before
    ORDER BY last_at DESC LIMIT :limit
"""

_SAID = f"substr(iif(utterances ->> '$[0].role' = 'user', utterances ->> '$[0].text', ''), 1, {BEGINNING})"
QUESTIONS = f"""
    SELECT scopes.name, sessions.name, (
        SELECT {_SAID} FROM archive
        WHERE archive.session_id = sessions.id AND archive.at IS NOT NULL ORDER BY archive.at, archive.turn LIMIT 1
    )
    FROM json_each(:wanted) AS wanted
    CROSS JOIN scopes ON scopes.name = wanted.value ->> '$[0]'
    CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = wanted.value ->> '$[1]'
"""  # noqa: S608 (same)
TURNS = f"""
    SELECT archive.link, archive.parent, archive.turn, archive.at, {_SAID}
    FROM sessions CROSS JOIN archive ON archive.session_id = sessions.id
    WHERE sessions.scope_id = {SCOPE_ID} AND sessions.name = :session
    ORDER BY archive.at DESC, archive.turn DESC LIMIT :limit
"""  # noqa: S608 (same)

STATEMENTS = AccountStatements(
    parameter=":{}",
    buckets=BUCKETS,
    buckets_of_tenant=BUCKETS_OF_TENANT,
    scopes=SCOPES,
    scopes_of_tenant=SCOPES_OF_TENANT,
    rows=ROWS,
    at=ROW_AT,
    row=ROW,
    row_of_any=ROW_OF_ANY,
    between=BETWEEN,
    until=UNTIL,
    last=LAST_ROW,
    sessions=SESSIONS,
    sessions_of_scope=SESSIONS_OF_SCOPE,
    sessions_of_tenant=SESSIONS_OF_TENANT,
    questions=QUESTIONS,
    turns=TURNS,
)


class SqliteAccounts(DatabaseAccounts):
    """Accounts in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
