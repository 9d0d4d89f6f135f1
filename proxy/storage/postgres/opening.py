"""Opens a PostgreSQL database for a process that serves: the secret that all machines share, the spool of this one; or
without the database, if it is away just then."""

import asyncio
import logging
import secrets
from collections.abc import Callable
from pathlib import Path

from proxy.config.model import Storage as Settings
from proxy.storage.base import DatabaseTooNew, DatabaseTooOld, StorageError
from proxy.storage.database import Observed
from proxy.storage.folder import SECRET, SECRET_BYTES, kept_secret, tenant_secret
from proxy.storage.pending import WriterLimits
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.health import State
from proxy.storage.postgres.operations import OPERATIONS
from proxy.storage.spool import Spool
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

SPOOL = "spool"

_ADD_SECRET = b"INSERT INTO tenant_secret VALUES (true, %s) ON CONFLICT DO NOTHING"
_SECRET = b"SELECT secret FROM tenant_secret"


async def open_postgres(
    settings: Settings,
    tasks: Tasks,
    *,
    embedding: str = "",
    writing: WriterLimits | None = None,
    observed: Observed = lambda _operation, _seconds: None,
    on_change: Callable[[State], object] = lambda _state: None,
) -> tuple[PostgresDatabase, bytes]:
    """Returns the database and the secret that tenants are hashed with. A database that is away is opened all the same,
    if this machine has served with it before: requests go on, and it is looked for. `embedding` names the model that
    makes vectors: those of another are dropped. Raises StorageError; DatabaseTooOld
    and DatabaseTooNew for a schema of another version."""
    assert settings.url is not None
    spool = await asyncio.to_thread(Spool, settings.path / SPOOL, OPERATIONS, settings.spool_mb * 2**20)
    url = settings.url.get_secret_value()
    database = PostgresDatabase(url, tasks, settings.pool, writing, spool=spool, observed=observed, on_change=on_change)
    try:
        await database.ready()
        secret = await database.change(lambda connection: shared_secret(connection, settings.path))
        if embedding:
            await database.change(lambda connection: drop_vectors_of_others(connection, embedding))
        await asyncio.to_thread(kept_secret, settings.path, secret)
    except (DatabaseTooOld, DatabaseTooNew):
        await database.close()
        raise
    except StorageError as error:
        known = await asyncio.to_thread(kept_secret, settings.path)
        if known is None:
            await database.close()
            raise
        secret = known
        database.health.fail(str(error))
    database.writer.adopt()
    return database, secret


def drop_vectors_of_others(connection: Connection, model: str) -> None:
    """Deletes the archive's vectors if another embedding model has made them, as in SQLite: all machines need one."""
    if connection.execute("SELECT 1 FROM embedded_by WHERE model = %s FOR UPDATE", (model,)).fetchone() is None:
        connection.execute("UPDATE archive SET dimensions = NULL, vectors = NULL WHERE dimensions IS NOT NULL")
        connection.execute("DELETE FROM shelves")
        connection.execute("UPDATE embedded_by SET model = %s", (model,))


def shared_secret(connection: Connection, folder: Path) -> bytes:
    """Returns the database's secret. The first machine gives it its own, if it has one: what was stored under it in
    SQLite can be copied. Raises SecretUnsafe."""
    own = tenant_secret(folder) if (folder / SECRET).exists() else secrets.token_bytes(SECRET_BYTES)
    connection.execute(_ADD_SECRET, (own,))
    (secret,) = connection.execute(_SECRET).fetchone() or (own,)
    return bytes(secret)
