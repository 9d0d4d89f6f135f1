"""Reads for administration, from PostgreSQL. Where the planner could choose to read a whole table, a statement leaves
it no choice: look-ups are `LATERAL … OFFSET 0`, what is compared with an array is looked up by an index."""

from collections.abc import Mapping
from dataclasses import fields
from typing import get_args

from proxy.storage.accounts import Dimension
from proxy.storage.database import Database
from proxy.storage.postgres.names import SCOPE_ID
from proxy.storage.stores.accounts import BEGINNING, FILTERS, AccountStatements, DatabaseAccounts
from proxy.storage.stores.ledger import COLUMNS, ENCODED, MEASURES, READ, SUMS
from proxy.storage.stores.whose import OWNERS, SCOPES_OF_TENANT, Whose
from proxy.types import Sums

_OWNER = f"SELECT CASE WHEN %(scope)s::text IS NULL THEN 0 ELSE coalesce({SCOPE_ID}, -1) END"
_LISTED = ", ".join(f'session_sums."{name}"' for name in SUMS)


TENANT_IDS = SCOPES_OF_TENANT.format("%(scope)s")


def rows_of(table: str) -> Mapping[Whose, str]:
    """Returns the conditions of a table's rows, by whose they are: `scope`, `session`."""
    return {
        "everybody": "true",
        "scope": f"{table}.scope_id = {SCOPE_ID}",
        "session": f"""{table}.session_id = ANY(ARRAY(
            WITH RECURSIVE {OWNERS}
            SELECT sessions.id FROM owners JOIN sessions ON sessions.scope_id = owners.id
            WHERE sessions.name = %(session)s
        ))""",  # noqa: S608 (our own names)
        "scope's session": f"""{table}.session_id = (
            SELECT id FROM sessions WHERE scope_id = {SCOPE_ID} AND name = %(session)s
        )""",  # noqa: S608 (our own names)
        "tenant": f"{table}.scope_id = ANY(ARRAY({TENANT_IDS}))",
        "tenant's session": f"""{table}.session_id = ANY(ARRAY(
            SELECT sessions.id FROM sessions
            WHERE sessions.scope_id = ANY(ARRAY({TENANT_IDS})) AND sessions.name = %(session)s
        ))""",  # noqa: S608 (our own names)
    }


def _buckets(by: Dimension, owner: str) -> str:
    """Returns the statement of `Accounts.buckets`: a look-up for every bucket of the span, and for every minute that is
    not in its hour and day yet. `owner`: selects the ids of its scopes."""
    found = """
        CROSS JOIN LATERAL (
            SELECT * FROM rollups
            WHERE width = {width} AND at = {buckets}.at AND scope_id = ANY(ARRAY(SELECT id FROM owner)) OFFSET 0
        ) AS found
    """
    return f"""
        WITH
            asked (first, past, width) AS (SELECT %(first)s::bigint, %(past)s::bigint, %(width)s::bigint),
            owner (id) AS MATERIALIZED ({owner}),
            progress (condensed, beginning, oldest, newest) AS MATERIALIZED (
                SELECT
                    condensed,
                    (SELECT min(at) FROM rollups WHERE width = %(width)s),
                    (SELECT min(at) FROM rollups WHERE width = 60 AND at >= condensed),
                    (SELECT max(at) FROM rollups WHERE width = 60)
                FROM rollup_progress
            ),
            buckets (at) AS (
                SELECT generate_series(greatest(first, beginning), least(past, newest + width) - 1, width)
                FROM asked CROSS JOIN progress WHERE beginning IS NOT NULL AND newest IS NOT NULL
            ),
            minutes (at) AS (
                SELECT generate_series(greatest(first, condensed, oldest), least(past, newest + 60) - 1, 60)
                FROM asked CROSS JOIN progress WHERE width > 60 AND oldest IS NOT NULL
            ),
            looked_up AS (
                SELECT found.* FROM buckets {found.format(width="%(width)s", buckets="buckets")}
                UNION ALL
                SELECT found.* FROM minutes {found.format(width="60", buckets="minutes")}
            )
        SELECT looked_up.at / %(width)s::bigint * %(width)s::bigint,
            {"''" if by == "" else 'rollup_labels.name COLLATE "C"'},
            {", ".join(_sum(name) for name in SUMS)}
        FROM looked_up {"" if by == "" else f"JOIN rollup_labels ON rollup_labels.id = looked_up.{by}"}
        GROUP BY 1, 2 ORDER BY 1, 2
    """  # noqa: S608 (our own text)


def _sum(name: str) -> str:
    """Returns the SQL of a sum: of whole numbers PostgreSQL makes a decimal."""
    return _sum_of(name, f'sum("{name}")')


def _sum_of(name: str, added_up: str) -> str:
    return f"({added_up})::{'float8' if isinstance(_DEFAULTS[name], float) else 'bigint'}"


_DEFAULTS = {each.name: each.default for each in fields(Sums)}
BUCKETS: Mapping[Dimension, str] = {by: _buckets(by, _OWNER) for by in get_args(Dimension)}
BUCKETS_OF_TENANT = {by: _buckets(by, TENANT_IDS) for by in get_args(Dimension)}

