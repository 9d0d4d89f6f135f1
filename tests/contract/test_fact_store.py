"""What every FactStore does, whatever it keeps its facts in."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.recollection import FactStore
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Tasks
from proxy.types import Fact, FactSource
from tests import stores
from tests.examples import examples
from tests.postgres import opened

Backend = Callable[[Path], AbstractAsyncContextManager[FactStore]]

NOW = 1_700_000_000.5

# Every value differs from every other and from its default, so that a swapped or forgotten column shows.
FACT = Fact(
    id="f-0123456789abcdef",
    domain="personal",
    key="alergia",
    value="soy alérgico a los «maníes»\n\0",
    confidence="medium",
    source="auto",
    session="s-1",
    turn=7,
    created_at=NOW,
    last_confirmed_at=NOW + 1,
    pinned=True,
    superseded_by="f-other",
    superseded_at=NOW + 2,
    links=(b"\0" * 16, b"\xff" * 16),
)
NEW = Fact("f-1", "work", "team", "I lead the team", "high", "explicit", "s", 1, NOW, NOW)
NEW_BY_MODEL = replace(NEW, source="auto")


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[FactStore]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield SqliteFacts(database)
    finally:
        await database.close()


def memory(folder: Path) -> AbstractAsyncContextManager[FactStore]:
    return sqlite(folder, name=None)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[FactStore]:
    async with opened(folder) as database:
        yield PostgresFacts(database)


BACKENDS = {"file": sqlite, "memory": memory, "postgres": postgres}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
async def store(backend: Backend, tmp_path: Path) -> AsyncIterator[FactStore]:
    async with backend(tmp_path) as opened:
        yield opened


class TestFactStore:
    @pytest.mark.note("1.1/2", "Rumi Fact/1")
    async def test_a_fact_comes_back_as_it_was_at_once_and_when_it_is_durable(self, store: FactStore) -> None:
        store.put("a/", [FACT])
        assert await store.all("a/") == [FACT]
        await store.flush()
        assert await store.all("a/") == [FACT]
        assert await store.find(FACT.id) == ("a/", FACT)

    @pytest.mark.note("Rumi Fact/2")
    async def test_a_deleted_fact_and_one_whose_source_had_another_name_come_back(self, store: FactStore) -> None:
        deleted = replace(FACT, superseded_by=FACT.id)
        store.put("a/", [deleted, replace(NEW, source=cast("FactSource", "inferred"))])
        assert await store.all("a/") == [deleted, NEW_BY_MODEL]

    async def test_an_empty_store_has_nothing(self, store: FactStore) -> None:
        store.put("a/", [])
        store.forget("a/", [FACT.id])
        store.forget("a/", [])
        assert await store.all("a/") == []
        assert await store.find(FACT.id) is None
        assert await store.scopes() == []

    async def test_facts_come_oldest_first_and_those_of_one_time_as_they_were_put(self, store: FactStore) -> None:
        facts = [replace(NEW, id=f"f-{9 - number}", created_at=NOW + number // 2) for number in range(6)]
        store.put("a/", facts[3:])
        store.put("a/", facts[:3])
        assert await store.all("a/") == [facts[i] for i in (0, 1, 3, 2, 4, 5)]

    async def test_a_fact_that_is_put_again_replaces_the_one_before(self, store: FactStore) -> None:
        confirmed = replace(FACT, last_confirmed_at=NOW + 9, superseded_by=None, superseded_at=0.0, links=())
        store.put("a/", [FACT])
        store.put("a/", [confirmed])
        store.put("a/", [confirmed])
        assert await store.all("a/") == [confirmed]

    async def test_of_one_call_the_last_of_an_id_counts(self, store: FactStore) -> None:
        newer = replace(NEW, value="I left the team")
        store.put("a/", [NEW, newer])
        assert await store.all("a/") == [newer]

    @pytest.mark.note("9.1/1")
    async def test_what_was_superseded_stays_beside_what_took_its_place(self, store: FactStore) -> None:
        store.put("a/", [NEW])
        second = replace(NEW, id="f-2", value="I left the team", created_at=NOW + 5)
        first = replace(NEW, superseded_by=second.id, superseded_at=NOW + 5)
        store.put("a/", [first, second])
        assert await store.all("a/") == [first, second]

    async def test_what_is_forgotten_is_gone(self, store: FactStore) -> None:
        second = replace(NEW, id="f-2")
        store.put("a/", [NEW, second])
        store.forget("a/", [NEW.id, "f-unknown"])
        assert await store.all("a/") == [second]
        assert await store.find(NEW.id) is None

    async def test_what_is_forgotten_may_be_said_again(self, store: FactStore) -> None:
        store.put("a/", [NEW])
        store.forget("a/", [NEW.id])
        store.put("a/", [NEW])
        assert await store.all("a/") == [NEW]

    async def test_the_same_id_in_another_scope_is_another_fact(self, store: FactStore) -> None:
        theirs = replace(NEW, value="theirs")
        store.put("a/", [NEW])
        store.put("b/", [theirs])
        store.forget("b/", [NEW.id])
        store.forget("c/", [NEW.id])
        assert await store.all("a/") == [NEW]
        assert await store.all("b/") == []
        assert await store.find(NEW.id) == ("a/", NEW)

    async def test_it_tells_which_scopes_have_facts(self, store: FactStore) -> None:
        for scope in ("b/", "a/", "c/", "b/"):
            store.put(scope, [NEW, FACT])
        store.forget("c/", [NEW.id, FACT.id])
        assert await store.scopes() == ["a/", "b/"]


names = st.sampled_from(["", "a", "a/", "a/b", "A", "á"])
steps = st.lists(st.tuples(names, st.integers(0, 3), st.sampled_from(["put", "forget", "flush"])), max_size=15)


@pytest.mark.parametrize("name", BACKENDS)
@given(steps=steps)
@settings(max_examples=examples(15), deadline=None)
def test_nothing_crosses_a_scope(name: str, steps: list[tuple[str, int, str]]) -> None:
    """Each scope has what it would have if it were alone, and reads what it has just written."""

    async def play(folder: Path) -> None:
        alone: dict[str, dict[str, Fact]] = {}
        async with BACKENDS[name](folder) as shared:
            for at, (scope, number, step) in enumerate(steps):
                here = alone.setdefault(scope, {})
                fact = replace(NEW, id=f"f-{number}", value=scope, turn=at, created_at=NOW + number)
                if step == "put":
                    shared.put(scope, [fact])
                    here[fact.id] = fact
                elif step == "forget":
                    shared.forget(scope, [fact.id])
                    here.pop(fact.id, None)
                else:
                    await shared.flush()
                assert await shared.all(scope) == sorted(here.values(), key=lambda each: each.created_at)
            for scope in [*alone, "nobody"]:
                expected = alone.get(scope, {}).values()
                assert await shared.all(scope) == sorted(expected, key=lambda each: each.created_at)
            assert await shared.scopes() == sorted(scope for scope, facts in alone.items() if facts)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


async def test_off_keeps_nothing() -> None:
    store: FactStore = SqliteFacts(stores.nothing())
    store.put("a/", [FACT])
    store.forget("a/", [FACT.id])
    await store.flush()
    assert (store.keeps, await store.all("a/"), await store.find(FACT.id), await store.scopes()) == (
        False,
        [],
        None,
        [],
    )
    await store.flush()
