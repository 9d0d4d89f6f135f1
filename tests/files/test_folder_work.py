"""Work on folders: in its order, however the disk is, and no more than may wait."""

import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proxy.files.folder import Folder
from proxy.files.folder_work import WAITING, FolderWork
from proxy.tasks import Tasks
from tests.embedding.engines import until
from tests.files.test_remembering import WHO


@dataclass
class House:
    root: Path
    tasks: Tasks = field(default_factory=Tasks)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def work(self, **numbers: Any) -> FolderWork:
        return FolderWork(self.root, self.tasks, lambda *what: self.failed.append(what), **numbers)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    opened = House(tmp_path)
    yield opened
    await opened.tasks.drain(10.0)


def _noted(done: list[int], number: int, _folder: Folder) -> None:
    done.append(number)


async def test_pieces_are_done_in_their_order_and_waited_for(house: House) -> None:
    work, done = house.work(), list[int]()
    for number in range(3):
        assert work.put(WHO, partial(_noted, done, number)) is not None
    assert work.pending == 3
    await work.settled(WHO)
    assert (done, work.pending) == ([0, 1, 2], 0)
    assert work.put(f"{WHO}~a conversation", lambda _folder: None) is None
    work.close()


async def test_what_fails_is_tried_again_if_it_shall_be(house: House) -> None:
    work, tried = house.work(pauses=(0.0, 0.0)), list[str]()

    def fails(name: str) -> Any:
        def piece(_folder: Folder) -> None:
            tried.append(name)
            raise OSError("full")

        return piece

    pieces = [work.put(WHO, fails("again")), work.put(WHO, fails("once"), again=False)]
    assert [None if piece is None else await piece.done for piece in pieces] == [None, None]
    assert tried == ["again", "again", "again", "once"]
    assert house.failed == [("files", "OSError")] * 4
    work.close()


async def test_what_waits_may_be_left_but_not_what_is_under_way(house: House) -> None:
    work, gate, done = house.work(), threading.Event(), list[int]()

    def waits(folder: Folder) -> None:
        gate.wait(5.0)
        _noted(done, 0, folder)

    first = work.put(WHO, waits)
    others = [work.put(WHO, partial(_noted, done, 1)) for _ in range(3)]
    work.leave(WHO)
    gate.set()
    assert first is not None
    assert await first.done is True
    assert [each is not None and await each.done for each in others] == [None] * 3
    assert done == [0]
    work.close()


@pytest.mark.note("Gotchas/3")
async def test_a_disk_that_hangs_is_given_up_and_work_beyond_a_bound_is_left_out(house: House) -> None:
    work, gate = house.work(deadline=0.01), threading.Event()
    work.put(WHO, lambda _folder: gate.wait(5.0))
    kept = [work.put(WHO, lambda _folder: None) for _ in range(WAITING + 1)]
    assert (kept[-2:], ("files", "Overrun") in house.failed) == ([None, None], True)
    assert work.put(WHO, lambda _folder: None, must=True) is not None
    await until(lambda: ("files", "deadline") in house.failed)
    gate.set()
    await house.tasks.drain(10.0)
    work.close()
