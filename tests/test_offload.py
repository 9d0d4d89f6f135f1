"""Small work stays on the event loop, large work goes to a thread."""

import asyncio
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from proxy.offload import INLINE_BYTES, Offload, in_slices
from proxy.tasks import Tasks
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
        working = Tasks().spawn(in_slices(executor, long(), asyncio.Lock(), seconds=0), name="working")
        await asyncio.sleep(0)  # its first slice has been handed in
        await asyncio.get_running_loop().run_in_executor(executor, done.append, "another")
        assert await working == "all of it"
    assert done == ["step 0", "another", "step 1", "step 2"]


async def test_what_is_short_takes_one_slice(executor: Executor) -> None:
    def short() -> Generator[None, None, int]:
        yield from (None, None, None)
        return 3

    assert await in_slices(executor, short(), asyncio.Lock(), seconds=60) == 3
    assert executor.submitted == 1


async def test_an_error_in_a_step_is_raised_where_the_result_is_awaited(executor: Executor) -> None:
    def failing() -> Generator[None, None, None]:
        yield
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        await in_slices(executor, failing(), asyncio.Lock(), seconds=0)


async def test_those_that_share_a_turn_take_one_thread_together_slice_by_slice() -> None:
    running, most, order = 0, 0, ""

    def long(name: str) -> Generator[None, None, None]:
        nonlocal running, most, order
        for _ in range(3):
            running += 1
            most, order = max(most, running), order + name
            running -= 1
            yield

    turn = asyncio.Lock()
    with ThreadPoolExecutor(2) as threads:
        await asyncio.gather(*(in_slices(threads, long(name), turn, seconds=0) for name in "ab"))
    assert (most, order) == (1, "ababab")
