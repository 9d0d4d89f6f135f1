"""The memory of a large scope as bytes: what is loaded is what was stored, less what was forgotten; a second process
that loads it finds what the first one does."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import time

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory import kinds, shelving
from proxy.memory.library import Library
from proxy.memory.predictions import KINDS
from proxy.memory.recall import Query, rank
from proxy.memory.shelf import Shelf
from proxy.memory.shelving import FEWEST, GROWTH, is_due, packing, unpack
from proxy.memory.turn_index import TurnIndex
from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.recollection import Archive, ArchiveChanges, StoredShelf
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact
from tests import stores
from tests.examples import examples
from tests.memory.indexed import link, path, turn, vector
from tests.postgres import opened

DAY = 86_400.0
WORDS = ("boat", "harbour", "5433", "Marigold", "ñ🙂\0", "")
TURNS = [
    turn(number, f"{WORDS[number % 6]} {number}", f"{WORDS[number % 5]} noted", session=f"s{number % 3}")
    for number in range(1, 13)
]
SAID = [said.link for each in TURNS for said in each.utterances]


def shelf_of(turns: list[ArchivedTurn], *, embedded: frozenset[bytes] = frozenset()) -> Shelf:
    shelf, index = Shelf(), TurnIndex()
    entries = [
        (each, np.stack([vector(text) for text in index.texts(each)]) if each.link in embedded else None)
        for each in turns
    ]
    shelf.take(ArchiveChanges(entries=tuple(entries)))
    return shelf


def packed(shelf: Shelf, upto: int = 7) -> StoredShelf | None:
    return finished(packing(shelf, upto))


def finished(steps: Generator[None, None, StoredShelf | None]) -> StoredShelf | None:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: StoredShelf | None = end.value
            return found


def found(index: TurnIndex, asked: str) -> list[tuple[str, float]]:
    ranked = rank(index, Query(asked, vector(asked), path(*TURNS)))
    return [
        (index.message(int(number)).text, score)
        for number, score in zip(ranked.view.messages, ranked.scores.tolist(), strict=True)
    ]


links = st.sets(st.sampled_from([*SAID, *(each.link for each in TURNS)]), max_size=5).map(frozenset)


@settings(max_examples=examples(60), deadline=None)
@given(
    turns=st.lists(st.sampled_from(TURNS), max_size=12, unique_by=lambda each: each.link),
    embedded=links,
    forgotten=links,
    since=links,
    asked=st.sampled_from(WORDS[:4]),
)
def test_what_is_loaded_is_what_was_stored_without_what_was_forgotten(
    turns: list[ArchivedTurn],
    embedded: frozenset[bytes],
    forgotten: frozenset[bytes],
    since: frozenset[bytes],
    asked: str,
) -> None:
    shelf = shelf_of(turns, embedded=embedded)
    shelf.forget(forgotten, 9.0)
    stored = packed(shelf)
    assert stored is not None
    assert stored.upto == 7
    assert stored.oldest == min((m.at for m in map(shelf.index.find, SAID) if m is not None), default=0.0)
    loaded = Shelf(forgotten=since)  # by this process, before it had read anything
    assert unpack(loaded, stored) == forgotten
    shelf.forget(since, 9.0)
    shelf.settle()
    assert found(loaded.index, asked) == found(shelf.index, asked)
    assert loaded.kept == shelf.kept
    assert (loaded.upto, loaded.unstored) == (7, 0.0)
    # What still has no vectors gets them in this process, too.
    for each in list(loaded.owed.values()):
        vectors = np.stack([vector(text) for text in loaded.index.texts(each)])
        loaded.put_vectors([(each, vectors)])
    assert [each for each in loaded.owed.values() if loaded.may_keep(each)] == []


def test_what_is_forgotten_while_it_is_packed_is_not_stored() -> None:
    shelf = shelf_of(TURNS)
    steps = packing(shelf, 7)
    next(steps)
    shelf.forget(frozenset({SAID[0]}), 9.0)
    assert finished(steps) is None
    again = packed(shelf)
    assert again is not None
    assert SAID[0] not in msgspec.msgpack.decode(again.shelf)["index"]


@pytest.mark.parametrize("gone", [SAID[0], TURNS[0].link])
def test_what_another_process_has_forgotten_gets_no_vectors_here(gone: bytes) -> None:
    shelf = shelf_of(TURNS[:2])
    shelf.take(ArchiveChanges(gone=(gone, *(said.link for said in TURNS[0].utterances))))
    assert list(shelf.owed) == [TURNS[1].link]
    made = [(each, np.stack([vector(text) for text in shelf.index.texts(each)])) for each in TURNS[:2]]
    assert [turn.link for turn, _ in shelf.put_vectors(made)] == [TURNS[1].link]
    assert all(said.link not in shelf.index for said in TURNS[0].utterances)


def test_what_expired_before_it_was_stored_does_not_come_back_with_its_vectors() -> None:
    shelf = shelf_of(TURNS[:2])
    assert finished(packing(shelf, 7, until=TURNS[0].at)) is not None
    left = [each.link for each in TURNS[:2] if each.at > TURNS[0].at]
    assert list(shelf.owed) == left
    vectors = np.stack([vector(text) for text in TurnIndex().texts(TURNS[0])])
    assert shelf.put_vectors([(TURNS[0], vectors)]) == []


def test_a_damaged_part_of_it_costs_its_words_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as damaged:
        damaged.setattr(zlib, "compress", lambda _part, _level: b"no part")
        stored = packed(shelf_of(TURNS))
    loaded = Shelf()
    assert stored is not None
    assert unpack(loaded, stored) == frozenset()
    assert {each.text for each in map(loaded.index.find, SAID) if each is not None} == {""}


def test_its_lock_is_free_between_two_steps() -> None:
    shelf = shelf_of(TURNS)
    steps = packing(shelf, 7)
    for _ in steps:
        assert not shelf.lock.locked()
        shelf.put(replace(turn(99, "in between", "yes")), None)
    assert link("99.0") in shelf.index


@pytest.mark.parametrize("data", [b"", b"\x80", b"no shelf", msgspec.msgpack.encode({"index": b"", "kept": []})])
def test_other_bytes_are_no_shelf(data: bytes) -> None:
    loaded = Shelf()
    assert unpack(loaded, StoredShelf(7, 0.0, data)) is None
    assert (len(loaded.index), loaded.upto) == (0, 0)


def test_a_shelf_that_has_something_already_is_left_alone() -> None:
    stored, loaded = packed(shelf_of(TURNS)), shelf_of(TURNS[:1])
    assert stored is not None
    assert unpack(loaded, stored) is None
    assert len(loaded.index) == 2


@pytest.mark.parametrize(
    ("messages", "unstored", "due"),
    [
        (FEWEST - 2, FEWEST, False),
        (FEWEST, FEWEST / 2, True),
        (FEWEST, 0.0, False),
        (FEWEST, FEWEST / 2 / GROWTH - 1, False),
        (FEWEST, FEWEST / 2 / GROWTH, True),
    ],
)
def test_it_is_stored_once_it_has_grown_enough(messages: int, unstored: float, *, due: bool) -> None:
    shelf = shelf_of([turn(number, "q", "a") for number in range(messages // 2)])
    assert shelf.unstored == messages // 2
    shelf.unstored = unstored
    assert is_due(shelf) is due


def test_vectors_that_came_count_for_less_than_turns() -> None:
    shelf = shelf_of(TURNS[:2])
    shelf.put(TURNS[0], np.stack([vector(text) for text in shelf.index.texts(TURNS[0])]))
    assert shelf.unstored == 2.5


def test_what_comes_while_it_is_packed_is_left_to_the_next_time() -> None:
    shelf, loaded = shelf_of(TURNS[:3]), Shelf()
    steps = packing(shelf, 7)
    next(steps)
    shelf.put(TURNS[3], None)
    stored = finished(steps)
    assert stored is not None
    unpack(loaded, stored)
    assert TURNS[3].utterances[0].link not in loaded.index
    loaded.put(TURNS[3], None)
    assert found(loaded.index, "harbour") == found(shelf.index, "harbour")


def test_what_expires_soon_is_not_stored_and_leaves_the_index() -> None:
    shelf, loaded = shelf_of(TURNS[:5]), Shelf()
    stored = finished(packing(shelf, 7, until=2.0))
    assert stored is not None
    assert stored.oldest == 3.0
    unpack(loaded, stored)
    for each in (shelf, loaded):
        assert [TURNS[at].utterances[-1].link in each.index for at in range(3)] == [False, False, True]
    assert set(loaded.index.until(3.0)) == {said.link for said in TURNS[2].utterances if said.text}


# --- two processes over one archive -----------------------------------------------------------------------------------


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Archive]:
    database = Database(folder / "db", Tasks())
    yield SqliteArchive(database, 90 * DAY)
    await database.close()


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[Archive]:
    async with opened(folder) as database:
        yield PostgresArchive(database, 90 * DAY)


BACKENDS = {"sqlite": sqlite, "postgres": postgres}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scope of a few messages counts as a large one."""
    monkeypatch.setattr(shelving, "FEWEST", 4)


