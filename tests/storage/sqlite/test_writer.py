import asyncio
import functools
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage import write_queue
from proxy.storage.pending import DELETIONS, FACTS, LEDGER, LINKS, TURNS, Kind, Write, WriterLimits
from proxy.storage.sqlite.writer import Writer
from proxy.tasks import Tasks
from tests.examples import examples

# The interval is long: what these tests see written was written because something asked for it.
LIMITS = WriterLimits(interval=60, pauses=(0.001,) * 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "db.sqlite3"
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY, filling BLOB)")
        connection.execute("CREATE TABLE erased (id INTEGER PRIMARY KEY, scope BLOB, at REAL)")
    return path


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=0.01, isolation_level=None, check_same_thread=False)


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody else on the same file."""
    with closing(connect(path)) as connection:
        yield connection


class Opened:
    """Writers over `path`, closed at the end of the test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tasks = Tasks()
        self.writers: list[Writer] = []

    def __call__(self, limits: WriterLimits = LIMITS) -> Writer:
        self.writers.append(Writer(connect(self.path), self.tasks, limits))
        return self.writers[-1]


@pytest.fixture
async def opened(path: Path) -> AsyncIterator[Opened]:
    opened = Opened(path)
    yield opened
    for writer in opened.writers:
        await writer.close()


def _insert_numbers(connection: sqlite3.Connection, rows: Sequence[tuple[int, int]]) -> None:
    connection.executemany("INSERT OR IGNORE INTO numbers VALUES (?, zeroblob(?))", rows)


def insert(number: int, filling: int = 0, *, kind: Kind = TURNS, scope: str = "a/") -> Write:
    return Write(1, _insert_numbers, (number, filling), kind=kind, scope=scope)


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [number for (number,) in connection.execute("SELECT number FROM numbers ORDER BY number")]


def logged(caplog: pytest.LogCaptureFixture, message: str) -> int:
    return sum(message in record.getMessage() for record in caplog.records)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(100):
        while not condition():  # noqa: ASYNC110 (what another connection sees signals nothing)
            await asyncio.sleep(0.002)


