"""Desks in PostgreSQL. A writer has the lock of the scope, as every batch has, so no number is given twice."""

from proxy.storage.database import Database
from proxy.storage.postgres.jobs import said
from proxy.storage.stores.desk import DatabaseDesks, DeskStatements
from proxy.storage.stores.desk_forgetting import DeskForgetting

STATEMENTS = DeskStatements(said=said)
FORGETTING = DeskForgetting(STATEMENTS.run)


class PostgresDesks(DatabaseDesks):
    """Desks in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
