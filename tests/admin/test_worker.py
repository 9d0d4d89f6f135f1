"""Long work beside the requests."""

import asyncio
import sys
import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from proxy.admin.worker import CrossLoopEmbedder, Stopped, Worker
from proxy.embedding.base import EmbeddingOff, EmbeddingUnavailable, Vectors
from proxy.errors import Conflict


async def test_it_runs_in_a_thread_of_its_own_and_its_result_is_told() -> None:
    async def work(_: Callable[[], None]) -> tuple[str, bool]:
        await asyncio.sleep(0)
        return threading.current_thread().name, asyncio.get_running_loop() is here

    here, worker = asyncio.get_running_loop(), Worker()
    name, is_same_loop = await worker.run(work)
    assert name.startswith("worker")
    assert not is_same_loop
    assert not worker.is_busy


async def test_what_goes_wrong_in_it_is_told_and_the_next_one_may_run() -> None:
    async def breaks(_: Callable[[], None]) -> None:
        raise ValueError("broken")

    async def works(_: Callable[[], None]) -> int:
        return 7

    worker, before = Worker(), sys.getswitchinterval()
    with pytest.raises(ValueError, match="broken"):
        await worker.run(breaks)
    assert await worker.run(works) == 7
    assert sys.getswitchinterval() == before


async def test_one_at_a_time_and_who_leaves_ends_his() -> None:
    steps, begun = [0], threading.Event()

    async def endless(go_on: Callable[[], None]) -> None:
        while True:
            go_on()
            steps[0] += 1
            begun.set()
            await asyncio.sleep(0)

    worker = Worker()
    waiting = asyncio.get_running_loop().create_task(worker.run(endless))
    await asyncio.to_thread(begun.wait)
    with pytest.raises(Conflict, match="under way"):
        await worker.run(endless)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    async with asyncio.timeout(5):
        while worker.is_busy:  # noqa: ASYNC110 (a thread ends it)
            await asyncio.sleep(0)
    seen = steps[0]
    await asyncio.sleep(0)
    assert steps[0] == seen


async def test_when_the_server_stops_it_ends_at_its_next_step() -> None:
    begun = threading.Event()

    async def endless(go_on: Callable[[], None]) -> None:
        while True:
            go_on()
            begun.set()
            await asyncio.sleep(0)

    worker = Worker()
    await worker.close(5.0)  # nothing runs: nothing to end
    waiting = asyncio.get_running_loop().create_task(worker.run(endless))
    await asyncio.to_thread(begun.wait)
    await worker.close(5.0)
    assert not worker.is_busy
    with pytest.raises(Stopped):
        await waiting


class Home(EmbeddingOff):
    """An embedder that works on its own event loop only."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        assert asyncio.get_running_loop() is self._loop
        if not texts:
            raise EmbeddingUnavailable("nothing")
        return np.ones((len(texts), 2), np.float32)

    async def close(self) -> None:
        self.closed = True


async def test_an_embedder_is_lent_to_another_event_loop() -> None:
    home = Home()
    lent = CrossLoopEmbedder(home, asyncio.get_running_loop())

    async def work(_: Callable[[], None]) -> tuple[int, ...]:
        lent.start()
        with pytest.raises(EmbeddingUnavailable):
            await lent.embed([])
        vectors = await lent.embed(["a", "b"])
        await lent.close()
        return vectors.shape

    assert await Worker().run(work) == (2, 2)
    assert (lent.state, lent.version, lent.detail, lent.dimensions) == (
        home.state,
        home.version,
        home.detail,
        home.dimensions,
    )
    assert not home.closed
