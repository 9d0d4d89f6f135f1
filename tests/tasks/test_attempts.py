"""A stage that fails costs the client nothing; what is no failure passes through."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from proxy.errors import BadRequest, OlvidoError
from proxy.tasks import Attempts, within

Failed = list[tuple[str, str]]


@pytest.fixture
def counted() -> Failed:
    """What the metric was told: (stage, reason)."""
    return []


@pytest.fixture
def attempts(counted: Failed) -> Attempts:
    return Attempts(lambda stage, reason: counted.append((stage, reason)))


async def brings() -> str:
    return "result"


async def raises() -> str:
    raise ValueError("my secret is 1234")


async def times_out() -> str:
    raise TimeoutError


async def hangs() -> str:
    await asyncio.Event().wait()
    return "never"


async def refuses() -> str:
    raise BadRequest("no")


async def test_a_stage_that_succeeds_gives_its_result(attempts: Attempts, counted: Failed) -> None:
    assert await attempts.run("plan", brings(), fallback="fallback", deadline=5.0) == "result"
    assert attempts.call("assemble", lambda: "result", fallback="fallback") == "result"
    assert counted == []
    assert attempts.failed == {}


@pytest.mark.parametrize(
    ("work", "deadline", "reason"),
    [(raises, 5.0, "ValueError"), (hangs, 0.0, "deadline"), (times_out, 5.0, "deadline")],
)
async def test_a_stage_that_fails_gives_its_fallback(
    work: Callable[[], Coroutine[Any, Any, str]], deadline: float, reason: str, attempts: Attempts, counted: Failed
) -> None:
    assert await attempts.run("plan", work(), fallback="fallback", deadline=deadline) == "fallback"
    assert counted == [("plan", reason)]
    assert attempts.failed == {"plan": reason}


def test_so_does_a_function(attempts: Attempts, counted: Failed) -> None:
    def work() -> str:
        raise KeyError("x")

    assert attempts.call("assemble", work, fallback="fallback") == "fallback"
    assert counted == [("assemble", "KeyError")]


async def test_work_that_need_not_wait_is_done_whatever_its_deadline() -> None:
    async def work() -> str:
        return "done"

    assert await within(0.0, work()) == "done"


async def test_work_that_waits_too_long_is_ended() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(TimeoutError):
        await within(0.01, work())
    assert ended


async def test_an_answer_of_our_own_passes_through(attempts: Attempts, counted: Failed) -> None:
    def refuse() -> None:
        raise BadRequest("no")

    with pytest.raises(BadRequest):
        await attempts.run("identify", refuses(), fallback="fallback", deadline=5.0)
    with pytest.raises(OlvidoError):
        attempts.call("assemble", refuse, fallback=None)
    assert counted == []
    assert set(attempts.seconds) == {"identify", "assemble"}


async def test_cancellation_passes_through(attempts: Attempts, counted: Failed) -> None:
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(attempts.run("plan", work(), fallback=None, deadline=60.0))
        await begun.wait()
        task.cancel()
    assert task.cancelled()
    assert counted == []
    assert "plan" in attempts.seconds


async def test_a_stage_that_overran_has_been_stopped(attempts: Attempts) -> None:
    stopped = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    await attempts.run("plan", work(), fallback=None, deadline=0.0)
    assert stopped.is_set()


async def test_a_stage_goes_on_from_where_it_began_to_wait(attempts: Attempts, counted: Failed) -> None:
    told: list[str] = []

    async def work() -> str:
        told.append("begun")
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            told.append("its own deadline")
        try:
            await asyncio.get_running_loop().run_in_executor(None, int, "no number")
        except ValueError:
            told.append("an error of what it waited for")
        return "result"

    assert await attempts.run("plan", work(), fallback="fallback", deadline=5.0) == "result"
    assert told == ["begun", "its own deadline", "an error of what it waited for"]
    assert counted == []


async def test_a_stage_that_raises_after_it_has_waited_fails_too(attempts: Attempts, counted: Failed) -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        raise KeyError("x")

    assert await attempts.run("plan", work(), fallback="fallback", deadline=5.0) == "fallback"
    assert counted == [("plan", "KeyError")]


async def test_the_times_of_a_stage_that_runs_twice_are_added(attempts: Attempts) -> None:
    await attempts.run("plan", brings(), fallback="", deadline=5.0)
    once = attempts.seconds["plan"]
    await attempts.run("plan", raises(), fallback="", deadline=5.0)
    assert attempts.seconds["plan"] > once > 0


@pytest.mark.note("1.3/5")
async def test_the_log_says_where_and_not_what(attempts: Attempts, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "proxy.tasks"):
        await attempts.run("plan", raises(), fallback="", deadline=5.0)
    (record,) = caplog.records
    told = vars(record)
    assert (told["stage"], told["reason"]) == ("plan", "ValueError")
    assert told["where"].startswith(f"{__file__}:")
    assert "secret" not in caplog.text
    assert record.exc_info is None
