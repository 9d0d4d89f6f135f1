"""What every StateStore does, whatever it keeps its states in."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage.postgres.states import PostgresStates
from proxy.storage.recollection import STATE_SECONDS, StateStore
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.sessions import SqliteStates
from proxy.tasks import Tasks
from tests import stores
from tests.examples import examples
from tests.postgres import opened

Backend = Callable[[Path], AbstractAsyncContextManager[StateStore]]

NOW = 1_700_000_000.5
LINKS = [bytes([number]) * 16 for number in range(8)]


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[StateStore]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield SqliteStates(database)
    finally:
        await database.close()


def memory(folder: Path) -> AbstractAsyncContextManager[StateStore]:
    return sqlite(folder, name=None)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[StateStore]:
    async with opened(folder) as database:
        yield PostgresStates(database)


BACKENDS = {"file": sqlite, "memory": memory, "postgres": postgres}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
async def store(backend: Backend, tmp_path: Path) -> AsyncIterator[StateStore]:
    async with backend(tmp_path) as opened:
        yield opened


async def kept(store: StateStore, scope: str = "a/") -> list[int]:
    await store.flush()
    return [number for number, link in enumerate(LINKS) if await store.get(scope, [link])]


class TestStateStore:
    @pytest.mark.note("4/4")
    @pytest.mark.parametrize("state", [b"", b'{"turns":1}', bytes(range(256)) * 100])
    async def test_a_state_comes_back_at_once_and_when_it_is_durable(self, store: StateStore, state: bytes) -> None:
        store.put("a/", "s", LINKS[0], NOW, state)
        assert await store.get("a/", [LINKS[0]]) == (LINKS[0], state)
        await store.flush()
        assert await store.get("a/", [LINKS[0]]) == (LINKS[0], state)

    async def test_an_empty_store_has_none(self, store: StateStore) -> None:
        store.forget("a/")
        assert await store.get("a/", LINKS) is None
        assert await store.get("a/", []) is None

    @pytest.mark.parametrize("durable", [(), (2,), (4,), (2, 4)])
    async def test_the_first_link_that_has_a_state_wins(self, store: StateStore, durable: tuple[int, ...]) -> None:
        for number in durable:
            store.put("a/", "s", LINKS[number], NOW, b"%d" % number)
        await store.flush()
        for number in {2, 4} - set(durable):
            store.put("a/", "s", LINKS[number], NOW, b"%d" % number)
        assert await store.get("a/", LINKS) == (LINKS[2], b"2")
        assert await store.get("a/", LINKS[::-1]) == (LINKS[4], b"4")
        assert await store.get("a/", LINKS[3:]) == (LINKS[4], b"4")
        assert await store.get("a/", LINKS[5:]) is None

    @pytest.mark.parametrize("flushed", [True, False])
    async def test_a_state_that_is_put_again_replaces_the_one_before(self, store: StateStore, flushed: bool) -> None:
        store.put("a/", "s", LINKS[0], NOW, b"first")
        if flushed:
            await store.flush()
        store.put("a/", "t", LINKS[0], NOW + 1, b"second")
        assert await store.get("a/", [LINKS[0]]) == (LINKS[0], b"second")
        await store.flush()
        assert await store.get("a/", [LINKS[0]]) == (LINKS[0], b"second")

    async def test_of_a_session_the_four_newest_stay(self, store: StateStore) -> None:
        store.put("a/", "other", LINKS[7], NOW - 9, b"")
        for number in (5, 0, 1, 2):
            store.put("a/", "s", LINKS[number], NOW + number, b"")
        assert await kept(store) == [0, 1, 2, 5, 7]
        for number in (3, 4):
            store.put("a/", "s", LINKS[number], NOW + number, b"")
        assert await kept(store) == [2, 3, 4, 5, 7]

    async def test_of_one_time_those_that_were_put_last_stay(self, store: StateStore) -> None:
        for number in (0, 1, 2, 3, 0, 4):
            store.put("a/", "s", LINKS[number], NOW, b"")
        assert await kept(store) == [0, 2, 3, 4]

    async def test_a_state_that_went_to_another_session_counts_there(self, store: StateStore) -> None:
        for number in range(4):
            store.put("a/", "s", LINKS[number], NOW + number, b"")
        store.put("a/", "t", LINKS[0], NOW + 4, b"")
        store.put("a/", "s", LINKS[4], NOW + 5, b"")
        assert await kept(store) == [0, 1, 2, 3, 4]

    async def test_states_leave_after_a_month(self, store: StateStore) -> None:
        store.put("a/", "s", LINKS[0], NOW, b"")
        store.put("b/", "s", LINKS[1], NOW + 1, b"")
        store.put("a/", "s", LINKS[2], NOW + STATE_SECONDS - 1, b"")
        assert (await kept(store), await kept(store, "b/")) == ([0, 2], [1])
        store.put("c/", "s", LINKS[3], NOW + STATE_SECONDS, b"")
        assert (await kept(store), await kept(store, "b/")) == ([2], [1])

    @pytest.mark.parametrize("flushed", [True, False])
    async def test_what_is_forgotten_is_gone_and_what_comes_later_is_there(
        self, store: StateStore, flushed: bool
    ) -> None:
        for scope in ("a/", "b/"):
            store.put(scope, "s", LINKS[0], NOW, b"before")
        if flushed:
            await store.flush()
        store.forget("a/")
        store.put("a/", "s", LINKS[1], NOW, b"after")
        assert await store.get("a/", LINKS) == (LINKS[1], b"after")
        assert await kept(store) == [1]
        assert await kept(store, "b/") == [0]


scopes = st.sampled_from(["a", "a/", "a/b", "A", "á"])  # "" is no scope: what is queued under it concerns all of them
names = st.sampled_from(["", "a", "a/", "a/b", "A", "á"])
steps = st.lists(
    st.tuples(scopes, names, st.integers(0, 6), st.sampled_from(["put", "put", "put", "forget", "flush"])), max_size=15
)


@pytest.mark.parametrize("name", BACKENDS)
@given(steps=steps)
@settings(max_examples=examples(15), deadline=None)
def test_nothing_crosses_a_scope(name: str, steps: list[tuple[str, str, int, str]]) -> None:
    """Each scope has what it would have if it were alone."""

    async def apply(store: StateStore, step: tuple[str, str, int, str]) -> None:
        scope, session, number, kind = step
        if kind == "put":
            store.put(scope, session, LINKS[number], NOW + number, f"{scope} {session} {number}".encode())
        elif kind == "forget":
            store.forget(scope)
        else:
            await store.flush()

    async def play(folder: Path) -> None:
        async with BACKENDS[name](folder) as shared:
            for step in steps:
                await apply(shared, step)
            await shared.flush()
            for scope in {scope for scope, *_ in steps} | {"nobody"}:
                async with memory(folder) as alone:
                    for step in steps:
                        if step[0] == scope:
                            await apply(alone, step)
                    for link in LINKS:
                        assert await shared.get(scope, [link]) == await alone.get(scope, [link])

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


async def test_off_keeps_nothing() -> None:
    store: StateStore = SqliteStates(stores.nothing())
    store.put("a/", "s", LINKS[0], NOW, b"state")
    store.forget("b/")
    await store.flush()
    assert await store.get("a/", LINKS) is None
    await store.flush()
