"""Transactions that somebody waits for, over an SQLite writer."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from proxy.storage.base import ScopeErased, StorageError
from proxy.storage.erasures import mark_of
from proxy.storage.pending import BEGUN, FACTS, Write, WriterLimits
from proxy.storage.sqlite.writer import Writer
from proxy.storage.transactions import carried_out
from proxy.tasks import Tasks

LIMITS = WriterLimits(interval=60, pauses=())  # it is written because somebody waits


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=0.01, isolation_level=None, check_same_thread=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(connect(tmp_path / "db")) as connection:
        connection.execute("CREATE TABLE numbers (number INTEGER)")
        connection.execute("CREATE TABLE erased (id INTEGER PRIMARY KEY, scope BLOB, at REAL)")
    return tmp_path / "db"


def add(connection: sqlite3.Connection) -> int:
    connection.execute("INSERT INTO numbers VALUES (1)")
    return int(connection.execute("SELECT count(*) FROM numbers").fetchone()[0])


def written(path: Path) -> int:
    with closing(connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM numbers").fetchone()[0])


async def test_its_result_comes_once_it_is_durable(path: Path) -> None:
    writer = Writer(connect(path), Tasks(), LIMITS)
    assert await carried_out(writer, add) == 1
    assert written(path) == 1
    assert await asyncio.gather(*(carried_out(writer, add) for _ in range(3))) == [2, 3, 4]
    await writer.close()


async def test_it_comes_after_what_its_store_has_queued(path: Path) -> None:
    def put(connection: sqlite3.Connection, whats: Sequence[None]) -> None:
        connection.executemany("INSERT INTO numbers VALUES (0)", [() for _ in whats])

    writer, store = Writer(connect(path), Tasks(), LIMITS), object()
    for _ in range(2):
        writer.put(Write(1, put, kind=FACTS, scope="a/", store=store))
    assert await carried_out(writer, add, scope="a/", store=store) == 3
    await writer.close()


async def test_one_that_cannot_be_written_now_is_an_error_and_is_not_done_later(path: Path) -> None:
    writer = Writer(connect(path), Tasks(), WriterLimits(interval=0.001, pauses=(), retry=0.001))
    with closing(connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked"):
            await carried_out(writer, add)
        with pytest.raises(StorageError, match="cannot be written"):
            await carried_out(writer, add)
        assert writer.depth == 1  # the second was not queued
        other.execute("ROLLBACK")
    while writer.failing is not None:  # noqa: ASYNC110 (it tries again by itself)
        await asyncio.sleep(0)
    assert await carried_out(writer, add) == 1
    await writer.close()


async def test_one_that_nobody_waits_for_any_more_is_not_done(path: Path) -> None:
    writer = Writer(connect(path), Tasks(), LIMITS)
    waiting = Tasks().spawn(carried_out(writer, add), name="waits")
    await asyncio.sleep(0)  # it has queued it
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    await writer.flush()
    assert written(path) == 0
    await writer.close()


async def test_one_that_fails_is_an_error_and_spoils_no_other(path: Path) -> None:
    def fail(_: sqlite3.Connection) -> int:
        raise ValueError("no")

    writer = Writer(connect(path), Tasks(), LIMITS)
    failed, done = await asyncio.gather(carried_out(writer, fail), carried_out(writer, add), return_exceptions=True)
    assert isinstance(failed, StorageError)
    assert done == 1
    await writer.close()


async def test_one_of_a_scope_that_was_erased_since_its_task_began_is_refused(path: Path) -> None:
    writer = Writer(connect(path), Tasks(), LIMITS)
    with closing(connect(path)) as other:
        other.execute("INSERT INTO erased VALUES (1, ?, 0)", (mark_of("a/"),))
    BEGUN.set(0)
    with pytest.raises(ScopeErased):
        await carried_out(writer, add, scope="a/~c-1")
    assert await carried_out(writer, add, scope="b/") == 1
    BEGUN.set(1)
    assert await carried_out(writer, add, scope="a/") == 2
    await writer.close()


async def test_after_the_end_there_is_none(path: Path) -> None:
    writer = Writer(connect(path), Tasks(), LIMITS)
    await writer.close()
    with pytest.raises(StorageError):
        await carried_out(writer, add)
