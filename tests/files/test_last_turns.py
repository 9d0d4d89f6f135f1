"""The last turns of a conversation are those on the path to its newest one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from proxy.files.last_turns import last_turns
from proxy.memory.beside import place
from proxy.memory.library import Library
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn
from tests import stores
from tests.files.held import talk

ONE, TWO, THREE = (
    talk(f"question {number}", f"answer {number}", number=number, at=float(number)) for number in (1, 2, 3)
)


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


def library(archive: SqliteArchive, executor: ThreadPoolExecutor) -> Library:
    return Library(stores.facts(), archive, stores.states(), stores.wipes(), executor, Tasks())


def texts(turns: object) -> list[str]:
    assert isinstance(turns, list)
    return [said.text for turn in turns if isinstance(turn, ArchivedTurn) for said in turn.utterances]


async def test_turns_to_which_the_path_does_not_lead_are_left_out(executor: ThreadPoolExecutor) -> None:
    archive = stores.archive()
    archive.add("a", ONE, None)
    archive.add("a", TWO, None)  # its history begins anew
    archive.add("a", replace(THREE, parent=TWO.link), None)
    found = await last_turns(library(archive, executor), executor, "a", "s")
    assert texts(found) == ["question 2", "answer 2", "question 3", "answer 3"]


async def test_where_nothing_is_archived_they_are_those_in_memory_but_for_those_of_files(
    executor: ThreadPoolExecutor,
) -> None:
    kept = library(SqliteArchive(stores.nothing(), 0.0), executor)
    shelf = await kept.shelf("a")
    place(shelf, [ONE])
    shelf.put(TWO, None)
    shelf.put(replace(THREE, session="t"), None)
    assert texts(await last_turns(kept, executor, "a", "s")) == ["question 2", "answer 2"]
    assert texts(await last_turns(kept, executor, "b", "s")) == []
