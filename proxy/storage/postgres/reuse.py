"""Entries of reuse by intent, with their vectors, and the reuse log in PostgreSQL. A batch reads the entries that it
changes, makes the changes one after the other as `base.py` says them, and writes the entries back: its transaction
holds their scopes, so that nobody else changes them meanwhile, and their numbers grow in the order in which they are
seen.

Should a batch be written twice, since nobody knows whether it was written, a strike counts twice: that makes an entry
harder to reuse, never easier."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace

from proxy.storage.database import Database
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.names import ADD_SCOPES, SCOPE_ID
from proxy.storage.reuse import KEPT_AFTER_EXPIRY, LOG_ROWS, MOST_JUDGED, evicted, merged, with_strike
from proxy.storage.stores.reuse import (
    COLUMNS,
    LOG_COLUMNS,
    PRUNED,
    DatabaseReuse,
    LogLine,
    ReuseChange,
    ReuseStatements,
    entry_of,
    values_of,
)
from proxy.types import Judgement, ReuseEntry

_LISTED = ", ".join(COLUMNS)
# Of COLUMNS.
_TYPES = [*["text"] * 5, "float8", "float8", "float8", "bigint", "bigint", "float8", "text"]
_NEXT = "nextval(pg_get_serial_sequence('reuse_entries', 'change'))"

FIND_ALL = f"""
    SELECT scopes.name, change, vector, {", ".join(f"reuse_entries.{name}" for name in COLUMNS)}
    FROM unnest(%s::text[], %s::text[]) AS told (scope, entry)
    JOIN scopes ON scopes.name = told.scope JOIN reuse_entries ON reuse_entries.id = told.entry AND scope_id = scopes.id
"""  # noqa: S608 (our own column names)
# Without a change number: the next one, in the order of the rows.
PUT = f"""
    INSERT INTO reuse_entries (change, scope_id, vector, {_LISTED})
    SELECT coalesce(told.change, {_NEXT}), scopes.id, told.vector, {", ".join(f"told.{name}" for name in COLUMNS)}
    FROM unnest(%s::text[], %s::bigint[], %b::bytea[], {", ".join(f"%s::{kind}[]" for kind in _TYPES)})
        WITH ORDINALITY AS told (scope, change, vector, {_LISTED}, place)
    JOIN scopes ON scopes.name = told.scope
    ORDER BY told.place
    ON CONFLICT (id, scope_id) DO UPDATE SET
        change = excluded.change, vector = excluded.vector, {", ".join(f"{name} = excluded.{name}" for name in COLUMNS)}
"""  # noqa: S608 (same)
# Of other scopes too: what another batch holds is left to the next.
PRUNE = """
    DELETE FROM reuse_entries WHERE change IN (
        SELECT change FROM reuse_entries
        WHERE expires_at <= %(now)s AND (strikes = 0 OR expires_at <= %(now)s - %(kept)s)
        LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    )
"""
LOG = f"""
    INSERT INTO reuse_log (scope_id, {", ".join(LOG_COLUMNS)})
    SELECT scopes.id, {", ".join(f"told.{name}" for name in LOG_COLUMNS)}
    FROM unnest(
        %s::text[], %s::text[], %s::float8[], %s::text[], %s::text[], %s::float8[], %s::text[], %s::text[], %s::text[]
    ) WITH ORDINALITY AS told (scope, {", ".join(LOG_COLUMNS)}, place)
    JOIN scopes ON scopes.name = told.scope ORDER BY told.place
"""  # noqa: S608 (same)
SHORTEN_LOG = f"""
    DELETE FROM reuse_log WHERE scope_id = {SCOPE_ID} AND id <= (
        SELECT id FROM reuse_log WHERE scope_id = {SCOPE_ID} ORDER BY id DESC LIMIT 1 OFFSET %(kept)s
    )
