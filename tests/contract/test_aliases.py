"""What every AliasStore does, whatever it keeps its names in."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from proxy.storage.base import AliasStore, Ledger
from proxy.storage.postgres.aliases import PostgresAliases
from proxy.storage.postgres.ledger import PostgresLedger
from proxy.storage.sqlite.aliases import SqliteAliases
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.tasks import Tasks
from tests import stores
from tests.builders import ledger_row
from tests.postgres import opened

Kept = tuple[AliasStore, Ledger]
Backend = Callable[[Path], AbstractAsyncContextManager[Kept]]


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[Kept]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield SqliteAliases(database), SqliteLedger(database)
    finally:
        await database.close()


def memory(folder: Path) -> AbstractAsyncContextManager[Kept]:
    return sqlite(folder, name=None)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[Kept]:
    async with opened(folder) as database:
        yield PostgresAliases(database), PostgresLedger(database)


BACKENDS: dict[str, Backend] = {"file": sqlite, "memory": memory, "postgres": postgres}


@pytest.mark.parametrize("name", BACKENDS)
async def test_a_scope_has_the_name_that_it_was_given_last(name: str, tmp_path: Path) -> None:
    async with BACKENDS[name](tmp_path) as (aliases, ledger):
        for number, scope in enumerate(("a/", "b/ana")):
            ledger.append(ledger_row(request_id=str(number), scope=scope))
        await ledger.flush()
        assert await aliases.all() == {}
        await aliases.put("a/", "the shop")
        await aliases.put("b/ana", "Ana's “laptop”")
        await aliases.put("of-nobody-ever/", "of whom nothing is kept")
        assert await aliases.all() == {"a/": "the shop", "b/ana": "Ana's “laptop”"}
        await aliases.put("a/", "the other shop")
        await aliases.put("b/ana", "")
        await aliases.put("b/ana", "")
        assert await aliases.all() == {"a/": "the other shop"}


async def test_off_has_no_names() -> None:
    assert await SqliteAliases(stores.nothing()).all() == {}
