"""Single flight across processes: two connections are two processes, and what neither has to know of the other. What
one process does alone is in tests/contract/test_shared.py."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from proxy.storage.redis import flights as module
from proxy.storage.redis.connection import Connection
from proxy.storage.redis.flights import RedisSingleFlight
from proxy.tasks import Tasks
from proxy.types import Answer, StoredAnswer
from tests.builders import stored
from tests.redis_server import all_told, connected, fresh_redis, run_redis, until

ANSWER = stored()
ERROR = Answer(503, (("content-type", "application/json"),), b"overloaded")
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Process:
    connection: Connection
    flights: RedisSingleFlight

    async def leads(self, key: str = "k") -> int:
        lead = await self.flights.lead_or_wait(key, PATIENCE)
        assert isinstance(lead, int)
        return lead


@asynccontextmanager
async def process(url: str, timeout_ms: int = 5_000) -> AsyncIterator[Process]:
    async with connected(url, RedisSingleFlight, timeout_ms=timeout_ms) as (connection, flights):
        yield Process(connection, flights)


@asynccontextmanager
async def two(url: str) -> AsyncIterator[tuple[Process, Process]]:
    async with process(url) as one, process(url) as other:
        yield one, other


async def waiting(
    tasks: Tasks, of: Process, count: int, patience: float = PATIENCE
) -> list[asyncio.Task[int | StoredAnswer | Answer | None]]:
    """So many requests that wait for a flight of another process."""
    began = [tasks.spawn(of.flights.lead_or_wait("k", patience), name="waits") for _ in range(count)]
    await until(lambda: len(of.flights) == 1)
    await all_told(of.connection)
    assert not any(each.done() for each in began)
    return began


async def test_all_who_wait_in_another_process_get_the_answer_and_one_of_them_asks() -> None:
    tasks, server = Tasks(), fresh_redis()
    async with two(server.url) as (one, other):
        lead = await one.leads()
        asked = int(server.do("INFO", "commandstats").partition(b"cmdstat_evalsha:calls=")[2].split(b",")[0])
        waits = await waiting(tasks, other, 50)
        again = int(server.do("INFO", "commandstats").partition(b"cmdstat_evalsha:calls=")[2].split(b",")[0])
        assert again - asked <= 2  # 50 requests, one of which asks, and may look again
        landed = other.flights.landed
        one.flights.land("k", lead, ANSWER)
        assert await asyncio.gather(*waits) == [ANSWER] * 50
        assert other.flights.landed == landed + 1
        await other.leads()


async def test_who_looked_too_early_is_told_that_an_answer_has_landed_elsewhere() -> None:
    async with two(fresh_redis().url) as (one, other):
        before = other.flights.landed
        one.flights.land("k", await one.leads(), ANSWER)
        await all_told(one.connection)
        await other.leads()
        assert other.flights.landed != before
        await other.leads("another")
        assert other.flights.landed == before + 1


async def test_what_cannot_be_shared_sends_each_on_alone() -> None:
    tasks = Tasks()
    async with two(fresh_redis().url) as (one, other):
        lead = await one.leads()
        waits = await waiting(tasks, other, 3)
        one.flights.land("k", lead, None)
        assert await asyncio.gather(*waits) == [None] * 3


async def test_of_an_abandoned_flight_one_of_those_who_wait_elsewhere_leads_next() -> None:
    tasks = Tasks()
    async with two(fresh_redis().url) as (one, other):
        lead = await one.leads()
        waits = await waiting(tasks, other, 3)
        one.flights.abandon("k", lead)
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        (leader,) = [each for each in waits if each.done()]
        next_lead = leader.result()
        assert isinstance(next_lead, int)
        other.flights.land("k", next_lead, ANSWER)
        waits.remove(leader)
        assert await asyncio.gather(*waits) == [ANSWER] * 2


async def test_those_who_wait_in_the_process_of_the_leader_come_first() -> None:
    tasks = Tasks()
    async with two(fresh_redis().url) as (one, other):
        lead = await one.leads()
        mate = tasks.spawn(one.flights.lead_or_wait("k", PATIENCE), name="waits")
        waits = await waiting(tasks, other, 1)
        one.flights.abandon("k", lead)
        told = await mate
        assert isinstance(told, int)
        await asyncio.sleep(2 * module.HAND_OVER)
        assert not waits[0].done()
        one.flights.land("k", told, ANSWER)
        assert await waits[0] == ANSWER


async def test_failures_in_a_row_are_counted_over_all_processes() -> None:
    tasks = Tasks()
    async with two(fresh_redis().url) as (one, other):
        lead = await one.leads()
        waits = await waiting(tasks, other, 3)
        one.flights.fail("k", lead, ERROR)
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        (leader,) = [each for each in waits if each.done()]
        waits.remove(leader)
        late = await waiting(tasks, one, 1)
        other.flights.fail("k", leader.result(), ERROR)  # type: ignore[arg-type]  # asserted by what follows
        assert await asyncio.gather(*waits, *late) == [ERROR] * 3


async def test_who_has_waited_long_enough_goes_alone_and_others_go_on_waiting() -> None:
    tasks = Tasks()
    async with two(fresh_redis().url) as (one, other):
        lead = await one.leads()
        assert await other.flights.lead_or_wait("k", 0.01) is None
        waits = await waiting(tasks, other, 1)
        one.flights.land("k", lead, ANSWER)
        assert await waits[0] == ANSWER


async def test_one_that_leaves_while_it_waits_for_all_of_its_process_leaves_its_place_to_another() -> None:
    tasks = Tasks()
    async with two(fresh_redis().url) as (one, other):
        lead = await one.leads()
        asks, stays = await waiting(tasks, other, 2)
        asks.cancel()
        await asyncio.wait({asks})
        one.flights.land("k", lead, ANSWER)
        assert await stays == ANSWER


async def test_news_that_are_lost_are_found_by_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK", 0.01)
    tasks = Tasks()
    async with two(fresh_redis().url) as (one, other):
        other.connection.on_letter(lambda _letter: None)
        lead = await one.leads()
        waits = await waiting(tasks, other, 2)
        one.flights.land("k", lead, ANSWER)
        assert await asyncio.gather(*waits) == [ANSWER] * 2


async def test_a_process_that_dies_holds_nobody_up_for_longer_than_its_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEASE", 0.05)
    monkeypatch.setattr(module, "LOOK", 0.01)
    tasks = Tasks()
    url = fresh_redis().url
    async with process(url) as other:
        async with process(url) as one:
            await one.leads()
            await one.connection.close()  # as a kill would
            waits = await waiting(tasks, other, 2)
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        assert [isinstance(each.result(), int) for each in waits if each.done()] == [True]
        await tasks.drain(0)


async def test_a_lease_lasts_as_long_as_its_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEASE", 0.5)
    monkeypatch.setattr(module, "RENEWED", 0.01)
    server = fresh_redis()
    async with process(server.url) as one:
        lead = await one.leads()
        name = one.connection.names.key("flight", "k")
        server.do("PEXPIRE", name, "60000")
        await until(lambda: int(server.do("PTTL", name)[1:]) <= 500)  # it was renewed, for its own time
        one.flights.land("k", lead, None)
        await until(lambda: server.do("EXISTS", name) == b":0\r\n")


async def test_without_redis_each_process_has_its_own_flights_and_is_counted() -> None:
    with run_redis() as server:
        async with process(server.url) as one, process(server.url) as other:
            server.kill()
            await until(lambda: one.connection.status == other.connection.status == "down")
            lead, lead_there = await one.leads(), await other.leads()
            one.flights.land("k", lead, ANSWER)
            other.flights.land("k", lead_there, ANSWER)
            server.start()
            await until(lambda: one.connection.status == other.connection.status == "ready")
            tasks = Tasks()
            lead = await one.leads()
            waits = await waiting(tasks, other, 1)
            one.flights.land("k", lead, ANSWER)
            assert await waits[0] == ANSWER


async def test_who_waits_when_redis_stands_still_leads_itself() -> None:
    tasks = Tasks()
    with run_redis() as server:
        async with process(server.url, 50) as one, process(server.url, 50) as other:
            lead = await one.leads()
            waits = await waiting(tasks, other, 1)
            server.signal(signal.SIGSTOP)
            assert isinstance(await waits[0], int)
            one.flights.land("k", lead, ANSWER)


async def test_an_end_that_was_planted_is_none() -> None:
    tasks, server = Tasks(), fresh_redis()
    async with two(server.url) as (one, other):
        lead = await one.leads()
        waits = await waiting(tasks, other, 1)
        name = one.connection.names.key("flight", "k")
        token = server.do("HGET", name, "token").split(b"\r\n")[1]
        server.do("SET", f"{name}:{token.decode()}", b"\x80\x04planted")
        server.do("PUBLISH", other.connection.names.inbox(other.connection.process), token)
        await all_told(other.connection)
        assert not waits[0].done()
        server.do("DEL", f"{name}:{token.decode()}")
        one.flights.land("k", lead, ANSWER)
        assert await waits[0] == ANSWER
