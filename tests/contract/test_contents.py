"""What every ContentStore does, whatever it keeps its entries in."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from proxy.storage.base import ContentStore
from proxy.storage.postgres.contents import PostgresContents
from proxy.storage.sqlite.contents import SqliteContents
from proxy.storage.sqlite.database import Database
from proxy.storage.stores.contents import ContentLimits
from proxy.tasks import Tasks
from proxy.types import Contents
from tests import stores
from tests.postgres import opened

NOW = 1_700_000_000.5
LIMITS = ContentLimits(seconds=100, bytes=1_000, entry_bytes=600)
ENTRY = Contents(
    "a/", "r1", "s", NOW, b'{"body":"\xc3\xb1\0"}', b"sent", b"state", b'{"role":"assistant"}', {"user-agent": "x"}
)


@dataclass(slots=True)
class Kept:
    store: ContentStore
    now: list[float] = field(default_factory=lambda: [NOW])


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[Kept]:
    now = [NOW]
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield Kept(SqliteContents(database, LIMITS, clock=lambda: now[0]), now)
    finally:
        await database.close()


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[Kept]:
    now = [NOW]
    async with opened(folder) as database:
        yield Kept(PostgresContents(database, LIMITS, clock=lambda: now[0]), now)


def memory(folder: Path) -> AbstractAsyncContextManager[Kept]:
    return sqlite(folder, name=None)


Backend = Callable[[Path], AbstractAsyncContextManager[Kept]]
BACKENDS: dict[str, Backend] = {"file": sqlite, "memory": memory, "postgres": postgres}


@pytest.fixture(params=BACKENDS)
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    async with BACKENDS[request.param](tmp_path) as found:
        yield found


@pytest.fixture
def store(kept: Kept) -> ContentStore:
    return kept.store


def entry(number: int, size: int = 100, **differing: Any) -> Contents:
    return replace(Contents("a/", f"r{number}", "s", NOW + number / 1_000, b"x" * size), **differing)


def ids(found: Sequence[Contents]) -> list[str]:
    return [each.request_id for each in found]


class TestContents:
    async def test_an_entry_comes_back_as_it_was(self, store: ContentStore) -> None:
        bare = Contents("a/", "r2", "s", NOW, b"body")
        store.put(ENTRY)
        store.put(bare)
        assert await store.get("a/", "r1") == ENTRY
        assert await store.get("a/", "r2") == bare
        assert await store.recent(9) == [ENTRY, bare]

    async def test_of_nothing_there_is_nothing(self, store: ContentStore) -> None:
        store.forget("a/")
        assert await store.get("a/", "r1") is None
        for whose in ({}, {"scope": "a/"}, {"session": "s"}, {"scope": "a/", "session": "s"}):
            assert list(await store.recent(9, **whose)) == []

    async def test_nothing_crosses_a_scope(self, store: ContentStore) -> None:
        mine, theirs = entry(1), entry(1, scope="b/")
        store.put(mine)
        store.put(theirs)
        assert await store.get("a/", "r1") == mine
        assert await store.get("b/", "r1") == theirs
        assert await store.get("c/", "r1") is None

    async def test_a_request_is_kept_once(self, store: ContentStore) -> None:
        store.put(entry(1))
        store.put(entry(1, size=50))
        assert [each.size for each in await store.recent(9)] == [100]

    async def test_several_come_at_once_without_what_was_sent(self, store: ContentStore) -> None:
        theirs = entry(1, scope="b/")
        for each in (ENTRY, entry(2), theirs):
            store.put(each)
        asked = [("a/", "r1"), ("b/", "r1"), ("b/", "r2"), ("c/", "r1"), ("a/", "r9")]
        assert await store.several(asked) == {
            ("a/", "r1"): replace(ENTRY, sent=b"", fates=b""), ("b/", "r1"): theirs
        }  # fmt: skip
        assert await store.several([]) == {}

    @pytest.mark.parametrize(
        ("limit", "whose", "found"),
        [
            (9, {}, ["r1", "r2", "r3", "r4"]), (2, {}, ["r3", "r4"]), (0, {}, []), (9, {"scope": "b/"}, ["r3"]),
            (9, {"scope": "a/"}, ["r1", "r2", "r4"]), (2, {"scope": "a/"}, ["r2", "r4"]),
            (9, {"scope": "a/", "session": "s"}, ["r1", "r4"]), (1, {"scope": "a/", "session": "s"}, ["r4"]),
            (9, {"scope": "b/", "session": "t"}, []),
        ],
    )  # fmt: skip
    async def test_the_newest_are_told_oldest_first(
        self, store: ContentStore, limit: int, whose: dict[str, str], found: list[str]
    ) -> None:
        for each in (entry(1), entry(2, session="t"), entry(3, scope="b/"), entry(4)):
            store.put(each)
        assert ids(await store.recent(limit, **whose)) == found

    @pytest.mark.parametrize(("size", "is_kept"), [(600, True), (601, False)])
    async def test_an_entry_that_is_too_large_is_not_kept(self, store: ContentStore, size: int, is_kept: bool) -> None:
        store.put(entry(1, size=size))
        assert (await store.get("a/", "r1") is not None) is is_kept

    async def test_the_oldest_leave_when_there_is_too_much(self, store: ContentStore) -> None:
        for number in range(1, 6):
            store.put(entry(number, size=250))
        assert ids(await store.recent(9)) == ["r2", "r3", "r4", "r5"]
        store.put(entry(6, size=300))
        assert ids(await store.recent(9)) == ["r4", "r5", "r6"]
        store.put(entry(7, size=200))
        assert ids(await store.recent(9)) == ["r4", "r5", "r6", "r7"]

    async def test_what_is_forgotten_makes_room(self, store: ContentStore) -> None:
        store.put(entry(1, size=500))
        store.put(entry(2, size=500, scope="b/"))
        store.forget("a/")
        store.put(entry(3, size=500))
        assert ids(await store.recent(9)) == ["r2", "r3"]

    async def test_everything_that_a_scope_said_is_forgotten_and_nothing_else(self, store: ContentStore) -> None:
        for each in (entry(1), entry(2, session="t"), entry(3, scope="b/")):
            store.put(each)
        store.forget("a/")
        assert ids(await store.recent(9)) == ["r3"]
        store.put(entry(4))
        assert ids(await store.recent(9)) == ["r3", "r4"]

    async def test_what_is_too_old_is_not_told(self, kept: Kept) -> None:
        kept.store.put(entry(1))
        kept.now[0] = NOW + 100
        assert ids(await kept.store.recent(9)) == ["r1"]
        kept.now[0] = NOW + 101
        assert list(await kept.store.recent(9)) == []
        assert await kept.store.get("a/", "r1") is None
        kept.store.put(replace(entry(2), at=NOW + 50))
        assert ids(await kept.store.recent(9)) == ["r2"]


async def test_kept_for_ever_is_never_too_old() -> None:
    store = SqliteContents(stores.AtOnce(), ContentLimits(seconds=0), clock=lambda: 1e15)
    store.put(ENTRY)
    assert await store.get("a/", "r1") == ENTRY


async def test_off_keeps_nothing() -> None:
    store: ContentStore = SqliteContents(stores.nothing())
    store.put(ENTRY)
    await TestContents().test_of_nothing_there_is_nothing(store)
