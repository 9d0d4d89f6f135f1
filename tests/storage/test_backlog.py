"""What waits for a database, in its order. How it is written: tests/storage/sqlite/test_writer.py."""

import asyncio
from dataclasses import replace

import pytest

from proxy.storage.backlog import Backlog
from proxy.storage.pending import FACTS, Write, WriterLimits

LIMITS = WriterLimits(batch_rows=3, small_rows=8)


def write(scope: str = "a/", rows: int = 1, *, erases: bool = False) -> Write:
    return Write(rows, lambda *_: None, kind=FACTS, scope=scope, erases=erases)


def backlog(*writes: Write) -> Backlog:
    made = Backlog(LIMITS)
    assert all(map(made.offer, writes))
    return made


def test_a_batch_is_of_the_oldest_and_what_is_left_of_it_comes_first_again() -> None:
    writes = [write() for _ in range(4)]
    waits = backlog(*writes)
    assert waits.take() == tuple(writes[:3])
    waits.settle(writes[:1])
    waits.put_back()
    assert (len(waits), waits.rows) == (3, 3)
    assert waits.take() == tuple(writes[1:])


def test_a_tenant_may_have_no_more_than_its_share() -> None:
    waits = Backlog(LIMITS)
    taken = [waits.offer(write()) for _ in range(10)]
    assert taken.index(False) == taken.count(True) == waits.rows
    assert waits.offer(write("b/"))


def test_a_share_is_free_again_once_a_write_is_settled() -> None:
    waits = Backlog(LIMITS)
    while waits.offer(each := write()):
        pass
    waits.settle(waits.take())
    assert waits.offer(each)


def test_a_scope_is_being_erased_until_the_last_such_write_is_settled() -> None:
    waits = backlog(write(erases=True), write(erases=True))
    first, second = waits.take()
    waits.settle([first])
    assert waits.erasing == {"a/": 1}
    waits.settle([second])
    assert waits.erasing == {}


async def test_who_waits_goes_on_when_all_that_was_queued_before_is_settled() -> None:
    waits = backlog(write(), write())
    barrier = asyncio.get_running_loop().create_future()
    waits.let_wait(barrier)
    was_urgent = waits.is_urgent
    waits.offer(write())
    first, second, third = waits.take()
    waits.settle([first])
    assert not barrier.done()
    waits.settle([second])
    assert barrier.done()
    assert (was_urgent, waits.is_urgent) == (True, False)
    waits.settle([third])


async def test_all_go_on_where_it_cannot_be_written() -> None:
    waits = backlog(write())
    barrier = asyncio.get_running_loop().create_future()
    waits.let_wait(barrier)
    waits.release_all()
    assert barrier.done()


@pytest.mark.parametrize("came", [0, 2])
def test_what_a_spool_has_taken_stays_in_its_place_and_takes_no_share(came: int) -> None:
    old, new = write(), write()
    waits = backlog(old, new)
    latest, length = waits.unspooled(), len(waits)
    newer = [write() for _ in range(came)]
    assert all(map(waits.offer, newer))
    stored = tuple(replace(each, spooled=number) for number, each in enumerate(latest))
    waits.moved(latest, stored, length)
    assert waits.unspooled() == tuple(newer)
    assert (*waits.take(),)[:2] == stored
    assert waits.rows == 2 + came


def test_the_oldest_tells_how_long_it_waits() -> None:
    waits = backlog(replace(write(), queued_at=0.0), write())
    assert waits.lag > 0.0
    waits.settle(waits.take())
    assert waits.lag == 0.0
