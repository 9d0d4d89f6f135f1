"""The admin API's own parts: the feed, the thread, and their end before what they look at is closed."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from proxy.admin.parts import MOST_EVENTS, MOST_ROWS, Admin, Feed, Listener, Pace, Stopped, Worker
from proxy.errors import Conflict
from proxy.services import build
from proxy.storage.accounts import Dimension, Width
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.tasks import Tasks
from proxy.types import Bucket, LedgerRow, Sums
from tests import stores
from tests.builders import NOW, config, encoding, ledger_row


async def test_whoever_watches_is_told_of_the_end_before_storage_is_closed() -> None:
    services = await build(config(storage={"kind": "memory"}), encoding=encoding)
    admin = Admin.of(services)
    listener = admin.feed.listen()
    await anext(listener)
    await asyncio.gather(admin.close(), asyncio.wait_for(anext(listener, None), 5.0))
    await listener.aclose()
    await services.close()
    assert (admin.feed.is_looking, admin.worker.is_busy) == (False, False)


MINUTE = NOW - NOW % 60
FAST = Pace(look=0.001)
Event = tuple[str, Any]


class Accounts(SqliteAccounts):
    """A ledger that a test writes."""

    def __init__(self) -> None:
        super().__init__(stores.nothing())
        self.written: list[LedgerRow] = []
        self.looks = 0
        self.fails = 0

    def write(self, many: int = 1) -> None:
        self.written += [ledger_row(request_id=f"req_{len(self.written) + each}") for each in range(many)]

    async def last(self) -> int:
        self.looks += 1
        if self.fails > 0:
            self.fails -= 1
            raise OSError("the disk is gone")
        return len(self.written)

    async def rows(self, *, limit: int = 100, **_: Any) -> list[tuple[int, LedgerRow]]:
        return list(enumerate(self.written, 1))[::-1][:limit]

    async def buckets(
        self, start: float, end: float, width: Width, scope: str | None = None, by: Dimension = ""
    ) -> list[Bucket]:
        assert (start, end, width, scope, by) == (MINUTE - 59 * 60, MINUTE + 60, 60, None, "")
        return [Bucket(start, "", Sums(requests=40)), Bucket(MINUTE, "", Sums(requests=len(self.written)))]


@asynccontextmanager
async def running(accounts: Accounts, pace: Pace = FAST) -> AsyncIterator[Feed]:
    tasks = Tasks()
    feed = Feed(accounts, tasks, pace=pace, clock=lambda: NOW)
    try:
        yield feed
    finally:
        feed.close()
        assert await tasks.drain(5.0) == 0


async def events(listener: Listener, many: int) -> list[Event]:
    """The next ones; comments are none."""
    found: list[Event] = []
    async with asyncio.timeout(100):
        async for piece in listener:
            if piece.startswith(b"event: "):
                name, data = piece.removesuffix(b"\n\n").split(b"\n")
                found.append(
                    (name.removeprefix(b"event: ").decode(), msgspec.json.decode(data.removeprefix(b"data: ")))
                )
            if len(found) == many:
                break
    return found


async def test_who_begins_to_listen_hears_the_sums_and_then_what_is_new() -> None:
    accounts = Accounts()
    accounts.write(3)
    async with running(accounts) as feed:
        listener = feed.listen()
        ((name, totals),) = await events(listener, 1)
        assert (name, totals["at"]) == ("totals", NOW)
        assert (totals["minute"]["requests"], totals["hour"]["requests"]) == (3, 43)
        accounts.write(2)
        (first, second) = await events(listener, 2)
        assert [row["request_id"] for row in first[1]["requests"]] == ["req_3", "req_4"]
        assert [row["number"] for row in first[1]["requests"]] == [4, 5]
        assert (first[0], second[0], second[1]["minute"]["requests"]) == ("requests", "totals", 5)
        await listener.aclose()


async def test_nobody_looks_while_nobody_listens() -> None:
    accounts = Accounts()
    async with running(accounts) as feed:
        assert (feed.is_looking, feed.listeners) == (False, 0)
        one, other = feed.listen(), feed.listen()
        await events(one, 1)
        assert (feed.is_looking, feed.listeners) == (True, 2)
        await one.aclose()
        assert (feed.is_looking, feed.listeners) == (True, 1)
        await other.aclose()
        await other.aclose()
        assert (feed.is_looking, feed.listeners) == (False, 0)
        looks = accounts.looks
        for _ in range(5):
            await asyncio.sleep(FAST.look)
        assert accounts.looks == looks


async def test_one_look_serves_all_and_who_comes_later_hears_the_sums_too() -> None:
    accounts = Accounts()
    async with running(accounts) as feed:
        one = feed.listen()
        await events(one, 1)
        other = feed.listen()
        assert [name for name, _ in await events(other, 1)] == ["totals"]
        accounts.write()
        told = [await events(each, 2) for each in (one, other)]
        assert told[0] == told[1]


async def test_of_more_than_a_page_can_show_the_newest_are_told() -> None:
    accounts = Accounts()
    async with running(accounts) as feed:
        listener = feed.listen()
        await events(listener, 1)
        accounts.write(MOST_ROWS + 50)
        ((_, told), _) = await events(listener, 2)
        assert [row["number"] for row in told["requests"]] == list(range(51, MOST_ROWS + 51))


async def test_who_is_slow_misses_what_is_old_and_holds_nobody_up() -> None:
    accounts = Accounts()
    async with running(accounts) as feed:
        slow, quick = feed.listen(), feed.listen()
        await events(quick, 1)
        for _ in range(MOST_EVENTS):
            accounts.write()
            await events(quick, 2)
        told = await events(slow, MOST_EVENTS)
        assert told[-1][1]["minute"]["requests"] == MOST_EVENTS
        assert [row["number"] for name, each in told if name == "requests" for row in each["requests"]] == [5, 6, 7, 8]


async def test_a_quiet_stream_is_kept_alive() -> None:
    async with running(Accounts(), Pace(look=60.0, heartbeat=0.001)) as feed:
        listener = feed.listen()
        assert await anext(listener) == b": here\n\n"
        pieces = [await anext(listener) for _ in range(3)]
        assert pieces[-1] == b": still here\n\n"
        await listener.aclose()


async def test_storage_that_cannot_be_read_for_a_while_is_read_again(caplog: pytest.LogCaptureFixture) -> None:
    accounts = Accounts()
    accounts.fails = 2
    async with running(accounts) as feed:
        assert [name for name, _ in await events(feed.listen(), 1)] == ["totals"]
    assert [record.message for record in caplog.records] == ["the live feed could not look"] * 2


async def test_when_the_server_stops_all_streams_end_and_no_new_one_begins() -> None:
    async with running(Accounts()) as feed:
        listener = feed.listen()
        await events(listener, 1)
        waiting = asyncio.get_running_loop().create_task(events(listener, 99))
        await asyncio.sleep(0)
        feed.close()
        assert await waiting == []
        assert await events(feed.listen(), 1) == []
        assert not feed.is_looking


async def test_it_runs_in_a_thread_of_its_own_and_its_result_is_told() -> None:
    async def work(_: Callable[[], None]) -> tuple[str, bool]:
        await asyncio.sleep(0)
        return threading.current_thread().name, asyncio.get_running_loop() is here

    here, worker = asyncio.get_running_loop(), Worker()
    name, is_same_loop = await worker.run(work)
    assert name.startswith("worker")
    assert not is_same_loop
    assert not worker.is_busy


async def test_what_goes_wrong_in_it_is_told_and_the_next_one_may_run() -> None:
    async def breaks(_: Callable[[], None]) -> None:
        raise ValueError("broken")

    async def works(_: Callable[[], None]) -> int:
        return 7

    worker, before = Worker(), sys.getswitchinterval()
    with pytest.raises(ValueError, match="broken"):
        await worker.run(breaks)
    assert await worker.run(works) == 7
    assert sys.getswitchinterval() == before


async def test_one_at_a_time_and_who_leaves_ends_his() -> None:
    steps, begun = [0], threading.Event()

    async def endless(go_on: Callable[[], None]) -> None:
        while True:
            go_on()
            steps[0] += 1
            begun.set()
            await asyncio.sleep(0)

    worker = Worker()
    waiting = asyncio.get_running_loop().create_task(worker.run(endless))
    await asyncio.to_thread(begun.wait)
    with pytest.raises(Conflict, match="under way"):
        await worker.run(endless)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    async with asyncio.timeout(100):
        while worker.is_busy:  # noqa: ASYNC110 (a thread ends it)
            await asyncio.sleep(0)
    seen = steps[0]
    await asyncio.sleep(0)
    assert steps[0] == seen


async def test_when_the_server_stops_it_ends_at_its_next_step() -> None:
    begun = threading.Event()

    async def endless(go_on: Callable[[], None]) -> None:
        while True:
            go_on()
            begun.set()
            await asyncio.sleep(0)

    worker = Worker()
    await worker.close(5.0)  # nothing runs: nothing to end
    waiting = asyncio.get_running_loop().create_task(worker.run(endless))
    await asyncio.to_thread(begun.wait)
    await worker.close(5.0)
    assert not worker.is_busy
    with pytest.raises(Stopped):
        await waiting
