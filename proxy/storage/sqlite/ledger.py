"""The ledger in SQLite: rows, and the sums that they add to: the measures of a row, and the buckets of time.

Sums are written in the transaction of the rows that they add up, so they cannot disagree with these. A row is added to
its minute and to its session, of its scope and of all scopes together (scope 0). Hours and days get whole minutes later
(`CONDENSE`), since adding every row to them as well would triple the cost of a request: `rollup_progress` says up to
which minute, and a reader adds the minutes after that. A late row is added to its hour and day at once.

Buckets are in the order of time: rows that are written now are neighbours, in a few pages of the file, however many
scopes there are.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import attrgetter, itemgetter
from typing import Any

import msgspec

from proxy.storage.base import LONGEST_NAME, OTHER
from proxy.storage.database import Store
from proxy.storage.pending import LEDGER, Write
from proxy.storage.sqlite.database import SCOPE_ID, add_names, put_rows
from proxy.types import UNANSWERED, LedgerRow, Sums, Trail
from proxy.types.ledger import Mechanisms

# A field that is added to LedgerRow without a migration fails on the first row that is written or read.
COLUMNS = tuple(field.name for field in fields(LedgerRow) if field.name != "scope")
ENCODED = ("mechanisms", "trail", "stage_seconds")  # columns of JSON; the last ones
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
UNANSWERED_ROWS = 10_000  # of scopes that no upstream has answered
# The columns that `numbered` reads: number, scope, the fields of LedgerRow.
READ = ", ".join(("ledger.id", "scopes.name", *(f"ledger.{name}" for name in COLUMNS)))
RECENT = f"""
    SELECT {READ} FROM scopes CROSS JOIN ledger ON ledger.scope_id = scopes.id WHERE scopes.name = ?
    ORDER BY ledger.id DESC LIMIT ?
"""  # noqa: S608 (our own column names)
JUDGED = f"""
    SELECT coalesce(sum(cost), 0.0) FROM ledger
    WHERE scope_id = {SCOPE_ID} AND reuse_reason = 'judge' AND at >= :since
"""  # noqa: S608 (our own text)

MINUTE = 60
MECHANISMS = tuple(each.name for each in fields(Mechanisms))

# The SQL of what a row adds to each sum. A prompt that was not changed saved nothing by context management.
_CHANGED = "mechanisms != '{}'"
_MEASURES: Mapping[str, str] = {
    "requests": "1",
    "errors": "status >= 400 OR outcome IN ('upstream_broken', 'our_error')",
    "reused_exact": "source = 'exact'",
    "reused_intent": "source = 'intent'",
    "managed": "source = 'upstream' AND plan = 'managed'",
    "over_budget": "source = 'upstream' AND plan = 'over-budget'",
    "failed_open": "source = 'upstream' AND plan = 'fail-open'",
    "tokens_original": "iif(source = 'upstream', tokens_original, 0)",
    "tokens_sent": "tokens_sent",
    "tokens_cached": "tokens_cached",
    "tokens_billed": "tokens_billed",
    "tokens_completion": "iif(source = 'upstream', tokens_completion, 0)",
    "tokens_measured": "iif(measured, tokens_sent, 0)",
    "tokens_reused": "iif(source = 'upstream', 0, tokens_original + tokens_completion)",
    "tokens_reused_prompt": "iif(source = 'upstream', 0, tokens_original)",
    "tokens_busted": "tokens_busted",
    "cost": "cost",
    "saved_exact": "iif(source = 'exact', cost_saved, 0)",
    "saved_intent": "iif(source = 'intent', cost_saved, 0)",
    "saved_context": f"iif({_CHANGED}, max(0, cost_saved), 0)",
    "added_context": f"iif({_CHANGED}, max(0, -cost_saved), 0)",
    **{name: f"iif({_CHANGED}, coalesce(mechanisms ->> '{name}', 0), 0)" for name in MECHANISMS},
    "overhead_seconds": "max(0, total_seconds - upstream_seconds)",
}
SUMS = tuple(each.name for each in fields(Sums))
# A sum without a measure fails at once.
MEASURES = tuple(_MEASURES[name] for name in SUMS)

_LISTED = ", ".join(SUMS)
_MORE = ", ".join(f"{name} = {name} + excluded.{name}" for name in SUMS)

ADD_LABELS = f"""
    INSERT INTO rollup_labels (name)
    SELECT model FROM ledger
    WHERE id > :after AND status BETWEEN 200 AND 299 AND length(model) <= {LONGEST_NAME}
    UNION SELECT upstream FROM ledger WHERE id > :after
    UNION SELECT source FROM ledger WHERE id > :after
    UNION SELECT plan FROM ledger WHERE id > :after
    ON CONFLICT DO NOTHING
