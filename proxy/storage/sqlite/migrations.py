"""The schema as named steps. A step that has been released is never edited; a change is a new step at the end."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proxy.storage.base import DatabaseCorrupt, DatabaseTooNew, StorageError
from proxy.storage.sqlite.schema import SCHEMA


@dataclass(frozen=True, slots=True)
class Migration:
    """A named step of the schema."""

    name: str
    statements: tuple[str, ...]


MIGRATIONS = (Migration("0001_schema", SCHEMA),)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Applies the missing steps, all or nothing. The connection must be in autocommit mode (`isolation_level=None`).

    Raises DatabaseTooNew if the file has steps that `migrations` does not know, and sqlite3.Error.
    """
    if _missing(connection, migrations) == []:
        return
    connection.execute("BEGIN IMMEDIATE")  # a second process that starts now waits here, then finds nothing to do
    try:
        connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at REAL NOT NULL)")
        for migration in _missing(connection, migrations) or ():
            for statement in migration.statements:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", (migration.name, time.time()))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def drop_vectors_of_others(connection: sqlite3.Connection, model: str) -> None:
    """Deletes the archive's vectors if another embedding model than `model` made them: they cannot be compared. The
    turns stay, to be found by their words, and get vectors again when their conversation goes on."""
    if connection.execute("SELECT 1 FROM embedded_by WHERE model = ?", (model,)).fetchone() is not None:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("UPDATE archive SET dimensions = NULL, vectors = NULL WHERE dimensions IS NOT NULL")
        connection.execute("UPDATE embedded_by SET model = ?", (model,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _missing(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> list[Migration] | None:
    """Returns the steps that are not applied yet; None for a new file, which has no table of steps."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone() is None:
        return None
    applied = {name for (name,) in connection.execute("SELECT name FROM migrations")}
    if unknown := sorted(applied - {migration.name for migration in migrations}):
        raise DatabaseTooNew(
            f"a newer version of this program has written the database (it has {', '.join(unknown)}): "
            "upgrade, or point storage.path to another folder"
        )
    return [migration for migration in migrations if migration.name not in applied]


@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turns errors of sqlite3 and the system into StorageError and DatabaseCorrupt, with the path and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the primary code, the rest says more about it.
        if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise DatabaseCorrupt(f"{path} is damaged ({error}): restore it, or move it away to start anew") from error
        raise StorageError(f"{path}: {error}") from error
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
