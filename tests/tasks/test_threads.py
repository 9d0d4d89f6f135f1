"""Small work stays on the event loop, large work goes to a thread, and long work takes turns."""

import asyncio
import itertools
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from proxy.tasks import INLINE_BYTES, FairQueue, Offload, Tasks, in_place, in_slices
from tests.builders import Executor


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