"""  # noqa: S608 (same)


@dataclass(frozen=True, slots=True)
class Stored:
    """An entry as it is stored, or to be stored."""

    entry: ReuseEntry
    vector: bytes
    change: int | None  # None: the next number


def changed(stored: Stored | None, change: ReuseChange) -> Stored | None:
    """Returns the entry after a change; None if there is none, or nothing changes. What a search does not ask for
    leaves it its number."""
    if (new := change.entry) is not None:
        if stored is None:
            return Stored(new, change.vector, None)
        if new.created_at <= stored.entry.created_at:
            return None
        return Stored(replace(merged(stored.entry, new), judged=new.judged), change.vector, None)
    if stored is None:
        return None
    entry = stored.entry
    if change.operation == "served":
        return replace(stored, entry=replace(entry, served=entry.served + 1))
    if change.judgement is not None:
        after = _with_ruling(entry, change.judgement)
        return None if after is entry else replace(stored, entry=after, change=None)
    if change.strikes:
        entry = with_strike(entry, change.min_cosine, change.at, evict=change.at > 0)
    else:
        entry = evicted(entry, change.at)
    return replace(stored, entry=entry, change=None)


def _with_ruling(entry: ReuseEntry, ruling: Judgement) -> ReuseEntry:
    if entry.is_evicted or not entry.is_about_this(ruling) or len(entry.judged) >= MOST_JUDGED:
        return entry
    if any(each.asked_id == ruling.asked_id for each in entry.judged):
        return entry
    return replace(entry, judged=(*entry.judged, ruling))


def _apply(connection: Connection, changes: Sequence[ReuseChange]) -> None:
    keys = sorted({(change.scope, change.entry_id) for change in changes})
    entries = _found(connection, keys)
    after: dict[tuple[str, str], Stored] = {}
    for change in changes:
        key = change.scope, change.entry_id
        if (now := changed(entries.get(key), change)) is not None:
            entries[key] = now
            if now.change is None:
                after.pop(key, None)  # it comes after those that were changed before
            after[key] = now
    _write(connection, after)
    if added := [change.entry.created_at for change in changes if change.entry is not None]:
        values = {"now": max(added), "kept": KEPT_AFTER_EXPIRY, "limit": PRUNED}
        connection.execute(PRUNE.encode(), values)


def _found(connection: Connection, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Stored]:
    rows = connection.execute(FIND_ALL.encode(), ([scope for scope, _ in keys], [entry_id for _, entry_id in keys]))
    found = ((scope, Stored(entry_of(columns), vector, number)) for scope, number, vector, *columns in rows)
    return {(scope, stored.entry.id): stored for scope, stored in found}


def _write(connection: Connection, after: dict[tuple[str, str], Stored]) -> None:
    if not after:
        return
    rows = [(scope, each.change, each.vector, *values_of(each.entry)) for (scope, _), each in after.items()]
    with connection.pipeline():
        connection.execute(ADD_SCOPES, (sorted({scope for scope, _ in after}),))
        connection.execute(PUT.encode(), _columns(rows))


def _write_log(connection: Connection, lines: Sequence[LogLine]) -> None:
    kept = {line.scope: line.kept for line in lines}
    with connection.pipeline():
        connection.execute(ADD_SCOPES, (sorted(kept),))
        connection.execute(LOG.encode(), _columns((line.scope, *astuple(line.decision)) for line in lines))
        for scope in sorted(kept):
            connection.execute(SHORTEN_LOG.encode(), {"scope": scope, "kept": kept[scope]})


def _columns(rows: Iterable[Sequence[object]]) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)]


STATEMENTS = ReuseStatements(
    apply=_apply,
    log=_write_log,
    changes=f"""
        SELECT change, {_LISTED}, vector FROM reuse_entries
        WHERE scope_id = {SCOPE_ID} AND partition = %(partition)s AND change > %(after)s
            AND (strikes > 0 OR expires_at > %(now)s)
        ORDER BY change LIMIT %(limit)s
    """,  # noqa: S608 (same)
    get=f"SELECT {_LISTED} FROM reuse_entries WHERE scope_id = {SCOPE_ID} AND id = %(id)s",  # noqa: S608 (same)
    find=f"""
        SELECT scopes.name, {", ".join(f"reuse_entries.{column}" for column in COLUMNS)}
        FROM reuse_entries JOIN scopes ON scopes.id = scope_id WHERE reuse_entries.id = %(id)s LIMIT 1
    """,  # noqa: S608 (same)
    recent=f"""
        SELECT {", ".join(LOG_COLUMNS)} FROM reuse_log WHERE scope_id = {SCOPE_ID} ORDER BY id DESC LIMIT %(limit)s
    """,  # noqa: S608 (same)
)


class PostgresReuse(DatabaseReuse):
    """Entries of reuse by intent, and its log, in PostgreSQL."""

    def __init__(self, database: Database, log_rows: int = LOG_ROWS) -> None:
        super().__init__(database, STATEMENTS, log_rows)
