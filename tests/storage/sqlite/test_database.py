import hashlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from proxy.storage.base import DatabaseCorrupt, DatabaseTooNew, KnownPrefix, StorageError
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database, NoDatabase
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.sqlite.names import put_rows
from proxy.storage.sqlite.sessions import SqliteSessions, SqliteStates
from proxy.storage.stores.sessions import MOST_LINKS
from proxy.tasks import Tasks
from proxy.types import Fact, LedgerRow
from tests.storage.sqlite.conftest import LAZY, chain_of

T = TypeVar("T")

FACT = Fact(
    "f-1", "work", "team", "I lead the red team", "high", "explicit", "s", 1, 1000.0, 1000.0, links=(b"l" * 16,)
)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 63, 64, 150])
def test_many_rows_are_put_in_their_order_by_few_statements(count: int) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE pairs (id INTEGER PRIMARY KEY, one, two)")
        statements: list[str] = []
        connection.set_trace_callback(statements.append)
        rows = [(number, f"{number}") for number in range(count)]
        put_rows(connection, "WITH told AS ({rows}) INSERT INTO pairs (one, two) SELECT * FROM told", rows)
        assert sum("INSERT" in each for each in statements) == count // 64 + count % 64 // 8 + count % 8
        assert connection.execute("SELECT one, two FROM pairs ORDER BY id").fetchall() == rows


async def test_only_its_owner_can_look_into_the_files(database: Database, row: LedgerRow) -> None:
    SqliteLedger(database).append(row)
    await SqliteLedger(database).flush()
    folder = database.path.parent
    assert modes(folder.parent)[folder.name] == 0o700
    assert modes(folder) == {
        "olvido.sqlite3": 0o600,
        "olvido.sqlite3-wal": 0o600,
        "olvido.sqlite3-shm": 0o600,
    }


async def test_the_file_is_in_wal_mode(database: Database) -> None:
    with closing(sqlite3.connect(database.path)) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_rows_that_the_database_refuses_take_no_other_with_them(database: Database, row: LedgerRow) -> None:
    SqliteLedger(database).append(replace(row, request_id="not a number", cost=float("nan")))
    SqliteLedger(database).append(replace(row, request_id="half a character", session="\ud800"))
    SqliteLedger(database).append(row)
    await SqliteLedger(database).flush()
    assert await SqliteLedger(database).recent(row.scope) == [row]
    assert database.writer.dropped.total() == 2


@pytest.mark.long
async def test_one_key_that_floods_takes_no_row_of_another(database: Database, row: LedgerRow) -> None:
    facts, archive, states = SqliteFacts(database), SqliteArchive(database, 1e9), SqliteStates(database)
    ledger, sessions = SqliteLedger(database), SqliteSessions(database)
    mine, theirs = replace(row, scope="b/"), replace(row, scope="a/")
    for number in range(72):
        sessions.remember("a/", f"s{number}", chain_of(number, *range(2_500)), 0, 1.0)
        for turns in range(1_000):
            states.put("a/", f"s{number}", chain_of(number, turns)[-1], 1.0, b"state")
            ledger.append(replace(theirs, request_id=f"{number}/{turns}"))
        facts.put("b/", [replace(FACT, id=f"f-{number}")])
        ledger.append(replace(mine, request_id=f"r-{number}"))
        archive.forget("a/", [chain_of("forgotten", number)[-1]])
    assert set(database.writer.dropped) == {"cut_links", "links", "states", "ledger"}
    assert len(await facts.all("b/")) == 72
    assert len(await ledger.recent("b/", 1_000)) == 72
    assert len((await archive.changes("a/", 0, 0.0, limit=100)).gone) == 72


async def test_readers_cannot_write(database: Database) -> None:
    with pytest.raises(StorageError, match="readonly"):
        await database.read(lambda connection: connection.execute("DELETE FROM ledger"))


async def test_closing_writes_what_is_queued_and_lets_go_of_the_file(database: Database, row: LedgerRow) -> None:
    await SqliteLedger(database).recent(row.scope)
    SqliteLedger(database).append(row)
    await database.close()
    await database.close()
    await SqliteLedger(database).flush()
    assert list(modes(database.path.parent)) == ["olvido.sqlite3"]
    with closing(sqlite3.connect(database.path)) as other:
        assert other.execute("SELECT request_id FROM ledger").fetchall() == [("r1",)]


