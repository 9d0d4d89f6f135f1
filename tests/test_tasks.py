"""Background work is kept until it is done, told when it dies, and drained at the end. A stage that fails costs the
client nothing; what is no failure passes through. Small work stays on the event loop, large work goes to a thread."""

import asyncio
import gc
import itertools
import logging
import threading
import weakref
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from proxy.errors import BadRequest, OlvidoError
from proxy.tasks import INLINE_BYTES, Attempts, FairQueue, Offload, Repeating, Tasks, in_place, in_slices, within
from tests.builders import Executor


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


@pytest.fixture
def executor() -> Iterator[Executor]:
    with Executor() as running:
        yield running


@pytest.mark.parametrize(
    ("size", "elsewhere"), [(0, False), (INLINE_BYTES, False), (INLINE_BYTES + 1, True), (10 * INLINE_BYTES, True)]
)
async def test_the_size_says_where_work_is_done(size: int, elsewhere: bool, executor: Executor) -> None:
    ran_in = await Offload(executor, size)(threading.current_thread)
    assert (ran_in is not threading.current_thread()) == elsewhere
    assert executor.submitted == int(elsewhere)


async def test_the_limit_can_be_given(executor: Executor) -> None:
    assert await Offload(executor, 11, inline_bytes=10)(threading.get_ident) != threading.get_ident()


@pytest.mark.parametrize("size", [0, INLINE_BYTES + 1])
async def test_an_error_is_raised_where_the_result_is_awaited(size: int, executor: Executor) -> None:
    def work() -> None:
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        await Offload(executor, size)(work)


# --- in slices --------------------------------------------------------------------------------------------------------


async def test_between_two_slices_whatever_else_waits_for_the_thread_comes_first() -> None:
    done: list[str] = []

    def long() -> Generator[None, None, str]:
        for number in range(3):
            done.append(f"step {number}")
            yield
        return "all of it"

    with ThreadPoolExecutor(1) as executor:
        working = Tasks().spawn(in_slices(executor, long(), FairQueue(), "a", seconds=0), name="working")
        await asyncio.sleep(0)  # its first slice has been handed in
        await asyncio.get_running_loop().run_in_executor(executor, done.append, "another")
        assert await working == "all of it"
    assert done == ["step 0", "another", "step 1", "step 2"]


async def test_what_is_short_takes_one_slice(executor: Executor) -> None:
    def short() -> Generator[None, None, int]:
        yield from (None, None, None)
        return 3

    assert await in_slices(executor, short(), FairQueue(), "a", seconds=60) == 3
    assert executor.submitted == 1


async def test_an_error_in_a_step_is_raised_where_the_result_is_awaited(executor: Executor) -> None:
    def failing() -> Generator[None, None, None]:
        yield
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        await in_slices(executor, failing(), FairQueue(), "a", seconds=0)


async def test_those_that_share_a_turn_take_one_thread_together_slice_by_slice() -> None:
    running, most, order = 0, 0, ""

    def long(name: str) -> Generator[None, None, None]:
        nonlocal running, most, order
        for _ in range(3):
            running += 1
            most, order = max(most, running), order + name
            running -= 1
            yield

    queue = FairQueue(clock=itertools.count().__next__)
    with ThreadPoolExecutor(2) as threads:
        await asyncio.gather(*(in_slices(threads, long(name), queue, name, seconds=0) for name in "ab"))
    assert (most, order) == (1, "ababab")


async def test_between_two_moments_on_the_loop_whatever_else_is_due_comes_first() -> None:
    done: list[str] = []

    def steps() -> Generator[None, None, str]:
        for number in range(3):
            done.append(f"step {number}")
            yield
        return "all of it"

    async def other() -> None:
        done.append("another")

    async with asyncio.TaskGroup() as group:
        working = group.create_task(in_place(steps(), seconds=0))
        group.create_task(other())
    assert (working.result(), done) == ("all of it", ["step 0", "another", "step 1", "step 2"])
    assert await in_place(steps(), seconds=60) == "all of it"


# --- turns ------------------------------------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def served(queue: FairQueue, clock: Clock, *asked: tuple[str, float, int]) -> str:
    """Who came when, of those who each ask for so many seconds so many times, one after the other, all at once."""
    order = ""

    async def asking(who: str, seconds: float, times: int) -> None:
        nonlocal order
        for _ in range(times):
            async with queue.turn(who):
                order += who
                clock.now += seconds
                await asyncio.sleep(0)

    await asyncio.gather(*(asking(*each) for each in asked))
    return order


async def test_who_takes_little_waits_for_one_of_those_who_take_much_and_not_for_all() -> None:
    clock = Clock()
    order = await served(
        FairQueue(clock, saved=50.0), clock, ("a", 20.0, 4), ("b", 1.0, 4), ("c", 20.0, 4), ("d", 20.0, 4)
    )
    assert order == "abcdbabcbdacdacd"  # "b" asks again when the next one's turn has begun


async def test_who_asked_for_nothing_for_long_makes_up_for_a_part_of_it() -> None:
    clock = Clock()
    queue = FairQueue(clock, saved=3.0)
    assert await served(queue, clock, ("a", 1.0, 100)) == "a" * 100
    assert await served(queue, clock, ("a", 1.0, 3), *[("b", 1.0, 1)] * 6) == "abbbbbaba"


async def test_a_turn_that_is_not_wanted_any_more_goes_to_the_next() -> None:
    queue, order = FairQueue(), ""
    begun, end = asyncio.Event(), asyncio.Event()

    async def holding() -> None:
        async with queue.turn("a"):
            begun.set()
            await end.wait()
        waiting.cancel()  # which has just been given its turn

    async def asking(who: str) -> None:
        nonlocal order
        async with queue.turn(who):
            order += who

    tasks = Tasks()
    holder = tasks.spawn(holding(), name="holding")
    await begun.wait()
    waiting, leaving, other = (tasks.spawn(asking(who), name=who) for who in "bcd")
    await asyncio.sleep(0)
    leaving.cancel()  # while it waits
    end.set()
    await holder
    await asyncio.gather(waiting, leaving, other, return_exceptions=True)
    assert order == "d"
    await asking("e")
    assert order == "de"


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
