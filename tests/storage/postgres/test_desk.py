"""Desks in PostgreSQL: that processes which write, forget and wipe at once never wait for each other in a circle. What
every DeskStore does: tests/contract/test_desk_store.py."""

import asyncio
import random

import pytest

from proxy.storage.base import StorageError
from proxy.storage.pending import WriterLimits
from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.desk import PostgresDesks
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.postgres.ledger import PostgresLedger
from proxy.storage.postgres.wipes import PostgresWipes
from proxy.tasks import Tasks
from proxy.types.desk import DeskEvent, Ended, Hidden
from tests.builders import ledger_row
from tests.contract.test_desk_forgetting import FACT, VALUE, message
from tests.contract.test_desk_store import NOW, line
from tests.contract.test_wipe_store import link
from tests.postgres import processes
from tests.storage.postgres.test_operations import NOWHERE

SCOPES = [f"tenant/{number}" for number in range(3)]


async def test_while_the_database_is_away_nothing_is_written_and_nobody_waits() -> None:
    away = PostgresDatabase(NOWHERE, Tasks(), limits=WriterLimits(pauses=()))
    store = PostgresDesks(away)
    with pytest.raises(StorageError):
        await store.write("a/", "s", [line("one")])
    with pytest.raises(StorageError):
        await store.put("a/", "a.md", "text", version=0, at=NOW, by="model")
    with pytest.raises(StorageError):
        await store.since("a/", "s", 0, 0)
    await away.close()
    assert not away.writer.dropped  # somebody was told


async def work(database: PostgresDatabase, name: str) -> dict[str, int]:
    """Writes, forgets, wipes and restores; returns the highest number of an event that it was given, by scope."""
    chosen = random.Random(name)
    store, archive, facts = PostgresDesks(database), PostgresArchive(database, 1e12), PostgresFacts(database)
    wipes, ledger = PostgresWipes(database), PostgresLedger(database)
    given: dict[str, int] = {}
    for turn in range(10):
        for scope in chosen.sample(SCOPES, 2):
            asked = f"{chosen.randrange(4)} asked"
            hidden = Hidden(link(asked), link("x"), (message(VALUE),))
            events = [DeskEvent(NOW, f"{name} {turn}", each) for each in (Ended("x"), hidden)]
            ledger.append(ledger_row(request_id=f"{name} {turn}", scope=scope, at=NOW))
            facts.put(scope, [FACT])
            news = await store.write(scope, "s", [line(asked), line(f"{name} {turn}")], events)
            given[scope] = max(each.number for each in news.events)
            known = await store.document(scope, "a.md")
            await store.put(scope, "a.md", VALUE, version=known.version if known else 0, at=NOW, by="model")
            archive.forget(scope, [link(asked)])
            if chosen.random() < 0.3:
                facts.forget(scope, ["f-1"])
            if chosen.random() < 0.3:
                wipes.wipe(scope, [], at=NOW, until=NOW + 9)
                wipes.restore(scope, NOW + 1)
    await database.writer.flush()
    return given


@pytest.mark.long
async def test_processes_that_write_forget_and_wipe_at_once_never_wait_in_a_circle() -> None:
    async with processes(4) as databases:
        given = await asyncio.gather(*(work(database, f"p{place}") for place, database in enumerate(databases)))
        assert [database.writer.dropped for database in databases] == [{}] * 4
        for scope in SCOPES:
            read = [await PostgresDesks(database).since(scope, "s", 0, 0) for database in databases]
            assert all(each == read[0] for each in read)
            ids = [each.id for each in read[0].lines]
            assert ids == list(range(1, len(ids) + 1))
            numbers = [each.number for each in read[0].events]
            assert numbers == sorted(set(numbers))
            assert numbers[-1] <= max(each[scope] for each in given if scope in each)


async def test_a_forgotten_line_has_a_number_that_comes_after_all() -> None:
    async with processes(2) as (one, two):
        store = PostgresDesks(one)
        await store.write("a/", "s", [line("1 asked"), line("2 asked"), line("3 asked")])
        upto = (await store.unwritten("a/", 0))[-1][0]
        PostgresArchive(two, 1e12).forget("a/", [link("1 asked")])
        await two.writer.flush()
        await PostgresDesks(two).write("a/", "s", [line("4 asked")])
        found = await store.unwritten("a/", upto)
        assert [(each.id, each.content is None) for _, _, each in found] == [(1, True), (4, False)]
