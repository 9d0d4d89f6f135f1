"""The gauges that are read when `/metrics` is, and the lag of the event loop."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter, time

import pytest

from proxy.admin.metrics import LagMeter, refresh
from tests.builders import body, user
from tests.proxied import Upstream, ask, in_front_of, run_upstream, serving, total

STATED = body(user("From now on, call me Captain Ana."), model="demo-chat")


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with run_upstream() as running:
        yield running


async def test_facts_are_told_by_what_may_become_of_them(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream)) as services:
        await refresh(services)
        assert total(services, "olvido_facts") == total(services, "olvido_memory_scopes") == 0
        await ask(services, STATED)  # years ago
        (fact,) = services.library.held().facts
        lately = replace(fact, id="f-0123456789abcdef", last_confirmed_at=time())
        services.library.learn("another", await services.library.shelf("another"), [lately])
        await refresh(services)
        assert total(services, "olvido_facts", status="stale") == total(services, "olvido_facts", status="active") == 1
        assert total(services, "olvido_facts") == total(services, "olvido_memory_scopes") == 2


async def test_an_upstream_is_told_of_before_it_has_failed(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream)) as services:
        await refresh(services)
        names = ("olvido_upstream_retries_total", "olvido_upstream_fallbacks_total", "olvido_upstream_breaker_open")
        told = {
            sample.name
            for family in services.metrics.registry.collect()
            for sample in family.samples
            if sample.labels == {"upstream": "demo"}
        }
        assert told >= set(names)
        assert all(total(services, name) == 0 for name in names)


async def test_an_upstream_that_is_left_alone_is_told_of_until_it_answers(upstream: Upstream) -> None:
    settings = in_front_of(upstream, upstream={"breaker": {"failures": 1, "open_seconds": 60}})
    async with serving(settings) as services:
        (asked,) = services.router.upstreams
        asked.breaker.failure()
        await refresh(services)
        assert total(services, "olvido_upstream_breaker_open", upstream="demo") == 1
        asked.breaker.success()
        await refresh(services)
        assert total(services, "olvido_upstream_breaker_open", upstream="demo") == 0


# --- how late the event loop is ---


INTERVAL = 0.005
HELD_UP = 0.05


class Beats:
    def __init__(self) -> None:
        self.late: list[float] = []
        self.next: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __call__(self, late: float) -> None:
        self.late.append(late)
        heard, self.next = self.next, asyncio.get_running_loop().create_future()
        heard.set_result(None)


async def test_it_goes_on_until_it_is_stopped() -> None:
    beats = Beats()
    pulse = LagMeter(beats, INTERVAL)
    pulse.start()
    for _ in range(3):
        await beats.next
    pulse.stop()
    pulse.stop()
    count = len(beats.late)
    await asyncio.sleep(3 * INTERVAL)
    assert len(beats.late) == count >= 3
    assert min(beats.late) >= 0


async def test_whatever_holds_the_loop_up_makes_it_late_by_as_much() -> None:
    beats = Beats()
    pulse = LagMeter(beats, INTERVAL)
    pulse.start()
    until = perf_counter() + HELD_UP
    while perf_counter() < until:
        pass
    await beats.next
    pulse.stop()
    assert beats.late[0] >= HELD_UP - 2 * INTERVAL
