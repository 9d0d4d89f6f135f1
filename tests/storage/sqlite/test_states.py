"""The bound of the states in memory; in SQLite, what is found before it is written, what leaves and what is left."""

import sqlite3
from contextlib import closing
from pathlib import Path

from proxy.storage.recollection import STATE_SECONDS
from proxy.storage.sqlite import states as module
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.states import SqliteStates
from proxy.tasks import Tasks
from tests.storage.sqlite.conftest import LAZY


def link(number: int) -> bytes:
    return number.to_bytes(16, "big")


async def count(database: Database) -> int:
    await database.writer.flush()
    ((rows,),) = await database.read(
        lambda connection: connection.execute("SELECT count(*) FROM path_states").fetchall()
    )
    assert isinstance(rows, int)
    return rows


async def test_what_is_queued_is_found_without_writing_it(database: Database) -> None:
    states = SqliteStates(database)
    states.put("a/", "s", link(0), 1000.0, b"first")
    states.put("a/", "s", link(0), 1001.0, b"second")
    assert await states.get("a/", [link(0), link(1)]) == (link(0), b"second")
    assert database.writer.depth == 2


async def test_an_older_link_that_is_queued_yields_to_a_newer_one_that_is_written(database: Database) -> None:
    states = SqliteStates(database)
    states.put("a/", "s", link(1), 1000.0, b"written")
    await states.flush()
    states.put("a/", "s", link(2), 1000.0, b"queued")
    assert await states.get("a/", [link(0), link(1), link(2)]) == (link(1), b"written")
    assert await states.get("a/", [link(0), link(2), link(1)]) == (link(2), b"queued")


async def test_what_the_database_refuses_takes_nothing_else_with_it(database: Database) -> None:
    states = SqliteStates(database)
    states.put("a/", "s", link(0), float("nan"), b"refused")
    states.put("a/", "s", link(1), 1000.0, b"taken")
    await states.flush()
    assert await states.get("a/", [link(0), link(1)]) == (link(1), b"taken")
    assert database.writer.dropped.total() == 1


async def test_old_states_leave_a_few_at_a_time(database: Database) -> None:
    states = SqliteStates(database)
    old = module.PRUNED + 50
    for number in range(old):
        states.put("a/", f"s-{number}", link(number), 1000.0, b"")
    assert await count(database) == old
    states.put("b/", "s", link(0), 1000.0 + STATE_SECONDS, b"")
    assert await count(database) == 51
    states.put("b/", "s", link(0), 1000.0 + STATE_SECONDS, b"")
    assert await count(database) == 1


async def test_another_process_sees_what_was_put_and_what_was_forgotten(path: Path, database: Database) -> None:
    here, elsewhere = SqliteStates(database), Database(path, Tasks(), LAZY)
    there = SqliteStates(elsewhere)
    for number in range(3):
        here.put("a/", "s", link(number), 1000.0 + number, b"here")
        there.put("a/", "s", link(number + 3), 1000.0 + number, b"there")
    await here.flush()
    await there.flush()
    assert await count(database) == 4
    assert await there.get("a/", [link(2)]) == (link(2), b"here")
    there.forget("a/")
    await there.flush()
    assert await here.get("a/", [link(number) for number in range(6)]) is None
    await elsewhere.close()


async def test_it_is_there_when_it_is_opened_again(path: Path) -> None:
    first = Database(path, Tasks())
    SqliteStates(first).put("a/", "s", link(0), 1000.0, b"state")
    await first.close()
    again = Database(path, Tasks())
    assert await SqliteStates(again).get("a/", [link(0)]) == (link(0), b"state")
    await again.close()


async def test_nothing_is_left_in_any_file_of_what_was_forgotten(path: Path, database: Database) -> None:
    states = SqliteStates(database)
    for number in range(60):
        states.put("a/", f"s-{number % 20}", link(number), 1000.0 + number, b"the red team " * number * 10)
        await states.flush()
    states.forget("a/")
    await states.flush()
    assert [file for file in path.parent.iterdir() if b"the red team" in file.read_bytes()] == []
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM path_states").fetchall() == []
