"""The bound of the facts in memory; in SQLite, what another process sees, what is refused and what is left."""

import functools
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.storage.pending import DELETIONS, Write
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts, SqliteWipes, remove_expired
from proxy.tasks import Tasks
from proxy.types import Fact
from tests.storage.sqlite.conftest import LAZY
from tests.storage.sqlite.test_archive import SAID, turn

FACT = Fact(
    "f-1", "work", "team", "I lead the red team", "high", "explicit", "s", 1, 1000.0, 1000.0, links=(b"l" * 16,)
)


@pytest.mark.note("1.1/14")
async def test_a_call_is_written_whole_or_not_at_all(database: Database) -> None:
    facts = SqliteFacts(database)
    facts.put("a/", [FACT])
    await facts.flush()
    second = replace(FACT, id="f-2", value="half a character \ud800")
    facts.put("a/", [replace(FACT, superseded_by=second.id), second])
    third = replace(FACT, id="f-3")
    facts.put("a/", [third])
    assert await facts.all("a/") == [FACT, third]
    assert database.writer.dropped.total() == 2


async def test_another_process_sees_what_was_put_and_what_was_forgotten(path: Path, database: Database) -> None:
    here, elsewhere = SqliteFacts(database), Database(path, Tasks(), LAZY)
    there = SqliteFacts(elsewhere)
    second = replace(FACT, id="f-2", created_at=1001.0)
    here.put("a/", [FACT])
    there.put("a/", [second, replace(FACT, last_confirmed_at=1002.0)])
    await here.flush()
    assert await there.all("a/") == [replace(FACT, last_confirmed_at=1002.0), second]
    here.forget("a/", [FACT.id])
    await here.flush()
    assert await there.all("a/") == [second]
    assert await there.find(FACT.id) is None
    await elsewhere.close()


@pytest.mark.note("1.1/1")
async def test_it_is_all_there_when_it_is_opened_again(path: Path) -> None:
    first = Database(path, Tasks())
    SqliteFacts(first).put("a/", [FACT])
    await first.close()
    again = Database(path, Tasks())
    assert await SqliteFacts(again).all("a/") == [FACT]
    await again.close()


async def test_nothing_is_left_in_any_file_of_what_was_forgotten(path: Path, database: Database) -> None:
    facts = SqliteFacts(database)
    for number in range(60):
        facts.put("a/", [replace(FACT, id=f"f-{number}", value="the red team " * number, created_at=float(-number))])
        await facts.flush()
    facts.forget("a/", [f"f-{number}" for number in range(60)])
    await facts.flush()
    assert [file for file in path.parent.iterdir() if b"the red team" in file.read_bytes()] == []
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM facts").fetchall() == []


AT, UNTIL = 1_000.0, 2_000.0


async def wiped(database: Database) -> SqliteWipes:
    facts, archive, wipes = SqliteFacts(database), SqliteArchive(database, 1e12), SqliteWipes(database)
    facts.put("a/", [Fact("f-1", "personal", "k", SAID, "high", "explicit", "s", 1, 1.0, 1.0)])
    for number in range(1, 40):
        archive.add("a/", turn(number, text=SAID * (number * 7 % 400)), None)
    wipes.wipe("a/", [], at=AT, until=UNTIL)
    await wipes.flush()
    return wipes


def tables_with(path: Path, text: str) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        rows = {name: repr(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in tables}
    return sorted(name for name, told in rows.items() if text in told.lower())


async def test_what_is_aside_is_in_tables_of_its_own(database: Database) -> None:
    await wiped(database)
    assert tables_with(database.path, SAID) == ["wiped_archive", "wiped_facts"]


@pytest.mark.parametrize("by", ["prune", "retention", "no undo"])
async def test_at_its_time_nothing_is_left_of_it_in_any_file(by: str, database: Database) -> None:
    wipes = await wiped(database)
    if by == "prune":
        wipes.prune(UNTIL)
    elif by == "retention":
        write = functools.partial(Write, erases=True, kind=DELETIONS, scope="")
        database.writer.put(write(1, lambda connection, _: remove_expired(connection, UNTIL)))
    else:
        wipes.restore("a/", AT)
        wipes.wipe("a/", [], at=AT, until=AT)
    await wipes.flush()
    folder = database.path.parent
    assert [file.name for file in folder.iterdir() if SAID.encode() in file.read_bytes().lower()] == []
    assert tables_with(database.path, SAID) == []


async def test_what_came_back_is_in_one_place(database: Database) -> None:
    wipes = await wiped(database)
    wipes.restore("a/", AT)
    await wipes.flush()
    assert tables_with(database.path, SAID) == ["archive", "facts"]
