"""Whatever saves a file, however it does that, memory has it in a moment; and what memory learns is in the file."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import watchfiles

from proxy.files.names import folder_of
from proxy.files.syncing import Synced, Syncs
from proxy.files.watching import Watcher
from proxy.storage.base import StorageError
from proxy.tasks import Tasks
from proxy.types import Fact
from tests.files.syncing_once import SCOPE, Stored
from tests.files.test_merging import fact
from tests.stores import AtOnce

OTHER = SCOPE.replace("ana", "Bob")


class House:
    """A watcher over two people, and what it has done."""

    def __init__(self, root: Path, *, is_watching: bool = True, scan: float = 3_600.0) -> None:
        self.root = root
        self.stored = Stored(AtOnce())
        self.done: asyncio.Queue[Synced] = asyncio.Queue()
        self.failures: list[str] = []
        self.tasks = Tasks()
        self.foreign = 0
        self.executor = ThreadPoolExecutor(1)
        self.watcher = Watcher(
            Syncs(root, self.stored, self.executor),
            scopes=self.stored.store.scopes,
            version=self.version,
            tasks=self.tasks,
            scan=scan,
            again=0.01,
            is_watching=is_watching,
            on_synced=self.done.put_nowait,
            on_failure=lambda stage, reason: self.failures.append(f"{stage} {reason}"),
        )

    async def version(self, _: str) -> int:
        return self.foreign

    def file(self, scope: str = SCOPE) -> Path:
        return self.root / folder_of(scope) / "MEMORY.md"

    async def until(self, is_so: Callable[[], object]) -> None:
        async with asyncio.timeout(100):
            while not is_so():
                await self.done.get()

    async def holding(self, scope: str = SCOPE) -> set[str]:
        return {each.value for each in await self.stored.facts(scope) if each.superseded_by is None}

    async def knows(self, said: str) -> None:
        async with asyncio.timeout(100):
            while said not in await self.holding():
                await self.done.get()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path / "memory")
    await begun(made)
    yield made
    await ended(made)


async def begun(house: House) -> None:
    house.stored.store.put(SCOPE, [fact(1, "fact 1"), fact(2, "fact 2"), fact(3, "fact 3"), fact(4, "fact 4")])
    house.stored.store.put(OTHER, [fact(5, "fact 5")])
    house.watcher.start()
    await house.until(lambda: house.file().exists() and house.file(OTHER).exists())
    await house.watcher.settled()


async def ended(house: House) -> None:
    house.watcher.stop()
    await house.tasks.drain(5.0)
    house.executor.shutdown()


def in_place(file: Path, text: str) -> None:  # nano, VS Code
    file.write_text(text)


def renamed(file: Path, text: str) -> None:  # Obsidian, VS Code on some systems
    other = file.with_name(".MEMORY.md.tmp-1234")
    other.write_text(text)
    other.rename(file)


def as_vim(file: Path, text: str) -> None:
    file.rename(file.with_name("MEMORY.md~"))
    file.with_name(".MEMORY.md.swp").write_text("swap")
    with file.open("w") as new:
        new.write(text)
        new.flush()
        os.fsync(new.fileno())
    file.with_name("MEMORY.md~").unlink()
    file.with_name(".MEMORY.md.swp").unlink()


def cut_off_first(file: Path, text: str) -> None:
    with file.open("w") as new:
        new.flush()
        for line in text.splitlines(keepends=True):
            new.write(line)
            new.flush()


@pytest.mark.note("Sync/2", "Archivos/2", "Gotchas/1")
@pytest.mark.parametrize("save", [in_place, renamed, as_vim, cut_off_first])
async def test_an_edit_is_in_memory_whatever_editor_saves_it(house: House, save: Callable[[Path, str], None]) -> None:
    text = house.file().read_text()
    save(house.file(), text.replace("fact 1 ", "fact one ") + "- I have a dog\n")
    await house.knows("I have a dog")
    assert await house.holding() == {"fact one", "fact 2", "fact 3", "fact 4", "I have a dog"}
    assert await house.holding(OTHER) == {"fact 5"}
    await house.watcher.settled()
    assert "- I have a dog <!-- o:" in house.file().read_text()
    assert house.failures == []


@pytest.mark.note("Sync/1", "Archivos/2")
async def test_what_memory_learns_is_in_the_file(house: House) -> None:
    house.stored.store.put(SCOPE, [fact(9, "learnt")])
    house.watcher.changed(SCOPE)
    await house.until(lambda: "- learnt <!--" in house.file().read_text())


async def test_a_conversation_that_nobody_can_tell_whose_it_is_has_no_file(house: House) -> None:
    house.stored.store.put(f"{SCOPE}~chat", [fact(9, "private")])
    house.watcher.changed(f"{SCOPE}~chat")
    await house.watcher.scanned()
    await house.watcher.settled()
    assert len(list(house.root.glob("*/*/MEMORY.md"))) == 2


@pytest.mark.note("Decisiones/3", "Variables/2")
async def test_without_a_watcher_the_scan_finds_what_was_saved_and_what_others_have_learnt(tmp_path: Path) -> None:
    house = House(tmp_path, is_watching=False)
    await begun(house)
    assert await house.watcher.scanned() == 2  # what was written has changed the files
    await house.watcher.settled()
    assert await house.watcher.scanned() == 0
    renamed(house.file(), house.file().read_text() + "- I have a dog\n")
    assert await house.watcher.scanned() == 1
    await house.watcher.settled()
    assert "I have a dog" in await house.holding()
    await house.watcher.scanned()
    await house.watcher.settled()
    house.stored.store.put(SCOPE, [fact(9, "learnt elsewhere")])
    house.foreign += 1
    await house.watcher.scanned()
    await house.watcher.settled()
    assert "learnt elsewhere" in house.file().read_text()
    await ended(house)


async def test_of_a_folder_that_came_with_all_that_is_in_it_all_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system is busy, that is every new one: what is written in it before it is watched is not told."""
    is_watching, told = asyncio.Event(), asyncio.Queue[Path]()

    async def watch(*_: object, **__: object) -> AsyncIterator[set[tuple[watchfiles.Change, str]]]:
        is_watching.set()
        while True:
            yield {(watchfiles.Change.added, str(await told.get()))}

    monkeypatch.setattr(watchfiles, "awatch", watch)
    house = House(tmp_path)
    await begun(house)
    async with asyncio.timeout(100):
        await is_watching.wait()
    await house.watcher.scanned()  # after the one that began when it was watched
    await house.watcher.settled()
    renamed(house.file(), house.file().read_text() + "- I have a dog\n")
    told.put_nowait(house.file().parents[1])
    await house.knows("I have a dog")
    await ended(house)


