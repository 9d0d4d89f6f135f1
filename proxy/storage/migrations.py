"""The schema as named steps. A step that has been released is never edited; a change is a new step at the end."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proxy.storage.accounts_schema import ACCOUNTS
from proxy.storage.base import DatabaseCorrupt, DatabaseTooNew, StorageError
from proxy.storage.wipes_schema import WIPES


@dataclass(frozen=True, slots=True)
class Migration:
    name: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(
        "0001_sessions",
        (
            # Names are kept once: a link and a ledger row carry 8 bytes for a scope that may be 100 long.
            "CREATE TABLE scopes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
            """
            CREATE TABLE sessions (
                id INTEGER PRIMARY KEY,
                scope_id INTEGER NOT NULL REFERENCES scopes,
                name TEXT NOT NULL,
                UNIQUE (scope_id, name)
            )
            """,
            # One row a link, with the two sessions that went through it last: the link of a system prompt belongs to
            # every conversation of its scope, and a row for each would make looking it up ever slower.
            """
            CREATE TABLE links (
                scope_id INTEGER NOT NULL REFERENCES scopes,
                link BLOB NOT NULL,
                session_id INTEGER NOT NULL REFERENCES sessions,
                at REAL NOT NULL,
                other_session_id INTEGER REFERENCES sessions,
                other_at REAL,
                went_on INTEGER NOT NULL,
                PRIMARY KEY (scope_id, link)
            ) WITHOUT ROWID
            """,
        ),
    ),
    Migration(
        "0002_ledger",
        (
            """
            CREATE TABLE ledger (
                id INTEGER PRIMARY KEY,
                scope_id INTEGER NOT NULL REFERENCES scopes,
                request_id TEXT NOT NULL,
                at REAL NOT NULL,
                session TEXT NOT NULL,
                model TEXT NOT NULL,
                upstream TEXT NOT NULL,
                source TEXT NOT NULL,
                status INTEGER NOT NULL,
                outcome TEXT NOT NULL,
                stream INTEGER NOT NULL,
                plan TEXT NOT NULL,
                plan_reason TEXT NOT NULL,
                reuse_reason TEXT NOT NULL,
                tokens_original INTEGER NOT NULL,
                tokens_sent INTEGER NOT NULL,
                tokens_cached INTEGER NOT NULL,
                tokens_billed INTEGER NOT NULL,
                tokens_completion INTEGER NOT NULL,
                measured INTEGER NOT NULL,
                cost REAL NOT NULL,
                cost_saved REAL NOT NULL,
                total_seconds REAL NOT NULL,
                upstream_seconds REAL NOT NULL,
                retries INTEGER NOT NULL,
                stage_seconds TEXT NOT NULL,
                UNIQUE (scope_id, request_id)
            )
            """,
            "CREATE INDEX ledger_newest ON ledger (scope_id, at)",
        ),
    ),
    Migration(
        "0003_reuse",
        (
            # Whatever changes moves to the end: a reader asks for what came after the last row that it has seen.
            """
            CREATE TABLE reuse_entries (
                change INTEGER PRIMARY KEY,
                scope_id INTEGER NOT NULL REFERENCES scopes,
                id TEXT NOT NULL,
                partition TEXT NOT NULL,
                question TEXT NOT NULL,
                context TEXT NOT NULL,
                answer_key TEXT NOT NULL,
                created_at REAL NOT NULL,
                expires_at REAL NOT NULL,
                min_cosine REAL NOT NULL,
                strikes INTEGER NOT NULL,
                served INTEGER NOT NULL,
                evicted_at REAL NOT NULL,
                vector BLOB NOT NULL,
                UNIQUE (id, scope_id)
            )
            """,
            "CREATE INDEX reuse_changes ON reuse_entries (scope_id, partition)",
            "CREATE INDEX reuse_ends ON reuse_entries (expires_at)",
            """
            CREATE TABLE reuse_log (
                id INTEGER PRIMARY KEY,
                scope_id INTEGER NOT NULL REFERENCES scopes,
                request_id TEXT NOT NULL,
                at REAL NOT NULL,
                result TEXT NOT NULL,
                entry_id TEXT NOT NULL,
                cosine REAL NOT NULL,
                question TEXT NOT NULL,
                earlier_question TEXT NOT NULL,
                guards TEXT NOT NULL
            )
            """,
            "CREATE INDEX reuse_log_newest ON reuse_log (scope_id)",
        ),
    ),
    Migration("0004_intent", ("ALTER TABLE ledger ADD COLUMN intent_reason TEXT NOT NULL DEFAULT ''",)),
    Migration(
        "0005_memory",
        (
            """
            CREATE TABLE facts (
                number INTEGER PRIMARY KEY,
                scope_id INTEGER NOT NULL REFERENCES scopes,
                id TEXT NOT NULL,
                domain TEXT NOT NULL,
                key TEXT NOT NULL,
                value TEXT NOT NULL,
                confidence TEXT NOT NULL,
                source TEXT NOT NULL,
                session TEXT NOT NULL,
                turn INTEGER NOT NULL,
                created_at REAL NOT NULL,
                last_confirmed_at REAL NOT NULL,
                pinned INTEGER NOT NULL,
                superseded_by TEXT,
                superseded_at REAL NOT NULL,
                links TEXT NOT NULL,
                UNIQUE (id, scope_id)
            )
            """,
            "CREATE INDEX facts_oldest ON facts (scope_id, created_at)",
            # A row with no `at` is a link that was forgotten: nothing of it is left but whom it followed. Whatever
            # changes gets a number that no row has ever had (AUTOINCREMENT), so that any row may be deleted.
            """
            CREATE TABLE archive (
                change INTEGER PRIMARY KEY AUTOINCREMENT,
                scope_id INTEGER NOT NULL REFERENCES scopes,
                link BLOB NOT NULL,
                parent BLOB,
                session_id INTEGER REFERENCES sessions,
                turn INTEGER,
                at REAL,
                dimensions INTEGER,
                vectors BLOB,
                utterances TEXT,
                messages BLOB,
                UNIQUE (scope_id, link),
                CHECK ((at IS NULL) = (messages IS NULL))
            )
            """,
            "CREATE INDEX archive_changes ON archive (scope_id)",
            "CREATE INDEX archive_newest ON archive (session_id, at, turn)",
            "CREATE INDEX archive_oldest ON archive (at)",
            # The other links that a turn is forgotten by. Two answers to one message are two turns.
            """
            CREATE TABLE archive_links (
                link BLOB NOT NULL,
                change INTEGER NOT NULL REFERENCES archive ON DELETE CASCADE,
                PRIMARY KEY (link, change)
            ) WITHOUT ROWID
            """,
            "CREATE INDEX archive_links_of ON archive_links (change)",
            """
            CREATE TABLE path_states (
                id INTEGER PRIMARY KEY,
                scope_id INTEGER NOT NULL REFERENCES scopes,
                session_id INTEGER NOT NULL REFERENCES sessions,
                at REAL NOT NULL,
                link BLOB NOT NULL,
                state BLOB NOT NULL,
                UNIQUE (scope_id, link)
            )
            """,
            "CREATE INDEX path_states_newest ON path_states (session_id, at)",
            "CREATE INDEX path_states_oldest ON path_states (at)",
        ),
    ),
    Migration(
        "0006_mechanisms",
        (
            "ALTER TABLE ledger ADD COLUMN mechanisms TEXT NOT NULL DEFAULT '{}'",
            "ALTER TABLE ledger ADD COLUMN tokens_busted INTEGER NOT NULL DEFAULT 0",
        ),
    ),
    Migration("0007_accounts", ACCOUNTS),
    Migration("0008_wipes", WIPES),
    Migration(
        "0009_doubts",
        ("ALTER TABLE facts ADD COLUMN doubted_by TEXT", "ALTER TABLE wiped_facts ADD COLUMN doubted_by TEXT"),
    ),
    # Which embedding model made the vectors of the archive. Until then it was the built-in one, unless told otherwise.
    Migration(
        "0010_embedded_by",
        (
            "CREATE TABLE embedded_by (model TEXT NOT NULL)",
            "INSERT INTO embedded_by VALUES ('minilm-l6-v2/int8/2')",
        ),
    ),
)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply what is missing, all or nothing. The connection must be in autocommit mode (`isolation_level=None`).

    Raises `DatabaseTooNew` when the file has steps that `migrations` doesn't know.
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
    """The archive's vectors, if another embedding model than `model` made them: what two models say cannot be compared.
    The turns stay, to be found by their words, and get vectors again when their conversation goes on."""
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
    """What has not been applied yet; None for a new file, where not even the list of steps exists."""
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
    """Turn sqlite3's and the system's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the primary code, the rest says more about it.
        if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise DatabaseCorrupt(f"{path} is damaged ({error}): restore it, or move it away to start anew") from error
        raise StorageError(f"{path}: {error}") from error
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
