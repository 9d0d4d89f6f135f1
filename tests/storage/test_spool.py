"""Writes that wait on disk for a database that cannot take them."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proxy.storage import spool as spool_module
from proxy.storage.base import StorageError
from proxy.storage.pending import FACTS, LEDGER, TURNS, Write, WriterLimits
from proxy.storage.scoped_writes import ScopedWrites
from proxy.storage.spool import Operation, Spool
from proxy.storage.sqlite.connection import connect
from proxy.storage.sqlite.writer import Writer
from proxy.tasks import Tasks

LIMITS = WriterLimits(interval=0.001, pauses=(0.001,), retry=0.005)


def say(connection: sqlite3.Connection, words: Sequence[str]) -> None:
    connection.executemany("INSERT INTO said (word) VALUES (?)", [(word,) for word in words])


def shout(connection: sqlite3.Connection, words: Sequence[tuple[str, bytes]]) -> None:
    connection.executemany("INSERT INTO said (word) VALUES (?)", [(f"{word}{mark.decode()}",) for word, mark in words])


OPERATIONS = {"say": Operation(say, str), "shout": Operation(shout, tuple[str, bytes])}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "db")) as connection:
        connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, word TEXT)")
    return tmp_path / "db"


class Away:
    """Makes the database unwritable while it is open."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("BEGIN IMMEDIATE")

    def back(self) -> None:
        self.connection.close()


def opened(path: Path, tasks: Tasks, spool: Spool | None) -> Writer:
    return Writer(connect(path, 0.001), tasks, LIMITS, spool=spool)


