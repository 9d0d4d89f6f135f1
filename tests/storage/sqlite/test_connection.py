import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest

from proxy.storage.base import DatabaseCorrupt, DatabaseTooNew, StorageError
from proxy.storage.schema import MIGRATIONS
from proxy.storage.sqlite.connection import migrate, storage_errors
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Tasks
from tests.contract.test_fact_store import NEW

FIRST: dict[str, tuple[str, ...]] = {"0001_first": ("CREATE TABLE things (name TEXT)",)}
SECOND: dict[str, tuple[str, ...]] = {
    "0002_second": ("ALTER TABLE things ADD COLUMN size INTEGER", "CREATE INDEX sizes ON things (size)")
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "db.sqlite3"


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(path)) as opened:
        yield opened


def applied(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM migrations ORDER BY rowid")]


def test_a_new_file_gets_every_step_in_order(connection: sqlite3.Connection) -> None:
    migrate(connection)
    assert applied(connection) == list(MIGRATIONS)


def test_a_second_time_writes_nothing(connection: sqlite3.Connection) -> None:
    migrate(connection)
    changes = connection.total_changes
    migrate(connection)
    assert connection.total_changes == changes


def test_a_new_step_is_added_and_what_was_stored_stays(connection: sqlite3.Connection) -> None:
    migrate(connection, FIRST)
    connection.execute("INSERT INTO things VALUES ('kept')")
    migrate(connection, FIRST | SECOND)
    assert connection.execute("SELECT name, size FROM things").fetchall() == [("kept", None)]
    assert applied(connection) == ["0001_first", "0002_second"]


@pytest.mark.parametrize("steps", range(1, len(MIGRATIONS)))
async def test_a_file_of_an_earlier_step_goes_on(path: Path, steps: int) -> None:
    with closing(connect(path)) as earlier:
        migrate(earlier, dict(list(MIGRATIONS.items())[:steps]))
        earlier.execute("INSERT INTO scopes (name) VALUES ('a/')")
    database = Database(path, Tasks())
    facts = SqliteFacts(database)
    facts.put("a/", [NEW])
    assert await facts.all("a/") == [NEW]
    assert database.writer.dropped.total() == 0
    await database.close()


def test_sums_from_before_routes_are_sums_of_the_managed_route(connection: sqlite3.Connection) -> None:
    earlier = {name: steps for name, steps in MIGRATIONS.items() if name < "0005"}
    migrate(connection, earlier)
    connection.execute("INSERT INTO rollup_labels (name) VALUES ('m')")
    names = [name for _, name, *_ in connection.execute("PRAGMA table_info(rollups)")]
    values = {name: number for number, name in enumerate(names, 1)}
    connection.execute(f"INSERT INTO rollups VALUES ({', '.join(f':{name}' for name in names)})", values)
    migrate(connection, MIGRATIONS)
    connection.row_factory = sqlite3.Row
    (row,) = connection.execute("SELECT rollups.*, name FROM rollups JOIN rollup_labels ON rollup_labels.id = route")
    assert {name: row[name] for name in names} == values
    assert (row["name"], row["unmanaged"]) == ("/v1/chat/completions", 0)


def test_a_database_of_a_newer_version_is_refused_and_not_touched(connection: sqlite3.Connection) -> None:
    migrate(connection, FIRST | SECOND)
    changes = connection.total_changes
    with pytest.raises(DatabaseTooNew, match=r"0002_second.*upgrade"):
        migrate(connection, FIRST)
    assert connection.total_changes == changes
    assert not connection.in_transaction


def test_a_step_that_fails_leaves_nothing_behind(connection: sqlite3.Connection) -> None:
    migrate(connection, FIRST)
    broken: dict[str, tuple[str, ...]] = {"0002_broken": ("CREATE TABLE half (x)", "CREATE TABLE things (again)")}
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection, FIRST | broken)
    assert applied(connection) == ["0001_first"]
    assert connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchone() is None
    assert not connection.in_transaction


def test_all_that_start_together_migrate_once(path: Path) -> None:
    together = Barrier(4)

    def start(_: int) -> list[str]:
        with closing(connect(path)) as connection:
            together.wait()
            migrate(connection)
            return applied(connection)

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(start, range(4)))
    assert results == [list(MIGRATIONS)] * 4


def test_a_file_that_is_no_database_is_named(path: Path) -> None:
    path.write_bytes(b"not a database, but long enough to look at" * 100)
    with pytest.raises(DatabaseCorrupt, match=str(path)), storage_errors(path), closing(connect(path)) as connection:
        migrate(connection)


def test_other_errors_of_sqlite_are_ours_too_but_not_called_damage(path: Path) -> None:
    with (
        pytest.raises(StorageError, match="no such table") as caught,
        storage_errors(path),
        closing(connect(path)) as connection,
    ):
        connection.execute("SELECT 1 FROM missing")
    assert type(caught.value) is StorageError
