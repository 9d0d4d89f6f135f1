"""The index of a scope is read in the background, from a shelf and what came later, and stored again."""

import numpy as np
import pytest

from proxy.memory import shelving
from proxy.memory.commands import Order
from proxy.storage.recollection import ArchiveChanges, StoredShelf
from proxy.types import Forgetting
from tests.memory.indexed import link, turn
from tests.memory.libraries import TEA, House, SlowArchive, SlowFacts, read
from tests.stores import ForeignWriter


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelving, "FEWEST", 2)
    monkeypatch.setattr(shelving, "GROWTH", 4)


class BrokenArchive(SlowArchive):
    """Fails the first time."""

    async def changes(self, scope: str, after: int, now: float, limit: int = 2) -> ArchiveChanges:
        found = await super().changes(scope, after, now, limit)
        if len(self.asked) == 1:
            raise OSError("disk I/O error")
        return found


async def test_an_archive_that_cannot_be_read_is_counted_done_without_and_read_again() -> None:
    house, failed = House(archive=BrokenArchive()), []
    house.archive.add("a", turn(1, "q", "a"), None)
    library = house.library(on_fail_open=lambda *what: failed.append(what))
    assert len((await read(library)).index) == 0
    assert failed == [("archive", "OSError")]
    assert len((await read(library)).index) == 2
    assert len(failed) == 1
    await house.tasks.drain(5.0)
    house.executor.shutdown()


async def test_later_what_is_new_is_read_and_no_more(house: House) -> None:
    library = house.library(foreign_writes=ForeignWriter())
    assert len((await read(library)).index) == 0
    house.archive.add("a", turn(1, "q", "a"), None)
    house.facts.put("a", [TEA])
    shelf = await read(library)
    assert (len(shelf.index), shelf.facts) == (2, {TEA.id: TEA})
    upto = shelf.upto
    await read(library)
    assert house.archive.asked[-1] == upto > 0


async def test_what_nobody_else_has_written_is_not_read_again() -> None:
    house = House(facts=(facts := SlowFacts()))
    library = house.library()
    for _ in range(3):
        await read(library)
    assert (facts.asked, len(house.archive.asked)) == (1, 1)
    house.executor.shutdown()


async def test_a_turn_without_vectors_is_owed_them(house: House) -> None:
    library = house.library()
    shelf = await library.shelf("a")
    one, two = turn(1, "q", "a"), turn(2, "q", "a")
    shelf.put(one, None)
    shelf.put(two, np.ones((2, 4), np.float32))
    assert set(shelf.owed) == {one.link}
    shelf.put(one, np.ones((2, 4), np.float32))
    assert shelf.owed == {}


async def test_nobody_waits_long_for_an_index_that_is_read_in_the_background(house: House) -> None:
    house.archive.add("a", turn(1, "q", "a"), None)
    house.archive.gate.clear()
    library = house.library()
    shelf = await library.shelf("a")
    await library.indexes.read("a", shelf, seconds=0.0)
    await library.indexes.read("a", shelf, seconds=0.0)
    assert len(shelf.index) == 0
    house.archive.gate.set()
    await house.tasks.drain(5.0)
    assert len(shelf.index) == 2
    assert house.archive.asked.count(0) == 1


async def test_scopes_that_were_not_needed_for_longest_are_let_go(house: House) -> None:
    library = house.library(most_bytes=20_000)
    for scope in ("a", "b", "c"):
        house.archive.add(scope, turn(1, "q" * 9_000, "a"), None)
        await read(library, scope)
    before = len(house.archive.asked)
    await read(library, "c")
    assert len(house.archive.asked) == before
    assert len((await read(library, "a")).index) == 2  # it is read again
    assert len(house.archive.asked) > before


@pytest.mark.usefixtures("small")
async def test_a_process_that_has_not_served_a_scope_reads_its_shelf_and_what_came_later(house: House) -> None:
    for number in range(1, 6):
        house.archive.add("a", turn(number, f"q{number}", "a"), None)
    upto = (await read(house.library())).upto
    await house.tasks.drain(5.0)
    house.archive.add("a", turn(6, "q6", "a"), None)
    house.archive.asked.clear()
    shelf = await read(house.library())
    assert min(house.archive.asked) == upto
    assert (len(shelf.index), len(shelf.kept)) == (12, 6)


@pytest.mark.usefixtures("small")
async def test_a_shelf_that_cannot_be_read_is_made_from_the_turns(house: House) -> None:
    for number in range(1, 6):
        house.archive.add("a", turn(number, f"q{number}", "a"), None)
    upto = (await read(house.library())).upto
    await house.tasks.drain(5.0)
    house.archive.keep_shelf("a", StoredShelf(upto, 1.0, b"no shelf"))
    await house.tasks.drain(5.0)
    house.archive.asked.clear()
    shelf = await read(house.library())
    assert house.archive.asked[:2] == [upto, 0]  # what came later is in vain
    assert (len(shelf.index), shelf.upto) == (10, upto)


@pytest.mark.usefixtures("small")
async def test_one_that_only_learns_stores_what_it_has_learnt(house: House) -> None:
    library = house.library(foreign_writes=ForeignWriter())
    house.archive.add("a", turn(1, "q1", "a"), None)
    shelf = await read(library)
    await house.tasks.drain(5.0)
    for number in range(2, 5):
        said = turn(number, f"q{number}", "a")
        shelf.put(said, None)
        library.keep_turn("a", said, None)
    library.indexes.keep("a", shelf)
    await house.tasks.drain(5.0)
    house.archive.asked.clear()
    assert len((await read(house.library())).index) == 8
    assert min(house.archive.asked) >= shelf.upto > 1  # not even its own turns are read again


@pytest.mark.usefixtures("small")
async def test_what_is_forgotten_comes_back_from_no_shelf(house: House) -> None:
    house.facts.put("a", [TEA])
    house.archive.add("a", turn(1, "I like tea", "Noted"), None)
    house.archive.add("a", turn(2, "q", "a"), None)
    library = house.library()
    shelf = await read(library)
    await house.tasks.drain(5.0)
    assert await house.archive.shelf("a", 1.0) is not None
    await library.forget("a", [TEA])
    assert await house.archive.shelf("a", 1.0) is None
    shelf.unstored = 2.0
    library.indexes.keep("a", shelf)
    await house.tasks.drain(5.0)
    other = await read(house.library())
    assert link("1.0") not in other.index
    assert link("2.0") in other.index
    assert link("1.0") in other.forgotten


@pytest.mark.usefixtures("small")
async def test_a_shelf_that_is_wiped_while_it_is_being_stored_is_not_kept(house: House) -> None:
    house.archive.add("a", turn(1, "q", "a"), None)
    library = house.library()
    shelf = await read(library)
    await house.tasks.drain(5.0)
    stored = await house.archive.shelf("a", 0.0)
    shelf.put(turn(2, "q", "a"), None)
    library.indexes.keep("a", shelf)
    library.hide("a", Order((Forgetting(""),), at=9.0))
    await house.tasks.drain(5.0)
    assert await house.archive.shelf("a", 0.0) == stored
