"""What leaves when, and that the disk has it back. Times are the test's; the job runs when the test says so."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proxy.config.storage import Keep
from proxy.storage.retention import Pace, Retention
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.contents import SqliteContents
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.storage.sqlite.expiry import MOST_KEPT, SHARE, SPARE_PAGES, Expiry, keep_within
from proxy.storage.sqlite.jobs import SqliteJobs
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.sqlite.quality import SqliteQuality
from proxy.storage.sqlite.sessions import SqliteSessions
from proxy.storage.stores.job_expiry import leaving
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Contents, Fact, LedgerRow, ReuseDecision, ReuseEntry, Utterance
from tests import stores
from tests.builders import ledger_row
from tests.contract.test_quality_store import PAIR
from tests.desks import desk_made, desks_leave_in_time
from tests.finished_jobs import leave_in_time, made
from tests.stores import AtOnce

MINUTE, HOUR, DAY = 60, 3_600, 86_400
PACE = Pace(first_after=0, every=0, pause=0)
NOW = 1_700_006_400.0 + 100 * DAY  # a day begins
TURNS = 50.0 * DAY  # that one is kept
TAPES = 60.0 * DAY


@dataclass(slots=True)
class Job:
    database: Database
    tasks: Tasks = field(default_factory=Tasks)
    now: float = NOW
    failures: list[tuple[str, str]] = field(default_factory=list)
    most_bytes: int | None = None

    def made(self, *, keeps_contents: bool = True, **keep: object) -> Retention:
        return Retention(
            self.database.writer,
            Expiry(Keep.model_validate(keep), keeps_contents, TURNS, self.most_bytes, tapes=TAPES, links=3).work,
            self.tasks,
            on_failure=lambda part, reason: self.failures.append((part, reason)),
            clock=lambda: self.now,
            pace=PACE,
        )

    async def run(self, *, keeps_contents: bool = True, **keep: object) -> dict[str, int]:
        return await self.made(keeps_contents=keeps_contents, **keep).run()

    async def write(self, *rows: LedgerRow) -> None:
        for row in rows:
            SqliteLedger(self.database).append(row)
        await self.database.writer.flush()

    def told(self, question: str) -> list[Any]:
        with closing(sqlite3.connect(self.database.path)) as connection:
            return [value for (value,) in connection.execute(question)]

    def wal(self) -> int:
        return self.database.path.with_name(f"{self.database.path.name}-wal").stat().st_size


@pytest.fixture
async def job(tmp_path: Path) -> AsyncIterator[Job]:
    database = Database(tmp_path / "olvido.db", Tasks())
    yield Job(database)
    await database.close()


def row(name: str, at: float, **differing: object) -> LedgerRow:
    return ledger_row(request_id=name, at=at, **{"scope": "a/", "session": name, **differing})


async def test_jobs_and_what_they_made_leave_when_their_time_has_passed(job: Job) -> None:
    await leave_in_time(job, SqliteJobs(job.database))


async def test_lines_and_events_of_desks_leave_when_their_time_has_passed_and_documents_stay(job: Job) -> None:
    await desks_leave_in_time(job, SqliteDesks(job.database))


async def test_compared_answers_leave_when_their_time_has_passed_and_what_they_cost_later(job: Job) -> None:
    store = SqliteQuality(job.database)
    for name, at in (("old", NOW - 2 * DAY), ("new", NOW - DAY / 2)):
        store.put(replace(PAIR, request_id=name, at=at))
    await store.reserve(0.5, NOW - 41 * DAY, 1.0)
    await store.reserve(0.5, NOW - 39 * DAY, 1.0)
    await store.flush()
    await job.run(quality="1d")
    assert job.told("SELECT request_id FROM quality") == ["new"]
    assert job.told("SELECT count(*) FROM quality_spending") == [1]


def test_tapes_that_are_kept_for_ever_stay() -> None:
    assert {each.table for each in leaving(NOW, 1.0, 1.0, 0.0)}.isdisjoint({"desk_lines", "desk_events"})


async def test_requests_and_conversations_leave_when_their_time_has_passed_and_their_sums_stay(job: Job) -> None:
    old, kept = NOW - DAY, NOW - DAY + 1
    await job.write(
        row("old", old), row("first", old, session="long"), row("kept", kept), row("last", kept, session="long")
    )
    done = await job.run(requests="1d")
    assert job.told("SELECT request_id FROM ledger") == ["kept", "last"]
    assert sorted(card.session for card in await SqliteAccounts(job.database).sessions()) == ["kept", "long"]
    assert (done["requests"], done["sessions"], job.failures) == (2, 1, [])
    days = await SqliteAccounts(job.database).buckets(0, NOW + DAY, 86_400)
    assert sum(bucket.sums.requests for bucket in days) == 4


async def test_a_request_that_took_long_keeps_no_other(job: Job) -> None:
    await job.write(row("old", 1.0), row("late", NOW), row("old too", 2.0))
    await job.run(requests="1d")
    assert job.told("SELECT request_id FROM ledger") == ["late"]


async def test_minutes_and_hours_leave_when_the_whole_of_them_is_old_and_days_never(job: Job) -> None:
    ages = (10 * DAY, DAY + HOUR, DAY + MINUTE, DAY, HOUR + MINUTE, HOUR, 0)
    await job.write(*(row(str(age), NOW - age) for age in ages))
    await job.run(minutes="1h", hours="1d")

    def left(width: int) -> list[object]:
        return [NOW - at for at in job.told(f"SELECT DISTINCT at FROM rollups WHERE width = {width}")]

    assert left(MINUTE) == [HOUR, 0]
    assert left(HOUR) == [DAY, 2 * HOUR, HOUR, 0]
    assert left(DAY) == [10 * DAY, 2 * DAY, DAY, 0]


async def test_a_minute_that_its_day_does_not_have_yet_stays(job: Job) -> None:
    await job.write(row("old", NOW))
    with closing(sqlite3.connect(job.database.path, isolation_level=None)) as connection:
        connection.execute("UPDATE rollup_progress SET condensed = 0")
        connection.execute("DELETE FROM rollups WHERE width > 60")
        connection.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON rollups WHEN NEW.width > 60 BEGIN SELECT raise(ABORT, 'no'); END"
        )
    job.now = NOW + 10 * DAY
    await job.run(minutes="1h")
    assert job.told("SELECT width FROM rollups WHERE scope_id = 0") == [MINUTE]
    with closing(sqlite3.connect(job.database.path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER broken")
    await job.run(minutes="1h")
    assert job.told("SELECT width FROM rollups WHERE scope_id = 0") == [HOUR, DAY]


async def test_what_requests_said_leaves_sooner(job: Job) -> None:
    store = SqliteContents(job.database, clock=lambda: NOW)
    for name, at in (("old", NOW - HOUR), ("kept", NOW - HOUR + 1)):
        store.put(Contents("a/", name, "s", at, b"body"))
    await job.database.writer.flush()
    await job.run(contents="1h")
    assert job.told("SELECT request_id FROM contents") == ["kept"]
    assert job.told("SELECT bytes FROM contents_size") == [4]


async def test_where_contents_are_no_longer_kept_none_stay(job: Job) -> None:
    SqliteContents(job.database).put(Contents("a/", "r", "s", NOW, b"body"))
    await job.database.writer.flush()
    await job.run(contents=0)
    assert job.told("SELECT request_id FROM contents") == ["r"]
    await job.run(contents=0, keeps_contents=False)
    assert job.told("SELECT request_id FROM contents") == []


async def test_links_leave_wherever_they_stand(job: Job) -> None:
    for scope in ("a/", "b/"):
        for number in range(10):
            link, at = bytes([number]) * 16, NOW - DAY + number % 2
            SqliteSessions(job.database).remember(scope, "s", [link], 0, at)
    await job.database.writer.flush()
    retention = job.made(links="1d")
    assert (await retention.run())["links"] > 0
    for _ in range(3):
        await retention.run()
    assert job.told("SELECT DISTINCT at - (SELECT max(at) FROM links) FROM links") == [0]
    assert job.told("SELECT count(*) FROM links") == [10]


async def test_zero_is_for_ever(job: Job) -> None:
    await job.write(row("old", 1.0))
    SqliteContents(job.database).put(Contents("a/", "old", "s", 1.0, b"body"))
    SqliteSessions(job.database).remember("a/", "s", [b"1" * 16], 0, 1.0)
    await job.database.writer.flush()
    tables = ("ledger", "session_sums", "contents", "links", "rollups")
    before = [job.told(f"SELECT count(*) FROM {table}") for table in tables]
    await job.run(requests=0, contents=0, minutes=0, hours=0, links=0)
    assert [job.told(f"SELECT count(*) FROM {table}") for table in tables] == before


async def test_the_disk_has_back_what_is_free_but_for_a_part_that_is_soon_used_again(job: Job) -> None:
    store = SqliteContents(job.database, clock=lambda: NOW)
    for number in range(12):
        store.put(Contents("a/", str(number), "s", NOW, b"x" * 2**20))
    await job.database.writer.flush()
    await job.run()
    full = job.database.path.stat().st_size
    job.now = NOW + 8 * DAY
    await job.run(vacuum=False)
    assert job.told("SELECT count(*) FROM contents") == [0]
    assert job.database.path.stat().st_size == full
    done = await job.run()
    assert job.database.path.stat().st_size < full - 10 * 2**20
    assert job.told("SELECT freelist_count FROM pragma_freelist_count") == [SPARE_PAGES]
    left = done["pages"] - (full - job.database.path.stat().st_size) // 4096
    assert -9 < left <= 0  # pages that say where others are go with these
    assert job.wal() == 0


async def test_a_file_that_was_made_without_being_able_to_give_back_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE filled (x)")
        connection.execute("INSERT INTO filled VALUES (zeroblob(3000000))")
        connection.commit()
        connection.execute("DELETE FROM filled")
        connection.commit()
    job = Job(Database(path, Tasks()))
    assert (await job.run())["pages"] == 0
    assert job.failures == []
    await job.database.close()


async def test_two_processes_may_do_it_at_once(job: Job) -> None:
    await job.write(*(row(str(number), float(number)) for number in range(1_000)))
    other = Job(Database(job.database.path, Tasks()))
    done = await asyncio.gather(job.run(requests="1d"), other.run(requests="1d"))
    assert sum(each["requests"] for each in done) == 1_000
    assert job.failures == other.failures == []
    assert job.told("SELECT sum(requests) FROM rollups WHERE width = 86400 AND scope_id = 0") == [1_000]
    await other.database.close()


async def test_what_fails_is_counted_and_keeps_nothing_else_from_being_done(job: Job) -> None:
    await job.write(row("old", 1.0))
    with closing(sqlite3.connect(job.database.path, isolation_level=None)) as connection:
        connection.execute("CREATE TRIGGER broken BEFORE DELETE ON ledger BEGIN SELECT raise(ABORT, 'no'); END")
    done = await job.run(requests="1d")
    assert job.failures == [("retention", "StorageError")]
    assert (done.get("requests"), done["sessions"]) == (None, 1)


async def test_only_where_all_is_in_memory_the_oldest_leaves_for_what_it_takes(job: Job) -> None:
    await job.write(*(row(str(number), NOW) for number in range(3)))
    assert "oldest" not in await job.run()
    job.most_bytes = 0
    done = await job.run()
    assert done["oldest"] > 0
    assert job.told("SELECT request_id FROM ledger") == []


async def test_it_ends_after_its_step_when_it_is_stopped(job: Job) -> None:
    await job.write(*(row(str(number), float(number)) for number in range(1_000)))
    retention = job.made(requests="1d")
    retention.stop()
    assert sum((await retention.run()).values()) == 0
    assert job.told("SELECT count(*) FROM ledger") == [1_000]


async def test_it_runs_by_itself_again_and_again_until_it_is_stopped(job: Job) -> None:
    """Each run finds what was written since the last."""
    retention = job.made(requests="1d")
    retention.start()
    async with asyncio.timeout(30):
        for number in range(3):
            await job.write(row(f"r{number}", 1.0))
            while job.told("SELECT request_id FROM ledger"):
                await job.database.writer.flush()
                await asyncio.sleep(0)
        retention.stop()
        await job.tasks.drain(10)
    assert len(job.tasks) == 0


FACT = Fact("f-1", "work", "team", "I lead the team", "high", "explicit", "s", 1, 1.0, 1.0)
ENTRY = ReuseEntry("r-1", "p" * 32, "how?", (), "key", 1.0, 1e12)
ROWS = 2 * SHARE  # of each kind: a step takes two
TABLES = (
    "ledger", "session_sums", "links", "archive", "path_states", "contents", "reuse_entries", "reuse_log",
    "jobs", "job_links", "events", "summaries", "desk_lines", "desk_events", "desk_older",
)  # fmt: skip

KEPT = ("facts", "desk_documents", "desks")  # in whatever space there is


def link(number: int) -> bytes:
    return number.to_bytes(16, "big")


async def filled() -> AtOnce:
    database = AtOnce()
    for number in range(1, ROWS + 1):
        at, session = float(number), f"s-{number}"
        stores.ledger(database).append(ledger_row(scope="a/", request_id=f"r{number}", at=at, session=session))
        stores.sessions(database).remember("a/", session, [link(number)], 0, at)
        said = (Utterance("user", "hi", link(10_000 + number)),)
        turn = ArchivedTurn(link(number), b"", session, number, at, b"[]", said)
        stores.archive(database).add("a/", turn, np.zeros((1, 4), np.float32))
        stores.states(database).put("a/", session, link(number), at, b"state")
        stores.contents(database).put(Contents("a/", f"r{number}", session, at, b"body"))
        stores.reuse(database).add("a/", replace(ENTRY, id=f"r-{number}"), np.ones(4, np.float32))
        stores.reuse(database).log("a/", ReuseDecision(f"r{number}", at, "hit", "r-1", 1.0, "how?", "how?"))
        stores.facts(database).put("a/", [replace(FACT, id=f"f-{number}")])
        await made(stores.jobs(database), number, at)
        await desk_made(stores.desks(database), number, at)
    return database


def counted(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


async def test_the_oldest_part_of_every_table_leaves_and_every_fact_stays() -> None:
    database = await filled()

    def shrunk(connection: sqlite3.Connection) -> dict[str, int]:
        assert keep_within(connection, most_bytes=0) > 0
        oldest = connection.execute("SELECT min(at) FROM ledger UNION ALL SELECT min(at) FROM links")
        assert oldest.fetchall() == [(3.0,), (3.0,)]
        (kept,) = connection.execute("SELECT bytes FROM contents_size").fetchone()
        assert kept == 4 * counted(connection, "contents")
        return {table: counted(connection, table) for table in (*TABLES, "sessions", "archive_links", *KEPT)}

    left = await database.read(shrunk)
    assert left == dict.fromkeys((*TABLES, "sessions", "archive_links"), ROWS - 2) | dict.fromkeys(KEPT, ROWS)


async def test_step_by_step_nothing_is_left_but_facts_and_the_newest_entry() -> None:
    database = await filled()

    def emptied(connection: sqlite3.Connection) -> dict[str, int]:
        for _ in range(ROWS + SHARE):
            keep_within(connection, most_bytes=0)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        return {table: counted(connection, table) for table in (*TABLES, "sessions", *KEPT)}

    left = await database.read(emptied)
    assert [left.pop(table) for table in KEPT] == [ROWS] * len(KEPT)
    assert 0 < left.pop("reuse_entries") < SHARE
    assert left == dict.fromkeys(left, 0)


async def test_within_the_limit_nothing_leaves() -> None:
    database = await filled()
    assert await database.read(lambda connection: keep_within(connection, most_bytes=2**30)) == 0


async def test_facts_documents_desks_and_forgotten_links_leave_for_their_own_number_alone() -> None:
    database = await filled()
    stores.archive(database).forget("a/", [link(20_000 + number) for number in range(5)], 1.0)

    def bounded(connection: sqlite3.Connection) -> tuple[int, list[tuple[bytes]]]:
        gone = keep_within(connection, most_bytes=2**30, most_kept=3)
        return gone, connection.execute("SELECT link FROM archive WHERE at IS NULL ORDER BY change").fetchall()

    assert await database.read(bounded) == (3 * (ROWS - 3) + 2, [(link(20_000 + number),) for number in (2, 3, 4)])
    assert [fact.id for fact in await stores.facts(database).all("a/")] == [f"f-{ROWS - n}" for n in (2, 1, 0)]
    documents = await stores.desks(database).documents("a/")
    assert [each.name for each in documents] == [f"{ROWS - n}.md" for n in (2, 1, 0)]
    assert [each.session for each in await stores.desks(database).sessions("a/")] == ["s-128", "s-127", "s-126"]


async def test_of_too_much_that_was_wiped_the_wipe_that_would_end_first_is_final() -> None:
    database = AtOnce()
    facts, wipes = stores.facts(database), stores.wipes(database)
    for number, scope in enumerate(("a/", "b/"), 1):
        facts.put(scope, [replace(FACT, id=f"f-{each}") for each in range(3)])
        wipes.wipe(scope, [], at=10.0, until=1_000.0 + number)
    assert await database.read(lambda connection: keep_within(connection, most_bytes=2**30, most_kept=5)) == 3
    assert [each.scope for each in await wipes.wiped(10.0)] == ["b/"]
    assert await database.read(lambda connection: keep_within(connection, most_bytes=2**30, most_kept=5)) == 0


async def test_a_fresh_database_has_nothing_to_let_go_of() -> None:
    assert await AtOnce().read(lambda connection: keep_within(connection, most_bytes=0, most_kept=MOST_KEPT)) == 0
