"""The database of a command, of the kind that the configuration names, while a proxy may be serving from it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from proxy.config import Config
from proxy.keys.book import KeyBook
from proxy.storage.base import StorageError
from proxy.storage.database import LONG_SECONDS, Database
from proxy.storage.folder import tenant_secret
from proxy.storage.opening import DATABASE
from proxy.storage.sqlite.database import Database as SqliteDatabase
from proxy.storage.sqlite.stores import STORES as SQLITE
from proxy.storage.stores.kinds import Kind
from proxy.tasks import Tasks

if TYPE_CHECKING:
    from proxy.storage.postgres.connection import Connection

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Opened:
    """An open database with the constructors of its stores."""

    database: Database
    stores: Kind
    place: str  # for people
    secret: Callable[[], bytes]  # that tenants are hashed with; it may be made now. Raises StorageError

    async def keys(self, config: Config) -> KeyBook:
        """Returns the keys that this proxy gives out. Raises StorageError."""
        book = KeyBook(config, await asyncio.to_thread(self.secret), self.stores.keys(self.database))
        await book.look()
        return book

    def check(self) -> None:
        """Raises StorageError if something that was queued has not become durable."""
        if self.database.writer.dropped or self.database.writer.failing is not None:
            raise StorageError(f"{self.place} could not be written: nothing has changed")


@asynccontextmanager
async def opened(config: Config, *, anew: bool = False) -> AsyncIterator[Opened]:
    """Opens the database, and closes it. `anew`: a storage folder that nothing was kept in is no error. Raises
    StorageError, also where nothing is kept in a database that outlives its process."""
    kind, folder = config.storage.kind, config.storage.path
    if kind == "postgres":
        async with _postgres(config) as found:
            yield found
        return
    if kind != "sqlite":
        raise StorageError(f"storage.kind is {kind}: nothing outlives the process")
    path = folder / DATABASE
    if not path.exists() and not anew:
        raise StorageError(
            f"{folder}: no proxy has kept anything here; where one keeps, its configuration says: name it with --config"
        )
    database = SqliteDatabase(path, Tasks())
    try:
        yield Opened(database, SQLITE, str(path), lambda: tenant_secret(folder))
    finally:
        await database.close()


async def forget_hot(config: Config, secret: Callable[[], bytes], scopes: Iterable[str]) -> list[str]:
    """Deletes the hot contexts of memory scopes, which may quote what was forgotten. Returns lines for people: that
    Redis was not reached, and how long it keeps them."""
    if config.shared is None:
        return []
    from proxy.storage.redis.connection import Connection  # noqa: PLC0415 (the client library is an extra)
    from proxy.storage.redis.hot import RedisHotContexts  # noqa: PLC0415 (same)

    lost: list[str] = []
    kept = config.shared.hot_context_ttl
    connection = Connection(
        config.shared, await asyncio.to_thread(secret), failed=lambda _part, reason: lost.append(reason)
    )
    contexts = RedisHotContexts(connection, kept)
    await connection.open()
    state = connection.state
    try:
        for scope in scopes:
            contexts.forget(scope.partition("~")[0])
    finally:
        await connection.close()  # waits until it is done
    return [f"Redis ({state}): what it holds of these conversations is gone within {kept:g} seconds."] if lost else []


@asynccontextmanager
async def _postgres(config: Config) -> AsyncIterator[Opened]:
    from proxy.storage.postgres import connection, opening  # noqa: PLC0415 (the driver is an extra)
    from proxy.storage.postgres.database import PostgresDatabase  # noqa: PLC0415 (same)
    from proxy.storage.postgres.stores import STORES  # noqa: PLC0415 (same)

    assert config.storage.url is not None
    url = config.storage.url.get_secret_value()

    class Patient(PostgresDatabase):
        """One whose readers wait as long as a person does: no request waits for a command."""

        async def read(self, query: "Callable[[Connection], T]", seconds: float = LONG_SECONDS) -> T:
            return await super().read(query, max(seconds, LONG_SECONDS))

    def secret() -> bytes:
        with connection.storage_errors(url), connection.connect(url) as one:
            return opening.shared_secret(one, config.storage.path)

    database = Patient(url, Tasks(), 2)
    try:
        await database.ready()
        yield Opened(database, STORES, f"PostgreSQL at {await asyncio.to_thread(connection.place, url)}", secret)
    finally:
        await database.close()
