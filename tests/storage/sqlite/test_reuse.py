"""Reuse entries in SQLite: what leaves and when, what other processes see, and what a kill leaves behind."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from proxy.storage.reuse import KEPT_AFTER_EXPIRY
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.tasks import Tasks
from proxy.types import ReuseDecision, ReuseEntry
from tests.storage.sqlite.conftest import LAZY

HOUR = 3600.0
ENTRY = ReuseEntry("r-1", "a" * 32, "how?", (), "key", created_at=1000.0, expires_at=1000.0 + HOUR)
VECTOR = np.array([0.0, 1.0], np.float32)
DECISION = ReuseDecision("req_1", 1000.0, "hit", "r-1", 1.0, "how?", "how?")


def later(entry_id: str, seconds: float) -> ReuseEntry:
    at = ENTRY.created_at + seconds
    return replace(ENTRY, id=entry_id, created_at=at, expires_at=at + HOUR)


async def kept(database: Database) -> list[str]:
    await database.writer.flush()
    rows = await database.read(lambda connection: connection.execute("SELECT id FROM reuse_entries").fetchall())
    return sorted(entry_id for (entry_id,) in rows)


async def test_what_has_expired_leaves_when_something_is_added(database: Database) -> None:
    store = SqliteReuse(database)
    store.add("a/", ENTRY, VECTOR)
    store.add("b/", later("r-2", 1), VECTOR)
    store.add("a/", later("r-3", HOUR - 1), VECTOR)
    assert await kept(database) == ["r-1", "r-2", "r-3"]
    store.add("c/", later("r-4", HOUR), VECTOR)
    assert await kept(database) == ["r-2", "r-3", "r-4"]


async def test_what_has_strikes_leaves_a_month_later(database: Database) -> None:
    store = SqliteReuse(database)
    store.add("a/", ENTRY, VECTOR)
    store.raise_threshold("a/", ENTRY.id, 0.9, 1001.0, evict=True)
    store.add("a/", later("r-2", HOUR + KEPT_AFTER_EXPIRY - 1), VECTOR)
    assert await kept(database) == ["r-1", "r-2"]
    store.add("a/", later("r-3", HOUR + KEPT_AFTER_EXPIRY), VECTOR)
    assert await kept(database) == ["r-2", "r-3"]


async def test_a_reader_misses_nothing_when_the_row_that_it_saw_last_has_expired(database: Database) -> None:
    store = SqliteReuse(database)
    recent = later("r-2", 2 * HOUR)
    store.add("a/", recent, VECTOR)
    await store.flush()
    store.add("a/", ENTRY, VECTOR)  # of a slow worker
    await store.flush()
    seen = (await store.changes("a/", ENTRY.partition, 0, ENTRY.created_at)).upto
    store.add("a/", recent, VECTOR)  # nothing new, but what has expired may leave
    await store.flush()
    store.add("a/", later("r-3", 2 * HOUR), VECTOR)
    await store.flush()
    news = await store.changes("a/", ENTRY.partition, seen, recent.created_at)
    assert [entry.id for entry, _ in news.entries] == ["r-3"]


async def test_changes_of_one_batch_are_written_in_their_order(database: Database) -> None:
    store = SqliteReuse(database)
    store.add("a/", ENTRY, VECTOR)
    store.raise_threshold("a/", ENTRY.id, 0.9, 1001.0, evict=True)
    store.served("a/", ENTRY.id)
    again = later(ENTRY.id, 2)
    store.add("a/", again, VECTOR)
    store.raise_threshold("a/", ENTRY.id, 0.95, 1001.5, evict=True)
    assert await store.get("a/", ENTRY.id) == replace(again, min_cosine=0.95, strikes=2, served=1, evicted_at=1001.5)


async def test_what_the_database_refuses_takes_nothing_else_with_it(database: Database) -> None:
    store = SqliteReuse(database)
    store.add("a/", replace(ENTRY, id="r-2", question="half a character \ud800"), VECTOR)
    store.log("a/", replace(DECISION, cosine=float("nan")))
    store.add("a/", ENTRY, VECTOR)
    store.log("a/", DECISION)
    assert await kept(database) == ["r-1"]
    assert await store.recent("a/") == [DECISION]
    assert database.writer.dropped.total() == 2


async def test_another_process_sees_what_was_added_and_what_was_evicted(path: Path, database: Database) -> None:
    here, elsewhere = SqliteReuse(database), Database(path, Tasks(), LAZY)
    there = SqliteReuse(elsewhere)
    here.add("a/", ENTRY, VECTOR)
    await here.flush()
    seen = await there.changes("a/", ENTRY.partition, 0, 1000.0)
    assert [entry for entry, _ in seen.entries] == [ENTRY]
    here.raise_threshold("a/", ENTRY.id, 0.9, 1001.0, evict=True)
    there.raise_threshold("a/", ENTRY.id, 0.8, 1002.0, evict=True)
    await here.flush()
    await there.flush()
    news = await there.changes("a/", ENTRY.partition, seen.upto, 1003.0)
    assert [entry for entry, _ in news.entries] == [replace(ENTRY, min_cosine=0.9, strikes=2, evicted_at=1002.0)]
    await elsewhere.close()


async def test_it_is_all_there_when_it_is_opened_again(path: Path) -> None:
    first = Database(path, Tasks())
    store = SqliteReuse(first)
    store.add("a/", ENTRY, VECTOR)
    store.log("a/", DECISION)
    await first.close()
    again = Database(path, Tasks())
    ((entry, vector),) = (await SqliteReuse(again).changes("a/", ENTRY.partition, 0, 1000.0)).entries
    assert entry == ENTRY
    assert vector.tolist() == VECTOR.tolist()
    assert await SqliteReuse(again).recent("a/") == [DECISION]
    await again.close()


UNTIL_KILLED = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.tasks import Tasks
from proxy.types import ReuseEntry

async def main(path: str) -> None:
    store = SqliteReuse(Database(Path(path), Tasks()))
    entry = ReuseEntry("", "a" * 32, "how?", (), "key", 1000.0, 4600.0)
    number = 0
    while True:
        for _ in range(20):
            store.add("a/", replace(entry, id=f"r-{number}"), np.array([0.0, 1.0], np.float32))
            number += 1
        await store.flush()
        print(number, flush=True)

asyncio.run(main(sys.argv[1]))
"""


def entries_when_killed(path: Path) -> int:
    """How many entries were durable before the kill, at least."""
    process = subprocess.Popen([sys.executable, "-c", UNTIL_KILLED, path], stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 200:
                break
        process.send_signal(signal.SIGKILL)
        return max([200, *map(int, process.stdout)])


async def test_a_kill_loses_nothing_that_was_durable_and_damages_nothing(path: Path) -> None:
    durable = await asyncio.to_thread(entries_when_killed, path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    database = Database(path, Tasks())
    assert {f"r-{number}" for number in range(durable)} <= set(await kept(database))
    await database.close()