async def test_in_memory_there_is_no_file_and_a_read_sees_whole_batches(
    row: LedgerRow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    threads = set(threading.enumerate())
    tasks = Tasks()
    database = Database(None, tasks, LAZY)
    ledger = SqliteLedger(database)
    for number in range(3):
        ledger.append(replace(row, request_id=str(number)))
    assert (await ledger.recent(row.scope), database.writer.depth) == ([], 3)
    await ledger.flush()
    assert len(await ledger.recent(row.scope)) == 3
    await database.close()
    await tasks.drain(5)
    started = set(threading.enumerate()) - threads
    assert [thread.name for thread in started if thread.name.startswith("storage")] == []
    assert os.listdir(tmp_path) == []  # noqa: PTH208 (of a folder of our own, at once)
    with pytest.raises(StorageError, match="closed"):
        await ledger.recent(row.scope)


async def test_where_nothing_is_kept_what_is_put_is_neither_found_nor_counted_as_lost(row: LedgerRow) -> None:
    database = NoDatabase()
    threads = set(threading.enumerate())
    ledger, sessions = SqliteLedger(database), SqliteSessions(database)
    ledger.append(row)
    sessions.remember("a/", "s", chain_of("hi"), 0, 1.0)
    sessions.remember("a/", "s", chain_of(*range(MOST_LINKS + 9)), 0, 1.0)
    await ledger.flush()
    assert await ledger.recent(row.scope) == []
    assert await sessions.longest_prefix("a/", chain_of("hi")) is None
    assert (database.keeps, database.writer.depth, database.writer.dropped) == (False, 0, {})
    assert not await database.has_scope(row.scope)
    assert set(threading.enumerate()) == threads
    await database.close()


@pytest.mark.parametrize("damage", [b"not a database" * 1000, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_a_named_error_and_is_left_alone(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    with pytest.raises(DatabaseCorrupt, match=str(path)):
        Database(path, Tasks())
    assert path.read_bytes() == damage


def overwrite(path: Path, from_page: int) -> None:
    start = 4096 * from_page
    content = path.read_bytes()
    path.write_bytes(content[:start] + b"\xff" * (len(content) - start))


async def test_damage_met_while_reading_is_a_named_error(path: Path, row: LedgerRow) -> None:
    first = Database(path, Tasks())
    for number in range(2000):
        SqliteLedger(first).append(replace(row, request_id=str(number)))
    await first.close()
    overwrite(path, from_page=150)
    database = Database(path, Tasks())
    with pytest.raises(DatabaseCorrupt, match="damaged"):
        await SqliteLedger(database).recent(row.scope, limit=2000)
    await database.close()


async def test_a_file_of_a_newer_version_is_a_named_error(path: Path) -> None:
    await Database(path, Tasks()).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('9999_tomorrow', 0)")
    with pytest.raises(DatabaseTooNew, match="9999_tomorrow"):
        Database(path, Tasks())


def test_a_file_that_another_holds_for_good_is_a_named_error(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked"):
            Database(path, Tasks(), lock_seconds=0.02)


def test_a_path_that_cannot_be_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="file"):
        Database(tmp_path / "file" / "olvido.sqlite3", Tasks())


# What the programs below share: rows, and a chain that grows with them.
PROGRAM = """
import asyncio, hashlib, sys, time
from pathlib import Path
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.names import put_rows
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.sqlite.sessions import SqliteSessions
from proxy.tasks import Tasks
from proxy.types import LedgerRow

def row(request_id: str) -> LedgerRow:
    return LedgerRow(
        request_id=request_id, at=time.time(), scope="a/", session="s", model="m", upstream="u", source="upstream",
        status=200, outcome="complete", stream=False, plan="untouched", plan_reason="", reuse_reason="off",
        tokens_original=1, tokens_sent=1, tokens_cached=0, tokens_billed=1, tokens_completion=1, measured=True,
        cost=0.0, cost_saved=0.0, total_seconds=0.1, upstream_seconds=0.1, stage_seconds={"parse": 0.1},
    )

def links(name: str, count: int) -> list[bytes]:
    return [hashlib.blake2b(f"{name}/{n}".encode(), digest_size=16).digest() for n in range(count)]
"""

UNTIL_KILLED = (
    PROGRAM
    + """
async def main(path: str) -> None:
    database = Database(Path(path), Tasks())
    ledger, sessions = SqliteLedger(database), SqliteSessions(database)
    number = 0
    while True:
        for _ in range(10):
            ledger.append(row(str(number)))
            print(number, time.monotonic(), flush=True)
            number += 1
        sessions.remember("a/", "s", links(str(number), 20), 0, float(number))
        await asyncio.sleep(0.002)

asyncio.run(main(sys.argv[1]))
"""
)


def run_until_killed(path: Path) -> set[str]:
    """The ids of the rows that were queued more than a second before the kill."""
    process = subprocess.Popen([sys.executable, "-c", UNTIL_KILLED, path], stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        kill_after = float(lines[0].split()[1]) + 1.3
        while time.monotonic() < kill_after:
            lines.append(process.stdout.readline())
        killed_at = time.monotonic()  # one clock for all processes
        process.send_signal(signal.SIGKILL)
        lines.extend(process.stdout)
    assert process.returncode == -signal.SIGKILL
    queued = [line.split() for line in lines if line.endswith("\n")]
    return {request_id for request_id, at in queued if float(at) < killed_at - 1}


def assert_added_up(connection: sqlite3.Connection) -> None:
    """Every row is in every sum that it belongs to, once."""
    (rows,) = connection.execute("SELECT count(*) FROM ledger").fetchone()
    assert rows > 0
    for scope in ("scope_id = 0", "scope_id > 0"):
        minutes = f"SELECT sum(requests) FROM rollups WHERE width = 60 AND {scope}"
        assert connection.execute(minutes).fetchone() == (rows,)
    assert connection.execute("SELECT sum(requests) FROM session_sums").fetchone() == (rows,)


@pytest.mark.long
async def test_killed_under_load_it_loses_at_most_the_last_second_and_corrupts_nothing(path: Path) -> None:
    due = run_until_killed(path)
    assert len(due) > 10
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert_added_up(connection)
    database = Database(path, Tasks())
    kept = await SqliteLedger(database).recent("a/", limit=1_000_000)
    await database.close()
    assert due <= {row.request_id for row in kept}


TOGETHER = (
    PROGRAM
    + """
async def main(path: str, name: str) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    database = Database(Path(path), Tasks())
    ledger, sessions = SqliteLedger(database), SqliteSessions(database)
    for number in range(100):
        ledger.append(row(f"{name}{number}"))
        sessions.remember("a/", name, links("shared", 1) + links(name, number + 1), number, float(number))
        if number % 10 == 0:
            await ledger.flush()
    await database.close()
    print("dropped", database.writer.dropped.total())

asyncio.run(main(*sys.argv[1:]))
"""
)


def run_together(path: Path, names: tuple[str, ...]) -> list[str]:
    """What each of the processes prints."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER, path, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()  # it has imported everything
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.communicate(timeout=60)[0].strip() for process in processes]


@pytest.mark.long
async def test_several_processes_start_on_one_new_file_and_share_it(path: Path) -> None:
    names = ("x", "y", "z")
    assert run_together(path, names) == ["dropped 0"] * 3

    database = Database(path, Tasks())
    with closing(sqlite3.connect(path)) as connection:
        assert_added_up(connection)
    kept = {row.request_id for row in await SqliteLedger(database).recent("a/", limit=1000)}
    assert kept == {f"{name}{number}" for name in names for number in range(100)}
    shared = chain_of_program("shared", 1)
    known = await SqliteSessions(database).longest_prefix("a/", shared)
    assert known is not None
    assert (known.length, len(known.sessions), known.is_tip) == (1, 2, False)
    for name in names:
        tip = await SqliteSessions(database).longest_prefix("a/", shared + chain_of_program(name, 100))
        assert tip == KnownPrefix(101, (name,), is_tip=True)
    await database.close()


def chain_of_program(name: str, count: int) -> list[bytes]:
    """`links` of the programs above."""
    return [hashlib.blake2b(f"{name}/{n}".encode(), digest_size=16).digest() for n in range(count)]