def words(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM said ORDER BY id")]


def write(word: str, **of_it: Any) -> Write:
    return Write(1, say, word, **{"kind": LEDGER, "scope": "a/", **of_it})


async def until(condition: Any) -> None:
    async with asyncio.timeout(100):
        while not condition():  # noqa: ASYNC110 (the state of another task and a thread)
            await asyncio.sleep(0.001)


async def test_what_waits_is_written_once_and_in_order_when_the_database_is_back(path: Path) -> None:
    spool = Spool(path.parent / "spool", OPERATIONS)
    writer = opened(path, Tasks(), spool)
    away = Away(path)
    for number in range(5):
        writer.put(write(str(number)))
    await until(lambda: spool.rows == 5)
    writer.put(Write(1, shout, ("5", b"!"), kind=FACTS, scope="a/"))
    await until(lambda: spool.rows == 6)
    assert words(path) == []
    away.back()
    await until(lambda: not writer.depth)
    assert words(path) == ["0", "1", "2", "3", "4", "5!"]
    assert spool.rows == 0
    await writer.close()
    assert list((path.parent / "spool").iterdir()) == []


async def test_what_an_ended_process_has_left_is_written_first(path: Path) -> None:
    first = opened(path, Tasks(), Spool(path.parent / "spool", OPERATIONS))
    away = Away(path)
    for number in range(3):
        first.put(write(str(number)))
    await first.close()
    away.back()
    assert words(path) == []
    second = opened(path, Tasks(), Spool(path.parent / "spool", OPERATIONS))
    second.adopt()
    second.put(write("later"))
    await until(lambda: not second.depth)
    assert words(path) == ["0", "1", "2", "later"]
    await second.close()


@pytest.mark.long
def test_what_a_killed_process_has_left_is_written_once(path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from tests.storage.test_spool import OPERATIONS, Spool, write
spool = Spool(Path({str(path.parent / "spool")!r}), OPERATIONS)
spool.put([write(str(number)) for number in range(4)])
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run(
        [sys.executable, "-c", code], check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    spool = Spool(path.parent / "spool", OPERATIONS)
    left = spool.adopt()
    assert [each.what for each in spool.loaded(left)] == ["0", "1", "2", "3"]
    assert [each.spooled for each in spool.adopt()] == [each.spooled for each in left]
    spool.close()


def test_the_spool_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from tests.storage.test_spool import OPERATIONS, Spool, write
spool = Spool(Path({str(tmp_path)!r}), OPERATIONS)
spool.put([write("theirs")])
print("ready", flush=True)
input()
"""
    other = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"ready\n"
    spool = Spool(tmp_path, OPERATIONS)
    assert spool.adopt() == []
    other.communicate(b"\n")
    assert [each.what for each in spool.loaded(spool.adopt())] == ["theirs"]
    spool.close()


async def test_readers_of_a_scope_that_waits_to_be_forgotten_are_refused(path: Path) -> None:
    spool = Spool(path.parent / "spool", OPERATIONS)
    writer = opened(path, Tasks(), spool)
    writes = ScopedWrites(writer, TURNS)
    away = Away(path)
    writes.delete("a/", say, "gone")
    await until(lambda: spool.rows == 1)
    with pytest.raises(StorageError):
        await writes.settled("a/")
    await writes.settled("b/")
    away.back()
    await until(lambda: not writer.depth)
    await writes.settled("a/")
    await writer.close()


async def test_beyond_its_size_rows_wait_in_memory_as_far_as_there_is_room(path: Path) -> None:
    spool = Spool(path.parent / "spool", OPERATIONS, most_bytes=0)
    writer = opened(path, Tasks(), spool)
    away = Away(path)
    writer.put(write("waits"))
    await until(lambda: writer.failing is not None)
    away.back()
    await until(lambda: not writer.depth)
    assert words(path) == ["waits"]
    await writer.close()


def test_a_write_of_another_version_is_left_out_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    other = Spool(tmp_path, {"new": Operation(say, str)})
    other.put([write("unknown")])
    other.close()
    spool = Spool(tmp_path, OPERATIONS)
    assert spool.adopt() == []
    assert "another version" in caplog.text
    spool.close()


def test_what_is_no_operation_stays_where_it_is(tmp_path: Path) -> None:
    spool = Spool(tmp_path, OPERATIONS)
    step = Write(1, lambda *_: None, kind=LEDGER, scope="")
    assert spool.put([step]) == [step]
    spool.close()


def test_a_folder_that_cannot_be_used_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="spool"):
        Spool(tmp_path / "file", OPERATIONS)


def test_what_cannot_be_stored_stays_in_memory_and_the_others_are_stored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = Spool(tmp_path, OPERATIONS)
    writes = [write("one"), write("half a character \ud800"), write("two")]
    stored = spool.put(writes)
    assert [each.spooled is None for each in stored] == [False, True, False]
    assert stored[1] is writes[1]
    assert "half a character" not in caplog.text
    assert [each.what for each in spool.loaded(stored)] == ["one", writes[1].what, "two"]
    spool.close()


def test_what_was_applied_is_not_loaded_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path, OPERATIONS)
    stored = spool.put([write("one"), write("two")])
    spool.remove(stored[:1])
    assert [each.what for each in spool.loaded(stored)] == ["two"]
    spool.close()


def test_what_the_disk_does_not_let_go_goes_with_the_next(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    spool = Spool(tmp_path, OPERATIONS)
    stored = spool.put([write("one"), write("two")])
    (path,) = tmp_path.glob("*.spool")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        spool._database.execute("PRAGMA busy_timeout = 1")  # noqa: SLF001 (it waits 5 s otherwise)
        spool.remove(stored[:1])
        assert "cannot be written" in caplog.text
    assert [each.what for each in spool.loaded(stored)] == ["two"]
    spool.remove(stored[1:])
    assert spool.rows == 0
    spool.close()


def test_a_file_that_another_has_taken_over_meanwhile_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    left = tmp_path / "1-dead.spool"
    left.write_bytes(b"")
    spool = Spool(tmp_path, OPERATIONS)
    locked = spool_module._locked  # noqa: SLF001 (another process, between two steps of this one)

    def taken(path: Path) -> int:
        descriptor = locked(path)
        path.unlink()
        return descriptor

    monkeypatch.setattr(spool_module, "_locked", taken)
    assert spool.adopt() == []
    assert not left.exists()
    assert not caplog.records
    spool.close()


async def test_a_refused_write_leaves_the_spool_too(path: Path) -> None:
    spool = Spool(path.parent / "spool", OPERATIONS)
    writer = opened(path, Tasks(), spool)
    away = Away(path)
    writer.put(Write(1, shout, ("x", b"\xff"), kind=FACTS, scope="a/"))  # no text
    writer.put(write("good"))
    await until(lambda: spool.rows == 2)
    away.back()
    await until(lambda: not writer.depth)
    assert (words(path), writer.dropped.total(), spool.rows) == (["good"], 1, 0)
    await writer.close()
