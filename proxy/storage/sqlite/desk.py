"""Desks in SQLite. Processes that share a file take turns: a batch begins with BEGIN IMMEDIATE."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from proxy.storage.database import Database
from proxy.storage.sqlite import jobs
from proxy.storage.stores.desk import DatabaseDesks
from proxy.storage.stores.desk_forgetting import DeskForgetting
from proxy.storage.stores.desk_rows import LINE, DeskDialect

_WITH = f"SELECT {LINE}, {{content}} FROM desk_lines WHERE desk = :desk AND link = :link"  # noqa: S608 (our own text)
WITH_CONTENT, WITHOUT_CONTENT = _WITH.format(content="content"), _WITH.format(content="NULL")
# A row that is replaced gets a number that no row has ever had.
REWRITE = f"""
    INSERT OR REPLACE INTO desk_lines (scope_id, desk, {LINE}, content)
    SELECT scope_id, desk, {LINE}, {{content}} FROM desk_lines WHERE {{which}} ORDER BY change
"""  # noqa: S608 (same)


def _lines_with(connection: sqlite3.Connection, desk: int, links: Sequence[bytes], reads: bool) -> list[Sequence[Any]]:
    statement = WITH_CONTENT if reads else WITHOUT_CONTENT
    found = (connection.execute(statement, {"desk": desk, "link": link}).fetchone() for link in links)
    return [row for row in found if row is not None]


DIALECT = DeskDialect(
    known=jobs.DIALECT,
    lines_with=_lines_with,
    rewrite=REWRITE,
)
FORGETTING = DeskForgetting(DIALECT)


class SqliteDesks(DatabaseDesks):
    """Desks in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, DIALECT)
