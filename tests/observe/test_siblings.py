"""Workers that ask each other for their metrics, over real sockets and files; they end in every way."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from proxy.observe.merging import Family, Sample, Snapshot, merged
from proxy.observe.siblings import GONE, Gathered, Siblings, bury


class Worker:
    """One that has counted something, and answers when it is let."""

    def __init__(self, folder: Path, name: str, counted: float = 0.0) -> None:
        self.counted = counted
        self.then: Callable[[], object] | None = None  # is called when it has looked
        self.hangs: asyncio.Event | None = None
        self.siblings = Siblings(folder, name, self._look, seconds=100)

    async def _look(self) -> Snapshot:
        if self.hangs is not None:
            await self.hangs.wait()
        if self.then is not None:
            asyncio.get_running_loop().call_soon(self.then)
        counter = Family("c", "counter", "", (Sample("c_total", (), self.counted),))
        return (counter, Family("g", "gauge", "", (Sample("g", (), 1.0),)))


Open = Callable[..., Awaitable[list[Worker]]]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    """Opens workers that have counted so much, named from 1 on."""
    workers: list[Worker] = []

    async def opening(*counted: float) -> list[Worker]:
        for each in counted:
            workers.append(Worker(tmp_path, str(len(workers) + 1), each))
            await workers[-1].siblings.open()
        return workers

    yield opening
    for worker in workers:
        await worker.siblings.close()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def kill(folder: Path, name: str) -> None:
    """Leaves what a process leaves that is killed: its file, and a socket that nobody listens to."""
    (folder / f"{name}.sock").unlink()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / f"{name}.sock"))


def sums(gathered: Gathered) -> tuple[float, float, int]:
    """The counter, the gauge, and how many were silent."""
    told = {family.name: family.samples[0].value for family in merged(gathered.live, gathered.gone)}
    return told["c"], told["g"], gathered.silent


async def test_whoever_is_asked_tells_of_all(opened: Open, tmp_path: Path) -> None:
    workers = await opened(1, 2, 4)
    assert [sums(await each.siblings.gather()) for each in workers] == [(7, 3, 0)] * 3
    workers[1].counted = 10
    assert sums(await workers[0].siblings.gather()) == (15, 3, 0)


async def test_one_that_leaves_takes_its_gauges_and_leaves_what_it_counted(opened: Open, tmp_path: Path) -> None:
    one, two = await opened(1, 2)
    two.counted = 5  # since it was asked last
    await two.siblings.close()
    assert sums(await one.siblings.gather()) == (6, 1, 0)
    bury(tmp_path, "2")
    assert sums(await one.siblings.gather()) == (6, 1, 0)
    assert names(tmp_path) == {"1.sock", "1.last", GONE}


async def test_of_one_that_is_killed_what_it_told_last_stays(opened: Open, tmp_path: Path) -> None:
    one, two = await opened(1, 2)
    two.counted = 5
    assert sums(await one.siblings.gather()) == (6, 2, 0)
    two.counted = 8  # nobody has heard of it
    kill(tmp_path, "2")
    assert sums(await one.siblings.gather()) == (6, 1, 0)
    bury(tmp_path, "2")
    assert sums(await one.siblings.gather()) == (6, 1, 0)


async def test_of_one_that_hangs_what_it_told_last_counts_and_it_is_counted(opened: Open, tmp_path: Path) -> None:
    one, two = await opened(1, 2)
    two.hangs, one.siblings.seconds = asyncio.Event(), 0.05
    assert sums(await one.siblings.gather()) == (3, 1, 1)
    two.hangs.set()
    one.siblings.seconds = 100
    assert sums(await one.siblings.gather()) == (3, 2, 0)


@pytest.mark.parametrize("ends", [1, 2, 3])
async def test_many_that_end_one_after_another_are_one_file(ends: int, opened: Open, tmp_path: Path) -> None:
    (one,) = await opened(1)
    for number in range(ends):
        worker = Worker(tmp_path, f"x{number}", 10)
        await worker.siblings.open()
        await worker.siblings.close()
        bury(tmp_path, f"x{number}")
    assert sums(await one.siblings.gather()) == (1 + 10 * ends, 1, 0)
    assert names(tmp_path) == {"1.sock", "1.last", GONE}


async def test_one_that_is_buried_while_it_is_asked_counts_once(opened: Open, tmp_path: Path) -> None:
    """It answered, then it ended, and was buried before the files were read."""
    one, two = await opened(1, 2)
    two.then = lambda: bury(tmp_path, "2")
    assert sums(await one.siblings.gather())[0] == 3


def test_one_that_never_told_anything_is_buried_all_the_same(tmp_path: Path) -> None:
    bury(tmp_path, "1")
    (tmp_path / "2.last").write_bytes(b"cut short")
    bury(tmp_path, "2")
    assert names(tmp_path) == {GONE}
