"""Jobs of memory's model in SQLite. Processes that share a file take turns: a batch begins with BEGIN IMMEDIATE."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from proxy.storage.database import Database
from proxy.storage.sqlite.names import ADD_SCOPE, SCOPE_ID
from proxy.storage.stores.job_forgetting import JobForgetting
from proxy.storage.stores.job_rows import ARM, Dialect
from proxy.storage.stores.jobs import DatabaseJobs, JobStatements

# Of one scope, kind and subject one job at a time is under way.
DUE = """
    SELECT id FROM jobs
    WHERE state IN ('waiting', 'running', 'answered') AND due_at <= :now AND lease_until <= :now
        AND (state <> 'waiting' OR NOT EXISTS (
            SELECT 1 FROM jobs AS other
            WHERE other.scope_id = jobs.scope_id AND other.kind = jobs.kind AND other.subject = jobs.subject
                AND other.state IN ('running', 'answered')
        ))
    ORDER BY due_at, id LIMIT 1
"""
WAS_READ = f"SELECT 1 FROM job_links WHERE scope_id = {SCOPE_ID} AND link = :link AND at > 0 LIMIT 1"  # noqa: S608 (our own text)
FORGOTTEN = f"""
    SELECT 1 FROM archive WHERE scope_id = {SCOPE_ID} AND link = :link AND at IS NULL AND NOT lifted
"""  # noqa: S608 (same)
# The number of a turn that has this link, or a message with it.
_TURNS = f"""
    SELECT change FROM archive WHERE scope_id = {SCOPE_ID} AND link = :link AND at IS NOT NULL
    UNION
    SELECT archive.change FROM archive_links CROSS JOIN archive USING (change)
    WHERE archive_links.link = :link AND archive.scope_id = {SCOPE_ID}
"""  # noqa: S608 (same)
ARCHIVED = f"SELECT 1 FROM ({_TURNS}) LIMIT 1"  # noqa: S608 (same)
READERS = f"""
    WITH
        turns (change) AS ({_TURNS}),
        said (link) AS (
            SELECT :link
            UNION SELECT archive.link FROM turns CROSS JOIN archive USING (change)
            UNION SELECT archive_links.link FROM turns CROSS JOIN archive_links USING (change)
        )
    SELECT job_links.job, job_links.link
    FROM said CROSS JOIN job_links ON job_links.scope_id = {SCOPE_ID} AND job_links.link = said.link
"""  # noqa: S608 (same)


def _many(connection: sqlite3.Connection, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
    connection.executemany(statement, values)


def _those(connection: sqlite3.Connection, statement: str, scope: str, links: Sequence[bytes]) -> set[bytes]:
    """Returns the links for which the statement finds a row."""
    found = ((link, connection.execute(statement, {"scope": scope, "link": link}).fetchone()) for link in links)
    return {link for link, row in found if row is not None}


def _was_read(connection: sqlite3.Connection, scope: str, links: Sequence[bytes]) -> set[bytes]:
    return _those(connection, WAS_READ, scope, links)


def _forgotten(connection: sqlite3.Connection, scope: str, links: Sequence[bytes]) -> set[bytes]:
    return _those(connection, FORGOTTEN, scope, links)


def _archived(connection: sqlite3.Connection, scope: str, links: Sequence[bytes]) -> set[bytes]:
    return _those(connection, ARCHIVED, scope, links)


def _readers(connection: sqlite3.Connection, scope: str, links: Sequence[bytes]) -> list[tuple[int, bytes]]:
    found = (connection.execute(READERS, {"scope": scope, "link": link}).fetchall() for link in links)
    return sorted({pair for pairs in found for pair in pairs})


def _arm(connection: sqlite3.Connection, armed: Sequence[Mapping[str, Any]]) -> None:
    connection.executemany(ADD_SCOPE, {(each["scope"],) for each in armed})
    connection.executemany(ARM, [{**each, "nothing": b""} for each in armed])


DIALECT = Dialect(
    said=str,
    many=_many,
    due=DUE,
    lock=lambda _: None,  # the transaction has the whole file
    was_read=_was_read,
    readers=_readers,
    forgotten=_forgotten,
    archived=_archived,
)
STATEMENTS = JobStatements(arm=_arm, dialect=DIALECT)
FORGETTING = JobForgetting(DIALECT)


class SqliteJobs(DatabaseJobs):
    """Jobs in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
