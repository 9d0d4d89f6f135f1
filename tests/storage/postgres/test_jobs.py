"""Jobs in PostgreSQL: that processes which work at once never wait for each other in a circle, and that a claim waits
for nobody. What every JobStore does: tests/contract/test_job_store.py."""

import asyncio
import random
from contextlib import closing
from pathlib import Path

import pytest

from proxy.storage.base import StorageError
from proxy.storage.pending import WriterLimits
from proxy.storage.postgres import jobs
from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.jobs import PostgresJobs, said
from proxy.storage.postgres.ledger import PostgresLedger
from proxy.storage.postgres.operations import OPERATIONS
from proxy.storage.postgres.wipes import PostgresWipes
from proxy.storage.spool import Spool
from proxy.tasks import Tasks
from proxy.types.curation import Finished, SpendLimits
from tests.builders import ledger_row
from tests.contract.test_job_store import EVENT, HOUR, LEASE, LINE, NOW, STORED
from tests.contract.test_wipe_store import link
from tests.postgres import processes
from tests.storage.postgres.test_operations import NOWHERE

LIMITS = SpendLimits(per_day=1.0, allowance=0.25, share=0.0)
SCOPES = [f"tenant/{number}" for number in range(4)]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT 1 WHERE a = :a AND b < :b_2", "SELECT 1 WHERE a = %(a)s AND b < %(b_2)s"),
        ("SELECT 1", "SELECT 1"),
    ],
)
def test_values_stand_in_a_statement_as_the_driver_takes_them(statement: str, expected: str) -> None:
    assert said(statement) == expected


async def test_a_claim_takes_no_job_whose_scope_another_process_is_writing() -> None:
    async with processes(1) as (database,):
        store = PostgresJobs(database)
        for scope in SCOPES[:2]:
            store.arm(scope, "extract", "s", NOW)
        await store.flush()
        with closing(connect(database._url)) as other, other.transaction():  # noqa: SLF001 (the same database)
            other.execute("SELECT 1 FROM scopes WHERE name = %s FOR NO KEY UPDATE", (SCOPES[0],))
            claimed = [await store.claim("one", NOW, LEASE) for _ in range(2)]
            assert [job and job.scope for job in claimed] == [SCOPES[1], None]
        assert await store.claim("one", NOW, LEASE) is not None


async def test_while_the_database_is_away_a_job_is_armed_in_the_spool_and_nobody_gets_one(tmp_path: Path) -> None:
    away = PostgresDatabase(NOWHERE, Tasks(), limits=WriterLimits(pauses=()), spool=Spool(tmp_path, OPERATIONS))
    store = PostgresJobs(away)
    store.arm(SCOPES[0], "extract", "s", NOW)
    for _ in range(2):
        with pytest.raises(StorageError):
            await store.claim("one", NOW, LEASE)
        with pytest.raises(StorageError):
            await store.renew(1, "one", NOW)
    assert (away.writer.is_spooling, away.losing) == (True, None)
    await away.close()
    assert not away.writer.dropped  # a claim is no row


async def work(database: PostgresDatabase, owner: str) -> None:
    """Works on what is due, while it learns, forgets and wipes."""
    chosen = random.Random(owner)
    store, archive = PostgresJobs(database), PostgresArchive(database, 1e12)
    wipes, ledger = PostgresWipes(database), PostgresLedger(database)
    for turn in range(12):
        for scope in chosen.sample(SCOPES, 2):
            store.arm(scope, "extract", f"s-{chosen.randrange(2)}", NOW + turn)
            ledger.append(ledger_row(request_id=f"{owner} {turn}", scope=scope, at=NOW))
            archive.forget(scope, [link(f"{chosen.randrange(3)} asked")])
            if chosen.random() < 0.2:
                wipes.wipe(scope, [], at=NOW, until=NOW + 1)
        if (job := await store.claim(owner, NOW + turn * 1_000, LEASE)) is None:
            continue
        if await store.reserve(job.id, owner, 0.125, NOW, LIMITS):
            await store.put_off(job.id, owner, NOW, "no money")
            continue
        read = [link(f"{chosen.randrange(3)} answered")]
        if await store.asked(job.id, owner, model="m", prompt="p", shown=b"", read=read):
            await store.answered(job.id, owner, b"{}", 0.0625)
            await store.finish(job.id, owner, Finished((LINE,), (EVENT,), HOUR, STORED), NOW)
        else:
            await store.put_off(job.id, owner, NOW, "forgotten")


@pytest.mark.long
async def test_processes_that_work_forget_and_wipe_at_once_never_wait_in_a_circle() -> None:
    async with processes(4) as databases:
        await asyncio.gather(*(work(database, f"owner {place}") for place, database in enumerate(databases)))
        assert [database.writer.dropped for database in databases] == [{}] * 4
        store = PostgresJobs(databases[0])
        assert await store.spent(0) <= LIMITS.per_day
        assert {job.state for job in await store.jobs(limit=500)} <= {"waiting", "running", "answered", "done"}


def test_the_number_of_statements_that_are_kept_is_bounded() -> None:
    assert jobs.said.cache_info().maxsize is not None
