"""The ledger in PostgreSQL.

Every row adds to the buckets of all scopes, so that the batches of all processes would wait for each other there, each
at a row of its own. They take one lock instead, for as long as a statement and the end of the transaction take: no two
wait for each other in a circle, and numbers of rows grow in the order in which rows become visible, as a reader needs
that asks for what came after the last number it has seen. Whatever else a batch waits for, it waits for before
(`Writer` applies the ledger last).
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import attrgetter

from proxy.storage.accounts import LONGEST_NAME, OTHER
from proxy.storage.database import Database
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.migrating import LEDGER_LOCK
from proxy.storage.postgres.names import SCOPE_ID, add_names
from proxy.storage.stores.keys import MEASURES as KEY_MEASURES
from proxy.storage.stores.keys import MORE as MORE_KEY_SUMS
from proxy.storage.stores.keys import SUMMED as KEY_SUMS
from proxy.storage.stores.keys import TENANT
from proxy.storage.stores.ledger import (
    COLUMNS,
    ENCODED,
    MEASURES,
    MINUTE,
    READ,
    SUMS,
    UNANSWERED_ROWS,
    DatabaseLedger,
    LedgerStatements,
    encoded,
)
from proxy.types import UNANSWERED, LedgerRow

_TOLD = ("scope", *COLUMNS)
_TYPES: Mapping[object, str] = {int: "bigint", bool: "bigint", float: "float8"}  # any other is a text
_OF = {field.name: _TYPES.get(field.type, "text") for field in fields(LedgerRow)}
_ARRAYS = ", ".join(f"%s::{_OF[name]}[]" for name in _TOLD)
_LISTED = ", ".join(f'"{name}"' for name in SUMS)
_ADDED_UP = ", ".join(f'sum("{name}")' for name in SUMS)
_KEY = "width, at, scope_id, model, upstream, source, plan, route"

# A process that stops on its way (its machine freezes) has its transaction ended by the server, not waited for by all.
LOCK = b"SELECT set_config('idle_in_transaction_session_timeout', '10s', true), pg_advisory_xact_lock(%s)"
ADD_LABELS = b"INSERT INTO rollup_labels (name) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING"


def _more(table: str) -> str:
    return ", ".join(f'"{name}" = {table}."{name}" + excluded."{name}"' for name in SUMS)


# The rows, and what they add to the sums, by one statement: in it, nothing but `added` says which rows are new. An
# upsert may touch a row once, so rows are added up before; `json` stands for a row's mechanisms.
ADD_ROWS = f"""
    WITH
        told AS (SELECT * FROM unnest({_ARRAYS}) WITH ORDINALITY AS told ({", ".join(_TOLD)}, place)),
        added AS (
            INSERT INTO ledger (scope_id, session_id, {", ".join(COLUMNS)})
            SELECT scopes.id, sessions.id, {", ".join(f"told.{name}" for name in COLUMNS)}
            FROM told JOIN scopes ON scopes.name = told.scope
            JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = told.session
            ORDER BY told.place
            ON CONFLICT (scope_id, request_id) DO NOTHING
            RETURNING *
        ),
        parsed AS (
            SELECT scope_id, session_id, {", ".join(name for name in COLUMNS if name not in ENCODED)},
                mechanisms::jsonb AS mechanisms
            FROM added
        ),
        measured ({_KEY.removeprefix("width, ")}, session_id, moment, {_LISTED}) AS MATERIALIZED (
            SELECT trunc(at)::bigint, scope_id,
                coalesce(models.id, (SELECT id FROM rollup_labels WHERE name = '{OTHER}')),
                upstreams.id, sources.id, plans.id, routes.id, session_id, at, {", ".join(MEASURES)}
            FROM parsed
            LEFT JOIN rollup_labels AS models ON models.name = parsed.model
            JOIN rollup_labels AS upstreams ON upstreams.name = parsed.upstream
            JOIN rollup_labels AS sources ON sources.name = parsed.source
            JOIN rollup_labels AS plans ON plans.name = parsed.plan
            JOIN rollup_labels AS routes ON routes.name = parsed.route
        ),
        rolled AS (
            INSERT INTO rollups ({_KEY}, {_LISTED})
            SELECT widths.width, at / widths.width * widths.width, whose.own * scope_id, model, upstream, source, plan,
                route, {_ADDED_UP}
            FROM measured
            CROSS JOIN (VALUES (0), (1)) AS whose (own)
            CROSS JOIN (VALUES (60), (3600), (86400)) AS widths (width)
            WHERE widths.width = {MINUTE} OR moment < (SELECT condensed FROM rollup_progress)
            GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
            ON CONFLICT ({_KEY}) DO UPDATE SET {_more("rollups")}
        ),
        spent AS (
            INSERT INTO key_sums (tenant, day, {", ".join(KEY_SUMS)})
            SELECT left(scopes.name, {TENANT}), trunc(at)::bigint / 86400,
                {", ".join(f"sum({measure})" for measure in KEY_MEASURES)}
            FROM added JOIN scopes ON scopes.id = added.scope_id
            WHERE substr(scopes.name, {TENANT + 1}, 1) = '/'
            GROUP BY 1, 2
            ON CONFLICT (tenant, day) DO UPDATE SET {MORE_KEY_SUMS}
        )
    INSERT INTO session_sums (session_id, scope_id, first_at, last_at, {_LISTED})
    SELECT session_id, scope_id, min(moment), max(moment), {_ADDED_UP} FROM measured GROUP BY session_id, scope_id
    ON CONFLICT (session_id) DO UPDATE SET
        first_at = least(session_sums.first_at, excluded.first_at),
        last_at = greatest(session_sums.last_at, excluded.last_at),
        {_more("session_sums")}
