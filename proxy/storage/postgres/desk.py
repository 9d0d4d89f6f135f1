"""Desks in PostgreSQL. A writer has the lock of the scope, as every batch has, so no number is given twice."""

from collections.abc import Sequence
from typing import Any

from proxy.storage.database import Database
from proxy.storage.postgres import jobs
from proxy.storage.postgres.connection import Connection
from proxy.storage.stores.desk import DatabaseDesks
from proxy.storage.stores.desk_forgetting import DeskForgetting
from proxy.storage.stores.desk_rows import LINE, DeskDialect

_WITH = f"SELECT {LINE}, {{content}} FROM desk_lines WHERE desk = %(desk)s AND link = ANY(%(links)s::bytea[])"  # noqa: S608 (our own text)
WITH_CONTENT, WITHOUT_CONTENT = (_WITH.format(content=content).encode() for content in ("content", "NULL"))
REWRITE = """
    UPDATE desk_lines SET change = nextval(pg_get_serial_sequence('desk_lines', 'change')), content = {content}
    WHERE {which}
"""


def _lines_with(connection: Connection, desk: int, links: Sequence[bytes], reads: bool) -> list[Sequence[Any]]:
    statement = WITH_CONTENT if reads else WITHOUT_CONTENT
    return list(connection.execute(statement, {"desk": desk, "links": list(links)}))


DIALECT = DeskDialect(
    known=jobs.DIALECT,
    lines_with=_lines_with,
    rewrite=REWRITE,
)
FORGETTING = DeskForgetting(DIALECT)


class PostgresDesks(DatabaseDesks):
    """Desks in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, DIALECT)