async def test_what_is_flushed_is_there_for_others(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened()
    for number in range(5):
        assert writer.put(insert(number))
    assert numbers(other) == []
    await writer.flush()
    assert numbers(other) == [0, 1, 2, 3, 4]


@pytest.mark.note("9.3/3")
async def test_what_is_put_is_written_after_the_interval(opened: Opened, other: sqlite3.Connection) -> None:
    opened(WriterLimits(interval=0.01)).put(insert(1))
    await until(lambda: numbers(other))


async def test_a_full_batch_does_not_wait_for_the_interval(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened(WriterLimits(interval=60, batch_rows=3))
    for number in range(4):
        writer.put(insert(number))
    await until(lambda: len(numbers(other)) == 3)
    await until(lambda: writer.depth == 1)  # it counts once the batch is behind it


@pytest.mark.note("5.3/3", "v2 SÍ/2")
async def test_a_batch_is_one_transaction(opened: Opened) -> None:
    writer = opened()
    seen: list[int] = []
    for number in range(3):
        writer.put(insert(number))
        writer.put(Write(1, lambda connection, _: seen.append(connection.in_transaction), kind=TURNS, scope="a/"))
    with closing(connect(opened.path)) as other:
        versions = functools.partial(other.execute, "PRAGMA data_version")
        before = versions().fetchone()
        await writer.flush()
        assert seen == [True] * 3
        assert versions().fetchone() != before


async def test_of_a_batch_what_is_in_order_is_written_between_what_is_queued_before_it_and_after(
    opened: Opened,
) -> None:
    writer, written = opened(), []
    apply, other = (lambda _, whats: written.append(list(whats))), (lambda _, whats: written.append(list(whats)))
    for number in (1, 2):
        writer.put(Write(1, apply, number, kind=TURNS, scope="a/"))
    writer.put(Write(1, other, 3, in_order=True, kind=DELETIONS, scope="a/"))
    writer.put(Write(1, apply, 4, kind=TURNS, scope="a/"))
    await writer.flush()
    assert written == [[1, 2], [3], [4]]


async def test_depth_and_lag_tell_what_is_not_durable_yet(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened()
    assert (writer.depth, writer.lag) == (0, 0.0)
    writer.put(insert(1))
    writer.put(insert(2))
    first_lag = writer.lag
    assert writer.depth == 2
    await until(lambda: writer.lag > first_lag)
    await writer.flush()
    assert (writer.depth, writer.lag) == (0, 0.0)


async def test_each_write_is_told_when_it_is_settled(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened()
    written_by_then: list[list[int]] = []
    write = Write(
        1, _insert_numbers, (7, 0), settled=lambda: written_by_then.append(numbers(other)), kind=TURNS, scope="a/"
    )
    writer.put(write)
    await writer.flush()
    assert written_by_then == [[7]]


async def test_a_full_share_drops_the_new_counts_it_and_says_so_once(
    opened: Opened, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    writer = opened(WriterLimits(interval=60, bulk_rows=6))
    assert [writer.put(insert(number)) for number in range(6)] == [True] * 3 + [False] * 3
    assert writer.dropped == {"turns": 3}
    assert logged(caplog, "queue is full") == 1
    await writer.flush()
    assert numbers(other) == [0, 1, 2]
    assert [writer.put(insert(number)) for number in range(6, 10)] == [True] * 3 + [False]
    assert logged(caplog, "queue is full") == 2


@given(flood=st.lists(st.tuples(st.sampled_from([TURNS, LINKS, FACTS, LEDGER]), st.integers(1, 40)), max_size=60))
@settings(deadline=None, max_examples=examples(40))
def test_whatever_one_scope_puts_the_small_writes_of_others_and_every_deletion_are_written_in_order(
    flood: list[tuple[Kind, int]],
) -> None:
    """Others: two tenants with a few small writes each, every one between two of the flood."""

    async def run() -> None:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        writer = Writer(connection, Tasks(), WriterLimits(interval=60, bulk_rows=100, small_rows=100))
        written: list[object] = []

        def apply(_: sqlite3.Connection, whats: Sequence[object]) -> None:
            written.extend(whats)

        expected: dict[str, list[object]] = {"b/": [], "c/": []}
        deleted: list[object] = []
        for number, (kind, rows) in enumerate(flood):
            writer.put(Write(rows, apply, ("a/", number), kind=kind, scope=f"a/{number}"))
            if number % 5 == 0:
                for scope, whats in expected.items():
                    assert writer.put(Write(1, apply, (scope, number), kind=LEDGER, scope=scope))
                    whats.append((scope, number))
            deletion = ("deletion", number)
            assert writer.put(Write(rows, apply, deletion, kind=DELETIONS, scope="a/"))
            deleted.append(deletion)
        await writer.flush()
        assert set(writer.dropped) <= {"turns", "links", "facts", "ledger"}
        for scope, whats in expected.items():
            assert [what for what in written if isinstance(what, tuple) and what[0] == scope] == whats
        assert [what for what in written if isinstance(what, tuple) and what[0] == "deletion"] == deleted
        own = [what[1] for what in written if isinstance(what, tuple) and what[0] == "a/"]
        assert own == sorted(own)
        await writer.close()

    asyncio.run(run())


async def test_a_database_that_another_holds_is_tried_again(
    opened: Opened, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    writer = opened(WriterLimits(interval=0, pauses=(0.001,) * 1000))
    other.execute("BEGIN IMMEDIATE")
    writer.put(insert(1))
    await until(lambda: logged(caplog, "try again") >= 2)
    assert writer.depth == 1
    other.execute("ROLLBACK")
    await writer.flush()
    assert numbers(other) == [1]
    assert writer.dropped.total() == 0


async def test_what_cannot_be_written_now_is_kept_in_its_order_and_written_later(
    opened: Opened, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    writer = opened(WriterLimits(interval=0, pauses=(0.001,) * 3, retry=0.01))
    settled: list[int] = []
    other.execute("BEGIN IMMEDIATE")
    writer.put(Write(1, _insert_numbers, (1, 0), settled=lambda: settled.append(1), kind=TURNS, scope="a/"))
    await writer.flush()
    assert (writer.dropped.total(), writer.depth, settled) == (0, 1, [])
    assert writer.failing == "database is locked"
    writer.put(erase(1))
    writer.put(insert(2))
    await writer.flush()  # nobody waits for a disk that is known to be stuck
    assert writer.depth == 3
    assert logged(caplog, "try again") == 3
    other.execute("ROLLBACK")
    await until(lambda: writer.failing is None)
    await writer.flush()
    assert (writer.depth, settled, numbers(other)) == (0, [1], [2])
    assert logged(caplog, "cannot be written") == 1
    assert logged(caplog, "can be written again") == 1


async def test_while_it_cannot_be_written_no_task_holds_up_the_end(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened()
    other.execute("BEGIN IMMEDIATE")
    writer.put(insert(1))
    await writer.flush()
    assert await opened.tasks.drain(5) == 0


async def test_a_full_disk_keeps_what_is_queued_and_room_brings_it_back(path: Path, other: sqlite3.Connection) -> None:
    connection = connect(path)
    ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    writer = Writer(connection, Tasks(), WriterLimits(interval=0, pauses=(), retry=0.01))
    writer.put(insert(1, filling=100_000))
    await writer.flush()
    assert writer.failing == "database or disk is full"
    assert (writer.dropped.total(), numbers(other)) == (0, [])
    connection.execute("PRAGMA max_page_count = 1000000")
    await until(lambda: writer.failing is None)
    writer.put(insert(2, filling=100_000))
    await writer.flush()
    assert (writer.depth, writer.dropped.total(), numbers(other)) == (0, 0, [1, 2])
    await writer.close()


async def test_a_file_that_is_not_where_it_was_is_written_once_it_is_back(path: Path, tmp_path: Path) -> None:
    writer = Writer(connect(path), Tasks(), WriterLimits(interval=0, pauses=(), retry=0.01))
    writer.put(insert(1))
    await writer.flush()
    await asyncio.to_thread(path.rename, tmp_path / "aside")
    writer.put(insert(2))
    await writer.flush()
    assert writer.failing == "db.sqlite3 was deleted or moved away while it is in use"
    assert (writer.depth, writer.dropped.total()) == (1, 0)
    await asyncio.to_thread((tmp_path / "aside").rename, path)
    await until(lambda: writer.failing is None)
    await writer.flush()
    with closing(connect(path)) as again:
        assert (writer.depth, numbers(again)) == (0, [1, 2])
    await writer.close()


async def test_a_statement_that_is_wrong_stands_in_nobodys_way(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened()

    def fail(connection: sqlite3.Connection, _: Sequence[None]) -> None:
        connection.execute("INSERT INTO nowhere VALUES (1)")

    writer.put(Write(1, fail, kind=LEDGER, scope="a/"))
    writer.put(insert(1))
    await writer.flush()
    assert (writer.failing, writer.dropped, numbers(other)) == (None, {"ledger": 1}, [1])


async def test_a_bad_write_takes_no_other_with_it(
    opened: Opened, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    writer = opened()

    def fail(connection: sqlite3.Connection, _: Sequence[None]) -> None:
        connection.execute("INSERT INTO numbers VALUES (99, NULL)")
        raise ValueError("bad row")

    for write in (insert(1), Write(1, fail, kind=TURNS, scope="a/"), insert(2)):
        writer.put(write)
    await writer.flush()
    assert numbers(other) == [1, 2]
    assert (writer.dropped.total(), writer.depth) == (1, 0)
    assert logged(caplog, "refused a write") == 1


def erase(number: int) -> Write:
    return Write(
        1,
        lambda connection, _: connection.execute("DELETE FROM numbers WHERE number = ?", (number,)),
        erases=True,
        kind=DELETIONS,
        scope="a/",
    )


def log_size(path: Path) -> int:
    return path.with_name(f"{path.name}-wal").stat().st_size


async def test_what_a_write_erases_is_not_in_the_log_either(opened: Opened) -> None:
    writer = opened()
    writer.put(insert(1))
    await writer.flush()
    assert log_size(opened.path) > 0
    writer.put(erase(1))
    await writer.flush()
    assert log_size(opened.path) == 0


async def test_while_somebody_reads_the_log_is_emptied_as_soon_as_it_can_be(
    opened: Opened, other: sqlite3.Connection
) -> None:
    writer = opened(WriterLimits(interval=0, pauses=(0.001,) * 1000))
    writer.put(insert(1))
    await writer.flush()
    other.execute("BEGIN")
    assert numbers(other) == [1]
    writer.put(erase(1))
    await writer.flush()
    assert log_size(opened.path) > 0
    writer.put(insert(2))
    await writer.flush()
    other.execute("ROLLBACK")
    await until(lambda: log_size(opened.path) == 0)
    assert await opened.tasks.drain(5) == 0
    assert numbers(other) == [2]


async def test_given_up_it_is_emptied_with_the_next_batch(
    opened: Opened, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    writer = opened()
    writer.put(insert(1))
    await writer.flush()
    other.execute("BEGIN")
    assert numbers(other) == [1]
    writer.put(erase(1))
    await writer.flush()
    assert await opened.tasks.drain(5) == 0
    assert logged(caplog, "could not empty its log") == 1
    other.execute("ROLLBACK")
    writer.put(insert(2))
    await writer.flush()
    assert log_size(opened.path) == 0


async def test_closing_does_not_wait_for_who_reads(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened(WriterLimits(interval=0, pauses=(3_600.0,)))
    writer.put(insert(1))
    await writer.flush()
    other.execute("BEGIN")
    assert numbers(other) == [1]
    writer.put(erase(1))
    await writer.flush()
    async with asyncio.timeout(100):
        await writer.close()
    assert await opened.tasks.drain(0) <= 1


async def test_a_cancelled_task_loses_nothing(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened()
    writer.put(insert(1))
    assert await opened.tasks.drain(0) == 1
    writer.put(insert(2))
    await writer.flush()
    assert numbers(other) == [1, 2]


async def test_cancelled_amid_a_commit_it_writes_again(
    opened: Opened, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    writer = opened(WriterLimits(interval=0, pauses=(0.001,) * 1000))
    other.execute("BEGIN IMMEDIATE")
    for number in range(3):
        writer.put(insert(number))
    flushing = opened.tasks.spawn(writer.flush(), name="flush")
    await until(lambda: logged(caplog, "try again"))
    for task in asyncio.all_tasks():
        if task.get_name() == "storage-writer":
            task.cancel()
    await asyncio.sleep(0)
    other.execute("ROLLBACK")
    async with asyncio.timeout(100):
        await flushing
    assert numbers(other) == [0, 1, 2]
    assert (writer.depth, writer.dropped.total()) == (0, 0)


async def test_draining_the_tasks_waits_for_what_is_queued(opened: Opened, other: sqlite3.Connection) -> None:
    opened(WriterLimits(interval=0.001)).put(insert(1))
    assert await opened.tasks.drain(5) == 0
    assert numbers(other) == [1]
    assert len(opened.tasks) == 0


@pytest.mark.note("5.3/3")
async def test_closing_writes_what_is_queued_and_takes_no_more(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened()
    writer.put(insert(1))
    await writer.close()
    await writer.close()
    await writer.flush()
    assert numbers(other) == [1]
    assert writer.put(insert(2)) is False
    assert writer.dropped.total() == 1


async def test_closing_does_not_wait_for_the_same_failure_batch_after_batch(
    opened: Opened, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    writer = opened(WriterLimits(interval=60, batch_rows=10, pauses=(0.001,)))
    other.execute("BEGIN IMMEDIATE")
    for number in range(100):
        writer.put(insert(number))
    await writer.close()
    assert (writer.dropped.total(), writer.depth) == (100, 0)
    assert logged(caplog, "cannot be written") == 1


async def test_only_the_writes_of_others_are_foreign(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened()
    for number in range(3):
        writer.put(insert(number))
        await writer.flush()
    assert await writer.foreign_writes() == 0
    other.execute("INSERT INTO numbers VALUES (99, NULL)")
    writer.put(insert(4))
    await writer.flush()
    assert await writer.foreign_writes() == 1
    writer.put(insert(5))
    await writer.flush()
    assert await writer.foreign_writes() == 1


async def test_who_asks_learns_of_the_writes_of_others_without_writing(
    opened: Opened, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = opened()
    writer.put(insert(1))
    await writer.flush()
    assert await writer.foreign_writes() == 0
    _insert_numbers(other, [(2, 0)])
    assert await writer.foreign_writes() == 0  # it has looked a moment ago
    monkeypatch.setattr(write_queue, "LOOK_SECONDS", -1.0)
    assert await asyncio.gather(*(writer.foreign_writes() for _ in range(3))) == [1, 1, 1]
    assert await writer.foreign_writes() == 1


async def test_nothing_is_logged_of_what_is_written(
    opened: Opened, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    writer = opened()
    other.execute("BEGIN IMMEDIATE")
    writer.put(Write(1, _insert_secret, "sk-hidden", kind=TURNS, scope="a/"))
    await writer.flush()
    assert logged(caplog, "cannot be written") == 1
    assert "sk-hidden" not in caplog.text


def _insert_secret(connection: sqlite3.Connection, secrets: Sequence[str]) -> None:
    connection.execute("INSERT INTO numbers VALUES (1, ?)", secrets)


async def test_what_is_written_alike_is_written_together(opened: Opened, other: sqlite3.Connection) -> None:
    writer = opened()
    batches: list[Sequence[int]] = []

    def apply(_: sqlite3.Connection, whats: Sequence[int]) -> None:
        batches.append(whats)

    for number in range(3):
        writer.put(Write(1, apply, number, kind=TURNS, scope="a/"))
        writer.put(insert(number))
    await writer.flush()
    assert batches == [[0, 1, 2]]
    assert numbers(other) == [0, 1, 2]
