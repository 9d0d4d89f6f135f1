"""Erasure of end users, place by place: tables of a database, files of the answer cache and the spool,
keys in Redis. Whose something is, is told by the scope that stands beside it; sums of all scopes are nobody's.

Each function deletes what it finds, so that a second run finds what the first one could not reach.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from proxy.storage.erasures import base_of, mark_of
from proxy.storage.sqlite.connection import MEMORY, open_database

if TYPE_CHECKING:
    from proxy.storage.postgres.connection import Connection

Wanted = Callable[[str], bool]  # tells whether a scope of an end user is meant

# Every table with rows of a scope, those first that refer to others. What has to wait for a lock of all comes last.
TABLES = (
    "reuse_log",
    "reuse_entries",
    "facts",
    "wiped_facts",
    "wiped_archive",
    "wiped_links",
    "wiped_desk_lines",
    "wiped_desk_events",
    "wiped_desk_documents",
    "desk_lines",
    "desk_events",
    "desks",
    "desk_documents",
    "desk_older",
    "shelves",
    "archive",
    "job_lines",
    "job_links",
    "jobs",
    "events",
    "digests",
    "summaries",
    "spending",
    "quality",
    "path_states",
    "contents",
    "returned_sessions",
    "ledger",
    "aliases",
    "session_sums",
    "links",
    "sessions",
    "rollups",
)
LOCK_SECONDS = 30.0  # that other processes are waited for
KEPT = 90 * 86_400.0  # seconds that the mark of an erasure stays: a spool may be as old


@dataclass(frozen=True, slots=True)
class Scopes:
    """The scopes that are meant, with their ids, and the partitions of their entries for reuse."""

    ids: dict[str, int] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)  # by table


def find(connection: Any, wanted: Wanted) -> Scopes:
    """Returns what a database has of the scopes that are meant."""
    names = connection.execute("SELECT id, name FROM scopes").fetchall()
    ids = {name: number for number, name in names if wanted(base_of(name))}
    rows: dict[str, int] = {}
    partitions: set[str] = set()
    for number in ids.values():
        for table in TABLES:
            (count,) = connection.execute(f"SELECT count(*) FROM {table} WHERE scope_id = {number}").fetchone()  # noqa: S608 (our own)
            rows[table] = rows.get(table, 0) + count
        entries = connection.execute(f"SELECT DISTINCT partition FROM reuse_entries WHERE scope_id = {number}")  # noqa: S608 (same)
        partitions |= {partition for (partition,) in entries}
    return Scopes(ids, tuple(sorted(partitions)), rows)


def erase_sqlite(path: Path, wanted: Wanted, named: Iterable[str] = ()) -> Scopes:
    """Erases scopes from an SQLite file, bytes included. `named`: scopes that are marked even if nothing is there.
    Raises sqlite3.Error and OSError; TimeoutError if the log of the file could not be emptied."""
    with closing(open_database(path, LOCK_SECONDS)) as connection:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            found = _erase(connection, wanted, named, "?")
        if path != MEMORY:
            _empty_log(connection)
    return found


def erase_postgres(connection: "Connection", wanted: Wanted, named: Iterable[str] = ()) -> Scopes:
    """Erases scopes from a PostgreSQL database. Raises psycopg.Error."""
    from proxy.storage.postgres.migrating import ERASING_LOCK  # noqa: PLC0415 (the driver is an extra)

    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (ERASING_LOCK,))  # numbers become visible in their order
        found = _erase(connection, wanted, named, "%s")
    touched = [table for table, rows in found.rows.items() if rows]
    for table in (*touched, *(("scopes",) if found.ids else ())):
        connection.execute(f"VACUUM {table}".encode())
    return found


def _erase(connection: Any, wanted: Wanted, named: Iterable[str], mark: str) -> Scopes:
    now, is_sqlite = time.time(), mark == "?"
    listed = connection.execute("SELECT name FROM scopes").fetchall()
    names = sorted(name for (name,) in listed if wanted(base_of(name)))
    if not is_sqlite and names:  # as a batch does: whoever writes for one of them waits, and finds the mark
        connection.execute("SELECT id FROM scopes WHERE name = ANY(%s::text[]) ORDER BY name FOR UPDATE", (names,))
    found = find(connection, wanted)
    for base in sorted({*map(base_of, found.ids), *named}):
        connection.execute(f"DELETE FROM erased WHERE scope = {mark}", (mark_of(base),))  # noqa: S608 (our own)
        connection.execute(f"INSERT INTO erased (scope, at) VALUES ({mark}, {mark})", (mark_of(base), now))  # noqa: S608 (same)
    newest = "(SELECT max(id) FROM erased)"
    connection.execute(f"DELETE FROM erased WHERE at < {mark} AND id < {newest}", (now - KEPT,))  # noqa: S608 (same)
    for table in TABLES:
        if table == "rollups" and not is_sqlite and found.ids:
            from proxy.storage.postgres.migrating import LEDGER_LOCK  # noqa: PLC0415 (the driver is an extra)

            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LEDGER_LOCK,))
        for number in found.ids.values():
            if table == "contents":
                _resize(connection, number, is_sqlite=is_sqlite)
            if table == "spending":  # a limit of all counts what is nobody's as well
                connection.execute(f"UPDATE spending SET scope_id = 0 WHERE scope_id = {number}")  # noqa: S608 (same)
                continue
            connection.execute(f"DELETE FROM {table} WHERE scope_id = {number}")  # noqa: S608 (same)
    for number in found.ids.values():
        connection.execute(f"DELETE FROM scopes WHERE id = {number}")  # noqa: S608 (same)
    return found


def _resize(connection: Any, number: int, *, is_sqlite: bool) -> None:
    size = f"(SELECT coalesce(sum(size), 0) FROM contents WHERE scope_id = {number})"  # noqa: S608 (our own)
    if is_sqlite:
        connection.execute(f"UPDATE contents_size SET bytes = bytes - {size}")  # noqa: S608 (same)
    else:  # a sum of parts
        connection.execute(f"INSERT INTO contents_size SELECT -{size}")


def _empty_log(connection: sqlite3.Connection) -> None:
    until = time.monotonic() + LOCK_SECONDS
    while True:
        is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not is_busy:
            return
        if time.monotonic() > until:
            raise TimeoutError("its log could not be emptied: others were reading all the time")
        time.sleep(0.05)


# --- records that carry their scope -----------------------------------------------------------------------------------


def whose(value: object) -> str | None:
    """Returns the scope that a stored record says it belongs to; None if it says none."""
    try:
        record = msgspec.msgpack.decode(value) if isinstance(value, bytes) else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    scope = record.get("scope") if isinstance(record, dict) else record[0] if isinstance(record, list) and record else 0
    return scope if isinstance(scope, str) else None


def erase_answers(path: Path, wanted: Wanted) -> int:
    """Deletes the answers of scopes from a file of the answer cache, bytes included. Returns how many. Raises
    sqlite3.Error; TimeoutError as above."""
    with closing(sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)) as cache:
        cache.execute("PRAGMA secure_delete = ON")
        if cache.execute("SELECT 1 FROM sqlite_master WHERE name = 'Cache'").fetchone() is None:
            return 0
        gone = [
            (row,)
            for row, value in cache.execute("SELECT rowid, value FROM Cache")
            if (scope := whose(value)) is not None and wanted(base_of(scope))
        ]
        with cache:
            cache.execute("BEGIN IMMEDIATE")
            cache.executemany("DELETE FROM Cache WHERE rowid = ?", gone)
        _empty_log(cache)
        return len(gone)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows of scopes in the spools of a machine."""

    erased: int
    left: int  # in those of processes that run, which will refuse them


def erase_spools(folder: Path, wanted: Wanted) -> Waiting:
    """Deletes writes of scopes from the spools of processes that have ended. Raises sqlite3.Error and OSError."""
    erased = left = 0
    for path in sorted(folder.glob("*.spool")):
        try:
            lock = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            continue
        try:
            is_ended = _is_free(lock)
            with closing(sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)) as spool:
                spool.execute("PRAGMA secure_delete = ON")
                if spool.execute("SELECT 1 FROM sqlite_master WHERE name = 'waiting'").fetchone() is None:
                    continue
                found = [(row,) for row, of in _waiting(spool) if wanted(base_of(of))]
                if is_ended:
                    spool.executemany("DELETE FROM waiting WHERE id = ?", found)
                    erased += len(found)
                else:
                    left += len(found)
        finally:
            os.close(lock)
    return Waiting(erased, left)


def _waiting(spool: sqlite3.Connection) -> Sequence[tuple[int, str]]:
    return spool.execute("SELECT id, scope FROM waiting").fetchall()


def _is_free(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
