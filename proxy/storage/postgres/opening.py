"""Opens a PostgreSQL database for a process that serves: the secret that all machines share, the spool of this one; or
without the database, if it is away just then."""

import asyncio
import functools
import logging
import secrets
from collections.abc import Callable
from pathlib import Path

from proxy.config.storage import Storage as Settings
from proxy.storage.base import StorageError, Unavailable
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
    database = PostgresDatabase(
        url,
        tasks,
        settings.pool,
        writing,
        read_seconds=settings.timeout_ms / 1_000,
        spool=spool,
        observed=observed,
        on_change=on_change,
    )
    try:
        secret = await _secret_of(database, settings.path, embedding)
    except BaseException:
        await database.close()
        raise
    database.same = functools.partial(_same, secret)
    database.writer.adopt()
    return database, secret


def drop_vectors_of_others(connection: Connection, model: str) -> None:
    """Deletes the archive's vectors if another embedding model has made them, as in SQLite: all machines need one."""
    if connection.execute("SELECT 1 FROM embedded_by WHERE model = %s FOR UPDATE", (model,)).fetchone() is None:
        connection.execute("UPDATE archive SET dimensions = NULL, vectors = NULL WHERE dimensions IS NOT NULL")
        connection.execute("DELETE FROM shelves")
        connection.execute("UPDATE embedded_by SET model = %s", (model,))


async def _secret_of(database: PostgresDatabase, folder: Path, embedding: str) -> bytes:
    """Returns the secret, as the database says it; as this machine knows it, if the database does not answer."""
    try:
        await database.ready()
        secret = await database.change(lambda connection: shared_secret(connection, folder))
        if embedding:
            await database.change(lambda connection: drop_vectors_of_others(connection, embedding))
    except Unavailable as error:
        if (known := await asyncio.to_thread(kept_secret, folder)) is None:
            raise
        database.health.fail(str(error))
        return known
    await asyncio.to_thread(kept_secret, folder, secret)
    return secret


def _same(secret: bytes, connection: Connection) -> None:
    (found,) = connection.execute(_SECRET).fetchone() or (None,)
    if found != secret:
        raise StorageError(
            "PostgreSQL: another database than before (its tenants' secret differs): restart to serve with it"
        )


def shared_secret(connection: Connection, folder: Path) -> bytes:
    """Returns the database's secret. The first machine gives it its own, if it has one: what was stored under it in
    SQLite can be copied. Raises SecretUnsafe."""
    own = tenant_secret(folder) if (folder / SECRET).exists() else secrets.token_bytes(SECRET_BYTES)
    connection.execute(_ADD_SECRET, (own,))
    (secret,) = connection.execute(_SECRET).fetchone() or (own,)
    return bytes(secret)
