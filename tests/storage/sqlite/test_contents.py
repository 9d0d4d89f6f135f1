"""What requests said, in SQLite: how it leaves the file."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from proxy.storage.sqlite.connection import migrate
from proxy.storage.sqlite.contents import SqliteContents, remove_expired
from proxy.storage.sqlite.database import Database
from proxy.storage.stores.contents import MOST_GONE, ContentLimits
from proxy.tasks import Tasks
from proxy.types import Contents


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = Database(tmp_path / "olvido.db", Tasks())
    yield opened
    await opened.close()


def entry(number: int, size: int = 10, scope: str = "a/") -> Contents:
    return Contents(scope, f"r{number}", "s", float(number), b"x" * size)


def kept(database: Database) -> tuple[int, int, int]:
    """Entries, the sum of their sizes, and what the table of sizes says it is."""
    with closing(sqlite3.connect(database.path)) as connection:
        (count, size) = connection.execute("SELECT count(*), coalesce(sum(size), 0) FROM contents").fetchone()
        (told,) = connection.execute("SELECT bytes FROM contents_size").fetchone()
    return count, size, told


async def test_the_size_of_all_is_known_whatever_happens_to_them(database: Database) -> None:
    store = SqliteContents(database, ContentLimits(seconds=0, bytes=100))
    for number in range(5):
        store.put(entry(number))
    store.put(entry(2))
    store.put(entry(9, scope="b/"))
    await database.writer.flush()
    assert kept(database) == (6, 60, 60)
    store.forget("a/")
    store.put(entry(7, size=95))
    await database.writer.flush()
    assert kept(database) == (1, 95, 95)
    store.forget("a/")
    await database.writer.flush()
    assert kept(database) == (0, 0, 0)


async def test_a_lower_limit_is_reached_a_part_at_a_time(database: Database) -> None:
    size = MOST_GONE // 4
    wide = SqliteContents(database, ContentLimits(seconds=0))
    for number in range(10):
        wide.put(entry(number, size=size))
    await database.writer.flush()
    narrow = SqliteContents(database, ContentLimits(seconds=0, bytes=size))
    counts = []
    for number in range(10, 13):
        narrow.put(entry(number, size=1))
        await database.writer.flush()
        counts.append(kept(database)[0])
    assert counts == [6, 2, 3]


async def test_none_of_the_bytes_of_what_is_forgotten_stay(database: Database) -> None:
    store = SqliteContents(database)
    words = b"nobody must ever read this " * 400
    store.put(Contents("a/", "r1", "s", 1.0, words))
    await database.writer.flush()
    store.forget("a/")
    await database.writer.flush()
    files = [path.read_bytes() for path in database.path.parent.iterdir()]
    assert [content for content in files if words[:26] in content] == []


@pytest.mark.parametrize(
    ("until", "limit", "left"),
    [
        (0.5, 99, [1, 2, 9, 3]), (1.0, 99, [2, 9, 3]), (3.0, 99, [9]), (3.0, 20, [9, 3]), (3.0, 1, [2, 9, 3]),
        (float("inf"), 99, []),
    ],
)  # fmt: skip
def test_what_is_old_leaves_a_part_at_a_time_wherever_it_stands(until: float, limit: int, left: list[int]) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        connection.execute("INSERT INTO scopes (id, name) VALUES (1, 'a/')")
        connection.execute("INSERT INTO sessions VALUES (1, 1, 's')")
        connection.execute("UPDATE contents_size SET bytes = 40")
        for number in (1, 2, 9, 3):
            connection.execute(
                "INSERT INTO contents (scope_id, session_id, request_id, at, size, headers, body, sent, fates, answer)"
                " VALUES (1, 1, ?, ?, 10, '', '', '', '', '')",
                (str(number), number),
            )
        assert remove_expired(connection, until, limit) == 4 - len(left)
        assert [int(name) for (name,) in connection.execute("SELECT request_id FROM contents ORDER BY id")] == left
        assert connection.execute("SELECT bytes FROM contents_size").fetchone() == (10 * len(left),)
