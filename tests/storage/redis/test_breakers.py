"""Breakers that processes share, in a real Redis."""

from collections.abc import Callable
from typing import Any

from proxy.storage.redis.breakers import RedisBreaker, RedisBreakers
from proxy.storage.redis.connection import Connection
from tests.redis_server import all_told, connected, until
from tests.storage.redis.test_learnt import fresh_url, two


def breaker_of(failures: int, open_seconds: float) -> Callable[[Connection], RedisBreaker]:
    return lambda over: RedisBreakers(over).of("up", failures, open_seconds)


async def test_a_breaker_opens_by_the_failures_of_all_and_closes_for_all() -> None:
    async with two(breaker_of(2, 60.0)) as (_, there, one, other):
        one.failure()
        assert (one.state, other.state) == ("closed", "closed")
        other.failure()  # whether it has heard of the first or not, one of both knows of two
        await until(lambda: "open" in (one.state, other.state))
        one.failure()
        await until(lambda: one.state == other.state == "open")
        await all_told(there)
        other.success()
        await until(lambda: one.state == "closed")


async def test_a_process_that_begins_later_finds_it_open() -> None:
    async with two(breaker_of(1, 60.0)) as (here, _, one, _other):
        one.failure()
        await all_told(here)
        async with connected(fresh_url(here), breaker_of(1, 60.0)) as (_, later):
            assert later.state == "open"
            assert 0 < later.retry_after <= 60.0
        one.success()
        await all_told(here)
        async with connected(fresh_url(here), breaker_of(1, 60.0)) as (_, later):
            assert later.state == "closed"


async def test_one_process_probes_while_the_others_wait_for_it() -> None:
    async with two(breaker_of(1, 0.0)) as (here, there, one, other):
        one.failure()
        await until(lambda: other.state == "half-open")
        assert one.allow()
        await all_told(here, there)
        await until(lambda: not _lets_through(other))
        one.abandoned()
        await until(lambda: _lets_through(other))


def _lets_through(breaker: RedisBreaker) -> bool:
    if breaker.allow():
        breaker.abandoned()
        return True
    return False


async def test_an_upstream_that_answers_is_no_news() -> None:
    told: list[Any] = []
    async with two(breaker_of(2, 60.0)) as (_, there, one, _other):
        there.on_news("breaker", told.append)
        for _ in range(5):
            assert one.allow()
            one.success()
        one.failure()
        await until(lambda: told)
    assert told == [["up", "failure"]]
