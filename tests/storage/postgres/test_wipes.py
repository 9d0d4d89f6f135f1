"""Wipes in PostgreSQL: what other processes see, what many do to each other, and what is left of them in any row."""

import asyncio
from dataclasses import replace

import pytest

from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.postgres.wipes import PostgresWipes, remove_expired
from proxy.storage.recollection import Wiped
from proxy.types import Fact
from tests.postgres import processes
from tests.storage.sqlite.test_archive import SAID, turn

pytestmark = pytest.mark.long

AT, UNTIL = 1_000.0, 2_000.0
FACT = Fact("f-1", "personal", "k", SAID, "high", "explicit", "s", 1, 1.0, 1.0, links=(turn(1).utterances[0].link,))


def stores(database: PostgresDatabase) -> tuple[PostgresFacts, PostgresArchive, PostgresWipes]:
    return PostgresFacts(database), PostgresArchive(database, 1e12), PostgresWipes(database)


def tables_with_what_was_said(connection: Connection) -> list[str]:
    names = [name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    rows = {name: repr(connection.execute(f"SELECT * FROM {name}".encode()).fetchall()) for name in names}
    return sorted(name for name, told in rows.items() if SAID in told.lower())


async def known(database: PostgresDatabase, scope: str = "a/") -> tuple[list[str], list[int]]:
    """Ids of the facts and numbers of the turns that are remembered."""
    facts, archive, _ = stores(database)
    turns = (await archive.changes(scope, 0, 0.0, limit=1_000)).entries
    return sorted(each.id for each in await facts.all(scope)), sorted(each.number for each, _ in turns)


async def wiped(database: PostgresDatabase) -> PostgresWipes:
    facts, archive, wipes = stores(database)
    facts.put("a/", [FACT])
    for number in (1, 2):
        archive.add("a/", turn(number), None)
    wipes.wipe("a/", [], at=AT, until=UNTIL)
    await wipes.flush()
    return wipes


async def test_another_process_sees_a_wipe_and_its_end() -> None:
    async with processes(2) as (here, there):
        facts, archive, _ = stores(there)
        facts.put("a/", [FACT])
        archive.add("a/", turn(1), None)
        await facts.flush()
        before = await there.foreign_writes("a/", "facts")
        await wiped(here)
        assert await known(there) == ([], [])
        assert await there.foreign_writes("a/", "paths") > 0
        assert await there.foreign_writes("a/", "facts") != before
        wipes = PostgresWipes(there)
        assert await wipes.wiped(AT) == [Wiped("a/", 1, 2, UNTIL)]
        wipes.restore("a/", AT)
        await wipes.flush()
        assert await known(here) == (["f-1"], [1, 2])
        assert await PostgresWipes(here).wiped(AT) == []


async def test_what_is_aside_is_in_tables_of_its_own() -> None:
    async with processes(1) as (database,):
        await wiped(database)
        assert await database.read(tables_with_what_was_said) == ["wiped_archive", "wiped_facts"]


@pytest.mark.parametrize("by", ["prune", "retention", "no undo", "forget"])
async def test_at_its_time_nothing_is_left_of_it_in_any_row(by: str) -> None:
    async with processes(1) as (database,):
        wipes = await wiped(database)
        if by == "prune":
            wipes.prune(UNTIL)
        elif by == "retention":
            assert await database.read(lambda connection: remove_expired(connection, UNTIL)) == 1 + 2 + 4
        elif by == "no undo":
            wipes.restore("a/", AT)
            wipes.wipe("a/", [], at=AT, until=AT)
        else:
            wipes.forget("a/", [replace(FACT, links=tuple(turn(number).utterances[0].link for number in (1, 2)))])
        await wipes.flush()
        assert await database.read(tables_with_what_was_said) == []


async def test_many_who_wipe_restore_and_learn_at_once_lose_nothing() -> None:
    async with processes(10) as databases:

        async def work(who: int) -> None:
            facts, archive, wipes = stores(databases[who])
            for number in range(1, 7):
                for scope in ("a/", "b/") if who % 2 else ("b/", "a/"):
                    name = 100 * who + number
                    facts.put(scope, [replace(FACT, id=f"f-{name:04}", links=(turn(name).utterances[0].link,))])
                    archive.add(scope, replace(turn(name), parent=b""), None)
                    if number % 3 == who % 3:
                        wipes.wipe(scope, [b"command %d" % name], at=AT + name, until=UNTIL)
                    wipes.prune(AT)
                    if number % 2:
                        wipes.restore(scope, AT)
                await wipes.flush()

        async with asyncio.timeout(60):
            await asyncio.gather(*map(work, range(10)))
        wipes = PostgresWipes(databases[0])
        names = [100 * who + number for who in range(10) for number in range(1, 7)]
        for scope in ("a/", "b/"):
            wipes.restore(scope, AT)
            await wipes.flush()
            assert await known(databases[1], scope) == ([f"f-{name:04}" for name in names], names)
        assert await wipes.wiped(AT) == []
        assert [database.writer.dropped.total() for database in databases] == [0] * 10
