"""The ledger in SQLite. Buckets are in the order of time: rows that are written now are neighbours, in a few pages of
the file, however many scopes there are.
"""

import sqlite3
from collections.abc import Sequence
from operator import attrgetter

from proxy.storage.accounts import LONGEST_NAME, OTHER
from proxy.storage.database import Database
from proxy.storage.sqlite.names import SCOPE_ID, add_names, put_rows
from proxy.storage.stores.keys import MEASURES as KEY_MEASURES
from proxy.storage.stores.keys import MORE as MORE_KEY_SUMS
from proxy.storage.stores.keys import SUMMED as KEY_SUMS
from proxy.storage.stores.keys import TENANT
from proxy.storage.stores.ledger import (
    COLUMNS,
    ENCODED,
    LISTED,
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

ADD_ROWS = f"""
    WITH told (scope, {", ".join(COLUMNS)}) AS ({{rows}})
    INSERT INTO ledger (scope_id, session_id, {", ".join(COLUMNS)})
    SELECT scopes.id, sessions.id, {", ".join(f"told.{name}" for name in COLUMNS)}
    FROM told CROSS JOIN scopes ON scopes.name = told.scope
    CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = told.session
    WHERE true
    ON CONFLICT (scope_id, request_id) DO NOTHING
"""  # noqa: S608 (our own column names)
# Deletes all but the newest rows of a scope; the sums have them by then.
SHORTEN = f"""
    DELETE FROM ledger WHERE scope_id = {SCOPE_ID}
        AND id <= (SELECT id FROM ledger WHERE scope_id = {SCOPE_ID} ORDER BY id DESC LIMIT 1 OFFSET :kept)
"""  # noqa: S608 (our own text)
RECENT = f"""
    SELECT {READ} FROM scopes CROSS JOIN ledger ON ledger.scope_id = scopes.id WHERE scopes.name = :scope
    ORDER BY ledger.id DESC LIMIT :limit
"""  # noqa: S608 (our own column names)
JUDGED = f"""
    SELECT coalesce(sum(cost), 0.0) FROM ledger
    WHERE scope_id = {SCOPE_ID} AND reuse_reason = 'judge' AND at >= :since
"""  # noqa: S608 (our own text)

_MORE = ", ".join(f"{name} = {name} + excluded.{name}" for name in SUMS)

ADD_LABELS = f"""
    INSERT INTO rollup_labels (name)
    SELECT model FROM ledger
    WHERE id > :after AND status BETWEEN 200 AND 299 AND length(model) <= {LONGEST_NAME}
    UNION SELECT upstream FROM ledger WHERE id > :after
    UNION SELECT source FROM ledger WHERE id > :after
    UNION SELECT plan FROM ledger WHERE id > :after
    UNION SELECT route FROM ledger WHERE id > :after
    ON CONFLICT DO NOTHING
"""  # noqa: S608 (our own text)
# A row at a time: an upsert costs less than sorting such wide rows into groups.
ADD_ROLLUPS = f"""
    INSERT INTO rollups (width, at, scope_id, model, upstream, source, plan, route, {LISTED})
    SELECT widths.width, CAST(ledger.at AS INTEGER) / widths.width * widths.width, whose.own * ledger.scope_id,
        coalesce(models.id, (SELECT id FROM rollup_labels WHERE name = '{OTHER}')),
        upstreams.id, sources.id, plans.id, routes.id, {", ".join(MEASURES)}
    FROM ledger NOT INDEXED
    LEFT JOIN rollup_labels AS models ON models.name = ledger.model
    CROSS JOIN rollup_labels AS upstreams ON upstreams.name = ledger.upstream
    CROSS JOIN rollup_labels AS sources ON sources.name = ledger.source
    CROSS JOIN rollup_labels AS plans ON plans.name = ledger.plan
    CROSS JOIN rollup_labels AS routes ON routes.name = ledger.route
    CROSS JOIN (SELECT 0 AS own UNION ALL SELECT 1) AS whose
    CROSS JOIN (SELECT 60 AS width UNION ALL SELECT 3600 UNION ALL SELECT 86400) AS widths
    WHERE ledger.id > :after AND (widths.width = 60 OR ledger.at < (SELECT condensed FROM rollup_progress))
    ON CONFLICT (width, at, scope_id, model, upstream, source, plan, route) DO UPDATE SET {_MORE}
"""  # noqa: S608 (our own text)
ADD_SESSION_SUMS = f"""
    INSERT INTO session_sums (session_id, scope_id, first_at, last_at, {LISTED})
    SELECT session_id, scope_id, at, at, {", ".join(MEASURES)}
    FROM ledger NOT INDEXED WHERE id > :after
    ON CONFLICT (session_id) DO UPDATE SET
        first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at), {_MORE}
"""  # noqa: S608 (our own text)
ADD_KEY_SUMS = f"""
    INSERT INTO key_sums (tenant, day, {", ".join(KEY_SUMS)})
    SELECT substr(scopes.name, 1, {TENANT}), CAST(ledger.at AS INTEGER) / 86400, {", ".join(KEY_MEASURES)}
    FROM ledger NOT INDEXED CROSS JOIN scopes ON scopes.id = ledger.scope_id
    WHERE ledger.id > :after AND substr(scopes.name, {TENANT + 1}, 1) = '/'
    ON CONFLICT (tenant, day) DO UPDATE SET {MORE_KEY_SUMS}
"""  # noqa: S608 (our own text)
NEWEST = "SELECT coalesce(max(id), 0) FROM ledger"

# The end of the next minute that is not in its hour and day yet; and adding it to them.
NEXT_MINUTE = f"""
    SELECT min(at) + {MINUTE} FROM rollups
    WHERE width = {MINUTE} AND at >= (SELECT condensed FROM rollup_progress) AND at < :until
"""  # noqa: S608 (our own text)
CONDENSE = f"""
    INSERT INTO rollups (width, at, scope_id, model, upstream, source, plan, route, {LISTED})
    SELECT widths.width, minutes.at / widths.width * widths.width, minutes.scope_id, minutes.model, minutes.upstream,
        minutes.source, minutes.plan, minutes.route, {", ".join(f"minutes.{name}" for name in SUMS)}
    FROM rollups AS minutes CROSS JOIN (SELECT 3600 AS width UNION ALL SELECT 86400) AS widths
    WHERE minutes.width = {MINUTE} AND minutes.at = :minute
    ON CONFLICT (width, at, scope_id, model, upstream, source, plan, route) DO UPDATE SET {_MORE}
"""  # noqa: S608 (our own text)
CONDENSED = "UPDATE rollup_progress SET condensed = max(condensed, :until)"

_plain = attrgetter("scope", *COLUMNS[: -len(ENCODED)])


def add_rows(connection: sqlite3.Connection, rows: Sequence[LedgerRow]) -> None:
    """Writes rows and adds them to the sums, except those whose request is known already."""
    add_names(connection, [(row.scope, row.session) for row in rows])
    after = {"after": connection.execute(NEWEST).fetchone()[0]}
    put_rows(connection, ADD_ROWS, [(*_plain(row), *encoded(row)) for row in rows])
    for statement in (ADD_LABELS, ADD_ROLLUPS, ADD_SESSION_SUMS, ADD_KEY_SUMS):
        connection.execute(statement, after)
    if any(row.scope == UNANSWERED for row in rows):
        connection.execute(SHORTEN, {"scope": UNANSWERED, "kept": UNANSWERED_ROWS})


def condense(connection: sqlite3.Connection, until: float) -> int:
    """Adds the next minute to its hour and day. Returns 1, or 0 if none ends by `until`."""
    whole = int(until) // MINUTE * MINUTE
    (end,) = connection.execute(NEXT_MINUTE, {"until": whole}).fetchone()
    if end is None:
        connection.execute(CONDENSED, {"until": whole})
        return 0
    connection.execute(CONDENSE, {"minute": end - MINUTE})
    connection.execute(CONDENSED, {"until": end})
    return 1


STATEMENTS = LedgerStatements(add=add_rows, recent=RECENT, judged=JUDGED)


class SqliteLedger(DatabaseLedger):
    """The ledger in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
