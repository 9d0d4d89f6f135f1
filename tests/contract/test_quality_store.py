"""What every QualityStore does, whatever it keeps its pairs in."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proxy.storage.postgres.quality import PostgresQuality
from proxy.storage.quality import QualityStore
from proxy.storage.sqlite.database import Database, NoDatabase
from proxy.storage.sqlite.quality import SqliteQuality
from proxy.tasks import Tasks
from proxy.types.quality import Comparison, HeldSums, Measures, QualityPair
from tests import stores
from tests.postgres import opened, processes

NOW = 1_700_000_000.5
DAY = 86_400.0
MEASURES = Measures(0.8, 1.0, None, 0.5, 0.91, None)
PAIR = QualityPair(
    scope="a/",
    request_id="r1",
    session="s",
    at=NOW,
    model="m",
    upstream="up",
    comparison=Comparison(held=True, reason="alike", measures=MEASURES),
    saved=0.002,
    cost=0.003,
    tokens_original=4_000,
    tokens_sent=900,
    question="¿Cuánto era?\0",
    managed="48",
    original="Eran 48.",
    verdict="same",
)


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[QualityStore]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield SqliteQuality(database)
    finally:
        await database.close()


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[QualityStore]:
    async with opened(folder) as database:
        yield PostgresQuality(database)


def memory(folder: Path) -> AbstractAsyncContextManager[QualityStore]:
    return sqlite(folder, name=None)


Backend = Callable[[Path], AbstractAsyncContextManager[QualityStore]]
BACKENDS: dict[str, Backend] = {"file": sqlite, "memory": memory, "postgres": postgres}


@pytest.fixture(params=BACKENDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[QualityStore]:
    async with BACKENDS[request.param](tmp_path) as found:
        yield found


def pair(number: int, *, held: bool = True, **differing: Any) -> QualityPair:
    comparison = Comparison(held, "alike" if held else "numbers", MEASURES)
    made = replace(PAIR, request_id=f"r{number}", comparison=comparison)
    return replace(made, **differing)


async def test_a_pair_comes_back_as_it_was_put(store: QualityStore) -> None:
    store.put(PAIR)
    assert await store.get("r1", "a/") == PAIR
    assert await store.get("r1") == PAIR
    assert [found for _, found in await store.recent()] == [PAIR]


async def test_a_second_pair_of_a_request_is_ignored(store: QualityStore) -> None:
    store.put(PAIR)
    store.put(replace(PAIR, managed="another"))
    assert [found for _, found in await store.recent()] == [PAIR]


async def test_nothing_is_read_across_scopes(store: QualityStore) -> None:
    store.put(PAIR)
    assert await store.get("r1", "b/") is None
    assert await store.recent(scope="b/") == []
    assert await store.sums(0, NOW + 1, "b/") == HeldSums()


async def test_a_tenant_means_all_its_scopes_and_no_others(store: QualityStore) -> None:
    one, other = "1" * 32, "2" * 32
    for number, scope in enumerate((f"{one}/", f"{one}/ana", f"{other}/ana"), 1):
        store.put(pair(number, scope=scope))
    assert [found.request_id for _, found in await store.recent(scope=one)] == ["r2", "r1"]
    assert (await store.sums(0, NOW + 1, one)).pairs == 2
    assert await store.get("r2", one) == pair(2, scope=f"{one}/ana")
    assert await store.get("r3", one) is None
    assert (await store.sums(0, NOW + 1, "3" * 32)).pairs == 0


async def test_pairs_come_newest_first_page_by_page(store: QualityStore) -> None:
    for number in range(5):
        store.put(pair(number))
    first = await store.recent(limit=2)
    assert [found.request_id for _, found in first] == ["r4", "r3"]
    rest = await store.recent(before=first[-1][0], limit=10)
    assert [found.request_id for _, found in rest] == ["r2", "r1", "r0"]


async def test_those_that_have_not_held_come_alone_if_asked(store: QualityStore) -> None:
    store.put(pair(1))
    store.put(pair(2, held=False))
    assert [found.request_id for _, found in await store.recent(only_lost=True)] == ["r2"]


async def test_sums_are_of_a_span_and_a_scope(store: QualityStore) -> None:
    store.put(pair(1))
    store.put(pair(2, held=False, at=NOW + 10))
    store.put(pair(3, held=False, at=NOW + 20))
    store.put(pair(4, scope="b/"))
    sums = await store.sums(NOW, NOW + 20, "a/")
    assert (sums.pairs, sums.held, round(sums.cost, 6)) == (2, 1, 0.006)
    assert (await store.sums(NOW, NOW + 21)).pairs == 4
    assert await store.sums(NOW + 100, NOW + 200) == HeldSums()


async def test_what_is_forgotten_has_its_numbers_and_no_text(store: QualityStore) -> None:
    store.put(PAIR)
    store.put(pair(2, scope="b/"))
    store.forget("a/")
    found = await store.get("r1", "a/")
    assert found == replace(PAIR, question="", managed="", original="", verdict="")
    other = await store.get("r2", "b/")
    assert other is not None
    assert other.managed == "48"


async def test_money_is_set_aside_before_and_corrected_afterwards(store: QualityStore) -> None:
    number = await store.reserve(0.6, NOW, most=1.0)
    assert number is not None
    assert await store.reserve(0.6, NOW, most=1.0) is None
    await store.settle(number, 0.1)
    assert await store.spent(NOW) == pytest.approx(0.1)
    assert await store.reserve(0.6, NOW, most=1.0) is not None


async def test_a_new_day_has_its_own_money(store: QualityStore) -> None:
    assert await store.reserve(1.0, NOW, most=1.0) is not None
    assert await store.reserve(1.0, NOW, most=1.0) is None
    assert await store.reserve(1.0, NOW + DAY, most=1.0) is not None


async def test_those_who_ask_at_once_never_pass_the_limit_together(store: QualityStore) -> None:
    given = await asyncio.gather(*(store.reserve(0.3, NOW, most=1.0) for _ in range(8)))
    assert sum(number is not None for number in given) == 3
    assert await store.spent(NOW) == pytest.approx(0.9)


async def test_where_nothing_is_kept_there_is_nothing() -> None:
    store = SqliteQuality(NoDatabase())
    store.put(PAIR)
    assert not store.keeps
    assert await store.recent() == []


async def test_processes_that_share_a_file_never_pass_the_limit_together(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as one, sqlite(tmp_path) as other:
        asked = [store.reserve(0.3, NOW, most=1.0) for store in (one, other) for _ in range(4)]
        given = await asyncio.gather(*asked)
        assert sum(number is not None for number in given) == 3
        assert await other.spent(NOW) == pytest.approx(0.9)


@pytest.mark.long
async def test_processes_that_share_a_server_never_pass_the_limit_together() -> None:
    async with processes(2) as running:
        asked = [PostgresQuality(database).reserve(0.3, NOW, most=1.0) for database in running for _ in range(4)]
        given = await asyncio.gather(*asked)
        assert sum(number is not None for number in given) == 3
