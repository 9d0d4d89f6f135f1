"""Desks in PostgreSQL.

Numbers of lines and events are given under the lock of their scope. Changes of documents are numbered across all
scopes: who writes some has a lock that all writers may have at once, and who follows them one that nobody else has, so
that no number is seen before a lower one; it never waits for that lock.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.storage.database import Database
from proxy.storage.postgres import jobs
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.migrating import DOCUMENTS_LOCK, try_lock
from proxy.storage.stores.desk import DatabaseDesks
from proxy.storage.stores.desk_forgetting import DeskForgetting
from proxy.storage.stores.desk_rows import CHANGED, LINE, DeskDialect

_WITH = f"SELECT {LINE}, {{content}} FROM desk_lines WHERE desk = %(desk)s AND link = ANY(%(links)s::bytea[])"  # noqa: S608 (our own text)
WITH_CONTENT, WITHOUT_CONTENT = (_WITH.format(content=content).encode() for content in ("content", "NULL"))
REWRITE = """
    UPDATE desk_lines SET change = nextval(pg_get_serial_sequence('desk_lines', 'change')), content = {content}
    WHERE {which}
"""
SHARED_LOCK = b"SELECT pg_advisory_xact_lock_shared(%s)"


def _lines_with(connection: Connection, desk: int, links: Sequence[bytes], reads: bool) -> list[Sequence[Any]]:
    statement = WITH_CONTENT if reads else WITHOUT_CONTENT
    return list(connection.execute(statement, {"desk": desk, "links": list(links)}))


def _changing(connection: Connection) -> None:
    connection.execute(SHARED_LOCK, (DOCUMENTS_LOCK,))


def _changed(connection: Connection, values: Mapping[str, Any]) -> list[Sequence[Any]] | None:
    with connection.transaction():
        if not try_lock(connection, DOCUMENTS_LOCK):
            return None
        return list(connection.execute(jobs.said(CHANGED).encode(), values))


DIALECT = DeskDialect(
    known=jobs.DIALECT,
    lines_with=_lines_with,
    rewrite=REWRITE,
    changing=_changing,
    changed=_changed,
)
FORGETTING = DeskForgetting(DIALECT)


class PostgresDesks(DatabaseDesks):
    """Desks in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, DIALECT)
