"""Of all processes that share a storage one does the work of the background: for one process, and over real lock
files."""

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from proxy.storage.election import Alone, Election, FileElection
from tests.servers import eventually

HOLDER = """
import asyncio, sys
from pathlib import Path
from proxy.storage.election import FileElection

async def hold():
    async with FileElection(Path(sys.argv[1])).turn("retention", 0) as is_mine:
        print(is_mine, flush=True)
        await asyncio.sleep(600)

asyncio.run(hold())
"""


async def turn(election: Election, every: float = 60.0, work: str = "retention") -> bool:
    async with election.turn(work, every) as is_mine:
        return is_mine


def at(folder: Path, now: float) -> FileElection:
    return FileElection(folder, lambda: now)


async def test_a_process_that_shares_nothing_is_always_elected() -> None:
    assert [await turn(Alone()) for _ in range(3)] == [True] * 3


async def test_while_one_is_at_it_no_other_is(tmp_path: Path) -> None:
    async with FileElection(tmp_path).turn("retention", 0) as is_mine:
        assert is_mine
        assert not await turn(FileElection(tmp_path), 0)
        assert await turn(FileElection(tmp_path), 0, "consolidation")
    assert await turn(FileElection(tmp_path), 0)


async def test_of_many_at_once_one_is_elected(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        entered = [stack.enter_async_context(FileElection(tmp_path).turn("retention", 60)) for _ in range(8)]
        assert sum(await asyncio.gather(*entered)) == 1


@pytest.mark.parametrize(
    ("later", "is_elected"),
    [(0.0, False), (59.0, False), (60.0, True), (-3_600.0, True)],  # the last: the clock was set back
)
async def test_what_was_done_lately_is_not_done_again(later: float, is_elected: bool, tmp_path: Path) -> None:
    assert await turn(at(tmp_path, 1_000_000.0))
    assert await turn(at(tmp_path, 1_000_000.0 + later)) is is_elected


async def test_what_failed_was_not_done(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the disk"):
        async with FileElection(tmp_path).turn("retention", 60):
            raise OSError("the disk")
    assert await turn(FileElection(tmp_path))


async def test_nobody_is_elected_where_nothing_can_be_written(tmp_path: Path) -> None:
    assert not await turn(FileElection(tmp_path / "absent"))


async def test_a_file_that_says_nothing_says_never(tmp_path: Path) -> None:
    (tmp_path / "retention.turn").write_bytes(b"\xff not a time")
    assert await turn(FileElection(tmp_path))


def test_one_that_is_killed_at_it_makes_room(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert not asyncio.run(turn(FileElection(tmp_path)))
        holder.kill()
        holder.wait()
    eventually(lambda: asyncio.run(turn(FileElection(tmp_path))))
