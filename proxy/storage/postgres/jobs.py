"""Jobs of memory's model in PostgreSQL.

Who changes a job has the lock of its scope, as every batch has. A claim does not know whose job it will be: it takes
one whose scope nobody has locked just now, and locks both, so that it never waits. Money is reserved under the lock of
the ledger, which a batch takes last.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from proxy.storage.database import Database
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.ledger import LOCK
from proxy.storage.postgres.migrating import LEDGER_LOCK
from proxy.storage.postgres.names import ADD_SCOPES, SCOPE_ID
from proxy.storage.stores.job_forgetting import JobForgetting
from proxy.storage.stores.job_rows import ARM, Dialect
from proxy.storage.stores.jobs import DatabaseJobs, JobStatements

_VALUE = re.compile(r":(\w+)")

# Of one scope, kind and subject one job at a time is under way. The scope is locked first: a lock stays when the one
# after it is not to be had, and whoever has the scope would wait for a job.
DUE = """
    SELECT jobs.id FROM scopes JOIN jobs ON jobs.scope_id = scopes.id
    WHERE state IN ('waiting', 'running', 'answered') AND due_at <= :now AND lease_until <= :now
        AND (state <> 'waiting' OR NOT EXISTS (
            SELECT 1 FROM jobs AS other
            WHERE other.scope_id = jobs.scope_id AND other.kind = jobs.kind AND other.subject = jobs.subject
                AND other.state IN ('running', 'answered')
        ))
    ORDER BY due_at, jobs.id LIMIT 1 FOR NO KEY UPDATE OF scopes, jobs SKIP LOCKED
"""
_LINKS = "ANY(%(links)s::bytea[])"
WAS_READ = f"SELECT link FROM job_links WHERE scope_id = {SCOPE_ID} AND link = {_LINKS} AND at > 0".encode()  # noqa: S608 (our own text)
FORGOTTEN = f"""
    SELECT link FROM archive WHERE scope_id = {SCOPE_ID} AND link = {_LINKS} AND at IS NULL AND lifted = 0
""".encode()  # noqa: S608 (same)
ARCHIVED = f"""
    SELECT link FROM archive WHERE scope_id = {SCOPE_ID} AND link = {_LINKS} AND at IS NOT NULL
    UNION
    SELECT archive_links.link FROM archive_links JOIN archive USING (change)
    WHERE archive_links.link = {_LINKS} AND archive.scope_id = {SCOPE_ID}
""".encode()  # noqa: S608 (same)
READERS = f"""
    WITH
        turns AS MATERIALIZED (
            SELECT change FROM archive WHERE scope_id = {SCOPE_ID} AND link = {_LINKS} AND at IS NOT NULL
            UNION
            SELECT archive.change FROM archive_links JOIN archive USING (change)
            WHERE archive_links.link = {_LINKS} AND archive.scope_id = {SCOPE_ID}
        ),
        said (link) AS MATERIALIZED (
            SELECT unnest(%(links)s::bytea[])
            UNION SELECT archive.link FROM turns JOIN archive USING (change)
            UNION SELECT archive_links.link FROM turns JOIN archive_links USING (change)
        )
    SELECT DISTINCT job_links.job, job_links.link
    FROM said JOIN job_links ON job_links.scope_id = {SCOPE_ID} AND job_links.link = said.link
    ORDER BY job_links.job, job_links.link
""".encode()  # noqa: S608 (same)


@functools.lru_cache(200)  # a few dozen statements, and some with numbers of jobs
def said(statement: str) -> str:
    """Returns a statement whose values stand in it as `:name`, as the driver takes it."""
    return _VALUE.sub(r"%(\1)s", statement)


def _many(connection: Connection, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
    if values:
        with connection.cursor() as cursor:
            cursor.executemany(said(statement).encode(), values)


def _lock(connection: Connection) -> None:
    connection.execute(LOCK, (LEDGER_LOCK,))


def _those(connection: Connection, statement: bytes, scope: str, links: Sequence[bytes]) -> set[bytes]:
    return {link for (link,) in connection.execute(statement, {"scope": scope, "links": list(links)})}


def _was_read(connection: Connection, scope: str, links: Sequence[bytes]) -> set[bytes]:
    return _those(connection, WAS_READ, scope, links)


def _forgotten(connection: Connection, scope: str, links: Sequence[bytes]) -> set[bytes]:
    return _those(connection, FORGOTTEN, scope, links)


def _archived(connection: Connection, scope: str, links: Sequence[bytes]) -> set[bytes]:
    return _those(connection, ARCHIVED, scope, links)


def _readers(connection: Connection, scope: str, links: Sequence[bytes]) -> list[tuple[int, bytes]]:
    found = connection.execute(READERS, {"scope": scope, "links": list(links)})
    return [(job, link) for job, link in found]


def _arm(connection: Connection, armed: Sequence[Mapping[str, Any]]) -> None:
    connection.execute(ADD_SCOPES, (sorted({each["scope"] for each in armed}),))
    _many(connection, ARM, [{**each, "nothing": b""} for each in armed])


DIALECT = Dialect(
    said=said,
    many=_many,
    due=DUE,
    lock=_lock,
    was_read=_was_read,
    readers=_readers,
    forgotten=_forgotten,
    archived=_archived,
)
STATEMENTS = JobStatements(arm=_arm, dialect=DIALECT)
FORGETTING = JobForgetting(DIALECT)


class PostgresJobs(DatabaseJobs):
    """Jobs in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
