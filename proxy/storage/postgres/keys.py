"""Keys that this proxy gives out, in PostgreSQL."""

from proxy.storage.database import Database
from proxy.storage.postgres.jobs import said
from proxy.storage.stores.keys import DatabaseKeys


class PostgresKeys(DatabaseKeys):
    """Keys in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, said)
