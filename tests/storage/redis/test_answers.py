"""Exact answers in Redis; what every answer cache does is in tests/contract/test_answer_cache.py."""

from dataclasses import replace

from proxy.storage.redis.answers import RedisAnswers
from tests.builders import NOW, stored
from tests.redis_server import connected, fresh_redis, run_redis, until

OLD, NEW = stored(), replace(stored(), completion=b'{"new": 1}')


async def test_what_another_process_deletes_or_replaces_is_seen_at_once() -> None:
    url = fresh_redis().url
    async with connected(url, RedisAnswers) as (_, one), connected(url, RedisAnswers) as (_, other):
        await one.put("a", "k", OLD, 60.0)
        assert await other.get("a", "k", NOW) == OLD
        await one.put("a", "k", NEW, 60.0)
        assert await other.get("a", "k", NOW) == NEW
        assert await one.delete("a", "k")
        assert await other.get("a", "k", NOW) is None


async def test_redis_lets_it_expire() -> None:
    server = fresh_redis()
    async with connected(server.url, RedisAnswers) as (connection, answers):
        await answers.put("a", "k", OLD, 60.0)
        assert 59_000 < int(server.do("PTTL", connection.names.key("answer", "k"))[1:]) <= 60_000


async def test_without_redis_nothing_is_found_and_nothing_fails() -> None:
    reasons: list[tuple[str, str]] = []
    with run_redis() as server:
        async with connected(server.url, RedisAnswers, failed=lambda *told: reasons.append(told)) as (link, answers):
            await answers.put("a", "k", OLD, 60.0)
            server.kill()
            await until(lambda: link.status == "down")
            assert await answers.get("a", "k", NOW) is None
            await answers.put("a", "k", NEW, 60.0)
            assert await answers.delete("a", "k") is False
    assert reasons == [("answers", "down")] * 3


async def test_what_could_not_be_deleted_or_replaced_is_gone_when_redis_is_back() -> None:
    url = fresh_redis().url
    async with connected(url, RedisAnswers) as (connection, answers), connected(url, RedisAnswers) as (_, other):
        for key in ("deleted", "replaced", "kept"):
            await answers.put("a", key, OLD, 60.0)
        await connection.close()
        await answers.delete("a", "deleted")
        await answers.put("a", "replaced", NEW, 60.0)
        assert await other.get("a", "deleted", NOW) == OLD
        await connection.open()
        assert [await other.get("a", key, NOW) for key in ("deleted", "replaced", "kept")] == [None, None, OLD]
        await answers.put("a", "replaced", NEW, 60.0)
        assert await answers.get("a", "replaced", NOW) == NEW


async def test_what_was_planted_is_absent() -> None:
    server = fresh_redis()
    async with connected(server.url, RedisAnswers) as (connection, answers):
        for planted in (b"\x80\x04\x95", b"", b"\x93\xa1b\xcb", b"\xff"):
            server.do("SET", connection.names.key("answer", "k"), planted)
            assert await answers.get("a", "k", NOW) is None
            assert await answers.delete("a", "k") is False


async def test_those_that_leave_a_full_server_are_absent_and_no_error() -> None:
    with run_redis("--maxmemory", "4mb", "--maxmemory-policy", "volatile-ttl") as server:
        async with connected(server.url, RedisAnswers) as (connection, answers):
            large = replace(OLD, completion=b"x" * 100_000)
            for number in range(100):
                await answers.put("a", str(number), large, 60.0 + number)
            kept = [number for number in range(100) if await answers.get("a", str(number), NOW) is not None]
            assert 0 < len(kept) < 100
            assert 99 in kept
            assert connection.troubles == {}
