"""The breaker in front of a database."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from proxy.storage.base import StorageError
from proxy.storage.postgres import health as module
from proxy.storage.postgres.health import MOST_FAILURES, Health, State
from proxy.tasks import Tasks


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE_SECONDS", 0.001)


class Server:
    """Answers when it `is_up`."""

    def __init__(self) -> None:
        self.is_up = False
        self.asked = 0

    def probe(self) -> None:
        self.asked += 1
        if not self.is_up:
            raise StorageError(f"away ({self.asked})")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(100):
        while not condition():  # noqa: ASYNC110 (the state of another task and a thread)
            await asyncio.sleep(0.001)


async def test_failures_in_a_row_open_it_and_an_answer_closes_it(caplog: pytest.LogCaptureFixture) -> None:
    server, changes = Server(), list[State]()
    health = Health(server.probe, Tasks(), changes.append)
    for _ in range(3):
        for _ in range(MOST_FAILURES - 1):
            health.failure("late")
        assert (health.state, health.why) == ("ready", None)
        health.success()
    for _ in range(MOST_FAILURES + 5):
        health.failure("late")
    assert (health.state, health.why) == ("unreachable", "late")
    await until(lambda: server.asked > 3)
    assert (health.why or "").startswith("away (")
    server.is_up = True
    await until(lambda: health.why is None)
    assert changes == ["unreachable", "ready"]
    assert [(record.levelno, record.message) for record in caplog.records] == [
        (logging.ERROR, "PostgreSQL does not answer: requests go on with what is in memory"),
        (logging.WARNING, "PostgreSQL answers again"),
    ]
    health.failure("late")
    assert health.state == "ready"
    health.close()


async def test_between_two_probes_no_task_waits() -> None:
    tasks, server = Tasks(), Server()
    health = Health(server.probe, tasks, lambda _: None)
    health.fail("gone")
    await until(lambda: server.asked > 1)
    assert await tasks.drain(10) == 0
    assert health.why is not None
    health.close()


async def test_a_closed_one_asks_no_more() -> None:
    tasks, server = Tasks(), Server()
    health = Health(server.probe, tasks, lambda _: None)
    health.fail("gone")
    health.close()
    health.fail("gone again")
    asked = server.asked
    await asyncio.sleep(0.01)
    assert (server.asked, len(tasks)) == (asked, 0)


async def test_a_probe_that_breaks_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    asked = list[int]()

    def probe() -> None:
        asked.append(1)
        if len(asked) == 1:
            raise ValueError("ours")

    health = Health(probe, Tasks(), lambda _: None)
    health.fail("gone")
    await until(lambda: health.why is None)
    assert len(asked) == 2
    assert "background task failed" in caplog.text
