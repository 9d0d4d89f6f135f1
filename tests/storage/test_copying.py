"""A storage folder is copied into a PostgreSQL database."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from proxy.storage import copying
from proxy.storage.base import StorageError
from proxy.storage.copying import Copied, copy
from proxy.storage.folder import tenant_secret
from proxy.storage.opening import DATABASE
from proxy.storage.postgres.connection import Connection, connect
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.desk import PostgresDesks
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.postgres.jobs import PostgresJobs
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.jobs import SqliteJobs
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.tasks import Tasks
from proxy.types import Fact
from tests import postgres
from tests.contract.test_archive import VECTORS, turn
from tests.contract.test_fact_store import FACT, NEW
from tests.contract.test_ledger import ROW
from tests.desks import desk_made
from tests.finished_jobs import made


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    tenant_secret(tmp_path)
    database = Database(tmp_path / DATABASE, Tasks())
    SqliteFacts(database).put("a/", [FACT, NEW])
    for number in range(1, 8):
        SqliteArchive(database, 1e12).add("a/", turn(number), VECTORS if number == 1 else None)
    SqliteLedger(database).append(ROW)
    for number in range(3):
        await made(SqliteJobs(database), number, 1.0)
        await desk_made(SqliteDesks(database), number, 1.0, "s")
    await database.close()
    return tmp_path


def rows(connection: sqlite3.Connection | Connection, table: str) -> list[tuple[object, ...]]:
    found = connection.execute(f"SELECT * FROM {table}")
    return sorted((tuple(row) for row in found), key=repr)


def source(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / DATABASE)


async def test_all_of_it_is_there_afterwards_and_goes_on_from_there(folder: Path) -> None:
    url, told = postgres.database(), list[Copied]()
    with connect(url) as target, closing(source(folder)) as before:
        counts = copy(folder, target, told.append)
        assert all(each.rows == each.of for each in counts)
        assert {each.table for each in counts} == set(copying.TABLES) == {each.table for each in told}
        assert sum(each.of for each in counts) > 20
        for table in copying.TABLES:
            assert rows(target, table) == rows(before, table), table
    database = PostgresDatabase(url, Tasks(), size=2)
    facts = PostgresFacts(database)
    assert await facts.all("a/") == [FACT, NEW]
    newer = Fact("f-2", "work", "team", "newer", "high", "explicit", "s", 1, NEW.created_at + 1, NEW.created_at + 1)
    facts.put("a/", [newer])
    assert await facts.all("a/") == [FACT, NEW, newer]
    jobs = PostgresJobs(database)
    copied = [job.id for job in await jobs.jobs("a/")]
    assert await made(jobs, 9, 2.0) > max(copied)
    assert (len(copied), len(await jobs.summaries("a/")), await jobs.spent(0)) == (3, 4, 0.004)
    desks = PostgresDesks(database)
    await desk_made(desks, 3, 2.0, "s")
    news = await desks.since("a/", "s", 0, 0)
    assert ([each.id for each in news.lines], [each.number for each in news.events]) == ([1, 2, 3, 4], [1, 2, 3, 4])
    assert [len(await desks.older("a/", each.name)) for each in await desks.documents("a/")] == [1] * 4
    await database.close()


def test_an_interrupted_copy_goes_on_where_it_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "BATCH", 2)
    batches = 0

    def interrupt(_: Copied) -> None:
        nonlocal batches
        batches += 1
        if batches == 6:
            raise KeyboardInterrupt

    with connect(postgres.database()) as target, closing(source(folder)) as before:
        with pytest.raises(KeyboardInterrupt):
            copy(folder, target, interrupt)
        told: list[Copied] = []
        counts = copy(folder, target, told.append)
        assert all(each.rows == each.of for each in counts)
        assert told[0].table != copying.TABLES[0]
        for table in copying.TABLES:
            assert rows(target, table) == rows(before, table), table
        copy(folder, target, told.append)  # once more changes nothing
        assert rows(target, "archive") == rows(before, "archive")


def test_a_folder_without_a_database_or_secret_is_refused(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with connect(postgres.database()) as target:
        with pytest.raises(StorageError, match="not there"):
            copy(tmp_path_factory.mktemp("empty"), target, print)
        (folder / "tenant.secret").unlink()
        with pytest.raises(StorageError, match="missing"):
            copy(folder, target, print)


def test_a_database_with_rows_under_another_secret_is_refused(folder: Path) -> None:
    with connect(postgres.database()) as target:
        target.execute("INSERT INTO tenant_secret VALUES (true, %s)", (b"\1" * 32,))
        target.execute("INSERT INTO scopes (name) VALUES ('other/')")
        with pytest.raises(StorageError, match="secret of its own"):
            copy(folder, target, print)


def test_a_folder_of_another_version_is_refused(folder: Path) -> None:
    with closing(source(folder)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('9999_newer', 0)")
        connection.commit()
    with connect(postgres.database()) as target, pytest.raises(StorageError, match="another version"):
        copy(folder, target, print)
