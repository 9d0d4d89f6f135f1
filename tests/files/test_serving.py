"""In a process that serves, what happens to memory is in the folders, and what people do there in memory."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from proxy.config.memory import MemoryFiles, MemoryTools
from proxy.files.desk_syncing import desk_files
from proxy.files.names import folder_of
from proxy.files.serving import Files, LibraryMemory
from proxy.files.syncing import Synced
from proxy.memory.library import Library
from proxy.storage.desk import DeskStore
from proxy.types import Fact
from proxy.types.curation import Digest, MemoryEvent
from tests import stores
from tests.files.syncing_once import SCOPE
from tests.files.test_merging import fact
from tests.memory.indexed import link, turn
from tests.memory.libraries import House
from tests.servers import eventually

TEA = fact(1, "I like tea", links=(link("1.0"),))


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[tuple[Library, Files, House]]:
    opened = House()
    storage = stores.storage(facts=opened.facts, archive=opened.archive)
    files = Files(MemoryFiles(path=tmp_path, scan=3_600.0), storage, opened.tasks, lambda *_: None, tape_mb=1)
    library = opened.library(watch=files, beside=files.beside)
    files.serve(library)
    files.start()
    yield library, files, opened
    files.stop()
    await opened.tasks.drain(5.0)
    files.close()
    opened.executor.shutdown()


async def until(there: Path, said: str) -> str:
    """Returns the text of a file once it says that."""
    await asyncio.to_thread(eventually, lambda: there.exists() and said in there.read_text())
    return await asyncio.to_thread(there.read_text)


async def learn(library: Library, *facts: Fact) -> None:
    library.learn(SCOPE, await library.shelf(SCOPE), facts)
    await library.facts.flush()


async def test_what_is_learnt_is_in_the_file_and_in_the_log(
    house: tuple[Library, Files, House], tmp_path: Path
) -> None:
    library, _, _ = house
    await learn(library, TEA)
    folder = tmp_path / folder_of(SCOPE)
    await until(folder / "MEMORY.md", "- I like tea <!-- o:")


async def test_what_is_written_in_the_file_the_next_request_has(
    house: tuple[Library, Files, House], tmp_path: Path
) -> None:
    library, files, _ = house
    await learn(library, TEA)
    file = tmp_path / folder_of(SCOPE) / "MEMORY.md"
    text = await until(file, "- I like tea <!-- o:")
    file.write_text(text + "- I have a dog\n")
    await files.watcher.sync(SCOPE)
    shelf = await library.shelf(SCOPE)
    assert "I have a dog" in {each.value for each in shelf.facts.values()}


async def test_a_conversation_that_ends_leaves_a_snapshot(house: tuple[Library, Files, House], tmp_path: Path) -> None:
    _, files, opened = house
    opened.archive.add(SCOPE, turn(1, "I grow roses", "How nice"), None)
    await files.ended(SCOPE, turn(1, "q", "a").session, "idle")
    (snapshot,) = (tmp_path / folder_of(SCOPE) / "snapshots").glob("*.md")
    assert "I grow roses" in snapshot.read_text()


async def test_what_a_model_finds_is_in_the_log_and_names_the_snapshot(
    house: tuple[Library, Files, House], tmp_path: Path
) -> None:
    _, files, opened = house
    said = turn(1, "I grow roses", "How nice")
    opened.archive.add(SCOPE, said, None)
    await files.ended(SCOPE, said.session, "idle")
    files.happened(SCOPE, [MemoryEvent("e-1", 0.0, said.session, 1, "A garden was made", said.link)])
    files.digested(SCOPE, Digest("day", 0.0, "All about gardens.", by_model=True))
    files.named(SCOPE, said.session, "garden")
    folder = tmp_path / folder_of(SCOPE)
    await until(folder / "1970-01-01.md", "gardens")
    await asyncio.to_thread(eventually, lambda: [*(folder / "snapshots").glob("*-garden.md")])
    assert [line.partition(" <!--")[0] for line in (folder / "1970-01-01.md").read_text().splitlines()[2:]] == [
        "- 00:00 noted: A garden was made",
        "- 23:59 digest: All about gardens.",
    ]
    assert len(list((folder / "snapshots").glob("*-garden.md"))) == 1


async def test_history_that_was_forgotten_while_a_sync_was_under_way_does_not_come_back(
    house: tuple[Library, Files, House],
) -> None:
    library, _, _ = house
    await learn(library, TEA)
    memory = LibraryMemory()
    memory.library = library
    await library.forget(SCOPE, [TEA])
    ended = fact(1, "I like tea", superseded_by="f-0000000000000009", superseded_at=5.0)
    await memory.write(SCOPE, [ended, fact(9, "I like coffee")], {TEA.id})
    assert [each.value for each in await library.facts.all(SCOPE)] == ["I like coffee"]
    assert await memory.forgotten(SCOPE, ["I like tea", "I like coffee"]) == {"I like tea"}


async def test_who_is_erased_is_not_looked_after_any_more(house: tuple[Library, Files, House], tmp_path: Path) -> None:
    library, files, _ = house
    await learn(library, TEA)
    await until(tmp_path / folder_of(SCOPE) / "MEMORY.md", "tea")
    await files.watcher.settled()
    files.drop(SCOPE)
    assert SCOPE not in files.watcher.last


@dataclass
class Desk:
    """Memory as files where the model has tools, and the folder of a person whose first document is there."""

    files: Files
    store: DeskStore
    elsewhere: DeskStore  # the same, as another process has it
    folder: Path
    done: asyncio.Queue[Synced]

    async def taken(self, name: str) -> None:
        """Returns once a file was taken."""
        async with asyncio.timeout(100):
            while name not in (await self.done.get()).documents:
                pass


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    opened = House()
    database = stores.AtOnce()
    store, elsewhere = stores.desks(database), stores.desks(database)
    storage = stores.storage(facts=opened.facts, archive=opened.archive, desks=store)
    syncing = desk_files(MemoryTools(enabled=True), store, len)
    files = Files(MemoryFiles(path=tmp_path, scan=3_600.0), storage, opened.tasks, lambda *_: None, syncing, tape_mb=1)
    files.serve(opened.library(watch=files, beside=files.beside))
    made = Desk(files, store, elsewhere, tmp_path / folder_of(SCOPE), asyncio.Queue())
    files.watcher.on_synced = made.done.put_nowait
    files.start()
    await store.put(SCOPE, "plan.md", "one\n", version=0, at=1.0, by="model")
    await until(made.folder / "plan.md", "one")
    await files.watcher.settled()
    yield made
    files.stop()
    await opened.tasks.drain(5.0)
    files.close()
    opened.executor.shutdown()


async def test_what_the_model_writes_is_in_its_file_soon(desk: Desk) -> None:
    assert "remember" in (desk.folder / "identity.md").read_text()
    await desk.store.put(SCOPE, "plan.md", "two\n", version=1, at=2.0, by="model")
    await until(desk.folder / "plan.md", "two")


async def test_what_a_person_writes_is_a_document_soon(desk: Desk) -> None:
    (desk.folder / "ideas.md").write_text("an idea\n")
    await desk.taken("ideas.md")
    (desk.folder / "plan.md").write_text("mine\n")
    await desk.taken("plan.md")
    assert [each.text for each in await desk.elsewhere.documents(SCOPE)] == ["an idea\n", "mine\n"]


async def test_what_another_process_has_written_is_found_by_the_scan(desk: Desk) -> None:
    await desk.files.watcher.scanned()
    await desk.files.watcher.settled()
    assert await desk.files.watcher.scanned() == 0
    await desk.elsewhere.put(SCOPE, "plan.md", "two\n", version=1, at=2.0, by="model")
    assert await desk.files.watcher.scanned() == 1
    await desk.files.watcher.settled()
    assert (desk.folder / "plan.md").read_text() == "two\n"
