"""Sums of ledger rows in SQLite: the measures of a row, and the buckets that they are added to.

They are written in the transaction of the rows that they add up, so they cannot disagree with these. A row is added to
its minute and to its session, of its scope and of all scopes together (scope 0). Hours and days get whole minutes later
(`CONDENSE`), since adding every row to them as well would triple the cost of a request: `rollup_progress` says up to
which minute, and a reader adds the minutes after that. A late row is added to its hour and day at once.

Buckets are in the order of time: rows that are written now are neighbours, in a few pages of the file, however many
scopes there are.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import fields

from proxy.storage.base import LONGEST_NAME, OTHER
from proxy.types import Sums
from proxy.types.ledger import Mechanisms

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
MEASURES = tuple(f"{_MEASURES[name]}" for name in SUMS)

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
ADD_SESSIONS = f"""
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


def newest(connection: sqlite3.Connection) -> int:
    """Returns the number of the newest ledger row, after which `add_up` begins; 0 if there is none."""
    return int(connection.execute(NEWEST).fetchone()[0])


def add_up(connection: sqlite3.Connection, after: int) -> None:
    """Adds the ledger rows after number `after` to the sums."""
    for statement in (ADD_LABELS, ADD_ROLLUPS, ADD_SESSIONS):
        connection.execute(statement, {"after": after})


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
