"""Compared answers in PostgreSQL. Money is reserved under the lock of the ledger, which a batch takes last."""

from collections.abc import Sequence

from proxy.storage.database import Database
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.jobs import DIALECT
from proxy.storage.postgres.names import ADD_SCOPES
from proxy.storage.stores.quality import FORGET, PUT, DatabaseQuality, QualityStatements, values_of
from proxy.types.quality import QualityPair


def _put(connection: Connection, pairs: Sequence[QualityPair]) -> None:
    connection.execute(ADD_SCOPES, (sorted({pair.scope for pair in pairs}),))
    DIALECT.many(connection, PUT, [values_of(pair) for pair in pairs])


def _forget(connection: Connection, scopes: Sequence[str]) -> None:
    DIALECT.many(connection, FORGET, [{"scope": scope, "nothing": b""} for scope in sorted(set(scopes))])


STATEMENTS = QualityStatements(put=_put, forget=_forget, dialect=DIALECT)


class PostgresQuality(DatabaseQuality):
    """Compared answers in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
