"""What leaves when. Times are the test's; the job runs when the test says so. How the job goes on and ends:
tests/storage/sqlite/test_expiry.py."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from proxy.config.storage import Keep
from proxy.storage.postgres.accounts import PostgresAccounts
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.contents import PostgresContents
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.desk import PostgresDesks
from proxy.storage.postgres.expiry import PostgresExpiry
from proxy.storage.postgres.jobs import PostgresJobs
from proxy.storage.postgres.ledger import PostgresLedger
from proxy.storage.postgres.migrating import RETENTION_LOCK
from proxy.storage.retention import Pace, Retention
from proxy.tasks import Tasks
from proxy.types import Contents, LedgerRow
from tests.builders import ledger_row
from tests.desks import desks_leave_in_time
from tests.finished_jobs import leave_in_time, made
from tests.postgres import processes

MINUTE, HOUR, DAY = 60, 3_600, 86_400
PACE = Pace(first_after=0, every=0, pause=0)
NOW = 1_700_006_400.0 + 100 * DAY  # a day begins
TURNS = 50.0 * DAY  # that one is kept
TAPES = 60.0 * DAY


@dataclass(slots=True)
class Job:
    database: PostgresDatabase
    failures: list[tuple[str, str]] = field(default_factory=list)

    async def run(self, *, keeps_contents: bool = True, **keep: object) -> dict[str, int]:
        expiry = PostgresExpiry(Keep.model_validate(keep), keeps_contents, TURNS, tapes=TAPES, links=3)
        return await self.retention(expiry).run()

    def retention(self, expiry: PostgresExpiry) -> Retention:
        return Retention(
            self.database.writer,
            expiry.work,
            Tasks(),
            on_failure=lambda part, reason: self.failures.append((part, reason)),
            clock=lambda: NOW,
            pace=PACE,
        )

    async def write(self, *rows: LedgerRow) -> None:
        for row in rows:
            PostgresLedger(self.database).append(row)
        await self.database.writer.flush()

    async def told(self, question: str, *values: Any) -> list[Any]:
        return await self.database.rows(question, values, lambda row: row[0])


@pytest.fixture
async def jobs() -> AsyncIterator[list[Job]]:
    async with processes(2) as databases:
        yield [Job(each) for each in databases]


@pytest.fixture
def job(jobs: list[Job]) -> Job:
    return jobs[0]


def row(name: str, at: float, **differing: object) -> LedgerRow:
    return ledger_row(request_id=name, at=at, **{"scope": "a/", "session": name, **differing})


async def test_requests_and_conversations_leave_when_their_time_has_passed_and_their_sums_stay(job: Job) -> None:
    old, recent = NOW - DAY, NOW - DAY + 1
    await job.write(
        row("old", old), row("first", old, session="long"), row("kept", recent), row("last", recent, session="long")
    )
    done = await job.run(requests="1d")
    assert await job.told("SELECT request_id FROM ledger ORDER BY id") == ["kept", "last"]
    accounts = PostgresAccounts(job.database)
    assert sorted(card.session for card in await accounts.sessions()) == ["kept", "long"]
    assert (done["requests"], done["sessions"], job.failures) == (2, 1, [])
    assert sum(bucket.sums.requests for bucket in await accounts.buckets(0, NOW + DAY, 86_400)) == 4


async def test_minutes_and_hours_leave_when_the_whole_of_them_is_old_and_days_never(job: Job) -> None:
    ages = (10 * DAY, DAY + HOUR, DAY + MINUTE, DAY, HOUR + MINUTE, HOUR, 0)
    await job.write(*(row(str(age), NOW - age) for age in ages))
    await job.run(minutes="1h", hours="1d")

    async def left(width: int) -> list[float]:
        found = await job.told("SELECT DISTINCT at FROM rollups WHERE width = %s ORDER BY at", width)
        return [NOW - at for at in found]

    assert await left(MINUTE) == [HOUR, 0]
    assert await left(HOUR) == [DAY, 2 * HOUR, HOUR, 0]
    assert await left(DAY) == [10 * DAY, 2 * DAY, DAY, 0]


async def test_a_minute_that_its_day_does_not_have_yet_stays(job: Job) -> None:
    await job.write(row("old", NOW - 10 * DAY))
    with connect(job.database._url) as connection:  # noqa: SLF001 (as somebody beside the proxy)
        connection.execute("UPDATE rollup_progress SET condensed = 0")
        connection.execute("DELETE FROM rollups WHERE width > 60")
        connection.execute("ALTER TABLE rollups ADD CONSTRAINT broken CHECK (width = 60)")
        await job.run(minutes="1h")
        assert await job.told("SELECT width FROM rollups WHERE scope_id = 0") == [MINUTE]
        connection.execute("ALTER TABLE rollups DROP CONSTRAINT broken")
    assert job.failures == [("retention", "StorageError")]
    await job.run(minutes="1h")
    assert await job.told("SELECT width FROM rollups WHERE scope_id = 0 ORDER BY width") == [HOUR, DAY]


async def test_what_requests_said_leaves_sooner_and_where_it_is_no_longer_kept_all_of_it(job: Job) -> None:
    store = PostgresContents(job.database, clock=lambda: NOW)
    for name, at in (("old", NOW - HOUR), ("kept", NOW - HOUR + 1)):
        store.put(Contents("a/", name, "s", at, b"body"))
    await job.database.writer.flush()
    await job.run(contents=0)
    assert await job.told("SELECT request_id FROM contents ORDER BY id") == ["old", "kept"]
    await job.run(contents="1h")
    assert await job.told("SELECT request_id FROM contents") == ["kept"]
    await job.run(contents=0, keeps_contents=False)
    assert await job.told("SELECT request_id FROM contents") == []


async def test_links_leave_wherever_they_stand(job: Job) -> None:
    await job.write(row("r", NOW), row("r", NOW, scope="b/"))
    with connect(job.database._url) as connection:  # noqa: SLF001 (same)
        connection.execute(
            "INSERT INTO links (scope_id, link, session_id, at, went_on)"
            " SELECT scopes.id, decode(md5(n::text), 'hex'), 1, %s + n %% 2, 0"
            " FROM scopes CROSS JOIN generate_series(0, 9) AS n",
            (NOW - DAY,),
        )
    retention = job.retention(
        PostgresExpiry(Keep.model_validate({"links": "1d"}), keeps_contents=True, turns=TURNS, links=3)
    )
    assert (await retention.run())["links"] > 0
    await retention.run()
    assert await job.told("SELECT count(*) FROM links") == [10]
    assert await job.told("SELECT DISTINCT at FROM links") == [NOW - DAY + 1]


async def test_the_end_of_a_wipe_is_its_end(job: Job) -> None:
    await job.write(row("r", NOW))
    with connect(job.database._url) as connection:  # noqa: SLF001 (same)
        for until in (NOW, NOW + 1):
            connection.execute(
                "INSERT INTO wiped_links SELECT id, 'l', %s, %s FROM scopes", (str(until).encode(), until)
            )
    assert (await job.run())["wiped"] == 1
    assert await job.told("SELECT until FROM wiped_links") == [NOW + 1]


async def test_zero_is_for_ever(job: Job) -> None:
    await job.write(row("old", 1.0))
    PostgresContents(job.database).put(Contents("a/", "old", "s", 1.0, b"body"))
    await job.database.writer.flush()
    await job.run(requests=0, contents=0, minutes=0, hours=0, links=0)
    for table in ("ledger", "session_sums", "contents"):
        assert await job.told(f"SELECT count(*) FROM {table}") == [1]


async def test_jobs_and_what_they_made_leave_when_their_time_has_passed(job: Job) -> None:
    await leave_in_time(job, PostgresJobs(job.database))


async def test_lines_and_events_of_desks_leave_when_their_time_has_passed_and_documents_stay(job: Job) -> None:
    await desks_leave_in_time(job, PostgresDesks(job.database))


async def test_a_job_whose_scope_a_batch_has_locked_is_not_waited_for(job: Job) -> None:
    await made(PostgresJobs(job.database), 1, 1.0)
    with connect(job.database._url) as other, other.transaction():  # noqa: SLF001 (same)
        other.execute("SELECT 1 FROM scopes FOR UPDATE")
        assert (await job.run(requests="1d"))["jobs"] == 0
    assert (await job.run(requests="1d"))["jobs"] == 1


async def test_of_two_processes_one_at_a_time_does_it_and_together_they_do_all(jobs: list[Job]) -> None:
    await jobs[0].write(*(row(str(number), float(number)) for number in range(1_000)))
    done = await asyncio.gather(*(job.run(requests="1d") for job in jobs))
    more = await jobs[0].run(requests="1d")  # what both have left to the other
    assert sum(each["requests"] for each in (*done, more)) == 1_000
    assert [job.failures for job in jobs] == [[], []]
    assert await jobs[0].told("SELECT sum(requests)::int FROM rollups WHERE width = 86400 AND scope_id = 0") == [1_000]


async def test_while_another_process_is_at_it_there_is_nothing_to_do(job: Job) -> None:
    await job.write(row("old", 1.0))
    with connect(job.database._url) as other, other.transaction():  # noqa: SLF001 (same)
        other.execute("SELECT pg_advisory_xact_lock(%s)", (RETENTION_LOCK,))
        assert sum((await job.run(requests="1d")).values()) == 0
    assert (await job.run(requests="1d"))["requests"] == 1


async def test_a_row_that_a_batch_holds_is_not_waited_for(job: Job) -> None:
    await job.write(row("held", 1.0), row("free", 1.0))
    with connect(job.database._url) as other, other.transaction():  # noqa: SLF001 (same)
        other.execute("SELECT 1 FROM ledger WHERE request_id = 'held' FOR UPDATE")
        other.execute("SELECT 1 FROM session_sums ORDER BY session_id LIMIT 1 FOR UPDATE")
        done = await job.run(requests="1d")
    assert (done["requests"], done["sessions"], job.failures) == (1, 1, [])
