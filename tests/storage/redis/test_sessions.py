"""Traces of sessions and addresses in Redis, between two processes; each alone is in tests/contract/test_shared.py."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from proxy.conversation.turns import open_turn
from proxy.storage.redis import sessions
from proxy.storage.redis.connection import Connection
from proxy.storage.redis.sessions import RedisLastServed, RedisLogouts, RedisOpenTurns, RedisThrottle
from proxy.storage.shared.local import MOST_WRONG, WRONG_SECONDS
from proxy.types import OpenTurn, ReuseEntry, Served
from tests.builders import NOW, calling, messages, user
from tests.redis_server import all_told, connected, fresh_redis, run_redis, until


def turn(asked: str = "q") -> OpenTurn:
    found = open_turn(messages(user(asked), calling("c")), [b"q", b"c"])
    assert found is not None
    return found


SERVED = Served(ReuseEntry("r-1", "p", "how?", (), "key", NOW, NOW + 60), 0.9, NOW)


@asynccontextmanager
async def turns(url: str) -> AsyncIterator[tuple[Connection, RedisOpenTurns]]:
    async with connected(url, RedisOpenTurns) as (connection, built):
        yield connection, built


async def test_a_turn_that_one_process_opens_another_goes_on_with_and_ends() -> None:
    url = fresh_redis().url
    async with turns(url) as (here, one), turns(url) as (there, other):
        one.put("a", "s", turn())
        await all_told(here)
        assert await other.get("a", "s") == turn()
        assert await other.get("b", "s") is None
        other.put("a", "s", turn("another"))
        await all_told(there)
        assert await one.get("a", "s") == turn("another")
        other.put("a", "s", None)
        await all_told(there)
        assert await one.get("a", "s") is None


async def test_with_redis_gone_each_knows_its_own_and_passes_it_on_later() -> None:
    with run_redis() as server:
        async with turns(server.url) as (here, one), turns(server.url) as (there, other):
            one.put("a", "before", turn())
            await all_told(here)
            server.kill()
            await until(lambda: here.status == there.status == "down")
            assert await one.get("a", "before") == turn()
            one.put("a", "meanwhile", turn())
            assert await one.get("a", "meanwhile") == turn()
            assert await other.get("a", "meanwhile") is None
            server.start()
            await until(lambda: here.status == there.status == "ready")
            await all_told(here)
            assert await other.get("a", "meanwhile") == turn()


async def test_a_turn_that_ended_while_redis_was_gone_is_over() -> None:
    url = fresh_redis().url
    async with turns(url) as (here, one), turns(url) as (_, other):
        one.put("a", "s", turn())
        await all_told(here)
        await here.close()
        one.put("a", "s", None)
        assert await one.get("a", "s") is None
        await here.open()
        await all_told(here)
        assert await other.get("a", "s") is None


async def test_a_very_large_turn_stays_in_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "LARGEST_OPEN", 10)
    url = fresh_redis().url
    async with turns(url) as (here, one), turns(url) as (_, other):
        one.put("a", "s", turn())
        await all_told(here)
        assert await one.get("a", "s") == turn()
        assert await other.get("a", "s") is None


async def test_what_was_planted_is_no_turn() -> None:
    server = fresh_redis()
    async with turns(server.url) as (here, one):
        one.put("a", "s", turn())
        await all_told(here)
        own = server.do("GET", here.names.key("open_turns", "a", "s")).split(b"\r\n", 1)[1][:-2]
        server.do("SET", here.names.key("open_turns", "b", "s"), own)  # another scope's
        server.do("SET", here.names.key("open_turns", "a", "t"), b"\x80\x04")
        assert await one.get("b", "s") is None
        assert await one.get("a", "t") is None


async def test_a_reuse_is_told_to_one_process_once() -> None:
    url = fresh_redis().url
    async with connected(url, RedisLastServed) as (here, one), connected(url, RedisLastServed) as (_, other):
        one.note("a", "s", SERVED)
        await all_told(here)
        assert [await other.take("b", "s"), await other.take("a", "s")] == [None, SERVED]
        assert await one.take("a", "s") is None
        one.note("a", "t", SERVED)
        await here.close()
        assert await one.take("a", "t") == SERVED
        assert await one.take("a", "t") is None


async def test_wrong_tokens_count_in_all_processes() -> None:
    url = fresh_redis().url
    async with connected(url, RedisThrottle) as (here, one), connected(url, RedisThrottle) as (there, other):
        for number in range(MOST_WRONG):
            await (one, other)[number % 2].note("1.2.3.4", NOW)
        await all_told(here, there)
        assert [await each.wait("1.2.3.4", NOW) for each in (one, other)] == [WRONG_SECONDS] * 2
        assert [await each.wait("1.2.3.5", NOW) for each in (one, other)] == [0.0] * 2
        await here.close()
        assert await one.wait("1.2.3.4", NOW) == 0.0  # its own are too few


async def test_a_logout_is_known_on_machines_that_share_no_folder(tmp_path: Path) -> None:
    url = fresh_redis().url
    async with (
        connected(url, lambda over: RedisLogouts(over, tmp_path)) as (here, one),
        connected(url, lambda over: RedisLogouts(over, None)) as (_, other),
        connected(url, lambda over: RedisLogouts(over, None, clock=lambda: 2.0**33)) as (_, late),
    ):
        await one.add("cookie", 2**32)
        await all_told(here)
        for each in (other, late):
            await each.refresh()
        assert [each.has("cookie") for each in (one, other, late)] == [True, True, False]


async def test_of_a_turn_that_has_ended_the_other_processes_know_its_link_alone() -> None:
    url, ended = fresh_redis().url, OpenTurn((), b"last")
    async with turns(url) as (here, one), turns(url) as (_, other):
        one.put("a", "s", turn())
        one.put("a", "s", ended)
        await all_told(here)
        assert await one.get("a", "s") is None
        found = await other.get("a", "s")
        assert found == ended
        assert found.is_elsewhere