_ROWS = f"SELECT {READ} FROM ledger JOIN scopes ON scopes.id = ledger.scope_id"  # noqa: S608 (same)
_OF_SESSION = rows_of("ledger")["scope's session"]
_MEASURED = tuple(zip(SUMS, MEASURES, strict=True))
_CARDS = f"""
    SELECT scopes.name, sessions.name, first_at, last_at, {_LISTED}
    FROM session_sums JOIN sessions ON sessions.id = session_sums.session_id
    JOIN scopes ON scopes.id = session_sums.scope_id
"""  # noqa: S608 (same)
# JSON of PostgreSQL cannot give a text with a NUL, which stands there as an escape: that is written as `connection.py`
# writes it. A backslash of the text itself is two in JSON.
_SAID = r"""
    CASE WHEN strpos(utterances, '\u0000') > 0
        THEN regexp_replace(utterances, '(?<!\\)((\\\\)*)\\u0000', '\1' || chr(64976) || chr(64977), 'g')
        ELSE utterances
    END::json -> 0
"""

STATEMENTS = AccountStatements(
    parameter="%({})s",
    buckets=BUCKETS,
    buckets_of_tenant=BUCKETS_OF_TENANT,
    scopes=f"""
        WITH RECURSIVE {OWNERS}
        SELECT scopes.name, latest.at FROM owners JOIN scopes USING (id)
        CROSS JOIN LATERAL (SELECT max(last_at) AS at FROM session_sums WHERE scope_id = owners.id) AS latest
        WHERE latest.at < %(before)s ORDER BY latest.at DESC, scopes.name COLLATE "C" LIMIT %(limit)s
    """,  # noqa: S608 (same)
    scopes_of_tenant=f"""
        SELECT scopes.name, max(last_at) FROM session_sums JOIN scopes ON scopes.id = session_sums.scope_id
        WHERE session_sums.scope_id = ANY(ARRAY({TENANT_IDS}))
        GROUP BY scopes.name HAVING max(last_at) < %(before)s
        ORDER BY max(last_at) DESC, scopes.name COLLATE "C" LIMIT %(limit)s
    """,  # noqa: S608 (same)
    rows={
        whose: f"""
            {_ROWS} WHERE {found} AND ledger.id < %(before)s AND ledger.id >= %(first)s{FILTERS}
            ORDER BY ledger.id DESC LIMIT %(limit)s
        """
        for whose, found in rows_of("ledger").items()
    },
    row=f"{_ROWS} WHERE ledger.scope_id = {SCOPE_ID} AND ledger.request_id = %(request)s",
    row_of_any=f"""
        WITH RECURSIVE {OWNERS}
        SELECT {READ} FROM owners
        CROSS JOIN LATERAL (
            SELECT * FROM ledger WHERE scope_id = owners.id AND request_id = %(request)s OFFSET 0
        ) AS ledger
        JOIN scopes ON scopes.id = ledger.scope_id LIMIT 1
    """,  # noqa: S608 (same)
    between=f"""
        {_ROWS} WHERE {_OF_SESSION} AND ledger.at BETWEEN %(start)s AND %(end)s ORDER BY ledger.at, ledger.id
    """,
    until=f"""
        SELECT {", ".join(_sum_of(name, f"coalesce(sum({measure}), 0)") for name, measure in _MEASURED)}
        FROM (
            SELECT {", ".join(name for name in COLUMNS if name not in ENCODED)}, mechanisms::jsonb AS mechanisms
            FROM ledger WHERE {_OF_SESSION} AND ledger.at <= %(end)s
        ) AS theirs
    """,  # noqa: S608 (same)
    last="SELECT max(id) FROM ledger",
    at="SELECT id, at FROM ledger WHERE id >= %(number)s ORDER BY id LIMIT 1",
    sessions=f"{_CARDS} WHERE requests > 0 AND last_at < %(before)s ORDER BY last_at DESC LIMIT %(limit)s",
    sessions_of_tenant=f"""
        {_CARDS} WHERE session_sums.scope_id = ANY(ARRAY({TENANT_IDS})) AND requests > 0 AND last_at < %(before)s
        ORDER BY last_at DESC LIMIT %(limit)s
    """,
    sessions_of_scope=f"""
        {_CARDS} WHERE session_sums.scope_id = {SCOPE_ID} AND requests > 0 AND last_at < %(before)s
        ORDER BY last_at DESC LIMIT %(limit)s
    """,
    questions=f"""
        SELECT scopes.name, sessions.name,
            CASE WHEN said ->> 'role' = 'user' THEN left(said ->> 'text', {BEGINNING}) ELSE '' END
        FROM unnest(%(scopes)s::text[], %(sessions)s::text[]) AS wanted (scope, session)
        JOIN scopes ON scopes.name = wanted.scope
        JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = wanted.session
        CROSS JOIN LATERAL (
            SELECT utterances FROM archive WHERE session_id = sessions.id AND at IS NOT NULL ORDER BY at, turn LIMIT 1
        ) AS first
        CROSS JOIN LATERAL (SELECT {_SAID} AS said OFFSET 0) AS spoken
    """,  # noqa: S608 (same)
    turns=f"""
        SELECT archive.link, archive.parent, archive.turn, archive.at,
            CASE WHEN said ->> 'role' = 'user' THEN left(said ->> 'text', {BEGINNING}) ELSE '' END
        FROM sessions JOIN archive ON archive.session_id = sessions.id
        CROSS JOIN LATERAL (SELECT {_SAID} AS said OFFSET 0) AS first
        WHERE sessions.scope_id = {SCOPE_ID} AND sessions.name = %(session)s
        ORDER BY archive.at DESC, archive.turn DESC LIMIT %(limit)s
    """,  # noqa: S608 (same)
)


class PostgresAccounts(DatabaseAccounts):
    """Accounts in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
