"""The stores of conversations with hot contexts before them, as two processes see them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from proxy.storage.base import KnownPrefix
from proxy.storage.hot import LOOKED_AT, Hot
from proxy.storage.pending import WriterLimits
from proxy.storage.redis.connection import Connection
from proxy.storage.redis.hot import RedisHotContexts
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.sessions import SqliteSessions, SqliteStates
from proxy.tasks import Tasks
from tests.builders import NOW
from tests.redis_server import all_told, connected, fresh_redis

LAZY = WriterLimits(interval=60)  # nothing is written until something asks for it
SCOPE, MEMORY = "a", "a~s"
CHAIN = [bytes([number]) * 16 for number in range(1, 12)]


@dataclass
class Process:
    hot: Hot
    connection: Connection
    database: Database

    async def answered(self, chain: Sequence[bytes], start: int, state: bytes = b"") -> None:
        """A request that ends with the last but one link, and its answer."""
        if state:
            self.hot.states.put(MEMORY, "s", chain[-2], NOW, state)
        self.hot.sessions.remember(SCOPE, "s", chain, start, NOW)
        await all_told(self.connection)


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[tuple[Process, Process]]:
    url = fresh_redis().url

    @asynccontextmanager
    async def process() -> AsyncIterator[Process]:
        async with connected(url, lambda over: RedisHotContexts(over, 300.0)) as (connection, contexts):
            database = Database(tmp_path / "db", Tasks(), LAZY)
            yield Process(Hot(contexts, SqliteSessions(database), SqliteStates(database)), connection, database)
            await database.close()

    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(process()), await stack.enter_async_context(process())


@pytest.mark.note("v2 Resumen/1", "v2 Flujo/2")
async def test_another_process_knows_a_conversation_that_the_database_has_not_got_yet(
    two: tuple[Process, Process],
) -> None:
    one, other = two
    await one.answered(CHAIN[:4], 2, b"state")
    found = await other.hot.sessions.longest_prefix(SCOPE, CHAIN[:5])
    assert found == KnownPrefix(4, ("s",), is_tip=True)
    assert other.hot.states.is_hot(MEMORY, CHAIN[2])
    assert await other.hot.states.get(MEMORY, CHAIN[3::-1]) == (CHAIN[2], b"state")
    assert await other.hot.sessions.longest_prefix("b", CHAIN[:5]) is None
    assert one.database.writer.depth > 0


@pytest.mark.note("v2 Buffer/6", "v2 Testing/3")
async def test_the_context_is_that_of_the_last_answer(two: tuple[Process, Process]) -> None:
    one, other = two
    await one.answered(CHAIN[:4], 0, b"first")
    await other.answered(CHAIN[:6], 4, b"second")
    found = await one.hot.sessions.longest_prefix(SCOPE, CHAIN[:7])
    assert found == KnownPrefix(6, ("s",), is_tip=True)
    assert await one.hot.states.get(MEMORY, CHAIN[6::-1]) == (CHAIN[4], b"second")


@pytest.mark.note("v2 Buffer/7")
async def test_a_conversation_that_is_not_hot_is_read_from_the_database(two: tuple[Process, Process]) -> None:
    one, other = two
    await one.answered(CHAIN[:4], 0, b"state")
    await one.hot.sessions.flush()
    longer = [*CHAIN[:4], *(bytes([99, number]) * 8 for number in range(LOOKED_AT))]
    found = await other.hot.sessions.longest_prefix(SCOPE, longer)
    assert found is not None
    assert (found.length, found.sessions) == (4, ("s",))
    assert not other.hot.states.is_hot(MEMORY, CHAIN[2])
    assert await other.hot.states.get(MEMORY, CHAIN[3::-1]) == (CHAIN[2], b"state")


async def test_a_state_in_the_database_that_is_nearer_wins(two: tuple[Process, Process]) -> None:
    one, other = two
    await one.answered(CHAIN[:2], 0, b"older")
    assert await other.hot.sessions.longest_prefix(SCOPE, CHAIN[:3]) is not None
    one.hot.states.put(MEMORY, "s", CHAIN[3], NOW, b"newer")
    await one.hot.states.flush()
    assert await other.hot.states.get(MEMORY, CHAIN[3::-1]) == (CHAIN[3], b"newer")
    assert await other.hot.states.get(MEMORY, CHAIN[2::-1]) == (CHAIN[0], b"older")


@pytest.mark.note("v2 NO/1")
async def test_what_is_forgotten_is_in_no_hot_context(two: tuple[Process, Process]) -> None:
    one, other = two
    await one.answered(CHAIN[:4], 0, b"quotes what is forgotten")
    assert await other.hot.sessions.longest_prefix(SCOPE, CHAIN[:5]) is not None
    other.hot.states.forget(MEMORY)
    await other.hot.states.flush()
    await all_told(other.connection)
    assert not other.hot.states.is_hot(MEMORY, CHAIN[2])
    assert await other.hot.states.get(MEMORY, CHAIN[3::-1]) is None
    await one.hot.sessions.flush()
    found = await one.hot.sessions.longest_prefix(SCOPE, CHAIN[:5])
    assert found is not None  # in the database
    assert not one.hot.states.is_hot(MEMORY, CHAIN[2])


async def test_a_request_without_a_state_leaves_none(two: tuple[Process, Process]) -> None:
    one, other = two
    await one.answered(CHAIN[:4], 0)
    assert await other.hot.sessions.longest_prefix(SCOPE, CHAIN[:5]) == KnownPrefix(4, ("s",), is_tip=True)
    assert await other.hot.states.get(MEMORY, CHAIN[3::-1]) is None
    assert await other.hot.sessions.longest_prefix(SCOPE, []) is None
