"""What a process knows of desks: as the store has it, read in parts, dropped with what is forgotten."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from proxy.pipeline import desk_states
from proxy.pipeline.desk_states import DeskStates, Read
from proxy.storage.base import Part, StorageError
from proxy.types.desk import Board, DeskEvent, Ended, Pin, TapeLine
from tests.builders import NOW
from tests.desk.memory_store import MemoryDesks, is_a_store

SCOPE, SESSION = "ab/ana", "s"


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


@pytest.fixture
def store() -> MemoryDesks:
    return MemoryDesks()


@pytest.fixture
def states(store: MemoryDesks, executor: ThreadPoolExecutor) -> DeskStates:
    return DeskStates(is_a_store(store), executor)


def line(link: bytes) -> TapeLine:
    return TapeLine(0, link, NOW, "user", 3, b"{}")


def pinned(link: bytes) -> DeskEvent:
    return DeskEvent(NOW, "r", Pin(link))


async def read(states: DeskStates, session: str = SESSION) -> Read:
    return (await states.read(SCOPE, session))[0]


async def test_what_is_written_is_known_at_once_and_read_once(states: DeskStates, store: MemoryDesks) -> None:
    known = await states.write(SCOPE, SESSION, await read(states), [line(b"1")], [pinned(b"1")])
    assert (known.state.links, known.state.pins) == ({1: b"1"}, frozenset({b"1"}))
    assert (await read(states)).state == known.state
    asked = [call for call in store.calls if call == "since"]
    assert len(asked) == 2
    assert (known.state.event, known.state.line) == (1, 1)


async def test_two_processes_know_the_same(
    states: DeskStates, store: MemoryDesks, executor: ThreadPoolExecutor
) -> None:
    other = DeskStates(is_a_store(store), executor)
    mine, theirs = await read(states), await read(other)
    theirs = await other.write(SCOPE, SESSION, theirs, [line(b"1"), line(b"2")], [pinned(b"1")])
    mine = await states.write(SCOPE, SESSION, mine, [line(b"2"), line(b"3")], [pinned(b"3")])
    # Of messages the ids are known at once, of what others did in between nothing yet.
    assert {mine.state.lines[link].id for link in (b"2", b"3")} == {2, 3}
    assert (await read(states)).state == (await read(other)).state
    assert (await read(states)).state.links == {1: b"1", 2: b"2", 3: b"3"}
    assert (await read(states)).state.pins == {b"1", b"3"}


async def test_sessions_share_nothing(states: DeskStates) -> None:
    await states.write(SCOPE, SESSION, await read(states), [line(b"1")], [DeskEvent(NOW, "", Ended("person"))])
    other = await read(states, "t")
    assert (other.state.links, other.state.ended) == ({}, "")


@pytest.mark.parametrize("how", ["forgotten", "erased", "foreign"])
async def test_what_is_forgotten_in_storage_is_read_again(how: str, executor: ThreadPoolExecutor) -> None:
    store, foreign = MemoryDesks(), [0]

    async def foreign_writes(_scope: str, _part: Part) -> int:
        return foreign[0]

    states = DeskStates(is_a_store(store), executor, foreign_writes)
    board = DeskEvent(NOW, "r", Board(b"1", "quotes a secret", "high", ""))
    await states.write(SCOPE, SESSION, await read(states), [], [board])
    store.all_events[SCOPE, SESSION] = []
    assert (await read(states)).state.boards
    match how:
        case "forgotten":
            states.forget()
        case "erased":
            states.drop(SCOPE)
        case _:
            foreign[0] = 1
    assert not (await read(states)).state.boards


async def test_a_reading_that_began_before_something_was_forgotten_is_not_kept(
    states: DeskStates, store: MemoryDesks
) -> None:
    before = await read(states)
    states.forget()
    await states.write(SCOPE, SESSION, before, [], [DeskEvent(NOW, "r", Board(b"1", "text", "high", ""))])
    store.all_events[SCOPE, SESSION] = []
    assert not (await read(states)).state.boards


async def test_single_conversations_of_an_erased_scope_leave_with_it(states: DeskStates, store: MemoryDesks) -> None:
    single = f"{SCOPE}~s"
    known, _ = await states.read(single, SESSION)
    await states.write(single, SESSION, known, [], [pinned(b"1")])
    store.all_events.clear()
    states.drop(SCOPE)
    known, _ = await states.read(single, SESSION)
    assert known.state.pins == set()


async def test_a_large_desk_is_read_each_time(
    states: DeskStates, store: MemoryDesks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_states, "MOST_OF_ONE", 1_000)
    board = DeskEvent(NOW, "r", Board(b"1", "x" * 2_000, "high", ""))
    await states.write(SCOPE, SESSION, await read(states), [], [board])
    store.all_events[SCOPE, SESSION] = []
    assert not (await read(states)).state.boards


async def test_a_store_that_fails_is_told(states: DeskStates, store: MemoryDesks) -> None:
    store.fails = {"documents"}
    with pytest.raises(StorageError):
        await states.read(SCOPE, SESSION)
