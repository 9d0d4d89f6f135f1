"""What each scope remembers, and that nothing crosses a scope, is overtaken, or comes back."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from proxy.memory.commands import Order
from proxy.memory.library import Library, undo
from proxy.storage.base import Part, StorageError
from proxy.storage.pending import WriterLimits
from proxy.storage.recollection import FactStore, Wiped, WipeStore
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database, NoDatabase
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.sessions import SqliteStates
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.tasks import Tasks
from proxy.types import Contents, Fact, Fold, Forgetting, Summary, VolatileBlock
from proxy.types.curation import Finished, StoredSummary
from tests import stores
from tests.memory.indexed import link, turn
from tests.memory.libraries import CHAIN, STATE, TEA, House, SlowFacts, read
from tests.stores import AtOnce, ForeignWriter


class StuckFacts(SlowFacts):
    """Cannot say what is on disk, for what was put is not there yet."""

    is_stuck = False

    async def all(self, scope: str) -> list[Fact]:
        if self.is_stuck:
            raise StorageError("the database cannot be written")
        return await super().all(scope)


# --- what a scope remembers -------------------------------------------------------------------------------------------


async def test_a_shelf_has_what_storage_keeps_of_its_scope_and_of_no_other(house: House) -> None:
    house.facts.put("a", [TEA])
    for number in (1, 2, 3, 4, 5):
        house.archive.add("a", turn(number, "q", "a"), None)
    house.archive.add("b", turn(9, "q", "a"), None)
    library = house.library()
    shelf, other = await read(library), await read(library, "b")
    assert (shelf.facts, len(shelf.index)) == ({TEA.id: TEA}, 10)
    assert (other.facts, len(other.index)) == ({}, 2)
    assert link("9.0") not in shelf.index
    assert await library.shelf("a") is shelf


async def test_what_was_read_just_now_is_not_read_again(house: House) -> None:
    library = house.library()
    await read(library)
    await read(library)
    assert (house.facts.asked, house.archive.asked) == (1, [0])


async def test_of_too_many_scopes_those_that_were_not_asked_for_longest_leave(house: House) -> None:
    library = house.library(most_shelves=2)
    house.facts.put("a", [TEA])
    for scope in ("a", "b", "a", "c"):
        await library.shelf(scope)
    assert library.held().scopes == 2
    assert (await library.shelf("b")).facts == {}
    assert (await library.shelf("a")).facts == {TEA.id: TEA}


async def test_while_the_disk_cannot_be_written_a_scope_keeps_what_is_in_memory() -> None:
    house = House(facts=(facts := StuckFacts()))
    library = house.library(foreign_writes=ForeignWriter())
    library.learn("a", await library.shelf("a"), [TEA])
    facts.is_stuck = True
    assert (await library.shelf("a")).facts == {TEA.id: TEA}
    with pytest.raises(StorageError):
        await library.shelf("b")  # nothing is known of what was promised to them
    house.executor.shutdown()


async def test_what_is_learnt_is_known_at_once_and_kept(house: House) -> None:
    library = house.library()
    shelf = await library.shelf("a")
    library.learn("a", shelf, [TEA])
    assert shelf.facts == {TEA.id: TEA}
    assert (await house.library().shelf("a")).facts == {TEA.id: TEA}


async def test_where_facts_are_not_kept_nothing_is_learnt(house: House) -> None:
    kept_nowhere = stores.facts(stores.nothing())
    library = Library(kept_nowhere, house.archive, house.states, stores.wipes(), house.executor, house.tasks)
    shelf = await library.shelf("a")
    library.learn("a", shelf, [TEA])
    assert shelf.facts == {}


async def test_a_reading_that_was_under_way_does_not_undo_what_was_learnt(house: House) -> None:
    library = house.library(foreign_writes=ForeignWriter())
    shelf = await library.shelf("a")
    house.facts.reading.clear()
    house.facts.gate.clear()

    async def learn() -> None:
        await house.facts.reading.wait()
        library.learn("a", shelf, [TEA])
        house.facts.gate.set()

    found, _ = await asyncio.gather(library.shelf("a"), learn())
    assert found.facts == {TEA.id: TEA}


# --- summaries that a model has made ----------------------------------------------------------------------------------


class Made:
    """The summaries of a store of jobs."""

    def __init__(self, *, keeps: bool = True) -> None:
        self.keeps = keeps
        self.of: dict[str, list[StoredSummary]] = {"a": [summarised(1)], "b": [summarised(2)]}
        self.asked: list[str] = []
        self.is_away = False
        self.meanwhile: Callable[[], object] = lambda: None

    async def summaries(self, scope: str) -> list[StoredSummary]:
        self.asked.append(scope)
        if self.is_away:
            raise StorageError("away")
        found = list(self.of[scope])
        self.meanwhile()
        return found


class Others:
    """Other processes, which write now and then."""

    writes = 0

    async def __call__(self, _scope: str, _part: Part) -> int:
        return self.writes


def summarised(number: int) -> StoredSummary:
    return StoredSummary(link(f"{number}.1"), "s", 1.0, Summary("tea", (), "", (), (), 1, number))


async def test_a_models_summaries_are_read_with_the_facts_and_when_one_is_made(house: House) -> None:
    made, others = Made(), Others()
    library = house.library(jobs=made, foreign_writes=others)
    assert (await library.shelf("a")).summaries == (summarised(1),)
    assert (await library.shelf("b")).summaries == (summarised(2),)
    assert (await library.shelf("a")).apart().summaries == (summarised(1),)
    assert made.asked == ["a", "b"]
    made.of["a"].append(summarised(3))
    assert (await library.shelf("a")).summaries == (summarised(1),)
    library.summarised("a")
    library.summarised("nobody's")
    assert (await library.shelf("a")).summaries == (summarised(1), summarised(3))
    made.of["a"].clear()
    others.writes += 1
    assert (await library.shelf("a")).summaries == ()
    assert made.asked == ["a", "b", "a", "a"]


async def test_where_no_jobs_are_kept_no_summaries_are_read(house: House) -> None:
    made = Made(keeps=False)
    assert (await house.library(jobs=made).shelf("a")).summaries is None
    assert made.asked == []
    assert (await house.library().shelf("a")).summaries is None


async def test_summaries_that_cannot_be_read_are_done_without_and_read_again(house: House) -> None:
    made = Made()
    made.is_away = True
    library = house.library(jobs=made)
    assert (await library.shelf("a")).summaries is None
    made.is_away = False
    assert (await library.shelf("a")).summaries == (summarised(1),)


async def test_a_summary_that_may_say_what_is_forgotten_is_used_no_more(house: House) -> None:
    house.facts.put("a", [TEA])
    made = Made()
    library = house.library(jobs=made)
    shelf = await library.shelf("a")
    order = Order((Forgetting("tea"),), at=2e9, chain=(link("9.0"),))
    library.hide("a", order)
    assert (await library.shelf("a")).summaries == ()
    made.of["a"] = []  # as storage forgets, in the same step
    await library.carry_out("a", order, lambda: library.orders.done("a", order))
    assert (await library.shelf("a")) is shelf
    assert (shelf.summaries, shelf.facts) == ((), {})
    made.of["a"] = [summarised(4)]
    library.summarised("a")
    assert (await library.shelf("a")).summaries == (summarised(4),)


async def test_a_summary_of_a_store_of_jobs_is_there_until_what_it_was_made_of_is_forgotten(house: House) -> None:
    database, read = AtOnce(), (link("1.0"), link("1.1"))
    facts, archive, jobs = stores.facts(database), stores.archive(database), stores.jobs(database)
    library = Library(facts, archive, house.states, stores.wipes(), house.executor, house.tasks, jobs=jobs)
    facts.put("a", [TEA])
    archive.add("a", turn(1, "I like tea", "Noted"), None)
    assert (await library.shelf("a")).summaries == ()
    for number, links in ((1, read), (2, (link("2.0"),))):
        jobs.arm("a", "extract", f"s-{number}", 0.0)
        job = await jobs.claim("me", 1.0, 60.0)
        assert job is not None
        assert await jobs.asked(job.id, "me", model="m", prompt="p", shown=b"", read=links)
        assert await jobs.answered(job.id, "me", b"{}", 0.0)
        assert await jobs.finish(job.id, "me", Finished(summary=summarised(number)), 2.0)
        library.summarised("a")
    assert (await library.shelf("a")).summaries == (summarised(1), summarised(2))
    await library.forget("a", [TEA])
    assert (await library.shelf("a")).summaries == (summarised(2),)


async def test_while_an_order_to_forget_is_not_carried_out_no_summaries_are_read(house: House) -> None:
    made, others = Made(), Others()
    library = house.library(jobs=made, foreign_writes=others)
    await library.shelf("a")
    order = Order((Forgetting(""),), at=9.0, chain=(link("9.0"),))
    library.hide("a", order)
    others.writes += 1
    assert (await library.shelf("a")).summaries is None
    made.of["a"] = [summarised(4)]
    await library.carry_out("a", order, lambda: library.orders.done("a", order))
    assert (await library.shelf("a")).summaries == (summarised(4),)


async def test_summaries_that_were_being_read_while_something_was_forgotten_are_read_again(house: House) -> None:
    house.facts.put("a", [TEA])
    made = Made()
    library = house.library(jobs=made)
    shelf = await library.shelf("a")

    def forget() -> None:
        made.of["a"], made.meanwhile = [summarised(4)], lambda: None
        shelf.forget(frozenset(TEA.links), 9.0)

    made.meanwhile = forget
    library.summarised("a")
    assert (await library.shelf("a")).summaries == ()
    await library.forget("a", [TEA])
    assert (await library.shelf("a")).summaries == (summarised(4),)


# --- forgetting -------------------------------------------------------------------------------------------------------


async def test_what_is_forgotten_is_in_no_index_and_does_not_come_back(house: House) -> None:
    house.facts.put("a", [TEA])
    house.archive.add("a", turn(1, "I like tea", "Noted"), None)
    house.archive.add("a", turn(2, "q", "a"), None)
    library = house.library()
    shelf = await read(library)
    await library.forget("a", [TEA])
    assert shelf.facts == {}
    assert link("1.0") not in shelf.index
    assert link("1.1") not in shelf.index  # the answer may repeat it
    assert link("2.0") in shelf.index
    assert {link("1.0"), link("1.1")} <= shelf.forgotten
    assert not shelf.may_keep(turn(1, "I like tea", "Noted"))
    library.keep_turn("a", turn(1, "I like tea", "Noted"), None)
    other = await read(house.library())
    assert (other.facts, len(other.index)) == ({}, 2)
    assert link("1.0") in other.forgotten


async def test_nor_once_it_is_embedded_that_was_being_so(house: House) -> None:
    house.facts.put("a", [TEA])
    library, said = house.library(), turn(1, "I like tea", "Noted")
    shelf = await read(library)
    shelf.put(said, None)
    await library.forget("a", [TEA])
    shelf.put(said, np.ones((2, 4), np.float32))
    assert (len(shelf.index), shelf.owed) == (0, {})


async def test_who_wipes_what_nobody_has_read_takes_a_place_among_the_shelves(house: House) -> None:
    library = house.library(most_shelves=2)
    for scope in ("a", "b", "c"):
        library.hide(scope, Order((Forgetting(""),), at=1.0))
    assert library.held().scopes == 2


async def test_what_repeats_it_is_known_by_its_messages_the_command_included(house: House) -> None:
    house.facts.put("a", [TEA])
    library, command = house.library(), link("9.0")
    assert not library.has_forgotten("a", TEA.links)
    await library.forget("a", [TEA], [command])
    assert [library.has_forgotten("a", [each]) for each in (*TEA.links, command, link("2.0"))] == [True, True, False]
    assert not library.has_forgotten("b", [command])


@pytest.mark.parametrize("memory", ["tenant/", "tenant/~s"])
async def test_nor_is_anything_kept_of_what_that_persons_requests_said(memory: str, house: House) -> None:
    contents = stores.contents()
    for scope in ("tenant/", "tenant/ana"):
        contents.put(Contents(scope, "req_1", "s", 1.0, b"I like tea"))
    house.facts.put(memory, [TEA])
    await house.library(contents=contents).forget(memory, [TEA])
    assert await contents.get("tenant/", "req_1") is None
    assert await contents.get("tenant/ana", "req_1") is not None


async def test_forgetting_nothing_costs_nothing(house: House) -> None:
    await house.library().forget("a", [])
    assert house.facts.asked == 0


async def test_a_fold_may_quote_what_is_forgotten_so_its_head_goes(house: House) -> None:
    house.facts.put("a", [TEA])
    library = house.library()
    folded = replace(
        STATE, fold=Fold(4, "<memory>tea</memory>", 9), volatile=VolatileBlock("<recalled>tea</recalled>", 9)
    )
    library.paths.keep("a", "s", CHAIN[3], folded)
    library.paths.keep("b", "s", CHAIN[3], folded)
    await library.forget("a", [TEA])
    found = await library.paths.last("a", CHAIN[:6])
    assert found is not None
    assert found[0].fold == Fold(4)
    assert found[0].volatile == VolatileBlock()
    assert await house.library().paths.last("a", CHAIN[:6]) is None  # and from storage
    assert await library.paths.last("b", CHAIN[:6]) == (folded, 4)


# --- while the database cannot be written -----------------------------------------------------------------------------


@asynccontextmanager
async def held(database: Database) -> AsyncIterator[None]:
    """By another process."""
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@dataclass
class OnDisk:
    database: Database
    library: Library

    async def learn(self) -> None:
        self.library.facts.put("a/", [TEA])
        self.library.archive.add("a/", turn(1, "I like tea", "Noted"), None)
        await self.library.facts.flush()

    async def known(self) -> tuple[int, int]:
        """Facts and turns."""
        entries = (await self.library.archive.changes("a/", 0, 0.0)).entries
        return len(await self.library.facts.all("a/")), len(entries)

    async def written(self) -> None:
        while self.database.writer.depth:  # noqa: ASYNC110 (it tries again by itself)
            await asyncio.sleep(0.001)


@pytest.fixture
async def on_disk(tmp_path: Path, house: House) -> AsyncIterator[OnDisk]:
    limits = WriterLimits(interval=0, pauses=(), retry=0.01)
    database = Database(tmp_path / "olvido.db", house.tasks, limits, lock_seconds=0.01)
    facts, archive, states = SqliteFacts(database), SqliteArchive(database, 1e12), SqliteStates(database)
    wipes = SqliteWipes(database)
    yield OnDisk(database, Library(facts, archive, states, wipes, house.executor, house.tasks, undo=60.0))
    await database.close()


@pytest.mark.parametrize("what", ["", "tea"], ids=["everything", "one fact"])
async def test_a_command_is_queued_once_hides_what_it_means_and_is_not_done_before_it_is_durable(
    what: str, on_disk: OnDisk
) -> None:
    await on_disk.learn()
    recorded: list[bool] = []
    order = Order((Forgetting(what),), at=1e10, chain=(link("9.0"),))

    async def obeyed() -> None:
        await on_disk.library.carry_out("a/", order, lambda: recorded.append(True))

    async with held(on_disk.database):
        depths = []
        for _ in range(3):
            with pytest.raises(StorageError):
                await obeyed()
            depths.append(on_disk.database.writer.depth)
        assert (recorded, len(set(depths))) == ([], 1)
        for reading in (on_disk.library.facts.all("a/"), on_disk.library.archive.changes("a/", 0, 0.0)):
            with pytest.raises(StorageError):
                await reading
    await on_disk.written()
    assert await on_disk.known() == (0, 0)
    await obeyed()
    assert recorded


async def test_what_cannot_be_brought_back_now_is_so_later_and_whoever_asks_is_told(on_disk: OnDisk) -> None:
    await on_disk.learn()
    on_disk.library.wipes.wipe("a/", [], at=1e10, until=2e10)
    assert await on_disk.known() == (0, 0)
    async with held(on_disk.database):
        with pytest.raises(StorageError):
            await on_disk.library.restore("a/")
    await on_disk.written()
    assert await on_disk.known() == (1, 1)


NOW, DAY = 1_700_000_000.0, 86_400.0


def lives(place: str, at: float) -> Fact:
    link = place.encode().ljust(16, b"\0")
    name = f"f-{place.lower():0>16}"
    return Fact(name, "personal", "residence", f"I live in {place}", "high", "explicit", "s", 1, at, at, links=(link,))


@pytest.fixture(params=["file", "memory"])
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[FactStore, WipeStore]]:
    database = Database(tmp_path / "olvido.db" if request.param == "file" else None, Tasks())
    yield SqliteFacts(database), SqliteWipes(database)
    await database.close()


async def undone(wipes: WipeStore, facts: FactStore) -> None:
    """The newest wipe of "a/"."""
    (newest,) = await wipes.wiped(NOW + 5 * DAY, "a/")
    await undo(wipes, facts, newest, NOW + 5 * DAY)


async def test_what_was_said_since_ends_what_comes_back(kept: tuple[FactStore, WipeStore]) -> None:
    facts, wipes = kept
    madrid, porto, rome = lives("Madrid", NOW), lives("Porto", NOW + 2 * DAY), lives("Rome", NOW + 4 * DAY)
    for at, said in ((NOW + DAY, madrid), (NOW + 3 * DAY, porto)):
        facts.put("a/", [said])
        wipes.wipe("a/", [], at=at, until=at + 7 * DAY)
    facts.put("a/", [rome])
    facts.put("b/", [replace(madrid, id="f-of-another")])
    await undone(wipes, facts)
    assert {fact.value: fact.superseded_by for fact in await facts.all("a/")} == {
        "I live in Porto": rome.id,
        "I live in Rome": None,
    }
    assert [[fact.value for fact in wipe] for wipe in await wipes.facts("a/", NOW + 5 * DAY)] == [["I live in Madrid"]]
    await undone(wipes, facts)
    assert {fact.value: fact.superseded_by for fact in await facts.all("a/")} == {
        "I live in Madrid": rome.id,  # Porto has been ended by then
        "I live in Porto": rome.id,
        "I live in Rome": None,
    }
    assert [fact.superseded_by for fact in await facts.all("b/")] == [None]
    assert await wipes.facts("a/", NOW + 5 * DAY) == []
    before = await facts.all("a/")
    await undo(wipes, facts, Wiped("a/", 1, 0, NOW + 8 * DAY), NOW + 5 * DAY)  # once more
    assert await facts.all("a/") == before


async def test_where_nothing_is_kept_nothing_comes_back() -> None:
    nothing = NoDatabase()
    facts = SqliteFacts(nothing)
    facts.put("a/", [lives("Rome", NOW)])
    await undo(SqliteWipes(nothing), facts, Wiped("a/", 1, 0, NOW + DAY), NOW)
    assert await facts.all("a/") == []
    await nothing.close()


async def test_edits_of_a_scopes_facts_wait_for_one_another_and_for_no_other_scope(on_disk: OnDisk) -> None:
    library, done = on_disk.library, list[str]()
    told = asyncio.Event()

    async def edit(scope: str, name: str) -> None:
        async with library.editing(scope):
            done.append(f"{name} begins")
            if scope == "b/":
                told.set()  # while the first one of the other scope is under way
            await told.wait()
            done.append(f"{name} ends")

    async with asyncio.timeout(30):
        await asyncio.gather(edit("a/", "first"), edit("a/", "second"), edit("b/", "another"))
    assert [each for each in done if "another" not in each] == [
        "first begins",
        "first ends",
        "second begins",
        "second ends",
    ]
    assert done[:2] == ["first begins", "another begins"]


async def test_an_edit_that_fails_or_is_given_up_lets_the_next_one_through(on_disk: OnDisk) -> None:
    library = on_disk.library
    with pytest.raises(StorageError):
        async with library.editing("a/"):
            raise StorageError("not today")
    async with asyncio.timeout(30), library.editing("a/"):
        pass
