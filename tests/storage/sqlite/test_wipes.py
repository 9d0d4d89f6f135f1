"""What is put aside in SQLite, where, and what is left of it."""

import functools
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from proxy.storage.pending import DELETIONS, Write
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.wipes import SqliteWipes, remove_expired
from proxy.types import Fact
from tests.storage.sqlite.test_archive import SAID, turn

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
