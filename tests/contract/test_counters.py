"""Counts of what is limited, as every backend has to keep them, over all processes that share it."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from proxy.storage.redis.counters import RedisCounters
from proxy.storage.shared import Counters
from proxy.storage.shared.counters import ENDED, LEASE, SqliteCounters
from proxy.types.keys import Counted, Use
from tests.redis_server import connected, fresh_redis, redis_here

NOW = 1_700_000_000.5
SECOND = int(NOW)


@dataclass
class Crew:
    """Two processes that share the counts; the same one twice, where they are one process's."""

    one: Counters
    other: Counters


@asynccontextmanager
async def memory(folder: Path) -> AsyncIterator[Crew]:
    counters = SqliteCounters()
    yield Crew(counters, counters)


@asynccontextmanager
async def file(folder: Path) -> AsyncIterator[Crew]:
    yield Crew(SqliteCounters(folder), SqliteCounters(folder))


@asynccontextmanager
async def redis(folder: Path) -> AsyncIterator[Crew]:
    url = redis_here().url
    async with connected(url, RedisCounters) as (_, one), connected(url, RedisCounters) as (_, other):
        yield Crew(one, other)


@asynccontextmanager
async def redis_gone(folder: Path) -> AsyncIterator[Crew]:
    nowhere = f"unix://{Path(tempfile.gettempdir()) / 'olvido-nobody-listens.sock'}"
    async with connected(nowhere, RedisCounters) as (_, counters):
        yield Crew(counters, counters)


Build = Callable[[Path], AbstractAsyncContextManager[Crew]]
BACKENDS: tuple[Build, ...] = (memory, file, redis, redis_gone)


@pytest.fixture(params=BACKENDS, ids=lambda build: build.__name__)
async def crew(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Crew]:
    if request.param is redis:
        fresh_redis()
    async with request.param(tmp_path) as made:
        yield made


async def seen(counters: Counters, owner: str = "a", *, at: float = NOW, since: float = 0.0) -> Counted:
    """What is counted, by a look that leaves nothing."""
    look = Use("look", at, 0, 0, 0.0)
    found = await counters.add(owner, look, since)
    counters.withdraw(owner, look)
    return Counted(tuple(each for each in found.seconds if each[1:] != (0, 0)), found.tokens, found.dollars)


async def test_every_process_counts_what_all_have_added_itself_included(crew: Crew) -> None:
    assert await crew.one.add("a", Use("1", NOW, 1, 100, 0.25), 0.0) == Counted(((SECOND, 1, 100),), 100, 0.25)
    assert await crew.other.add("a", Use("2", NOW + 1, 1, 50, 0.5), 0.0) == Counted(
        ((SECOND, 1, 100), (SECOND + 1, 1, 50)), 150, 0.75
    )
    assert await seen(crew.one, "another") == Counted()


async def test_a_use_that_is_settled_counts_as_it_came_until_the_sums_have_it(crew: Crew) -> None:
    use = Use("1", NOW, 1, 100, 0.25)
    await crew.one.add("a", use, 0.0)
    crew.one.settle("a", use, 30, 0.125, NOW + 2)
    assert await seen(crew.one, at=NOW + 2) == Counted(((SECOND, 1, 30),), 30, 0.125)
    assert await seen(crew.other, at=NOW + 2, since=NOW + 1) == Counted(((SECOND, 1, 30),), 30, 0.125)
    assert await seen(crew.other, at=NOW + 2, since=NOW + 3) == Counted(((SECOND, 1, 30),), 0, 0.0)


async def test_what_a_use_turns_out_to_be_beyond_its_estimate_is_added_to_it(crew: Crew) -> None:
    use = Use("1", NOW, 1, 100, 0.25)
    await crew.one.add("a", use, 0.0)
    raised = await crew.other.add("a", Use("1", NOW, 0, 900, 0.5), 0.0)
    assert raised == await seen(crew.one) == Counted(((SECOND, 1, 1_000),), 1_000, 0.75)
    crew.one.settle("a", Use("1", NOW, 1, 1_000, 0.75), 30, 0.125, NOW)
    assert await seen(crew.one) == await seen(crew.other) == Counted(((SECOND, 1, 30),), 30, 0.125)


async def test_one_that_is_withdrawn_has_never_been(crew: Crew) -> None:
    use = Use("1", NOW, 1, 100, 0.25)
    await crew.one.add("a", Use("0", NOW, 1, 7, 0.5), 0.0)
    await crew.one.add("a", use, 0.0)
    crew.one.withdraw("a", use)
    assert await seen(crew.one) == Counted(((SECOND, 1, 7),), 7, 0.5)


async def test_a_minute_is_forgotten_after_it_and_what_nobody_ends_after_its_lease(crew: Crew) -> None:
    await crew.one.add("a", Use("1", NOW, 1, 100, 0.25), 0.0)
    assert await seen(crew.one, at=NOW + 60) == Counted(((SECOND, 1, 100),), 100, 0.25)
    assert await seen(crew.one, at=NOW + 62) == Counted((), 100, 0.25)
    assert await seen(crew.one, at=NOW + LEASE + 1) == Counted()


async def test_what_has_ended_leaves_soon(crew: Crew) -> None:
    use = Use("1", NOW, 1, 100, 0.25)
    await crew.one.add("a", use, 0.0)
    crew.one.settle("a", use, 100, 0.25, NOW)
    assert (await seen(crew.one, at=NOW + ENDED + 1)).tokens == 0


async def test_of_many_at_once_each_sees_what_came_before(crew: Crew) -> None:
    both = (crew.one, crew.other)
    found = await asyncio.gather(*(both[at % 2].add("a", Use(str(at), NOW, 1, 10, 0.5), 0.0) for at in range(40)))
    assert sorted(each.seconds[0][1] for each in found) == list(range(1, 41))
    assert sorted(each.dollars for each in found) == [0.5 * at for at in range(1, 41)]


def test_nothing_is_opened_before_something_is_counted(tmp_path: Path) -> None:
    SqliteCounters(tmp_path)
    counters = SqliteCounters()
    counters.settle("a", Use("1", NOW), 1, 1.0, NOW)
    assert list(tmp_path.iterdir()) == []
