"""Tapes of people on disk follow the store of desks: new lines, forgotten ones, wipes; several processes, and kills."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from proxy.files.folder import Folder
from proxy.files.layout import SESSIONS
from proxy.files.taping import DONE, Taping
from proxy.storage.desk import DeskStore
from proxy.tasks import Tasks
from proxy.types.desk import TapeLine
from tests.builders import NOW
from tests.contract import test_desk_store
from tests.contract.test_desk_store import BACKENDS

WHO = f"{'0123456789abcdef' * 2}/ana"


class Killed(BaseException):
    """The process is gone."""


@dataclass
class House:
    root: Path
    storage: test_desk_store.House
    tasks: Tasks = field(default_factory=Tasks)
    failed: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    dies_at: int = -1

    @property
    def desks(self) -> DeskStore:
        return self.storage.desks

    def tapes(self) -> Taping:
        return Taping(
            self.root,
            self.desks,
            ThreadPoolExecutor(1),
            self.tasks,
            most=1 << 20,
            on_failure=lambda _stage, why: self.failed.append(why),
            on_step=self._step,
            gathered=0.0,
        )

    def _step(self, name: str) -> None:
        if len(self.steps) == self.dies_at:
            raise Killed
        self.steps.append(name)

    async def say(self, session: str, *numbers: int) -> None:
        lines = [TapeLine(0, bytes([n]) * 16, NOW + n, "user", 1, json.dumps({"n": n}).encode()) for n in numbers]
        await self.desks.write(WHO, session, lines)

    def told(self, session: str = "s") -> list[dict[str, Any]]:
        file = Folder(self.root, WHO).path / SESSIONS / session / "session_log.jsonl"
        return [json.loads(each) for each in file.read_text().splitlines()]

    def sessions(self) -> list[str]:
        return sorted(each.name for each in (Folder(self.root, WHO).path / SESSIONS).iterdir() if each.is_dir())


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with BACKENDS["file"](tmp_path / "storage") as storage:
        yield House(tmp_path / "memory", storage)


@pytest.mark.note("SMMA 4/7", "SMMA 4/8")
async def test_what_the_store_has_is_on_disk_once(house: House) -> None:
    tapes = house.tapes()
    await house.say("s", 1, 2)
    await house.say("t", 3)
    await tapes.carry(WHO)
    await house.say("s", 4)
    await tapes.carry(WHO)
    await tapes.carry(WHO)
    assert [(row["id"], row["content"]["n"]) for row in house.told()] == [(1, 1), (2, 2), (3, 4)]
    assert [row["content"]["n"] for row in house.told("t")] == [3]


async def test_news_are_carried_in_the_background(house: House) -> None:
    tapes = house.tapes()
    await house.say("s", 1)
    tapes.changed(WHO)
    await tapes.settled()
    assert len(house.told()) == 1
    assert house.failed == []


async def test_a_folder_that_cannot_be_used_is_counted_and_costs_nothing(house: House) -> None:
    tapes = house.tapes()
    await house.say("s", 1)
    house.root.write_text("a file")
    tapes.changed(WHO)
    await tapes.settled()
    assert house.failed


@pytest.mark.note("SMMA 8/5")
async def test_what_is_forgotten_has_a_line_without_content(house: House) -> None:
    tapes = house.tapes()
    await house.say("s", 1, 2)
    await tapes.carry(WHO)
    (line, _) = await house.desks.tape(WHO, "s")
    house.storage.archive.forget(WHO, [line.link], NOW)
    await tapes.carry(WHO)
    assert [(row["id"], row["content"]) for row in house.told()] == [(1, None), (2, {"n": 2})]


@pytest.mark.parametrize("dies_at", range(4))
async def test_a_kill_at_any_step_loses_and_doubles_nothing(house: House, dies_at: int) -> None:
    await house.say("s", 1, 2)
    await house.say("t", 3)
    house.dies_at = dies_at
    with suppress(Killed):
        await house.tapes().carry(WHO)
    house.dies_at = -1
    await house.tapes().carry(WHO)
    assert [row["id"] for row in house.told()] == [1, 2]
    assert [row["id"] for row in house.told("t")] == [1]


async def test_two_processes_write_each_line_once(house: House) -> None:
    one, two = house.tapes(), house.tapes()
    for number in range(1, 31):
        await house.say("s", number)
        await asyncio.gather(one.carry(WHO), two.carry(WHO))
    assert [row["id"] for row in house.told()] == list(range(1, 31))


async def test_what_a_person_removes_is_written_again(house: House) -> None:
    tapes = house.tapes()
    await house.say("s", 1)
    await tapes.carry(WHO)
    shutil.rmtree(Folder(house.root, WHO).path / SESSIONS)
    await tapes.carry(WHO)
    assert len(house.told()) == 1


async def test_a_number_that_cannot_be_read_costs_only_time(house: House) -> None:
    tapes = house.tapes()
    await house.say("s", 1)
    await tapes.carry(WHO)
    (Folder(house.root, WHO).path / SESSIONS / DONE).write_text("?")
    await tapes.carry(WHO)
    assert len(house.told()) == 1


async def test_what_tells_something_else_than_the_store_is_written_anew(house: House) -> None:
    await house.say("s", 1, 2)
    await house.tapes().carry(WHO)
    file = Folder(house.root, WHO).path / SESSIONS / "s" / "session_log.jsonl"
    file.write_text(file.read_text().replace(house.told()[1]["timestamp"], "1999-01-01T00:00:00.000Z"))
    (file.parent.parent / DONE).write_text("0")
    await house.tapes().carry(WHO)
    assert [row["content"]["n"] for row in house.told()] == [1, 2]
    assert "1999" not in file.read_text()


async def test_sessions_that_the_store_has_no_more_leave_the_disk(house: House) -> None:
    await house.say("s", 1)
    tapes = house.tapes()
    await tapes.carry(WHO)
    sessions = Folder(house.root, WHO).path / SESSIONS
    shutil.copytree(sessions / "s", sessions / "gone")
    await tapes.carry(WHO)
    assert house.sessions() == ["s"]


async def test_a_scan_finds_what_other_processes_have_changed(house: House) -> None:
    await house.say("s", 1)
    await house.tapes().carry(WHO)
    await house.say("s", 2)
    tapes = house.tapes()
    await tapes.scanned()
    await tapes.settled()
    assert len(house.told()) == 2


async def test_what_was_wiped_has_no_content_until_it_is_restored(house: House) -> None:
    tapes = house.tapes()
    await house.say("s", 1)
    await tapes.carry(WHO)
    house.storage.wipes.wipe(WHO, [], at=NOW + 9, until=NOW + 99)
    await tapes.carry(WHO)
    assert [row["content"] for row in house.told()] == [None]
    house.storage.wipes.restore(WHO, NOW + 20)
    await tapes.carry(WHO)
    assert [row["content"] for row in house.told()] == [{"n": 1}]


async def test_a_wipe_leaves_it_to_the_store_and_an_erasure_removes_it(house: House) -> None:
    await house.say("s", 1)
    await house.tapes().carry(WHO)
    folder = Folder(house.root, WHO)
    folder.put_aside(NOW + 1)
    assert house.sessions() == ["s"]
    folder.remove()
    assert not folder.path.exists()
