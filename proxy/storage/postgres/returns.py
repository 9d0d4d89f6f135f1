"""Conversations that have returned to pass-through, in PostgreSQL."""

from proxy.storage.database import Database
from proxy.storage.postgres.jobs import said
from proxy.storage.stores.returns import DatabaseReturns


class PostgresReturns(DatabaseReturns):
    """Returned conversations in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, said)
