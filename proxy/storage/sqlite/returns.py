"""Conversations that have returned to pass-through, in SQLite."""

from proxy.storage.database import Database
from proxy.storage.stores.returns import DatabaseReturns


class SqliteReturns(DatabaseReturns):
    """Returned conversations in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, str)
