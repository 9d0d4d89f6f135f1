"""PostgreSQL behind PgBouncer, which hands out connections by transaction."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

import pytest

from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.recollection import FactStore
from proxy.tasks import Tasks
from tests import postgres
from tests.contract import test_fact_store as contract
from tests.contract.test_fact_store import NEW

Through = Callable[[str], str]
_LEFT = """
    SELECT (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),
        (SELECT count(*) FROM pg_listening_channels()),
        (SELECT count(*) FROM pg_settings WHERE source = 'session' AND name NOT IN
            ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings'))
"""


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Through]:
    with postgres.pooler(tmp_path_factory.mktemp("bouncer")) as url_of:
        yield url_of


class TestThroughPgBouncer(contract.TestFactStore):
    @pytest.fixture
    async def store(self, through: Through) -> AsyncIterator[FactStore]:
        database = PostgresDatabase(through(postgres.database()), Tasks(), size=3)
        yield PostgresFacts(database)
        await database.close()


async def test_many_processes_leave_nothing_in_its_connections(through: Through) -> None:
    url = through(postgres.database(template="template1"))
    running = [PostgresDatabase(url, Tasks(), size=3) for _ in range(4)]
    await asyncio.gather(*(each.ready() for each in running))
    stores = [PostgresFacts(each) for each in running]
    for at in range(10):
        for number, store in enumerate(stores):
            store.put("a/", [replace(NEW, id=f"f-{number}-{at}")])
        await asyncio.gather(*(store.flush() for store in stores))
        found = await asyncio.gather(*(store.all("a/") for store in stores))
        assert {len(each) for each in found} == {4 * (at + 1)}
    for each in running:
        assert await each.row(_LEFT, (), tuple) == (0, 0, 0, 0)
    await asyncio.gather(*(each.close() for each in running))
