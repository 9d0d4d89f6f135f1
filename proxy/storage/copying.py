"""The copy of an SQLite storage folder into a PostgreSQL database: table by table, in batches, each a transaction that
also says how far it is. So a copy that was interrupted goes on where it ended, and what is there twice is there once.

The database must be of the same schema, and nobody may write to the folder meanwhile. Rows keep their numbers.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxy.storage.base import StorageError
from proxy.storage.folder import SECRET, tenant_secret
from proxy.storage.opening import DATABASE
from proxy.storage.postgres.connection import Connection
from proxy.storage.schema import MIGRATIONS

BATCH = 2_000  # rows of a transaction

_TABLE = re.compile(r"CREATE TABLE (\w+)")
_RENAMED = re.compile(r"ALTER TABLE (\w+) RENAME TO")  # a table that was made to take the place of another
_STATEMENTS = tuple(each for statements in MIGRATIONS.values() for each in statements)
_PASSING = frozenset(found[1] for each in _STATEMENTS if (found := _RENAMED.search(each)) is not None)
# In the order of their definition: what a table refers to comes before it.
TABLES = tuple(
    found[1] for each in _STATEMENTS if (found := _TABLE.search(each)) is not None and found[1] not in _PASSING
)
# Tables that an empty database has a row in: the source's takes its place.
_SINGLE = frozenset({"rollup_progress", "contents_size", "embedded_by"})
_PROGRESS = """
    CREATE TABLE IF NOT EXISTS copied (table_name TEXT PRIMARY KEY, rows BIGINT NOT NULL, done BIGINT NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class Copied:
    """A table, and how many of its rows are in both databases."""

    table: str
    rows: int
    of: int


def copy(folder: Path, target: Connection, told: Callable[[Copied], object]) -> list[Copied]:
    """Copies all tables; `told` is called after every batch. Returns the counts of both sides, which the caller
    compares. Raises StorageError, and psycopg.Error."""
    path = folder / DATABASE
    if not path.is_file():
        raise StorageError(f"{path} is not there")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as source:
        source.execute("BEGIN")  # one state of all tables
        _check(source)
        _share_secret(folder, target)
        target.execute(_PROGRESS.encode())
        for table in TABLES:
            for copied in _table(source, target, table):
                told(copied)
        counts = [Copied(table, _count(target, table), _count(source, table)) for table in TABLES]
        _number_on(target)
        if all(each.rows >= each.of for each in counts):
            target.execute("DROP TABLE copied")
        return counts


def _check(source: sqlite3.Connection) -> None:
    applied = {name for (name,) in source.execute("SELECT name FROM migrations")}
    if applied != set(MIGRATIONS):
        raise StorageError("the folder's database has another version of the schema: start this version on it once")


def _share_secret(folder: Path, target: Connection) -> None:
    """Makes the folder's secret that of the database: its scopes are named by it."""
    if not (folder / SECRET).exists():
        raise StorageError(f"{folder / SECRET} is missing: without it nobody would find what is copied")
    own = tenant_secret(folder)
    found = target.execute("SELECT secret FROM tenant_secret").fetchone()
    if found is not None and bytes(found[0]) != own:
        (used,) = target.execute("SELECT count(*) FROM scopes").fetchone() or (0,)
        if used:
            raise StorageError("the database has a secret of its own, and rows under it: copy into an empty one")
    target.execute(
        "INSERT INTO tenant_secret VALUES (true, %s) ON CONFLICT (is_it) DO UPDATE SET secret = %s", (own, own)
    )


def _table(source: sqlite3.Connection, target: Connection, table: str) -> Iterator[Copied]:
    of, (done, is_done) = _count(source, table), _progress(target, table)
    if table in _SINGLE and not done:
        target.execute(f"DELETE FROM {table}".encode())  # noqa: S608 (our own names)
    columns = [column for _, column, *_ in source.execute(f"PRAGMA table_info({table})")]
    listed = ", ".join(f'"{column}"' for column in columns)
    rows = source.execute(f"SELECT {listed} FROM {table} ORDER BY {_key(source, table)} LIMIT -1 OFFSET {done}")  # noqa: S608 (same)
    while not is_done:
        batch = rows.fetchmany(BATCH)
        with target.transaction():
            _put(target, table, listed, batch)
            done += len(batch)
            is_done = len(batch) < BATCH
            target.execute(
                "INSERT INTO copied VALUES (%s, %s, %s) ON CONFLICT (table_name)"
                " DO UPDATE SET rows = excluded.rows, done = excluded.done",
                (table, done, is_done),
            )
        yield Copied(table, done, of)


def _put(target: Connection, table: str, listed: str, rows: Sequence[Sequence[Any]]) -> None:
    target.execute(f"CREATE TEMP TABLE batch (LIKE {table} INCLUDING DEFAULTS) ON COMMIT DROP".encode())
    with target.cursor().copy(f"COPY batch ({listed}) FROM STDIN".encode()) as lines:
        for row in rows:
            lines.write_row(row)
    target.execute(f"INSERT INTO {table} ({listed}) SELECT {listed} FROM batch ON CONFLICT DO NOTHING".encode())  # noqa: S608 (same)


def _progress(target: Connection, table: str) -> tuple[int, bool]:
    found = target.execute("SELECT rows, done FROM copied WHERE table_name = %s", (table,)).fetchone()
    return (0, False) if found is None else (int(found[0]), bool(found[1]))


def _key(source: sqlite3.Connection, table: str) -> str:
    """Returns the columns of the primary key, or the row's number."""
    key = [(place, column) for _, column, _, _, _, place in source.execute(f"PRAGMA table_info({table})") if place]
    return ", ".join(column for _, column in sorted(key)) or "rowid"


def _number_on(target: Connection) -> None:
    """Lets new rows be numbered after the copied ones."""
    identities = target.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE is_identity = 'YES' AND table_schema = current_schema()"
    ).fetchall()
    for table, column in identities:
        newest = f"SELECT greatest(max({column}), 1) FROM {table}"  # noqa: S608 (same)
        target.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), ({newest}))".encode())


def _count(connection: sqlite3.Connection | Connection, table: str) -> int:
    found = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 (same)
    return int(found[0]) if found else 0
