"""Many commands over one connection."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import UnixDomainSocketConnection

from proxy.storage.base import SharedUnavailable
from proxy.storage.redis import wire as wires
from proxy.storage.redis.links import connect
from proxy.storage.redis.wire import Wire
from proxy.tasks import Tasks
from tests.redis_server import fresh_redis, run_redis, stub


@asynccontextmanager
async def wired(url: str, seconds: float = 10.0) -> AsyncIterator[Wire]:
    link = UnixDomainSocketConnection(path=url.removeprefix("unix://"), protocol=2)
    await connect(link)
    tasks = Tasks()
    wire = Wire(link, seconds, tasks)
    try:
        yield wire
    finally:
        await wire.close()
        await tasks.drain(5.0)


async def test_each_gets_its_own_reply_however_many_ask_at_once() -> None:
    async with wired(fresh_redis().url) as wire:
        sizes = [1, 100_000, 3, 70_000, 5]
        asked = [wire.ask("ECHO", f"{number}:".ljust(sizes[number % 5], "x")) for number in range(200)]
        replies = await asyncio.gather(*asked)
        assert [int(reply.split(b":")[0]) for reply in replies] == list(range(200))
        assert wire.is_idle


async def test_who_leaves_does_not_move_the_replies_of_others() -> None:
    async with wired(fresh_redis().url) as wire:
        asked = [wire.ask("ECHO", str(number)) for number in range(3)]
        asked[1].cancel()
        assert [await asked[0], await asked[2]] == [b"0", b"2"]


async def test_what_is_told_is_done_in_its_order() -> None:
    async with wired(fresh_redis().url) as wire:
        for number in range(10):
            wire.tell("SET", "k", number)
        assert await wire.ask("GET", "k") == b"9"


async def test_what_was_told_and_came_to_nothing_is_said_once() -> None:
    lost: list[str] = []
    with run_redis() as server:
        async with wired(server.url, 0.05) as wire:
            server.signal(signal.SIGSTOP)
            wire.tell("SET", "k", "v", lost=lost.append)
            assert (await wire.ended).reason == "timeout"  # found out by it alone
    assert lost == ["timeout"]


async def test_no_more_wait_than_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wires, "MOST_WAITING", 3)
    async with wired(fresh_redis().url) as wire:
        asked = await asyncio.gather(*[wire.ask("PING") for _ in range(5)], return_exceptions=True)
    assert asked[:3] == [b"PONG"] * 3
    assert [str(each) for each in asked[3:]] == ["overload"] * 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [(b"-READONLY no\r\n", "readonly"), (b"HTTP/1.1 400\r\n", "protocol"), (b"+OK\r\n+OK\r\n", None)],
)
async def test_it_ends_with_a_reply_that_concerns_all(reply: bytes, reason: str | None) -> None:
    async with stub({"GET": reply}) as url, wired(url) as wire:
        if reason is not None:
            with pytest.raises(SharedUnavailable, match=reason):
                await wire.ask("GET", "k")
        else:
            await wire.ask("GET", "k")
        assert (await wire.ended).reason == (reason or "protocol")
        with pytest.raises(SharedUnavailable, match="lost"):
            await wire.ask("GET", "k")