"""  # noqa: S608 (our own text)
# A row at a time: an upsert costs less than sorting such wide rows into groups.
ADD_ROLLUPS = f"""
    INSERT INTO rollups (width, at, scope_id, model, upstream, source, plan, {_LISTED})
    SELECT widths.width, CAST(ledger.at AS INTEGER) / widths.width * widths.width, whose.own * ledger.scope_id,
        coalesce(models.id, (SELECT id FROM rollup_labels WHERE name = '{OTHER}')),
        upstreams.id, sources.id, plans.id, {", ".join(MEASURES)}
    FROM ledger NOT INDEXED
    LEFT JOIN rollup_labels AS models ON models.name = ledger.model
    CROSS JOIN rollup_labels AS upstreams ON upstreams.name = ledger.upstream
    CROSS JOIN rollup_labels AS sources ON sources.name = ledger.source
    CROSS JOIN rollup_labels AS plans ON plans.name = ledger.plan
    CROSS JOIN (SELECT 0 AS own UNION ALL SELECT 1) AS whose
    CROSS JOIN (SELECT 60 AS width UNION ALL SELECT 3600 UNION ALL SELECT 86400) AS widths
    WHERE ledger.id > :after AND (widths.width = 60 OR ledger.at < (SELECT condensed FROM rollup_progress))
    ON CONFLICT (width, at, scope_id, model, upstream, source, plan) DO UPDATE SET {_MORE}
"""  # noqa: S608 (our own text)
ADD_SESSION_SUMS = f"""
    INSERT INTO session_sums (session_id, scope_id, first_at, last_at, {_LISTED})
    SELECT session_id, scope_id, at, at, {", ".join(MEASURES)}
    FROM ledger NOT INDEXED WHERE id > :after
    ON CONFLICT (session_id) DO UPDATE SET
        first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at), {_MORE}
"""  # noqa: S608 (our own text)
NEWEST = "SELECT coalesce(max(id), 0) FROM ledger"

# The end of the next minute that is not in its hour and day yet; and adding it to them.
NEXT_MINUTE = f"""
    SELECT min(at) + {MINUTE} FROM rollups
    WHERE width = {MINUTE} AND at >= (SELECT condensed FROM rollup_progress) AND at < :until
"""  # noqa: S608 (our own text)
CONDENSE = f"""
    INSERT INTO rollups (width, at, scope_id, model, upstream, source, plan, {_LISTED})
    SELECT widths.width, minutes.at / widths.width * widths.width, minutes.scope_id, minutes.model, minutes.upstream,
        minutes.source, minutes.plan, {", ".join(f"minutes.{name}" for name in SUMS)}
    FROM rollups AS minutes CROSS JOIN (SELECT 3600 AS width UNION ALL SELECT 86400) AS widths
    WHERE minutes.width = {MINUTE} AND minutes.at = :minute
    ON CONFLICT (width, at, scope_id, model, upstream, source, plan) DO UPDATE SET {_MORE}
"""  # noqa: S608 (our own text)
CONDENSED = "UPDATE rollup_progress SET condensed = max(condensed, :until)"

_plain = attrgetter("scope", *COLUMNS[: -len(ENCODED)])
_trail = msgspec.json.Decoder(Trail | None)
_object = msgspec.json.Decoder(dict[str, Any])


class SqliteLedger(Store):
    """The ledger in SQLite."""

    def append(self, row: LedgerRow) -> None:
        self._database.writer.put(Write(1, add_rows, row, kind=LEDGER, scope=row.scope))

    async def recent(self, scope: str, limit: int = 100) -> list[LedgerRow]:
        return await self._database.rows(RECENT, (scope, max(0, limit)), lambda row: numbered(row)[1])

    async def judged(self, scope: str, since: float) -> float:
        (cost,) = await self._database.rows(JUDGED, {"scope": scope, "since": since}, itemgetter(0))
        return float(cost)


def add_rows(connection: sqlite3.Connection, rows: Sequence[LedgerRow]) -> None:
    """Writes rows and adds them to the sums, except those whose request is known already."""
    add_names(connection, [(row.scope, row.session) for row in rows])
    after = {"after": connection.execute(NEWEST).fetchone()[0]}
    put_rows(connection, ADD_ROWS, [(*_plain(row), *_encoded(row)) for row in rows])
    for statement in (ADD_LABELS, ADD_ROLLUPS, ADD_SESSION_SUMS):
        connection.execute(statement, after)
    if any(row.scope == UNANSWERED for row in rows):
        connection.execute(SHORTEN, {"scope": UNANSWERED, "kept": UNANSWERED_ROWS})


def _encoded(row: LedgerRow) -> tuple[str, ...]:
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
