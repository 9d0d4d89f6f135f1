"""A PostgreSQL database that falls silent, stops, restarts, or has many writers."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.storage.base import StorageError, Unavailable
from proxy.storage.postgres import health as health_module
from proxy.storage.postgres import migrating
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.postgres.operations import OPERATIONS
from proxy.storage.spool import Spool
from proxy.tasks import Tasks
from tests import postgres
from tests.contract.test_fact_store import NEW
from tests.storage.postgres.test_health import until

pytestmark = pytest.mark.long

ONE = b"SELECT 1"


@pytest.fixture
async def database(server: postgres.Server) -> AsyncIterator[PostgresDatabase]:
    # A read has time enough on a busy machine, where the server does answer.
    running = PostgresDatabase(server.url, Tasks(), size=4, read_seconds=2.0)
    await running.ready()
    yield running
    await running.close()


async def ask(database: PostgresDatabase) -> int:
    (found,) = await database.read(lambda connection: connection.execute(ONE).fetchone()) or (0,)
    return int(found)


async def test_a_silent_server_costs_a_deadline_and_then_nothing(
    server: postgres.Server, database: PostgresDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    assert await ask(database) == 1
    with server.silent():
        failed = 0
        async with asyncio.timeout(60):
            while database.health.why is None:
                with pytest.raises(Unavailable, match=r"in time|timeout expired"):
                    await ask(database)
                failed += 1
        assert failed == health_module.MOST_FAILURES
        threads = database.connections.waits
        with pytest.raises(Unavailable, match=r"in time|timeout expired"):
            await ask(database)  # at once: it takes no thread
        assert database.connections.waits == threads
        assert database.trouble is not None
    await until(lambda: database.health.why is None)
    assert await ask(database) == 1
    assert [record.message for record in caplog.records] == [
        "PostgreSQL does not answer: requests go on with what is in memory",
        "PostgreSQL answers again",
    ]


async def test_of_many_reads_at_once_each_has_its_deadline(server: postgres.Server, database: PostgresDatabase) -> None:
    with server.silent():
        async with asyncio.timeout(60):
            found = await asyncio.gather(*(ask(database) for _ in range(200)), return_exceptions=True)
        assert {type(each) for each in found} == {Unavailable}
    await until(lambda: database.health.why is None)


async def test_long_reads_leave_room_for_those_of_requests(database: PostgresDatabase) -> None:
    await ask(database)
    long = [
        Tasks().spawn(database.read(lambda connection: connection.execute("SELECT pg_sleep(1)"), 60.0), name="long")
        for _ in range(3)
    ]
    assert await ask(database) == 1
    assert not any(each.done() for each in long[1:])
    await asyncio.gather(*long)


async def test_a_restart_of_the_server_fails_no_read(server: postgres.Server, database: PostgresDatabase) -> None:
    await asyncio.gather(*(ask(database) for _ in range(3)))
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    for _ in range(4):
        assert await ask(database) == 1


@pytest.mark.note("v2 Monitoreo/3")
async def test_a_stopped_server_is_found_again(server: postgres.Server, database: PostgresDatabase) -> None:
    await asyncio.to_thread(server.stop)
    for _ in range(health_module.MOST_FAILURES):
        with pytest.raises(Unavailable):
            await ask(database)
    assert database.health.why is not None
    await asyncio.to_thread(server.start)
    await until(lambda: database.health.why is None)
    assert await ask(database) == 1


async def test_what_the_server_refuses_opens_no_breaker() -> None:
    database = PostgresDatabase(postgres.database(template="template1"), Tasks(), size=2)
    for _ in range(health_module.MOST_FAILURES + 1):
        with pytest.raises(StorageError, match='"scopes" does not exist'):
            await database.has_scope("a/")
    assert database.trouble is None
    await database.close()
    with pytest.raises(StorageError, match="closed"):
        await database.has_scope("a/")


async def test_a_row_that_is_too_large_for_an_index_is_refused_alone() -> None:
    database = PostgresDatabase(postgres.database(), Tasks(), size=2)
    facts = PostgresFacts(database)
    huge = os.urandom(9_000).hex()
    facts.put("a/", [replace(NEW, id=huge)])
    facts.put("a/", [NEW])
    await facts.flush()
    assert await facts.all("a/") == [NEW]
    assert (database.writer.dropped.total(), database.trouble) == (1, None)
    await database.close()


async def test_ten_writers_of_the_same_scopes_wait_for_each_other_in_no_circle() -> None:
    scopes = [f"{name}/" for name in "cabZé"]
    batches = 6
    async with postgres.processes(10) as running:
        stores = [PostgresFacts(each) for each in running]
        for batch in range(batches):
            for number, store in enumerate(stores):
                for scope in scopes if number % 2 else reversed(scopes):
                    store.put(scope, [replace(NEW, id=f"f-{number}-{batch}")])
            await asyncio.gather(*(store.flush() for store in stores))
        for scope in scopes:
            assert len(await stores[0].all(scope)) == 10 * batches
        counted = await running[0].rows("SELECT name, facts_changes, turns_changes FROM scopes", (), tuple)
        assert sorted(counted) == sorted((scope, 10 * batches, 0) for scope in scopes)
        assert not any(each.writer.dropped for each in running)


async def test_others_are_told_of_a_change_and_its_writer_is_not() -> None:
    async with postgres.processes(2) as (one, other):
        own, theirs = await one.foreign_writes("a/", "facts"), await other.foreign_writes("a/", "facts")
        store = PostgresFacts(one)
        for number in range(20):
            store.put("a/", [replace(NEW, id=f"f-{number}")])
            await store.flush()
            before, theirs = theirs, await _facts(other)
            assert theirs != before
            assert await _facts(one) == own


async def _facts(database: PostgresDatabase) -> int:
    await database.foreign_writes("a/", "paths")  # as of now
    return await database.foreign_writes("a/", "facts")


@pytest.mark.long
async def test_what_a_killed_process_could_not_write_another_writes_in_order_and_once(
    server: postgres.Server, tmp_path: Path
) -> None:
    server.execute("CREATE DATABASE killed")
    url = server.url.replace("/postgres?", "/killed?")
    with connect(url) as connection:
        migrating.upgrade(connection)
    await asyncio.to_thread(server.stop)
    code = f"""
