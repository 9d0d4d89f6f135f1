"""The schema of a PostgreSQL database: brought up to date in numbered steps, by one process at a time, all or nothing.
A database without any table gets it at the first start; an older one is upgraded by `olvido db upgrade` alone."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psycopg

from proxy.storage.base import DatabaseCorrupt, DatabaseTooNew, DatabaseTooOld, Unfit
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.schema import MIGRATIONS

# Numbers of advisory locks: that of upgrades, and those of other work that one process does at a time. Any will do that
# nobody else uses in this database.
LOCK = 0x6F6C7669646F  # "olvido"
LEDGER_LOCK, CONTENTS_LOCK, RETENTION_LOCK, ERASING_LOCK = LOCK + 1, LOCK + 2, LOCK + 3, LOCK + 4

_STEPS = "SELECT name FROM migrations ORDER BY name"
# In one statement: another process may be creating both at this moment, and they appear together.
_TABLES = """
    SELECT relname FROM pg_class
    WHERE relname IN ('migrations', 'scopes') AND relkind = 'r' AND pg_table_is_visible(oid)
"""
_MAY_WRITE = """
    SELECT bool_and(has_table_privilege('scopes', needed))
    FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS needed
"""


@dataclass(frozen=True, slots=True)
class Status:
    """The steps of a database's schema."""

    applied: tuple[str, ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]  # of a newer version of this program
    is_empty: bool  # no table of ours is there


def status(connection: Connection, migrations: Mapping[str, Sequence[str]] = MIGRATIONS) -> Status:
    """Returns the steps that are applied, and those that are not."""
    tables = {name for (name,) in connection.execute(_TABLES)}
    applied = tuple(name for (name,) in connection.execute(_STEPS)) if "migrations" in tables else ()
    return Status(
        applied,
        tuple(name for name in migrations if name not in applied),
        tuple(name for name in applied if name not in migrations),
        is_empty=not applied and "scopes" not in tables,
    )


def upgrade(connection: Connection, migrations: Mapping[str, Sequence[str]] = MIGRATIONS) -> tuple[str, ...]:
    """Applies the missing steps, all or nothing, and returns their names; whoever comes at the same time waits, and
    finds nothing to do. Raises DatabaseTooNew, DatabaseCorrupt, and psycopg.Error."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        found = status(connection, migrations)
        refuse(found)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at DOUBLE PRECISION NOT NULL)"
        )
        for name in found.missing:
            for statement in migrations[name]:
                connection.execute(statement.encode())
            connection.execute("INSERT INTO migrations VALUES (%s, %s)", (name, time.time()))
    return found.missing


def ready(
    connection: Connection, migrations: Mapping[str, Sequence[str]] = MIGRATIONS, *, may_create: bool = True
) -> None:
    """Makes sure that the database has the schema of this version: one without tables gets it. Raises DatabaseTooOld,
    DatabaseTooNew, DatabaseCorrupt, Unfit, and psycopg.Error."""
    found = status(connection, migrations)
    refuse(found)
    if found.is_empty and may_create:
        upgrade(connection, migrations)
    elif found.missing:
        raise DatabaseTooOld(
            f"the database has an older schema (it lacks {', '.join(found.missing)}): run `olvido db upgrade`"
        )
    if not (connection.execute(_MAY_WRITE).fetchone() or (False,))[0]:
        raise Unfit("PostgreSQL: the role of storage.url lacks rights: it must SELECT, INSERT, UPDATE and DELETE")


def refuse(found: Status) -> None:
    """Raises DatabaseTooNew, or DatabaseCorrupt, for a schema that no upgrade can mend."""
    if found.unknown:
        raise DatabaseTooNew(
            f"a newer version of this program has written the database (it has {', '.join(found.unknown)}): upgrade"
        )
    if not found.applied and not found.is_empty:
        raise DatabaseCorrupt(
            "the database has a table `scopes`, and no record of the steps that made it: it is another program's, or "
            "was restored in part; name an empty database, or restore all of it"
        )


def try_lock(connection: Connection, lock: int) -> bool:
    """Takes an advisory lock until the transaction ends; False if another process has it. Raises psycopg.Error."""
    try:
        return bool((connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (lock,)).fetchone() or (False,))[0])
    except psycopg.errors.LockNotAvailable:
        return False
