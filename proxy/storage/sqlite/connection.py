"""One connection to an SQLite file, or to memory: opened, brought to the newest schema, its errors in our words."""

import contextlib
import functools
import logging
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from proxy.storage.base import DatabaseCorrupt, DatabaseTooNew, StorageError
from proxy.storage.folder import private_file, private_folder
from proxy.storage.schema import MIGRATIONS

log = logging.getLogger(__name__)

MEMORY = Path(":memory:")  # as SQLite calls it

# Primary codes of errors of the disk or the file; any other is an error of the statement.
CANNOT_WRITE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)


def open_database(path: Path, lock_seconds: float) -> sqlite3.Connection:
    """Returns a connection that writes, to a database with the newest schema. `lock_seconds`: how long a statement
    waits for another process. Raises DatabaseTooNew, OSError and sqlite3.Error."""
    if path != MEMORY:
        private_folder(path.parent)
        private_file(path)
    connection = connect(path, lock_seconds)
    try:
        if path == MEMORY:
            _empty().backup(connection)
        else:
            _prepare(connection, lock_seconds)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, lock_seconds: float) -> None:
    # Only a file with nothing in it takes this: from now on freed pages can be given back in small steps.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    _use_wal(connection, lock_seconds)
    migrate(connection)


@functools.cache
def _empty() -> sqlite3.Connection:
    """Returns the database of which those in memory are copies: to copy one takes 1 ms, the steps of its schema 13."""
    connection = connect(MEMORY, 0.0)
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    migrate(connection)
    return connection


def connect(path: Path, lock_seconds: float) -> sqlite3.Connection:
    """Returns a connection in autocommit mode, which may be used from another thread. Raises sqlite3.Error, also for a
    file that is not there: one that was deleted while it is in use must not be made anew beside it."""
    name = str(path) if path == MEMORY else f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(name, timeout=lock_seconds, isolation_level=None, check_same_thread=False, uri=True)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")  # a batch sorts its rows: not in a file
    # Deleted rows are overwritten. Some builds of SQLite do so by default. It can't be done for a DELETE alone: a
    # page that was split without it keeps copies (of 300 deleted rows among 3,000 that was so for 49).
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def migrate(connection: sqlite3.Connection, migrations: Mapping[str, Sequence[str]] = MIGRATIONS) -> None:
    """Applies the missing steps, all or nothing. The connection must be in autocommit mode (`isolation_level=None`).

    Raises DatabaseTooNew if the file has steps that `migrations` does not know, and sqlite3.Error.
    """
    if _missing(connection, migrations) == []:
        return
    with connection:  # commits, or rolls back
        connection.execute("BEGIN IMMEDIATE")  # a second process that starts now waits here, then finds nothing to do
        connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at REAL NOT NULL)")
        for name in _missing(connection, migrations) or ():
            for statement in migrations[name]:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", (name, time.time()))


def drop_vectors_of_others(connection: sqlite3.Connection, model: str) -> None:
    """Deletes the archive's vectors if another embedding model than `model` made them: they cannot be compared. The
    turns stay, to be found by their words, and get vectors again when their conversation goes on."""
    if connection.execute("SELECT 1 FROM embedded_by WHERE model = ?", (model,)).fetchone() is None:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE archive SET dimensions = NULL, vectors = NULL WHERE dimensions IS NOT NULL")
            connection.execute("DELETE FROM shelves")
            connection.execute("UPDATE embedded_by SET model = ?", (model,))


def _missing(connection: sqlite3.Connection, migrations: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Returns the steps that are not applied yet; None for a new file, which has no table of steps."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone() is None:
        return None
    applied = {name for (name,) in connection.execute("SELECT name FROM migrations")}
    if unknown := sorted(applied - migrations.keys()):
        raise DatabaseTooNew(
            f"a newer version of this program has written the database (it has {', '.join(unknown)}): "
            "upgrade, or point storage.path to another folder"
        )
    return [name for name in migrations if name not in applied]


def code_of(error: Exception) -> int:
    """Returns the primary code of an error of SQLite, the low byte of its extended one; 0 for any other error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def file_of(connection: sqlite3.Connection) -> Path | None:
    """Returns the file of a connection; None if it is in memory."""
    ((_, _, name), *_) = connection.execute("PRAGMA database_list").fetchall()
    return Path(name) if name else None


def refuse_deleted(path: Path) -> None:
    """Raises sqlite3.OperationalError, one of the file, for a file that is not where it was. SQLite would write on to
    it without a word, and all of that would be gone with the process."""
    if not path.exists():
        error = sqlite3.OperationalError(f"{path.name} was deleted or moved away while it is in use")
        error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise error


@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turns errors of sqlite3 and the system into StorageError and DatabaseCorrupt, with the path and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        if code_of(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise DatabaseCorrupt(f"{path} is damaged ({error}): restore it, or move it away to start anew") from error
        raise StorageError(f"{path}: {error}") from error
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error


def _use_wal(connection: sqlite3.Connection, lock_seconds: float) -> None:
    deadline = time.monotonic() + lock_seconds
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError:
            # Another process is switching the same new file: SQLite answers "locked" without waiting.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            if mode != "wal":
                log.warning("no WAL on this file system: readers will wait for the writer", extra={"mode": mode})
            return
