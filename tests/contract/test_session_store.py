"""What every SessionStore does, whatever it keeps its links in."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage.base import KnownPrefix, SessionStore
from proxy.storage.postgres.sessions import PostgresSessions
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.sessions import SqliteSessions
from proxy.storage.stores.sessions import DatabaseSessions
from proxy.tasks import Tasks
from tests import stores
from tests.examples import examples
from tests.postgres import opened

Backend = Callable[[Path], AbstractAsyncContextManager[SessionStore]]


def chain_of(*messages: object) -> list[bytes]:
    links: list[bytes] = []
    for message in messages:
        parent = links[-1] if links else b""
        links.append(hashlib.blake2b(parent + repr(message).encode(), digest_size=16).digest())
    return links


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[SessionStore]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield SqliteSessions(database)
    finally:
        await database.close()


def memory(folder: Path) -> AbstractAsyncContextManager[SessionStore]:
    return sqlite(folder, name=None)


@dataclass
class OnDisk:
    """A database that has nothing in memory when it is asked, so that the answer comes from SQL."""

    sessions: DatabaseSessions

    async def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        await self.flush()
        self.sessions.invalidate()
        return await self.sessions.longest_prefix(scope, chain)

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        self.sessions.remember(scope, session, chain, start, at)

    async def flush(self) -> None:
        await self.sessions.flush()


@asynccontextmanager
async def sqlite_on_disk(folder: Path) -> AsyncIterator[SessionStore]:
    database = Database(stores.begun(folder / "olvido.sqlite3"), Tasks())
    try:
        yield OnDisk(SqliteSessions(database))
    finally:
        await database.close()


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[SessionStore]:
    async with opened(folder) as database:
        yield PostgresSessions(database)


@asynccontextmanager
async def postgres_read(folder: Path) -> AsyncIterator[SessionStore]:
    async with opened(folder) as database:
        yield OnDisk(PostgresSessions(database))


BACKENDS = {
    "file": sqlite,
    "memory": memory,
    "file-read": sqlite_on_disk,
    "postgres": postgres,
    "postgres-read": postgres_read,
}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
async def store(backend: Backend, tmp_path: Path) -> AsyncIterator[SessionStore]:
    async with backend(tmp_path) as opened:
        yield opened


class TestSessionStore:
    async def test_an_unknown_chain_has_no_prefix(self, store: SessionStore) -> None:
        assert await store.longest_prefix("a/", chain_of("hi")) is None
        assert await store.longest_prefix("a/", []) is None

    async def test_what_was_remembered_is_known_at_once_and_after_a_flush(self, store: SessionStore) -> None:
        chain = chain_of("hi", "hello", "bye")
        store.remember("a/", "s", chain[:2], 0, 1.0)
        known = KnownPrefix(2, ("s",), is_tip=True)
        assert await store.longest_prefix("a/", chain) == known
        await store.flush()
        assert await store.longest_prefix("a/", chain) == known

    async def test_a_link_that_was_gone_on_from_is_no_tip(self, store: SessionStore) -> None:
        chain = chain_of("hi", "hello", "bye", "bye then")
        store.remember("a/", "s", chain[:2], 0, 1.0)
        store.remember("a/", "s", chain, 2, 2.0)
        assert await store.longest_prefix("a/", chain) == KnownPrefix(4, ("s",), is_tip=True)
        assert await store.longest_prefix("a/", chain[:2]) == KnownPrefix(2, ("s",), is_tip=False)
        assert await store.longest_prefix("a/", [*chain[:3], b"x" * 16]) == KnownPrefix(3, ("s",), is_tip=False)

    async def test_a_branch_in_another_session_leaves_both_their_own_tip(self, store: SessionStore) -> None:
        mine, yours = chain_of("hi", "hello", "me"), chain_of("hi", "hello", "you")
        store.remember("a/", "s", mine, 0, 1.0)
        store.remember("a/", "t", yours, 2, 2.0)
        assert await store.longest_prefix("a/", mine) == KnownPrefix(3, ("s",), is_tip=True)
        assert await store.longest_prefix("a/", yours) == KnownPrefix(3, ("t",), is_tip=True)
        assert await store.longest_prefix("a/", mine[:2]) == KnownPrefix(2, ("s",), is_tip=False)

    async def test_two_sessions_at_most_are_told_newest_first(self, store: SessionStore) -> None:
        opening = chain_of("hi")
        for at, session in enumerate(("s", "t", "u", "s", "v")):
            store.remember("a/", session, opening, 0, float(at))
        assert await store.longest_prefix("a/", opening) == KnownPrefix(1, ("v", "s"), is_tip=True)

    async def test_a_session_that_arrives_late_does_not_pass_for_the_newest(self, store: SessionStore) -> None:
        opening = chain_of("hi")
        for at, session in ((3.0, "s"), (1.0, "t"), (2.0, "u"), (2.5, "t")):
            store.remember("a/", session, opening, 0, at)
        assert await store.longest_prefix("a/", opening) == KnownPrefix(1, ("s", "t"), is_tip=True)

    async def test_remembering_twice_changes_nothing(self, store: SessionStore) -> None:
        chain = chain_of("hi", "hello", "bye")
        for _ in range(2):
            store.remember("a/", "s", chain[:2], 0, 1.0)
            store.remember("a/", "s", chain, 2, 2.0)
        assert await store.longest_prefix("a/", chain) == KnownPrefix(3, ("s",), is_tip=True)
        assert await store.longest_prefix("a/", chain[:2]) == KnownPrefix(2, ("s",), is_tip=False)

    async def test_a_chain_with_nothing_new_is_still_a_tip(self, store: SessionStore) -> None:
        chain = chain_of("hi", "hello")
        store.remember("a/", "s", chain, 0, 1.0)
        store.remember("a/", "s", chain, len(chain), 2.0)
        assert await store.longest_prefix("a/", chain) == KnownPrefix(2, ("s",), is_tip=True)

    async def test_the_caller_may_go_on_using_its_list(self, store: SessionStore) -> None:
        chain = chain_of("hi", "hello")
        given_away = list(chain)
        store.remember("a/", "s", given_away, 0, 1.0)
        given_away.clear()
        await store.flush()
        assert await store.longest_prefix("a/", chain) == KnownPrefix(2, ("s",), is_tip=True)

    @pytest.mark.note("v2 Troubleshooting/1")
    @pytest.mark.parametrize("known", [1, 20, 600])
    async def test_a_long_chain_is_recognised_wherever_it_is_known_to(self, store: SessionStore, known: int) -> None:
        chain = chain_of(*range(700))
        store.remember("a/", "s", chain[:known], 0, 1.0)
        assert await store.longest_prefix("a/", chain) == KnownPrefix(known, ("s",), is_tip=True)


@dataclass
class Model:
    """The Protocol in its plainest form: everything is kept, everything is searched."""

    at: dict[tuple[str, bytes], dict[str, float]] = field(default_factory=dict)
    went_on: set[tuple[str, bytes]] = field(default_factory=set)

    def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        for length in range(len(chain), 0, -1):
            if sessions := self.at.get((scope, chain[length - 1])):
                newest = sorted(sessions, key=lambda session: -sessions[session])[:2]
                return KnownPrefix(length, tuple(newest), (scope, chain[length - 1]) not in self.went_on)
        return None

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        if start >= len(chain):
            return
        self.went_on.update((scope, link) for link in chain[max(0, start - 1) : -1])
        for link in chain[start:]:
            self.at.setdefault((scope, link), {})[session] = at


conversations = st.lists(
    st.tuples(
        st.sampled_from(["a/", "a/b", "b/"]),
        st.sampled_from("stuv"),
        st.lists(st.integers(0, 1), min_size=1, max_size=5),  # few messages: chains share beginnings
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("name", BACKENDS)
@given(conversations=conversations)
@settings(max_examples=examples(20), deadline=None)
def test_every_backend_agrees_with_the_model(name: str, conversations: list[tuple[str, str, list[int], int]]) -> None:
    async def play(folder: Path) -> None:
        model = Model()
        async with BACKENDS[name](folder) as store:
            for at, (scope, session, messages, skip) in enumerate(conversations):
                chain = chain_of(*messages)
                known = model.longest_prefix(scope, chain)
                assert await store.longest_prefix(scope, chain) == known
                start = min(skip, known.length if known else 0)
                model.remember(scope, session, chain, start, float(at))
                store.remember(scope, session, chain, start, float(at))
            for scope in ("a/", "a/b", "b/", "a", ""):
                for _, _, messages, _ in conversations:
                    chain = chain_of(*messages)
                    assert await store.longest_prefix(scope, chain) == model.longest_prefix(scope, chain)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


scope_names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@pytest.mark.parametrize("name", BACKENDS)
@given(scopes=st.lists(scope_names, min_size=2, max_size=6, unique=True))
@settings(max_examples=examples(12), deadline=None)
def test_nothing_crosses_a_scope(name: str, scopes: list[str]) -> None:
    async def play(folder: Path) -> None:
        async with BACKENDS[name](folder) as store:
            chain = chain_of("hi", "hello")
            walled_off, *others = scopes
            for scope in others:
                store.remember(scope, f"session of {scope}", chain, 0, 1.0)
            assert await store.longest_prefix(walled_off, chain) is None
            for scope in others:
                known = await store.longest_prefix(scope, chain)
                assert known == KnownPrefix(2, (f"session of {scope}",), is_tip=True)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


async def test_sqlite_knows_after_it_was_opened_again(tmp_path: Path) -> None:
    chain = chain_of("hi", "hello", "bye")
    async with sqlite(tmp_path) as store:
        store.remember("a/", "s", chain[:2], 0, 1.0)
    async with sqlite(tmp_path) as store:
        assert await store.longest_prefix("a/", chain) == KnownPrefix(2, ("s",), is_tip=True)
        store.remember("a/", "s", chain, 2, 2.0)
    async with sqlite(tmp_path) as store:
        assert await store.longest_prefix("a/", chain[:2]) == KnownPrefix(2, ("s",), is_tip=False)


async def test_off_makes_every_request_a_new_conversation() -> None:
    store: SessionStore = SqliteSessions(stores.nothing())
    store.remember("a/", "s", chain_of("hi"), 0, 1.0)
    await store.flush()
    assert await store.longest_prefix("a/", chain_of("hi")) is None
    await store.flush()
