"""Desks in SQLite. Processes that share a file take turns: a batch begins with BEGIN IMMEDIATE."""

from proxy.storage.database import Database
from proxy.storage.stores.desk import DatabaseDesks, DeskStatements
from proxy.storage.stores.desk_forgetting import DeskForgetting

STATEMENTS = DeskStatements(said=str)
FORGETTING = DeskForgetting(STATEMENTS.run)


class SqliteDesks(DatabaseDesks):
    """Desks in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
