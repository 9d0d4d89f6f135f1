"""Lessons of all requests, between two processes; each alone is in tests/contract/test_shared.py."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from proxy.storage.redis.connection import Connection
from proxy.storage.redis.learnt import RedisHitRates, redis_calibrations
from proxy.storage.shared.learnt import ANOMALOUS, LEAST_REPEATED, MISSES, PAUSE, local_calibrations
from proxy.types import Usage
from tests.builders import NOW
from tests.redis_server import all_told, connected, fresh_redis, until

MISSED, FOUND = Usage(9_000, 9, reports_none_cached=True), Usage(9_000, 9, cached_tokens=8_000)


@asynccontextmanager
async def two(build: Callable[[Connection], Any]) -> AsyncIterator[tuple[Connection, Connection, Any, Any]]:
    url = fresh_redis().url
    async with connected(url, build) as (here, one), connected(url, build) as (there, other):
        yield here, there, one, other


async def test_a_calibration_over_several_processes_is_that_of_one() -> None:
    alone = local_calibrations().rough
    async with two(redis_calibrations) as (here, there, one, other):
        for number in range(9):
            alone.observe("kimi", "k3", counted=1_000, measured=1_100 + 37 * number)
            (one, other)[number % 2].rough.observe("kimi", "k3", counted=1_000, measured=1_100 + 37 * number)
            await all_told(here, there)
            expected = alone.factor("kimi", "k3")
            assert expected is not None
            await until(lambda: one.rough.factor("kimi", "k3") == expected)  # noqa: B023 (it is waited for)
            await until(lambda: other.rough.factor("kimi", "k3") == expected)  # noqa: B023 (as above)
        assert other.exact.factor("kimi", "k3") is None
        async with connected(fresh_url(here), redis_calibrations) as (_, later):
            assert later.rough.factor("kimi", "k3") == alone.factor("kimi", "k3")


def fresh_url(connection: Connection) -> str:
    url = connection.settings.url
    assert url is not None
    return url.get_secret_value()


async def test_misses_of_a_prefix_cache_add_up_and_one_find_ends_them() -> None:
    async with two(redis_calibrations) as (here, there, one, other):
        for number in range(MISSES):
            (one, other)[number % 2].caches.observe("up", "m", MISSED, repeated=LEAST_REPEATED)
            await all_told(here, there)
        await until(lambda: one.caches.shows_none("up", "m") and other.caches.shows_none("up", "m"))
        async with connected(fresh_url(here), redis_calibrations) as (_, later):
            assert later.caches.shows_none("up", "m")
        one.caches.observe("up", "m", FOUND, repeated=LEAST_REPEATED)
        assert not one.caches.shows_none("up", "m")
        await until(lambda: not other.caches.shows_none("up", "m"))


async def test_a_partition_that_one_entry_answers_in_two_processes_is_stopped_in_both() -> None:
    async with two(RedisHitRates) as (here, there, one, other):
        for number in range(ANOMALOUS):
            assert not one.is_open("p", NOW)
            for _ in range(2):  # the same words again say nothing
                (one, other)[number % 2].note("p", f"question {number}", "r", NOW)
            await all_told(here, there)
        await until(lambda: one.is_open("p", NOW) and other.is_open("p", NOW))
        assert [each.open_partitions(NOW) for each in (one, other)] == [1, 1]
        assert not other.is_open("p", NOW + PAUSE)
        assert not other.is_open("q", NOW)
        async with connected(fresh_url(here), RedisHitRates) as (_, later):
            assert later.is_open("p", NOW)


async def test_planted_news_change_nothing() -> None:
    async with two(redis_calibrations) as (here, _, one, other):
        for content in (None, [], ["x", "y"], ['["rough","a","b"]', "much"], [1, 2], ['["none","a","b"]', "1.5"]):
            here.publish("calibrations", "calibration", content)
        one.rough.observe("kimi", "k3", counted=1_000, measured=1_200)
        await until(lambda: other.rough.factor("kimi", "k3") == 1.2)
        assert other.rough.factor("a", "b") is None