""".encode()  # noqa: S608 (our own text)
# Deletes all but the newest rows of a scope; the sums have them by then.
SHORTEN = f"""
    DELETE FROM ledger WHERE scope_id = {SCOPE_ID} AND id <= (
        SELECT id FROM ledger WHERE scope_id = {SCOPE_ID} ORDER BY id DESC LIMIT 1 OFFSET %(kept)s
    )
""".encode()  # noqa: S608 (same)

# The end of the next minute that is not in its hour and day yet; and adding it to them.
NEXT_MINUTE = f"""
    SELECT min(at) + {MINUTE} FROM rollups
    WHERE width = {MINUTE} AND at >= (SELECT condensed FROM rollup_progress) AND at < %(until)s
""".encode()  # noqa: S608 (same)
CONDENSE = f"""
    INSERT INTO rollups ({_KEY}, {_LISTED})
    SELECT widths.width, minutes.at / widths.width * widths.width, minutes.scope_id, minutes.model, minutes.upstream,
        minutes.source, minutes.plan, minutes.route, {", ".join(f'minutes."{name}"' for name in SUMS)}
    FROM rollups AS minutes CROSS JOIN (VALUES (3600), (86400)) AS widths (width)
    WHERE minutes.width = {MINUTE} AND minutes.at = %(minute)s
    ON CONFLICT ({_KEY}) DO UPDATE SET {_more("rollups")}
""".encode()  # noqa: S608 (same)
CONDENSED = b"UPDATE rollup_progress SET condensed = greatest(condensed, %(until)s::bigint)"

_plain = attrgetter(*_TOLD[: -len(ENCODED)])


def add_rows(connection: Connection, rows: Sequence[LedgerRow]) -> None:
    """Writes rows and adds them to the sums, except those whose request is known already."""
    add_names(connection, ((row.scope, row.session) for row in rows))
    columns = zip(*((*_plain(row), *encoded(row)) for row in rows), strict=True)
    with connection.pipeline():
        connection.execute(ADD_LABELS, (_labels(rows),))
        connection.execute(LOCK, (LEDGER_LOCK,))
        connection.execute(ADD_ROWS, [list(column) for column in columns])
        if any(row.scope == UNANSWERED for row in rows):
            connection.execute(SHORTEN, {"scope": UNANSWERED, "kept": UNANSWERED_ROWS})


def _labels(rows: Sequence[LedgerRow]) -> list[str]:
    models = {row.model for row in rows if 200 <= row.status <= 299 and len(row.model) <= LONGEST_NAME}
    return sorted(models.union(*((row.upstream, row.source, row.plan, row.route) for row in rows)))


def condense(connection: Connection, until: float) -> int:
    """Adds the next minute to its hour and day. Returns 1, or 0 if none ends by `until`."""
    whole = int(until) // MINUTE * MINUTE
    connection.execute(LOCK, (LEDGER_LOCK,))
    ((end,),) = connection.execute(NEXT_MINUTE, {"until": whole}).fetchall()
    if end is None:
        connection.execute(CONDENSED, {"until": whole})
        return 0
    connection.execute(CONDENSE, {"minute": end - MINUTE})
    connection.execute(CONDENSED, {"until": end})
    return 1


STATEMENTS = LedgerStatements(
    add=add_rows,
    recent=f"""
        SELECT {READ} FROM ledger JOIN scopes ON scopes.id = ledger.scope_id
        WHERE ledger.scope_id = {SCOPE_ID} ORDER BY ledger.id DESC LIMIT %(limit)s
    """,  # noqa: S608 (our own text)
    judged=f"""
        SELECT coalesce(sum(cost), 0.0) FROM ledger
        WHERE scope_id = {SCOPE_ID} AND reuse_reason = 'judge' AND at >= %(since)s
    """,  # noqa: S608 (same)
)


class PostgresLedger(DatabaseLedger):
    """The ledger in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
