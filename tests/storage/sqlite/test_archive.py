"""The archive in SQLite: what leaves and when, what other processes see, and what is left of what was forgotten."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from proxy.storage.pending import PAGE_BYTES, WriterLimits
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.storage.stores.archive import PRUNED
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Utterance
from tests.storage.sqlite.conftest import LAZY

TTL = 1000.0
VECTORS = np.array([[0.0, 1.0], [0.5, 0.5]], np.float32)
SAID = "the red team"


def turn(number: int, text: str = SAID) -> ArchivedTurn:
    link = number.to_bytes(16, "big")
    said = (Utterance("user", text, b"u" + link[1:]), Utterance("assistant", text.upper(), link))
    parent = (number - 1).to_bytes(16, "big")
    return ArchivedTurn(link, parent, "s", number, 10.0 + number, f'["{text}"]'.encode(), said)


async def numbers(archive: SqliteArchive, after: int = 0) -> list[int]:
    await archive.flush()
    return [each.number for each, _ in (await archive.changes("a/", after, 0.0, limit=10_000)).entries]


@pytest.mark.parametrize(("again", "kept"), [("one", True), ("", True), ("other", False)])
async def test_vectors_of_another_model_are_dropped_and_their_turns_kept(path: Path, again: str, kept: bool) -> None:
    first = Database(path, Tasks(), embedding="one")
    archive = SqliteArchive(first, TTL)
    archive.add("a/", turn(1), VECTORS)
    await archive.flush()
    await first.close()

    second = Database(path, Tasks(), embedding=again)
    archive = SqliteArchive(second, TTL)
    ((found, vectors),) = (await archive.changes("a/", 0, 0.0, limit=10)).entries
    assert (found, vectors is not None) == (turn(1), kept)
    archive.add("a/", turn(1), VECTORS)  # as it is learnt again
    await archive.flush()
    ((_, vectors),) = (await archive.changes("a/", 0, 0.0, limit=10)).entries
    assert vectors is not None
    await second.close()


async def test_turns_leave_a_bounded_number_at_a_time_the_oldest_first(database: Database) -> None:
    archive = SqliteArchive(database, TTL)
    for number in reversed(range(1, PRUNED + 51)):
        archive.add("a/", turn(number), None)
    archive.prune(100_000.0)
    assert await numbers(archive) == list(reversed(range(PRUNED + 1, PRUNED + 51)))
    archive.prune(100_000.0)
    assert await numbers(archive) == []
    rows = await database.read(lambda connection: connection.execute("SELECT * FROM archive_links").fetchall())
    assert rows == []


async def test_a_reader_misses_nothing_when_the_newest_rows_have_left(database: Database) -> None:
    archive = SqliteArchive(database, TTL)
    archive.add("a/", turn(1), None)
    archive.add("a/", turn(2), None)
    await archive.flush()
    seen = (await archive.changes("a/", 0, 0.0)).upto
    archive.prune(100_000.0)
    await archive.flush()
    archive.add("a/", turn(3), None)
    assert await numbers(archive, after=seen) == [3]


async def test_what_the_database_refuses_takes_nothing_else_with_it(database: Database) -> None:
    archive = SqliteArchive(database, TTL)
    archive.add("a/", replace(turn(1), at=float("nan")), None)
    archive.add("a/", turn(2, text="half a character \ud800".encode("utf-8", "replace").decode()), None)
    archive.add("a/", replace(turn(3), utterances=(Utterance("user", "\ud800", b"u"),)), None)
    assert await numbers(archive) == [2]
    assert database.writer.dropped.total() == 2


async def test_a_large_turn_counts_as_many_rows_of_the_queue(path: Path) -> None:
    database = Database(path, Tasks(), WriterLimits(interval=60, bulk_rows=110))
    archive = SqliteArchive(database, TTL)
    for number in (1, 2, 3):
        archive.add("a/", replace(turn(number), messages=b"x" * 50 * PAGE_BYTES), None)
    assert (database.writer.depth, database.writer.dropped.total()) == (51, 102)
    assert await numbers(archive) == [1]
    await database.close()


async def test_another_process_sees_what_was_added_embedded_and_forgotten(path: Path, database: Database) -> None:
    here, elsewhere = SqliteArchive(database, TTL), Database(path, Tasks(), LAZY)
    there = SqliteArchive(elsewhere, TTL)
    for archive in (here, there):  # of one conversation, at the same time
        archive.add("a/", turn(1), None)
        archive.add("a/", turn(2), None)
        await archive.flush()
    seen = await there.changes("a/", 0, 0.0)
    assert [each for each, _ in seen.entries] == [turn(1), turn(2)]
    here.add("a/", turn(1), VECTORS)
    here.forget("a/", [turn(2).utterances[0].link])
    await here.flush()
    there.add("a/", turn(2), VECTORS)
    await there.flush()
    news = await there.changes("a/", seen.upto, 0.0)
    ((found, vectors),) = news.entries
    assert found == turn(1)
    assert vectors is not None
    assert vectors.tolist() == VECTORS.tolist()
    assert set(news.gone) == {turn(2).link, turn(2).utterances[0].link}
    assert await here.path("a/", turn(2).link, 9) == [turn(1)]
    await elsewhere.close()


@pytest.mark.note("1.2/1")
async def test_it_is_all_there_when_it_is_opened_again(path: Path) -> None:
    first = Database(path, Tasks())
    archive = SqliteArchive(first, TTL)
    archive.add("a/", turn(1), VECTORS)
    archive.forget("a/", [turn(2).link])
    await first.close()
    again = Database(path, Tasks())
    changes = await SqliteArchive(again, TTL).changes("a/", 0, 0.0)
    ((found, vectors),) = changes.entries
    assert found == turn(1)
    assert vectors is not None
    assert vectors.tolist() == VECTORS.tolist()
    assert changes.gone == (turn(2).link,)
    await again.close()


async def test_nothing_is_left_in_any_file_of_what_was_forgotten(path: Path, database: Database) -> None:
    archive = SqliteArchive(database, TTL)
    for number in range(1, 61):
        archive.add("a/", turn(number, text=SAID * (number * 7 % 400)), None)
        archive.add("a/", turn(1000 + number, text="others stay"), None)
        await archive.flush()
        archive.add("a/", turn(number // 2 + 1), VECTORS)
    archive.forget("a/", [turn(number).utterances[0].link for number in range(1, 61)])
    assert await numbers(archive) == list(range(1001, 1061))
    assert [file for file in path.parent.iterdir() if SAID.encode() in file.read_bytes().lower()] == []
    assert [file.name for file in path.parent.iterdir() if b"others stay" in file.read_bytes()] == [path.name]
    with closing(sqlite3.connect(path)) as connection:
        left = connection.execute("SELECT * FROM archive WHERE at IS NULL").fetchall()
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert len(left) == 120
    # … but links, when that was, and that it holds.
    assert {value for _, _, _, _, *values, _, _ in left for value in values} == {None}
    assert {lifted for *_, lifted in left} == {0}
