"""Writes by scope, over an SQLite writer."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from proxy.storage.base import StorageError
from proxy.storage.pending import TURNS, WriterLimits
from proxy.storage.scoped_writes import ScopedWrites
from proxy.storage.sqlite.writer import Writer
from proxy.tasks import Tasks

LAZY = WriterLimits(interval=60, bulk_rows=6)  # nothing is written until something asks for it


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=0.01, isolation_level=None, check_same_thread=False)


def nothing(_: sqlite3.Connection, __: Sequence[object]) -> None: ...


async def test_a_reader_waits_for_the_writes_of_its_own_scope(tmp_path: Path) -> None:
    written: list[object] = []

    def apply(_: sqlite3.Connection, whats: Sequence[object]) -> None:
        written.extend(whats)

    writer = Writer(connect(tmp_path / "db"), Tasks(), LAZY)
    writes = ScopedWrites(writer, TURNS)
    await writes.settled()
    writes.put("a/", apply, 1)
    writes.put("a/", apply, 2)
    await writes.settled("b/")
    assert written == []
    await writes.settled("a/")
    assert written == [1, 2]
    writes.put("b/", apply, 3)
    await writes.settled("a/")
    assert written == [1, 2]
    await writes.settled()
    assert written == [1, 2, 3]
    await writer.close()


async def test_what_is_dropped_keeps_no_reader_waiting(tmp_path: Path) -> None:
    def refuse(_: sqlite3.Connection, __: Sequence[object]) -> None:
        raise ValueError

    writer = Writer(connect(tmp_path / "db"), Tasks(), LAZY)
    refused, queued = ScopedWrites(writer, TURNS), ScopedWrites(writer, TURNS)
    queued.put("a/", nothing, None, rows=2)
    refused.put("a/", refuse, None, rows=2)  # too many: not even queued
    await refused.settled("a/")
    assert writer.depth == 2
    refused.put("a/", refuse, None, rows=1)
    await refused.settled("a/")
    assert (writer.depth, writer.dropped.total()) == (0, 3)
    await refused.settled("a/")
    await writer.close()


async def test_while_nothing_can_be_written_nobody_reads_what_is_to_be_forgotten(tmp_path: Path) -> None:
    writer = Writer(connect(tmp_path / "db"), Tasks(), WriterLimits(interval=60, pauses=()))
    with closing(connect(tmp_path / "db")) as other:
        other.execute("CREATE TABLE t (x)")
        other.execute("BEGIN IMMEDIATE")
        writes = ScopedWrites(writer, TURNS)
        writes.put("a/", nothing, None)
        writes.delete("b/", nothing, None)
        await writes.settled("a/")  # is as it was before
        assert writer.failing is not None
        for scope, strictly in (("b/", False), ("a/", True), (None, False)):
            with pytest.raises(StorageError):
                await writes.settled(scope, strictly=strictly)
        other.execute("ROLLBACK")
    await writer.close()
    await writes.settled()


async def test_what_one_is_to_erase_every_reader_of_its_scope_waits_for(tmp_path: Path) -> None:
    written: list[object] = []

    def apply(_: sqlite3.Connection, whats: Sequence[object]) -> None:
        written.extend(whats)

    writer = Writer(connect(tmp_path / "db"), Tasks(), LAZY)
    one, other = (ScopedWrites(writer, TURNS) for _ in range(2))
    one.put("a/", apply, 1)
    one.delete("b/", apply, 2, erases=False)
    await other.settled()
    assert written == []
    one.delete("a/", apply, 3)
    await other.settled("b/")
    assert written == []
    await other.settled("a/")
    assert written == [1, 2, 3]
    await writer.close()
    assert not writer.erasing