class Process:
    """A process that reads the shelf of the scope `a`."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.tasks = Tasks()
        self.executor = ThreadPoolExecutor(1)
        parts = stores.remembering()
        self.library = Library(parts["facts"], archive, parts["states"], parts["wipes"], self.executor, self.tasks)

    async def read(self) -> Shelf:
        shelf = await self.library.shelf("a")
        await self.library.indexes.read("a", shelf, seconds=20.0)
        await self.tasks.drain(20.0)
        await self.archive.flush()
        self.executor.shutdown()
        return shelf


def now(each: ArchivedTurn, days: float = 0.0) -> ArchivedTurn:
    return replace(each, at=time() - days * DAY + each.number)


@asynccontextmanager
async def two(kind: str, folder: Path) -> AsyncIterator[tuple[Archive, Archive]]:
    """The archive as each of two processes has it."""
    backend: AbstractAsyncContextManager[Archive] = BACKENDS[kind](folder)
    async with backend as one, BACKENDS[kind](folder) as other:
        yield one, other


@pytest.mark.long
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", BACKENDS)
async def test_a_second_process_finds_what_the_first_one_does(kind: str, tmp_path: Path) -> None:
    async with two(kind, tmp_path) as (one, other):
        for each in TURNS[:8]:
            one.add("a", now(each), None)
        await one.flush()
        first = await Process(one).read()
        stored = await other.shelf("a", time())
        assert stored is not None
        assert await other.shelf("b", time()) is None
        one.add("a", now(TURNS[8]), None)  # later than it was stored
        one.forget("a", [TURNS[0].utterances[0].link])
        await one.flush()
        assert await other.shelf("a", time()) is None
        other.keep_shelf("a", stored)  # by a process that has not heard of it: it is older than that
        await other.flush()
        assert await one.shelf("a", time()) is None
        second = await Process(other).read()
        assert [said in second.index for said in SAID[:2]] == [False, False]
        first.forget(frozenset(said.link for said in TURNS[0].utterances), time())
        first.take(ArchiveChanges(entries=((now(TURNS[8]), None),)))
        for asked in WORDS[:4]:
            assert found(second.index, asked) == found(first.index, asked)
        assert await one.shelf("a", time()) is not None  # the second one has stored it again


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", BACKENDS)
async def test_it_is_loaded_and_only_what_came_later_is_read(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two(kind, tmp_path) as (one, other):
        for each in TURNS[:8]:
            one.add("a", now(each), None)
        await one.flush()
        first = await Process(one).read()
        one.add("a", now(TURNS[8]), None)
        await one.flush()
        taken: list[ArchiveChanges] = []
        take = Shelf.take

        def watched(shelf: Shelf, changes: ArchiveChanges) -> None:
            taken.append(changes)
            take(shelf, changes)

        monkeypatch.setattr(Shelf, "take", watched)
        second = await Process(other).read()
        assert [entry.link for changes in taken for entry, _ in changes.entries] == [TURNS[8].link]
        assert (len(first.index), len(second.index)) == (16, 18)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", BACKENDS)
async def test_of_what_has_expired_nothing_is_loaded(kind: str, tmp_path: Path) -> None:
    async with two(kind, tmp_path) as (one, other):
        one.add("a", now(TURNS[0], days=88.0), None)
        for each in TURNS[1:8]:
            one.add("a", now(each), None)
        await one.flush()
        await Process(one).read()
        assert await other.shelf("a", time()) is not None
        assert await other.shelf("a", time() + 3 * DAY) is None
        one.prune(time() + 3 * DAY)
        await one.flush()
        assert await other.shelf("a", time()) is None
        second = await Process(other).read()
        assert SAID[0] not in second.index
        assert SAID[2] in second.index


async def test_a_small_scope_is_not_stored(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as archive:
        for each in TURNS:
            archive.add("a", now(each), None)
        await archive.flush()
        await Process(archive).read()
        assert await archive.shelf("a", time()) is None


async def test_what_is_forgotten_while_the_shelf_is_stored_is_in_no_stored_one(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as archive:
        for each in TURNS[:4]:
            archive.add("a", now(each), None)
        await archive.flush()
        upto = (await archive.changes("a", 0, time())).upto
        stored = packed(shelf_of(TURNS[:4]), upto)
        assert stored is not None
        archive.forget("a", [SAID[0]])
        archive.keep_shelf("a", stored)
        await asyncio.sleep(0)
        await archive.flush()
        assert await archive.shelf("a", time()) is None


def test_what_was_computed_of_a_fact_is_loaded_as_long_as_it_says_the_same() -> None:
    says, said = (Fact(name, "d", name, f"The {name} is red", "high", "explicit", "s", 1, 1.0, 1.0) for name in "ab")
    shelf = shelf_of(TURNS)
    shelf.facts = {"a": says, "b": said}
    shelf.fact_vectors = {name: vector(name) for name in "ab"}
    expected = kinds.shares(says.value)
    stored = packed(shelf)
    assert stored is not None
    loaded = Shelf(facts={"a": says, "b": replace(said, value="The b is blue")})
    kinds.learn(says.value, np.zeros(len(KINDS)))
    assert unpack(loaded, stored) == frozenset()
    assert list(loaded.fact_vectors) == ["a"]
    assert loaded.fact_vectors["a"] == pytest.approx(vector("a"), abs=1e-3)
    assert kinds.shares(says.value).tolist() == expected.tolist()
