"""The subscription."""

import signal

import pytest
from redis.asyncio import UnixDomainSocketConnection

from proxy.storage.redis.errors import Refused
from proxy.storage.redis.links import connect
from proxy.storage.redis.news import News
from proxy.tasks import Tasks
from tests.redis_server import RedisServer, fresh_redis, run_redis, stub, until


async def opened(url: str, heard: list[tuple[bytes, bytes]], tasks: Tasks) -> News:
    link = UnixDomainSocketConnection(path=url.removeprefix("unix://"), protocol=2)
    await connect(link)
    news = News(link, lambda *told: heard.append(told))
    try:
        await news.begin(("a", "b"), tasks)
    except Refused:
        await news.close()
        raise
    return news


def published(server: RedisServer, channel: str, message: str) -> bytes:
    return server.do("PUBLISH", channel, message)


async def test_what_is_published_from_now_on_is_heard() -> None:
    heard: list[tuple[bytes, bytes]] = []
    tasks, server = Tasks(), fresh_redis()
    news = await opened(server.url, heard, tasks)
    assert [published(server, channel, "m") for channel in "abc"] == [b":1\r\n", b":1\r\n", b":0\r\n"]
    await until(lambda: len(heard) == 2)
    assert heard == [(b"a", b"m"), (b"b", b"m")]
    await news.close()
    await tasks.drain(5.0)


async def test_a_pulse_that_is_answered_goes_on_and_one_that_is_not_ends_it() -> None:
    tasks = Tasks()
    with run_redis() as server:
        news = await opened(server.url, [], tasks)
        server.signal(signal.SIGSTOP)
        for _ in range(2):
            await news.pulse()
            assert not news.ended.done()
        await news.pulse()
        assert news.ended.result().reason == "timeout"
        await news.close()
    await tasks.drain(5.0)


async def test_it_ends_when_the_server_does() -> None:
    tasks = Tasks()
    with run_redis() as server:
        news = await opened(server.url, [], tasks)
        server.kill()
        assert (await news.ended).reason == "lost"
        await news.close()
    await tasks.drain(5.0)


async def test_what_does_not_subscribe_is_refused() -> None:
    async with stub({}) as url:
        with pytest.raises(Refused):
            await opened(url, [], Tasks())
