"""Background work is kept until it is done, told when it dies, and drained at the end."""

import asyncio
import gc
import logging
import weakref

import pytest

from proxy.tasks import Repeating, Tasks


async def test_a_task_runs_under_its_name_and_is_let_go_when_it_is_done() -> None:
    tasks = Tasks()
    may_end = asyncio.Event()
    task = tasks.spawn(may_end.wait(), name="record")
    assert task.get_name() == "record"
    assert len(tasks) == 1
    may_end.set()
    assert await task is True
    await asyncio.sleep(0)  # the callback that lets it go
    assert len(tasks) == 0


async def test_a_task_that_nobody_holds_is_not_collected() -> None:
    async def work() -> None:
        await asyncio.get_running_loop().create_future()  # which only the task refers to, and only it to the task

    tasks = Tasks()
    task = weakref.ref(tasks.spawn(work(), name="record"))
    await asyncio.sleep(0)  # it begins
    gc.collect()
    assert task() is not None
    await tasks.drain(0.0)


async def test_what_a_task_dies_of_is_logged_with_its_name(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        raise ValueError("boom")

    tasks = Tasks()
    with caplog.at_level(logging.ERROR, "proxy.tasks"):
        tasks.spawn(work(), name="record")
        await tasks.drain(5.0)
    (record,) = caplog.records
    assert vars(record)["task"] == "record"
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ValueError)


async def test_a_cancelled_task_is_not_an_error(caplog: pytest.LogCaptureFixture) -> None:
    tasks = Tasks()
    tasks.spawn(asyncio.Event().wait(), name="watch").cancel()
    assert await tasks.drain(5.0) == 0
    assert caplog.records == []
    assert len(tasks) == 0


async def test_draining_waits_for_what_runs_and_for_what_that_starts() -> None:
    tasks = Tasks()
    ended: list[str] = []

    async def record() -> None:
        await asyncio.sleep(0)
        ended.append("record")

    async def stream() -> None:
        await asyncio.sleep(0)
        tasks.spawn(record(), name="record")
        ended.append("stream")

    tasks.spawn(stream(), name="stream")
    assert await tasks.drain(5.0) == 0
    assert ended == ["stream", "record"]


async def test_draining_cancels_what_is_late_and_says_how_many() -> None:
    tasks = Tasks()
    stopped: list[str] = []

    async def hang(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(name)

    for name in ("a", "b"):
        tasks.spawn(hang(name), name=name)
    await asyncio.sleep(0)  # both begin
    assert await tasks.drain(0.0) == 2
    assert sorted(stopped) == ["a", "b"]
    assert len(tasks) == 0


async def test_draining_nothing_is_done_at_once() -> None:
    assert await Tasks().drain(60.0) == 0


async def test_repeated_work_leaves_nothing_to_drain_in_between_and_outlives_its_failures() -> None:
    tasks, is_enough = Tasks(), asyncio.Event()
    times = 0

    async def work() -> None:
        nonlocal times
        times += 1
        if times == 3:
            is_enough.set()
        raise ValueError("not this time")

    repeated = Repeating(tasks, work, 0.0, "look")
    repeated.start()
    await is_enough.wait()
    repeated.stop()
    assert await tasks.drain(5.0) == 0
    done = times
    for _ in range(5):
        await asyncio.sleep(0)
    assert (times, len(tasks)) == (done, 0)
