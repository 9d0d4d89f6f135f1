"""In a process that serves, what happens to memory is in the folders, and what people do there in memory."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.config.memory import MemoryFiles
from proxy.files.names import folder_of
from proxy.files.serving import Files, LibraryMemory
from proxy.memory.library import Library
from proxy.types import Fact
from proxy.types.curation import Digest, MemoryEvent
from tests import stores
from tests.files.syncing_once import SCOPE
from tests.files.test_merging import fact
from tests.memory.indexed import link, turn
from tests.memory.test_library import House
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
    await opened.tasks.drain(5.0)
    folder = tmp_path / folder_of(SCOPE)
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
