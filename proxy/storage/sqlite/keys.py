"""Keys that this proxy gives out, in SQLite."""

from proxy.storage.database import Database
from proxy.storage.stores.keys import DatabaseKeys


class SqliteKeys(DatabaseKeys):
    """Keys in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, str)
