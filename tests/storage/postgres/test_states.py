"""States in PostgreSQL: what other processes see, and what many writers do to each other."""

import asyncio

from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.states import FIRST, GET_STATE, PostgresStates
from proxy.storage.recollection import STATE_SECONDS, STATES_PER_SESSION
from proxy.storage.stores.states import PRUNED
from tests.postgres import plan, processes


def link(number: int) -> bytes:
    return number.to_bytes(16, "big")


def count(connection: Connection) -> int:
    ((rows,),) = connection.execute("SELECT count(*) FROM path_states")
    return int(rows)


async def test_another_process_sees_what_was_put_and_what_was_forgotten() -> None:
    async with processes(2) as databases:
        here, there = (PostgresStates(database) for database in databases)
        here.put("a/", "s", link(0), 1000.0, b"here")
        await here.flush()
        assert await there.get("a/", [link(1), link(0)]) == (link(0), b"here")
        there.put("a/", "s", link(0), 1001.0, b"there")
        await there.flush()
        assert await here.get("a/", [link(0)]) == (link(0), b"there")
        here.forget("a/")
        await here.flush()
        assert await there.get("a/", [link(0)]) is None


async def test_the_first_of_many_links_is_found_however_many() -> None:
    links = [link(number) for number in range(FIRST + 40)]
    async with processes(1) as (database,):
        states = PostgresStates(database)
        for number in (FIRST + 39, FIRST + 1, FIRST, FIRST - 1, 0):
            states.put("a/", f"s-{number}", link(number), 1000.0, b"%d" % number)
            await states.flush()
            assert await states.get("a/", links) == (link(number), b"%d" % number)


async def test_many_writers_of_the_same_sessions_keep_the_newest() -> None:
    async with processes(10) as databases:

        async def put(number: int) -> None:
            states = PostgresStates(databases[number])
            for turn in range(10):
                for scope in ("a/", "b/") if number % 2 else ("b/", "a/"):
                    for session in ("s", "t") if number % 3 else ("t", "s"):
                        at = 10 * turn + number
                        states.put(scope, session, link(1_000 * (session == "t") + at), 1000.0 + at, b"%d" % at)
                await states.flush()

        await asyncio.gather(*map(put, range(10)))
        reader = PostgresStates(databases[0])
        kept = [number for number in range(100) if await reader.get("a/", [link(number)])]
        assert kept == [96, 97, 98, 99]
        assert await databases[0].read(count) == 4 * STATES_PER_SESSION
        assert [database.writer.dropped.total() for database in databases] == [0] * 10


async def test_old_states_leave_a_few_at_a_time() -> None:
    async with processes(1) as (database,):
        states = PostgresStates(database)
        for number in range(PRUNED + 50):
            states.put("a/", f"s-{number}", link(number), 1000.0, b"")
        await states.flush()
        states.put("b/", "s", link(0), 1000.0 + STATE_SECONDS, b"")
        await states.flush()
        assert await database.read(count) == 51


async def test_what_the_database_refuses_takes_nothing_else_with_it() -> None:
    async with processes(1) as (database,):
        states = PostgresStates(database)
        states.put("a/", "s", link(0), float("nan"), b"refused")
        states.put("a/", "s", link(1), 1000.0, b"taken")
        await states.flush()
        assert await states.get("a/", [link(0), link(1)]) == (link(1), b"taken")
        assert database.writer.dropped.total() == 1


async def test_a_state_is_found_by_an_index() -> None:
    values = {"scope": "a/", "links": link(0) * 500, "count": 500, "width": 16}
    async with processes(1) as (database,):
        told = await database.read(lambda connection: plan(connection, GET_STATE, values))
    assert "using path_states_scope_id_link_key" in told
    assert "Seq Scan on path_states" not in told
