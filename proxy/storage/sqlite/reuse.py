"""Entries of reuse by intent, with their vectors, and the reuse log in SQLite."""

import itertools
import operator
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import msgspec

from proxy.storage.database import Database
from proxy.storage.reuse import KEPT_AFTER_EXPIRY, LOG_ROWS, MOST_JUDGED
from proxy.storage.sqlite.names import ADD_SCOPE
from proxy.storage.sqlite.names import SCOPE_ID as NAMED_SCOPE
from proxy.storage.stores.reuse import (
    COLUMNS,
    LOG_COLUMNS,
    PRUNED,
    DatabaseReuse,
    LogLine,
    ReuseChange,
    ReuseStatements,
    values_of,
)

# A changed row gets a number above all others: so the row with the highest one is never deleted.
NEXT = "(SELECT max(change) + 1 FROM reuse_entries)"
SCOPE_ID = "(SELECT id FROM scopes WHERE name = ?)"

# `merged` in SQL; every right side sees the old row.
ADD_ENTRY = f"""
    INSERT INTO reuse_entries (scope_id, {", ".join(COLUMNS)}, vector)
    VALUES ({SCOPE_ID}, {", ".join("?" * len(COLUMNS))}, ?)
    ON CONFLICT (id, scope_id) DO UPDATE SET
        change = {NEXT},
        question = excluded.question,
        context = excluded.context,
        answer_key = excluded.answer_key,
        created_at = excluded.created_at,
        expires_at = excluded.expires_at,
        min_cosine = max(min_cosine, excluded.min_cosine),
        strikes = max(strikes, excluded.strikes),
        served = max(served, excluded.served),
        evicted_at = max(evicted_at, excluded.evicted_at),
        judged = excluded.judged,
        vector = excluded.vector
    WHERE excluded.created_at > created_at
"""  # noqa: S608 (our own column names)
STRIKE = f"""
    UPDATE reuse_entries SET change = {NEXT},
        min_cosine = max(min_cosine, ?1), strikes = strikes + ?2, evicted_at = max(evicted_at, ?3),
        judged = iif(?2 > 0 OR created_at <= ?3, '[]', judged)
    WHERE scope_id = (SELECT id FROM scopes WHERE name = ?4) AND id = ?5
"""  # noqa: S608 (our own column names)
JUDGE = f"""
    UPDATE reuse_entries SET change = {NEXT}, judged = json_insert(judged, '$[#]', json(?1))
    WHERE scope_id = (SELECT id FROM scopes WHERE name = ?2) AND id = ?3
        AND created_at = ?4 AND strikes = ?5 AND evicted_at < created_at AND json_array_length(judged) < {MOST_JUDGED}
        AND NOT EXISTS (SELECT 1 FROM json_each(judged) AS ruling WHERE ruling.value ->> 'asked_id' = ?6)
"""  # noqa: S608 (our own column names)
SERVED = f"UPDATE reuse_entries SET served = served + 1 WHERE scope_id = {SCOPE_ID} AND id = ?"  # noqa: S608 (same)
PRUNE = """
    DELETE FROM reuse_entries WHERE change IN (
        SELECT change FROM reuse_entries
        WHERE expires_at <= :now AND (strikes = 0 OR expires_at <= :now - :kept)
            AND change < (SELECT max(change) FROM reuse_entries)
        LIMIT :limit
    )
"""
CHANGES = f"""
    SELECT change, {", ".join(COLUMNS)}, vector FROM reuse_entries
    WHERE scope_id = {NAMED_SCOPE} AND partition = :partition AND change > :after
        AND (strikes > 0 OR expires_at > :now)
    ORDER BY change LIMIT :limit
"""  # noqa: S608 (our own column names)
GET = f"SELECT {', '.join(COLUMNS)} FROM reuse_entries WHERE scope_id = {NAMED_SCOPE} AND id = :id"  # noqa: S608 (same)
FIND = f"""
    SELECT scopes.name, {", ".join(f"reuse_entries.{column}" for column in COLUMNS)}
    FROM reuse_entries JOIN scopes ON scopes.id = scope_id WHERE reuse_entries.id = :id
"""  # noqa: S608 (our own column names)

LOG = f"""
    INSERT INTO reuse_log (scope_id, {", ".join(LOG_COLUMNS)}) VALUES ({SCOPE_ID}, {", ".join("?" * len(LOG_COLUMNS))})
"""  # noqa: S608 (our own column names)
SHORTEN_LOG = f"""
    DELETE FROM reuse_log WHERE scope_id = {SCOPE_ID} AND id <= (
        SELECT id FROM reuse_log WHERE scope_id = {SCOPE_ID} ORDER BY id DESC LIMIT 1 OFFSET ?
    )
"""  # noqa: S608 (our own column names)
RECENT = f"""
    SELECT {", ".join(LOG_COLUMNS)} FROM reuse_log WHERE scope_id = {NAMED_SCOPE} ORDER BY id DESC LIMIT :limit
"""  # noqa: S608 (our own column names)


_STATEMENTS: Mapping[str, str] = {"add": ADD_ENTRY, "strike": STRIKE, "judge": JUDGE, "served": SERVED}


def _apply(connection: sqlite3.Connection, changes: Sequence[ReuseChange]) -> None:
    added = [change.entry for change in changes if change.entry is not None]
    connection.executemany(ADD_SCOPE, {(change.scope,) for change in changes if change.entry is not None})
    for operation, run in itertools.groupby(changes, key=operator.attrgetter("operation")):
        connection.executemany(_STATEMENTS[operation], list(map(_values, run)))
    now = max((entry.created_at for entry in added), default=0.0)
    connection.execute(PRUNE, {"now": now, "kept": KEPT_AFTER_EXPIRY, "limit": PRUNED})


def _values(change: ReuseChange) -> tuple[Any, ...]:
    """Returns the values of the statement that makes a change."""
    own = (change.scope, change.entry_id)
    if change.entry is not None:
        return (change.scope, *values_of(change.entry), change.vector)
    if (judgement := change.judgement) is not None:
        ruling = msgspec.json.encode(judgement).decode()
        return (ruling, *own, judgement.created_at, judgement.strikes, judgement.asked_id)
    return (change.min_cosine, change.strikes, change.at, *own) if change.operation == "strike" else own


def _write_log(connection: sqlite3.Connection, lines: Sequence[LogLine]) -> None:
    kept = {line.scope: line.kept for line in lines}
    connection.executemany(ADD_SCOPE, [(scope,) for scope in kept])
    connection.executemany(LOG, [(line.scope, *astuple(line.decision)) for line in lines])
    connection.executemany(SHORTEN_LOG, [(scope, scope, rows) for scope, rows in kept.items()])


STATEMENTS = ReuseStatements(apply=_apply, log=_write_log, changes=CHANGES, get=GET, find=FIND, recent=RECENT)


class SqliteReuse(DatabaseReuse):
    """Entries of reuse by intent, and its log, in SQLite."""

    def __init__(self, database: Database, log_rows: int = LOG_ROWS) -> None:
        super().__init__(database, STATEMENTS, log_rows)