async def test_a_root_that_vanishes_comes_back_and_is_watched(house: House) -> None:
    shutil.rmtree(house.root)
    await house.watcher.scanned()
    await house.watcher.settled()
    assert len(await house.holding()) == 4
    await house.watcher.scanned()  # finds that another root stands there
    await house.watcher.settled()
    in_place(house.file(), house.file().read_text() + "- I have a dog\n")
    await house.knows("I have a dog")
    assert len(await house.holding()) == 5


@pytest.mark.note("Sync/3", "Gotchas/2")
async def test_no_loop_comes_of_it(house: House) -> None:
    """Our own write is seen, and the sync that follows finds nothing to do."""
    house.file().write_text(house.file().read_text() + "- I have a dog\n")
    await house.knows("I have a dog")
    await house.watcher.settled()
    async with asyncio.timeout(100):
        while (await house.done.get()).is_written:
            pass
    await house.watcher.settled()
    assert house.done.empty()


async def test_storage_that_fails_is_tried_again(house: House) -> None:
    class Failing(Stored):
        left = 1

        async def facts(self, scope: str) -> list[Fact]:
            if self.left:
                self.left -= 1
                raise StorageError("away")
            return await super().facts(scope)

    house.watcher.syncs.memory = failing = Failing.__new__(Failing)
    failing.store = house.stored.store
    house.file().write_text(house.file().read_text() + "- I have a dog\n")
    await house.knows("I have a dog")
    assert house.failures == ["files StorageError"]
