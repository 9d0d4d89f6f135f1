"""Small work stays on the event loop, large work goes to a thread."""

import threading
from collections.abc import Iterator

import pytest

from proxy.offload import INLINE_BYTES, Offload
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