import asyncio, os, signal
from dataclasses import replace
from pathlib import Path
from tests.storage.postgres.test_database import *

async def main():
    spool = Spool(Path({str(tmp_path)!r}), OPERATIONS)
    database = PostgresDatabase({url!r}, Tasks(), size=2, spool=spool)
    facts = PostgresFacts(database)
    facts.put("a/", [NEW, replace(NEW, id="f-forgotten")])
    for number in range(30):
        facts.put("a/", [replace(NEW, value=str(number))])
        if number % 10 == 0:
            await until(lambda: spool.rows == database.writer.depth)
    facts.forget("a/", ["f-forgotten"])
    await until(lambda: spool.rows == database.writer.depth == 33)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], check=False, env=environment)
    assert ended.returncode == -9
    spool = Spool(tmp_path, OPERATIONS)
    database = PostgresDatabase(url, Tasks(), size=2, spool=spool)
    facts = PostgresFacts(database)
    database.writer.adopt()
    with pytest.raises(StorageError):
        await facts.all("a/")  # something of it is to be forgotten first
    await asyncio.to_thread(server.start)
    await until(lambda: not database.writer.depth and database.health.why is None)
    assert await facts.all("a/") == [replace(NEW, value="29")]
    (changes,) = await database.row("SELECT facts_changes FROM scopes", (), tuple) or (0,)
    assert changes == 1  # one batch
    assert spool.rows == 0
    await database.close()
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 (it is a test)


@pytest.mark.note("v2 Troubleshooting/2")
async def test_while_it_is_away_rows_wait_on_disk_without_waiting_for_the_server(
    server: postgres.Server, tmp_path: Path
) -> None:
    spool = Spool(tmp_path, OPERATIONS)
    server.execute("CREATE DATABASE silent")
    url = server.url.replace("/postgres?", "/silent?")
    with connect(url) as connection:
        migrating.upgrade(connection)
    database = PostgresDatabase(url, Tasks(), size=3, spool=spool)
    await database.ready()
    facts = PostgresFacts(database)
    with server.silent():
        facts.put("a/", [NEW])
        facts.forget("b/", ["f-1"])
        await asyncio.sleep(0.15)  # the writer waits for the server now
        for _ in range(health_module.MOST_FAILURES):
            with pytest.raises(Unavailable):
                await ask(database)
        await until(lambda: spool.rows == 2)  # it was broken off
        with pytest.raises(StorageError):
            await facts.all("b/")
    await until(lambda: not database.writer.depth and database.health.why is None)
    assert await facts.all("a/") == [NEW]
    assert await facts.all("b/") == []
    await database.close()


@pytest.mark.long
async def test_the_last_rows_of_a_process_wait_on_disk(server: postgres.Server, tmp_path: Path) -> None:
    database = PostgresDatabase(server.url, Tasks(), size=2, spool=Spool(tmp_path, OPERATIONS))
    await database.ready()
    with server.silent():
        PostgresFacts(database).put("a/", [NEW])
        async with asyncio.timeout(30):
            await database.close()
    with closing(Spool(tmp_path, OPERATIONS)) as next_one:
        assert [len(each.what) for each in next_one.loaded(next_one.adopt())] == [1]
