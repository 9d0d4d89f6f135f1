"""What every KeyStore does, whatever it keeps keys in; and the sums by the day that ledger rows add to."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from proxy.storage.base import Ledger
from proxy.storage.keys import KeyStore
from proxy.storage.postgres.keys import PostgresKeys
from proxy.storage.postgres.ledger import PostgresLedger
from proxy.storage.sqlite.database import Database, NoDatabase
from proxy.storage.sqlite.keys import SqliteKeys
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.tasks import Tasks
from proxy.types.keys import ApiKey, KeySums, Limits
from tests import stores
from tests.builders import ledger_row
from tests.postgres import opened

DAY = 86_400
NOON = 20_000 * DAY + 43_200.0
ANA = ApiKey(
    id="0123456789abcdef",
    name="ana",
    hash=b"h" * 32,
    team="design",
    limits=Limits(requests_per_minute=60, tokens_per_day=0, dollars_per_month=12.5),
    created_at=NOON,
)
TENANT, OTHER = "a" * 32, "b" * 32


@dataclass
class House:
    keys: KeyStore
    others: KeyStore  # of another process, on the same database
    ledger: Ledger


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[House]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    other = Database(stores.begun(folder / name), Tasks()) if name else database
    try:
        yield House(SqliteKeys(database), SqliteKeys(other), SqliteLedger(database))
    finally:
        await database.close()
        await other.close()


def memory(folder: Path) -> AbstractAsyncContextManager[House]:
    return sqlite(folder, name=None)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[House]:
    async with opened(folder) as database:
        yield House(PostgresKeys(database), PostgresKeys(database), PostgresLedger(database))


BACKENDS: dict[str, Callable[[Path], AbstractAsyncContextManager[House]]] = {
    "file": sqlite,
    "memory": memory,
    "postgres": postgres,
}


@pytest.fixture(params=BACKENDS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with BACKENDS[request.param](tmp_path) as opened:
        yield opened


class TestKeyStore:
    async def test_a_key_comes_back_as_it_was_created_in_every_process(self, house: House) -> None:
        assert await house.keys.create(ANA)
        assert await house.keys.all() == [ANA]
        assert await house.others.all() == [ANA]

    async def test_one_key_of_a_name_holds_and_its_name_is_free_again_once_it_is_revoked(self, house: House) -> None:
        later = replace(ANA, id="f" * 16, hash=b"i" * 32, created_at=NOON + 9)
        assert await house.keys.create(ANA)
        assert not await house.others.create(later)
        assert await house.keys.revoke(ANA.id, NOON + 5)
        assert await house.others.create(later)
        assert await house.keys.all() == [replace(ANA, revoked_at=NOON + 5), later]

    async def test_a_key_is_revoked_once(self, house: House) -> None:
        await house.keys.create(ANA)
        assert await house.keys.revoke(ANA.id, NOON + 5)
        assert not await house.keys.revoke(ANA.id, NOON + 6)
        assert not await house.keys.revoke("none", NOON + 6)
        assert [key.revoked_at for key in await house.keys.all()] == [NOON + 5]

    async def test_every_change_makes_another_version_and_a_use_makes_none(self, house: House) -> None:
        versions = [await house.keys.version()]
        await house.keys.create(ANA)
        versions.append(await house.others.version())
        await house.keys.create(replace(ANA, id="g", name="ben", hash=b"g"))
        versions.append(await house.others.version())
        await house.keys.revoke(ANA.id, NOON + 5)
        versions.append(await house.others.version())
        assert len(set(versions)) == 4

    async def test_the_last_use_only_grows(self, house: House) -> None:
        await house.keys.create(ANA)
        before = await house.keys.version()
        for at in (NOON + 60, NOON + 20):
            house.keys.used(ANA.id, at)
        await house.ledger.flush()
        assert [key.last_used_at for key in await house.keys.all()] == [NOON + 60]
        assert await house.keys.version() == before

    async def test_sums_are_of_all_end_users_of_a_tenant_by_the_day(self, house: House) -> None:
        told = {"tokens_billed": 100, "tokens_completion": 20, "cost": 0.5, "cost_saved": 0.25}
        for number, (scope, at) in enumerate(
            [
                (f"{TENANT}/", NOON),
                (f"{TENANT}/ana", NOON + 60),
                (f"{TENANT}/ana", NOON + DAY),
                (f"{OTHER}/", NOON),
                ("unanswered/", NOON),
            ]
        ):
            row = ledger_row(request_id=f"r{number}", scope=scope, at=at, **told)
            house.ledger.append(row)
            house.ledger.append(row)  # once more: it is known already
        await house.ledger.flush()
        day = int(NOON // DAY)
        assert await house.keys.sums(TENANT, day, day) == KeySums(2, 240, 1.0, 0.5)
        assert await house.keys.sums(TENANT, day, day + 1) == KeySums(3, 360, 1.5, 0.75)
        assert await house.keys.sums("c" * 32, day, day) == KeySums()
        found = await house.keys.sums_by_tenant(day, day)
        assert found == [(TENANT, KeySums(2, 240, 1.0, 0.5)), (OTHER, KeySums(1, 120, 0.5, 0.25))]

    async def test_answers_from_memory_are_requests_that_no_token_was_paid_for(self, house: House) -> None:
        row = ledger_row(scope=f"{TENANT}/", at=NOON, source="exact", tokens_completion=20, cost=0.0, cost_saved=0.5)
        house.ledger.append(row)
        await house.ledger.flush()
        day = int(NOON // DAY)
        assert await house.keys.sums(TENANT, day, day) == KeySums(1, 0, 0.0, 0.5)

    async def test_requests_that_compare_answers_take_nothing_of_a_keys_budget(self, house: House) -> None:
        for reason in ("quality", "quality_judge"):
            row = ledger_row(request_id=reason, scope=f"{TENANT}/", at=NOON, reuse_reason=reason, cost=0.5)
            house.ledger.append(replace(row, cost_saved=0.0))
        await house.ledger.flush()
        day = int(NOON // DAY)
        assert await house.keys.sums(TENANT, day, day) == KeySums()


async def test_a_storage_that_keeps_nothing_says_so() -> None:
    keys = SqliteKeys(NoDatabase())
    assert not keys.keeps
    assert await keys.all() == []
