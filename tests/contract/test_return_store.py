"""What every ReturnStore does: conversations that have returned to pass-through, as every process sees them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from proxy.storage.postgres.returns import PostgresReturns
from proxy.storage.returns import ReturnStore
from proxy.storage.sqlite.database import Database, NoDatabase
from proxy.storage.sqlite.returns import SqliteReturns
from proxy.tasks import Tasks
from tests import stores
from tests.postgres import opened


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[ReturnStore]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield SqliteReturns(database)
    finally:
        await database.close()


def memory(folder: Path) -> AbstractAsyncContextManager[ReturnStore]:
    return sqlite(folder, name=None)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[ReturnStore]:
    async with opened(folder) as database:
        yield PostgresReturns(database)


BACKENDS: dict[str, Callable[[Path], AbstractAsyncContextManager[ReturnStore]]] = {
    "file": sqlite,
    "memory": memory,
    "postgres": postgres,
}


@pytest.fixture(params=BACKENDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ReturnStore]:
    async with BACKENDS[request.param](tmp_path) as opened:
        yield opened


async def test_what_has_returned_is_told_in_its_order_once_with_its_first_reason(store: ReturnStore) -> None:
    for session, reason in (("s", "dearer"), ("t", "reported"), ("s", "reported")):
        store.put("a/ana", session, reason, 5.0)
    store.put("b/", "s", "reported", 6.0)
    await store.flush()
    found = await store.after(0)
    assert [(each.scope, each.session, each.reason) for each in found] == [
        ("a/ana", "s", "dearer"),
        ("a/ana", "t", "reported"),
        ("b/", "s", "reported"),
    ]
    assert await store.after(found[0].number) == found[1:]
    assert await store.after(0, limit=1) == found[:1]
    assert await store.after(found[-1].number) == []


async def test_a_storage_that_keeps_nothing_has_none() -> None:
    store = SqliteReturns(NoDatabase())
    store.put("a/", "s", "dearer", 5.0)
    await store.flush()
    assert await store.after(0) == []
