"""Compared answers in SQLite. Processes that share a file take turns: a batch begins with BEGIN IMMEDIATE."""

import sqlite3
from collections.abc import Sequence

from proxy.storage.database import Database
from proxy.storage.sqlite.jobs import DIALECT
from proxy.storage.sqlite.names import ADD_SCOPE
from proxy.storage.stores.quality import FORGET, PUT, DatabaseQuality, QualityStatements, values_of
from proxy.types.quality import QualityPair


def _put(connection: sqlite3.Connection, pairs: Sequence[QualityPair]) -> None:
    connection.executemany(ADD_SCOPE, {(pair.scope,) for pair in pairs})
    connection.executemany(PUT, [values_of(pair) for pair in pairs])


def _forget(connection: sqlite3.Connection, scopes: Sequence[str]) -> None:
    connection.executemany(FORGET, [{"scope": scope, "nothing": b""} for scope in set(scopes)])


STATEMENTS = QualityStatements(put=_put, forget=_forget, dialect=DIALECT)


class SqliteQuality(DatabaseQuality):
    """Compared answers in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
