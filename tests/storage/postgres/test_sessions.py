"""Links in PostgreSQL: what other processes see, at once; what many writers do to each other; how many rows a look-up
reads."""

import asyncio
import random
from collections import Counter

import pytest

from proxy.storage.base import KnownPrefix
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.sessions import FIRST, LONGEST_PREFIX, PostgresSessions
from proxy.storage.stores.sessions import MOST_LINKS
from tests.postgres import plan, processes
from tests.storage.sqlite.conftest import chain_of


def known(length: int, *sessions: str, is_tip: bool = True) -> KnownPrefix:
    return KnownPrefix(length, sessions, is_tip)


async def test_each_request_sees_what_any_process_committed_before_it_began() -> None:
    choice = random.Random(1)
    async with processes(3) as databases:
        stores = [PostgresSessions(database) for database in databases]
        for session in "stu":
            chain = chain_of("system", *(f"{session}{n}" for n in range(41)))
            for length in range(2, 42, 2):
                asked = [store.longest_prefix("a/", chain[: length + 1]) for store in stores]
                for found in await asyncio.gather(*asked):  # all have looked a moment before the next one writes
                    assert length == 2 or found == known(length - 1, session)
                store = choice.choice(stores)
                store.remember("a/", session, chain[: length + 1], found.length if found else 0, float(length))
                await store.flush()


async def test_a_branch_in_another_process_ends_a_tip_here() -> None:
    mine, yours = chain_of("hi", "hello", "me"), chain_of("hi", "hello", "you")
    async with processes(2) as databases:
        here, there = (PostgresSessions(database) for database in databases)
        here.remember("a/", "s", mine[:2], 0, 1.0)
        await here.flush()
        assert await here.longest_prefix("a/", mine) == known(2, "s")
        assert await there.longest_prefix("a/", yours) == known(2, "s")
        there.remember("a/", "t", yours, 2, 2.0)
        await there.flush()
        assert await here.longest_prefix("a/", mine) == known(2, "s", is_tip=False)


async def test_what_nobody_knew_when_it_was_looked_up_may_be_known_when_it_is_remembered() -> None:
    chain = chain_of("hi", "hello")
    async with processes(2) as databases:
        here, there = (PostgresSessions(database) for database in databases)
        assert await here.longest_prefix("a/", chain) is None
        there.remember("a/", "t", chain, 0, 1.0)
        await there.flush()
        await here.longest_prefix("a/", chain_of("something else"))
        here.remember("a/", "s", chain, 0, 2.0)
        await here.flush()
        assert await here.longest_prefix("a/", chain) == known(2, "s", "t")


async def test_what_others_write_of_other_scopes_leaves_what_is_in_memory() -> None:
    chain, reads = chain_of("hi", "hello", "bye"), Counter[str]()
    async with processes(2, observed=lambda operation, _: reads.update([operation])) as databases:
        here, there = (PostgresSessions(database) for database in databases)
        here.remember("a/", "s", chain[:2], 0, 1.0)
        await here.flush()
        assert await here.longest_prefix("a/", chain) == known(2, "s")
        for scope, looks in (("b/", 1), ("a/", 2)):
            there.remember(scope, "t", chain_of("else"), 0, 1.0)
            await there.flush()
            reads.clear()
            assert await here.longest_prefix("a/", chain) == known(2, "s")
            assert reads["read"] == looks  # the version; and the links, if it was another


async def test_many_writers_of_the_same_scopes_lose_nothing() -> None:
    async with processes(10) as databases:

        async def talk(number: int) -> None:
            sessions = PostgresSessions(databases[number])
            for turn in range(2, 22, 2):
                for scope in ("a/", "b/", "c/") if number % 2 else ("c/", "b/", "a/"):
                    chain = chain_of("system", *(f"{number}/{turn}" for turn in range(turn)))
                    sessions.remember(scope, f"s-{number}", chain, max(0, turn - 2), float(number + turn))
                await sessions.flush()

        await asyncio.gather(*map(talk, range(10)))
        reader = PostgresSessions(databases[0])
        for number in range(10):
            chain = chain_of("system", *(f"{number}/{turn}" for turn in range(20)))
            assert await reader.longest_prefix("b/", chain) == known(21, f"s-{number}")
        assert await reader.longest_prefix("a/", chain_of("system")) == known(1, "s-9", "s-8", is_tip=False)
        assert [database.writer.dropped.total() for database in databases] == [0] * 10


@pytest.mark.parametrize("length", [1, FIRST - 1, FIRST, FIRST + 1, MOST_LINKS + 500])
async def test_a_chain_is_known_however_far_back(length: int) -> None:
    chain = chain_of(*range(length))
    async with processes(1) as (database,):
        sessions = PostgresSessions(database)
        assert await sessions.longest_prefix("a/", chain) is None
        sessions.remember("a/", "s", chain[:1], 0, 1.0)
        await sessions.flush()
        sessions.invalidate()
        assert await sessions.longest_prefix("a/", chain) == known(1, "s")
        if length > 1:
            sessions.remember("a/", "s", chain, 1, 2.0)
            await sessions.flush()
            sessions.invalidate()
            assert await sessions.longest_prefix("a/", [*chain, b"x" * 16]) == known(length, "s")


async def test_a_look_up_reads_links_by_their_index_and_stops_at_the_first_that_is_known() -> None:
    chain = chain_of(*range(2_000))
    values = {"scope": "a/", "length": 2_000, "chain": b"".join(chain), "width": 16}

    def steps(connection: Connection) -> str:
        connection.execute("ANALYZE")
        return plan(connection, b"(ANALYZE, TIMING OFF) " + LONGEST_PREFIX, values)

    async with processes(1) as (database,):
        sessions = PostgresSessions(database)
        sessions.remember("a/", "s", chain[:1_990], 0, 1.0)
        await sessions.flush()
        told = await database.read(steps, 10.0)
    probe = next(line for line in told.splitlines() if "using links_pkey" in line)
    assert "loops=11)" in probe  # ten that are not known, and the first that is
