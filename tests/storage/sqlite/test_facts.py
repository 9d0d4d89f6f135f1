"""The bound of the facts in memory; in SQLite, what another process sees, what is refused and what is left."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Tasks
from proxy.types import Fact
from tests.storage.sqlite.conftest import LAZY

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


@pytest.mark.note("1.1/1", "Rumi ADR/1")
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
