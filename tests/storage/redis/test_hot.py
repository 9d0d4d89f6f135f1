"""Hot contexts in Redis, between processes."""

import asyncio
from dataclasses import replace

import pytest

from proxy.storage.hot import HotContext
from proxy.storage.redis import hot
from proxy.storage.redis.connection import Connection
from proxy.storage.redis.hot import RedisHotContexts
from tests.redis_server import all_told, connected, fresh_redis, run_redis, until

LINKS = [bytes([number]) * 16 for number in range(1, 6)]
CONTEXT = HotContext("s", "a~s", LINKS[1], b"\0state\xff")


def build(connection: Connection) -> RedisHotContexts:
    return RedisHotContexts(connection, 300.0)


@pytest.mark.note("v2 Resumen/4")
async def test_the_last_link_that_has_a_context_is_found_by_every_process() -> None:
    url = fresh_redis().url
    async with connected(url, build) as (here, one), connected(url, build) as (_, other):
        one.put("a", LINKS[1], replace(CONTEXT, session="older"), None)
        one.put("a", LINKS[3], CONTEXT, None)
        await all_told(here)
        assert await other.get("a", LINKS) == (3, CONTEXT)
        assert await other.get("a", LINKS[:3]) == (1, replace(CONTEXT, session="older"))
        assert await other.get("a", LINKS[:1]) is None
        assert await other.get("b", LINKS) is None


@pytest.mark.note("v2 Buffer/6")
async def test_the_version_before_ends_with_the_new_one() -> None:
    url = fresh_redis().url
    async with connected(url, build) as (here, contexts):
        contexts.put("a", LINKS[1], CONTEXT, None)
        contexts.put("a", LINKS[3], CONTEXT, LINKS[1])
        await all_told(here)
        assert await contexts.get("a", LINKS[:3]) is None
        assert await contexts.get("a", LINKS) == (3, CONTEXT)


async def test_of_a_link_that_two_conversations_end_with_there_is_none() -> None:
    url = fresh_redis().url
    async with connected(url, build) as (here, contexts):
        contexts.put("a", LINKS[0], CONTEXT, None)
        contexts.put("a", LINKS[0], replace(CONTEXT, session="t"), None)
        contexts.put("a", LINKS[0], CONTEXT, None)
        contexts.put("b", LINKS[0], CONTEXT, None)
        await all_told(here)
        assert await contexts.get("a", LINKS) is None
        assert await contexts.get("b", LINKS) == (0, CONTEXT)


@pytest.mark.note("v2 NO/1")
async def test_a_scope_is_forgotten_whole_and_alone() -> None:
    server = fresh_redis()
    async with connected(server.url, build) as (here, one), connected(server.url, build) as (there, other):
        for scope in ("a", "b"):
            for link in LINKS:
                one.put(scope, link, CONTEXT, None)
        await all_told(here)
        one.forget("a")
        await all_told(here)
        assert await other.get("a", LINKS) is None
        assert await other.get("b", LINKS) == (4, CONTEXT)
        other.forget("b")
        await all_told(there)
        assert b"hot" not in server.do("KEYS", "*")


@pytest.mark.note("v2 Buffer/5")
async def test_redis_lets_it_expire_with_its_list_of_keys() -> None:
    server = fresh_redis()
    async with connected(server.url, build) as (connection, contexts):
        contexts.put("a", LINKS[0], CONTEXT, None)
        await all_told(connection)
        for key in (connection.names.key("hot", "a", LINKS[0].hex()), connection.names.key("hot keys", "a")):
            assert 299_000 < int(server.do("PTTL", key)[1:]) <= 300_000


async def test_what_was_planted_is_absent() -> None:
    server = fresh_redis()
    async with connected(server.url, build) as (connection, contexts):
        key = connection.names.key("hot", "a", LINKS[0].hex())
        for planted in (b"", b"\xff", b"\x92\xa1b\x90"):
            server.do("HSET", key, "session", "s", "context", planted)
            assert await contexts.get("a", LINKS) is None


@pytest.mark.note("v2 NO/2")
async def test_without_redis_there_is_none_and_nothing_fails() -> None:
    reasons: list[tuple[str, str]] = []
    with run_redis() as server:
        async with connected(server.url, build, failed=lambda *told: reasons.append(told)) as (connection, contexts):
            contexts.put("a", LINKS[0], CONTEXT, None)
            server.kill()
            await until(lambda: connection.status == "down")
            assert await contexts.get("a", LINKS) is None
            contexts.put("a", LINKS[0], CONTEXT, None)
            contexts.forget("a")
    assert [told for told in reasons if told[1] == "down"] == [("hot_context", "down")] * 3


async def test_a_scope_that_has_contexts_is_known_to_every_process() -> None:
    url = fresh_redis().url
    async with connected(url, build) as (here, one), connected(url, build) as (_, other):
        one.put("a", LINKS[1], CONTEXT, None)
        await all_told(here)
        assert (await other.has("a"), await other.has("b")) == (True, False)


async def test_a_scope_is_held_by_one_process_at_a_time() -> None:
    url, held = fresh_redis().url, []
    async with connected(url, build) as (_, one), connected(url, build) as (_, other):

        async def hold(contexts: RedisHotContexts, name: str) -> None:
            async with contexts.alone("a"):
                held.append(f"{name} begins")
                await asyncio.sleep(0)
                held.append(f"{name} ends")

        await asyncio.gather(*(hold(each, name) for each, name in ((one, "one"), (other, "other"))))
    assert [each.split()[0] for each in held[::2]] == [each.split()[0] for each in held[1::2]]


async def test_whoever_waits_too_long_for_a_scope_goes_on_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "PAUSE", 0.0)
    url, failed = fresh_redis().url, list[tuple[str, str]]()
    tell = {"failed": lambda *told: failed.append(told)}
    async with connected(url, build) as (_, one), connected(url, build, **tell) as (_, other):
        async with one.alone("a"), other.alone("b"):
            pass
        assert failed == []
        async with one.alone("a"), other.alone("a"):
            pass
    assert failed == [("hot_context", "held")]
