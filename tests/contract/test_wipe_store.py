"""What every WipeStore does, whatever it puts aside what was remembered in."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.postgres.wipes import PostgresWipes
from proxy.storage.recollection import Archive, FactStore, Wiped, WipeStore
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact, Utterance
from tests import stores
from tests.contract.model import ModelArchive, ModelFacts
from tests.contract.model_wipes import ModelWipes
from tests.examples import examples
from tests.postgres import opened

NOW = 1_700_000_000.5
TTL = 90 * 86_400.0
WEEK = 7 * 86_400.0
VECTORS = np.array([[0.5, 0.5, -0.5, 0.5]], np.float32)
COMMAND = b"command".ljust(16, b"\0")


def link(name: str) -> bytes:
    return name.encode().ljust(16, b"\0")


def turn(number: int, at: float = NOW - 100) -> ArchivedTurn:
    asked, answered = link(f"{number} asked"), link(f"{number} answered")
    said = (Utterance("user", f"q{number}", asked), Utterance("assistant", f"a{number}", answered))
    parent = link(f"{number - 1} answered") if number > 1 else b""
    return ArchivedTurn(answered, parent, "s", number, at + number, b"[]", said)


def fact(number: int, at: float = NOW - 100, **differing: Any) -> Fact:
    value = f"I have {number} cats"
    made = Fact(f"f-{number}", "personal", f"cats-{number}", value, "high", "explicit", "s", number, at + number, at)
    return replace(made, links=(link(f"{number} asked"),), **differing)


@dataclass
class House:
    facts: FactStore
    archive: Archive
    wipes: WipeStore

    def learn(self, *numbers: int, at: float = NOW - 100, scope: str = "a/") -> None:
        self.facts.put(scope, [fact(number, at) for number in numbers])
        for number in numbers:
            self.archive.add(scope, turn(number, at), VECTORS)

    def wipe(self, at: float = NOW, *, scope: str = "a/", undo: float = WEEK, links: Sequence[bytes] = ()) -> None:
        self.wipes.wipe(scope, (*links, COMMAND), at=at, until=at + undo)

    async def flush(self) -> None:
        await self.facts.flush()
        await self.archive.flush()
        await self.wipes.flush()

    async def known(self, scope: str = "a/") -> tuple[list[int], list[int]]:
        """Numbers of the facts and turns that are remembered."""
        await self.flush()
        turns = (await self.archive.changes(scope, 0, NOW)).entries
        return sorted(each.turn for each in await self.facts.all(scope)), sorted(each.number for each, _ in turns)


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[House]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield House(SqliteFacts(database), SqliteArchive(database, TTL), SqliteWipes(database))
    finally:
        await database.close()


def memory(folder: Path) -> AbstractAsyncContextManager[House]:
    return sqlite(folder, name=None)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[House]:
    async with opened(folder) as database:
        yield House(PostgresFacts(database), PostgresArchive(database, TTL), PostgresWipes(database))


BACKENDS: dict[str, Callable[[Path], AbstractAsyncContextManager[House]]] = {
    "file": sqlite,
    "memory": memory,
    "postgres": postgres,
}


@pytest.fixture(params=BACKENDS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with BACKENDS[request.param](tmp_path) as opened:
        yield opened


class TestWipeStore:
    @pytest.mark.parametrize("flushed", [True, False])
    async def test_what_was_wiped_nobody_reads_and_a_restore_brings_it_back_as_it_was(
        self, house: House, flushed: bool
    ) -> None:
        house.learn(1, 2)
        if flushed:
            await house.flush()
        house.wipe()
        assert await house.known() == ([], [])
        assert await house.facts.scopes() == []
        assert await house.facts.find("f-1") is None
        assert await house.archive.known("a/", [turn(1).link]) == set()
        assert await house.archive.path("a/", turn(2).link, 9) == []
        assert await house.archive.latest("a/", "s") is None
        assert await house.wipes.wiped(NOW) == [Wiped("a/", 2, 2, NOW + WEEK)]
        assert [[each.turn for each in wipe] for wipe in await house.wipes.facts("a/", NOW)] == [[1, 2]]
        house.wipes.restore("a/", NOW + 9)
        house.wipes.restore("a/", NOW + 9)
        await house.flush()
        assert await house.facts.all("a/") == [fact(1), fact(2)]
        entries = (await house.archive.changes("a/", 0, NOW)).entries
        assert [each for each, _ in entries] == [turn(1), turn(2)]
        assert all(vectors is not None and vectors.tolist() == VECTORS.tolist() for _, vectors in entries)
        assert await house.archive.path("a/", turn(2).link, 9) == [turn(1), turn(2)]
        assert await house.archive.latest("a/", "s") == turn(2)
        assert await house.wipes.wiped(NOW) == []

    async def test_what_was_wiped_does_not_come_again_with_a_history(self, house: House) -> None:
        house.learn(1)
        house.wipe(links=[link("9 asked")])
        house.archive.add("a/", turn(1), None)
        house.archive.add("a/", turn(9), None)
        assert await house.known() == ([], [])
        forgotten = {turn(1).link, link("1 asked"), link("9 asked"), COMMAND}
        assert forgotten <= set((await house.archive.changes("a/", 0, NOW)).gone)
        assert await house.archive.forgotten_at("a/", sorted(forgotten)) == dict.fromkeys(forgotten, NOW)

    async def test_a_reader_is_told_of_both(self, house: House) -> None:
        house.learn(1)
        await house.flush()
        seen = await house.archive.changes("a/", 0, NOW)
        house.wipe()
        await house.flush()
        wiped = await house.archive.changes("a/", seen.upto, NOW)
        assert (wiped.entries, set(wiped.gone)) == ((), {turn(1).link, link("1 asked"), COMMAND})
        house.wipes.restore("a/", NOW)
        await house.flush()
        restored = await house.archive.changes("a/", wiped.upto, NOW)
        assert [each for each, _ in restored.entries] == [turn(1)]
        assert (restored.gone, set(restored.back)) == ((), {turn(1).link, link("1 asked"), COMMAND})

    async def test_a_turn_that_came_back_is_forgotten_by_its_messages(self, house: House) -> None:
        house.learn(1, 2)
        house.wipe()
        house.wipes.restore("a/", NOW)
        house.archive.forget("a/", [link("1 asked")])
        assert (await house.known())[1] == [2]
        house.archive.add("a/", turn(1), None)
        assert (await house.known())[1] == [2]

    async def test_what_is_learnt_in_between_stays(self, house: House) -> None:
        house.learn(1)
        house.wipe()
        house.learn(2, at=NOW)
        newer = fact(1, NOW + 5, value="I have no cats")
        house.facts.put("a/", [newer])
        house.wipes.restore("a/", NOW + 9)
        assert await house.known() == ([1, 2], [1, 2])
        assert newer in await house.facts.all("a/")

    async def test_a_second_wipe_keeps_both(self, house: House) -> None:
        house.learn(1)
        house.wipe()
        house.learn(2, at=NOW)
        house.wipe(NOW + 50)
        house.wipe(NOW + 50)  # it was sent again
        assert await house.known() == ([], [])
        house.wipes.restore("a/", NOW + 60)
        assert await house.known() == ([1, 2], [1, 2])

    async def test_the_newest_is_undone_alone_and_then_the_one_before(self, house: House) -> None:
        house.learn(1)
        house.wipe()
        house.learn(2, at=NOW)
        house.wipe(NOW + 50)
        (newest,) = await house.wipes.wiped(NOW + 60)
        assert newest == Wiped("a/", 1, 1, NOW + 50 + WEEK)
        assert [[each.turn for each in wipe] for wipe in await house.wipes.facts("a/", NOW, newest.until)] == [[2]]
        for _ in range(2):  # once more is as good as once
            house.wipes.restore("a/", NOW + 60, newest.until)
            assert await house.known() == ([2], [2])
        house.archive.add("a/", turn(1), None)  # comes again with a history
        assert await house.known() == ([2], [2])
        (before,) = await house.wipes.wiped(NOW + 60)
        assert before == Wiped("a/", 1, 1, NOW + WEEK)
        house.wipes.restore("a/", NOW + 60, before.until)
        assert await house.known() == ([1, 2], [1, 2])
        assert await house.wipes.wiped(NOW + 60) == []

    async def test_a_wipe_that_found_nothing_hides_none_before_it(self, house: House) -> None:
        house.learn(1)
        house.wipe()
        house.wipe(NOW + 50)
        (newest,) = await house.wipes.wiped(NOW + 60)
        assert newest == Wiped("a/", 1, 1, NOW + WEEK)
        house.wipes.restore("a/", NOW + 60, newest.until)
        assert await house.known() == ([1], [1])
        assert await house.archive.forgotten_at("a/", [COMMAND, turn(1).link]) == {}

    async def test_each_until_its_own_time(self, house: House) -> None:
        house.learn(1)
        house.wipe()
        house.learn(2, at=NOW)
        house.wipe(NOW + 50)
        house.wipes.restore("a/", NOW + WEEK)
        assert await house.known() == ([2], [2])
        house.wipes.restore("a/", NOW)
        assert await house.known() == ([2], [2])

    @pytest.mark.parametrize("pruned", [True, False])
    async def test_after_its_time_it_is_gone(self, house: House, pruned: bool) -> None:
        house.learn(1)
        house.wipe()
        if pruned:
            house.wipes.prune(NOW + WEEK)
        assert await house.wipes.wiped(NOW + WEEK) == []
        assert await house.wipes.facts("a/", NOW + WEEK) == []
        house.wipes.restore("a/", NOW + WEEK)
        assert await house.known() == ([], [])
        house.archive.add("a/", turn(1), None)
        assert await house.known() == ([], [])

    async def test_where_it_cannot_be_undone_it_is_gone_at_once(self, house: House) -> None:
        house.learn(1)
        house.wipe(undo=0.0)
        assert await house.wipes.wiped(NOW - 1) == []
        house.wipes.restore("a/", NOW - 1)
        assert await house.known() == ([], [])

    async def test_what_is_said_later_than_the_command_is_not_meant(self, house: House) -> None:
        house.learn(1)
        house.learn(2, at=NOW)
        house.wipe()
        assert await house.known() == ([2], [2])

    async def test_what_was_aside_and_is_forgotten_by_itself_does_not_come_back(self, house: House) -> None:
        house.learn(1, 2)
        house.wipe()
        house.wipes.forget("a/", [fact(1)])
        assert await house.wipes.wiped(NOW) == [Wiped("a/", 1, 1, NOW + WEEK)]
        house.wipes.restore("a/", NOW)
        house.archive.add("a/", turn(1), None)
        assert await house.known() == ([2], [2])

    async def test_what_may_come_again_does_and_may_be_forgotten_again(self, house: House) -> None:
        house.learn(1)
        house.wipe()
        house.archive.lift("a/", [link("1 asked"), turn(1).link, link("2 asked")])
        again = turn(1, NOW)
        house.archive.add("a/", again, VECTORS)
        assert await house.known() == ([], [1])
        assert await house.archive.forgotten_at("a/", [again.link]) == {}
        house.wipe(NOW + 50)
        assert await house.known() == ([], [])
        house.archive.add("a/", turn(1, NOW), None)
        assert await house.known() == ([], [])
        house.wipes.restore("a/", NOW + 60)
        assert await house.known() == ([1], [1])

    async def test_what_is_aside_is_told_wipe_by_wipe(self, house: House) -> None:
        house.learn(2, 1)
        house.wipe(NOW)
        house.learn(3, at=NOW + 60)
        house.wipe(NOW + 90)
        told = [[each.turn for each in wipe] for wipe in await house.wipes.facts("a/", NOW + 99)]
        assert (sorted(told[0]), told[1:]) == ([1, 2], [[3]])

    async def test_nothing_crosses_a_scope(self, house: House) -> None:
        house.learn(1)
        house.learn(1, scope="b/")
        house.wipe()
        house.wipes.restore("b/", NOW)
        house.wipes.forget("b/", [fact(1)])
        assert await house.known() == ([], [])
        assert await house.known("b/") == ([1], [1])
        house.wipe(scope="b/")
        assert [each.scope for each in await house.wipes.wiped(NOW)] == ["a/", "b/"]
        assert [each.scope for each in await house.wipes.wiped(NOW, "b/")] == ["b/"]
        assert [each.scope for each in await house.wipes.wiped(NOW, limit=1)] == ["a/"]
        assert [each.scope for each in await house.wipes.wiped(NOW, after="a/", limit=9)] == ["b/"]
        assert await house.wipes.wiped(NOW, after="b/") == []
        assert await house.wipes.wiped(NOW, "a/", after="a/") == []
        house.wipes.restore("a/", NOW)
        assert await house.known() == ([1], [1])
        assert await house.known("b/") == ([], [])

    async def test_a_wipe_of_nothing_leaves_nothing_to_bring_back(self, house: House) -> None:
        house.wipe()
        house.wipes.prune(NOW)
        assert await house.wipes.wiped(NOW) == []
        house.wipes.restore("a/", NOW)
        assert await house.known() == ([], [])


steps = st.lists(
    st.tuples(
        st.sampled_from(["learn", "learn", "wipe", "wipe", "restore", "undo", "forget", "lift", "prune", "flush"]),
        st.sampled_from(["a/", "b/"]),
        st.integers(1, 3),
    ),
    max_size=12,
)


async def did(house: House, step: str, scope: str, number: int, now: float) -> None:
    match step:
        case "learn":
            house.learn(number, at=now - 5, scope=scope)
        case "wipe":
            house.wipe(now, scope=scope, undo=45.0, links=[link(f"{number} asked")])
        case "restore":
            house.wipes.restore(scope, now)
        case "undo":
            for newest in await house.wipes.wiped(now, scope):
                house.wipes.restore(scope, now, newest.until)
        case "forget":
            house.facts.forget(scope, [f"f-{number}"])
            house.archive.forget(scope, fact(number).links, now)
            house.wipes.forget(scope, [fact(number)])
        case "lift":
            house.archive.lift(scope, [link(f"{number} asked"), turn(number).link])
        case "prune":
            house.wipes.prune(now)
        case _:
            await house.flush()


@pytest.mark.long
@pytest.mark.parametrize("name", BACKENDS)
@given(steps=steps)
@example(steps=[("learn", "a/", 1), ("wipe", "a/", 1), ("lift", "a/", 1), ("wipe", "a/", 1)])
@example(steps=[("wipe", "a/", 2), ("forget", "a/", 2), ("restore", "a/", 1)])
@example(
    steps=[("learn", "a/", 1), ("wipe", "a/", 1), ("lift", "a/", 1), ("forget", "a/", 1), ("learn", "a/", 1)],
)
@settings(max_examples=examples(60), deadline=None)
def test_whatever_happens_it_remembers_and_can_bring_back_what_the_model_does(
    name: str, steps: list[tuple[str, str, int]]
) -> None:
    async def played(house: House) -> list[object]:
        for at, (step, scope, number) in enumerate(steps):
            now = NOW + 10 * at
            await did(house, step, scope, number, now)
            await house.flush()
        asked = [link(f"{number} {who}") for number in (1, 2, 3) for who in ("asked", "answered")]
        after = NOW + 10 * len(steps)
        return [
            *[await house.known(scope) for scope in ("a/", "b/")],
            *[(await house.archive.forgotten_at(scope, asked)).keys() for scope in ("a/", "b/")],
            [(each.scope, each.facts, each.turns) for each in await house.wipes.wiped(after)],
        ]

    async def both() -> None:
        facts, archive = ModelFacts(), ModelArchive(TTL)
        with tempfile.TemporaryDirectory() as folder:
            async with BACKENDS[name](Path(folder)) as house:
                assert await played(house) == await played(House(facts, archive, ModelWipes(facts, archive)))

    asyncio.run(both())


async def test_off_keeps_nothing() -> None:
    nothing = stores.nothing()
    house = House(stores.facts(nothing), stores.archive(nothing), stores.wipes(nothing))
    house.learn(1)
    house.wipe()
    house.wipes.forget("a/", [fact(1)])
    house.wipes.prune(NOW)
    house.wipes.restore("a/", NOW)
    assert (await house.known(), await house.wipes.wiped(NOW), await house.wipes.facts("a/", NOW)) == (([], []), [], [])


async def test_what_was_said_just_before_a_wipe_and_is_stored_after_it_is_refused(house: House) -> None:
    """A process was still learning it while another carried out the wipe."""
    house.learn(1, at=NOW - 5)
    house.wipe(NOW)
    await house.flush()
    house.learn(2, at=NOW - 10)
    house.learn(3, at=NOW + 1)
    await house.flush()
    assert await house.known() == ([3], [3])
    house.wipes.restore("a/", NOW + 2)
    await house.flush()
    house.learn(2, at=NOW - 10)  # said before a wipe that has been undone
    await house.flush()
    assert await house.known() == ([1, 2, 3], [1, 2, 3])
