"""Turns and facts get their vectors when a plan asks for them, the most urgent first, a scope after the other."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest

from proxy.embedding import EmbeddingUnavailable
from proxy.embedding.service import EngineEmbedder
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.memory.vectors import AT_ONCE, MOST_TURNS, VectorQueue
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact, Utterance
from tests import stores
from tests.embedding.engines import FakeEngine, unavailable, until


@dataclass
class House:
    engine: FakeEngine = field(default_factory=FakeEngine)
    archive: SqliteArchive = field(default_factory=stores.archive)
    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    tasks: Tasks = field(default_factory=Tasks)

    def __post_init__(self) -> None:
        self.library = Library(stores.facts(), self.archive, stores.states(), stores.wipes(), self.executor, self.tasks)
        self.embedder = EngineEmbedder(self.engine, retry_seconds=60)
        self.queue = VectorQueue(self.library, self.embedder, self.executor, self.tasks)

    async def open(self) -> None:
        self.embedder.start()
        await until(lambda: self.embedder.state != "warming")
        self.engine.runs.clear()

    async def said(self, scope: str, *texts: str) -> tuple[Shelf, list[ArchivedTurn]]:
        shelf, turns = await self.library.shelf(scope), [turn(text) for text in texts]
        for each in turns:
            shelf.put(each, None)
            self.library.keep_turn(scope, each, None)
            shelf.kept.add(each.link)
        return shelf, turns

    async def done(self) -> None:
        assert await self.tasks.drain(10.0) == 0
        assert self.queue.pending == 0


def turn(text: str) -> ArchivedTurn:
    link = text.encode()
    return ArchivedTurn(link, b"", "s", 1, 1.0, b"[]", (Utterance("user", text, link),))


def a_fact(name: str, value: str, superseded_by: str | None = None) -> Fact:
    return Fact(name, "food", name, value, "high", "explicit", "s", 1, 1.0, 1.0, superseded_by=superseded_by)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    opened = House()
    await opened.open()
    yield opened
    await opened.embedder.close()
    opened.executor.shutdown()


async def test_turns_are_embedded_in_the_order_of_their_urgency_and_kept(house: House) -> None:
    shelf, (one, two) = await house.said("a", "one", "two")
    await house.queue.turns("a", shelf, [two, one]).wait()
    assert house.engine.runs == [["two", "one"]]
    assert shelf.owed == {}
    entries = (await house.archive.changes("a", 0, 0.0)).entries
    found = {each.link: vectors for each, vectors in entries if vectors is not None}
    expected = await house.embedder.embed(["one", "two"])
    assert np.allclose([found[one.link][0], found[two.link][0]], expected, atol=1e-2)


async def test_what_several_requests_ask_for_is_made_once(house: House) -> None:
    shelf, turns = await house.said("a", "one", "two", "three")
    events = [house.queue.turns("a", shelf, turns[:2]), house.queue.turns("a", shelf, turns)]
    await asyncio.gather(*(event.wait() for event in events))
    assert sorted(text for run in house.engine.runs for text in run) == ["one", "three", "two"]


async def test_what_has_its_vectors_is_not_made_again(house: House) -> None:
    shelf, turns = await house.said("a", "one")
    await house.queue.turns("a", shelf, turns).wait()
    await house.queue.turns("a", shelf, turns).wait()
    assert house.engine.runs == [["one"]]


async def test_a_scope_with_much_to_embed_delays_no_other(house: House) -> None:
    many, of_many = await house.said("many", *[f"{number} of many" for number in range(3 * AT_ONCE)])
    few, of_few = await house.said("few", "one")
    house.queue.turns("many", many, of_many)
    house.queue.turns("few", few, of_few)
    await house.done()
    order = [text for run in house.engine.runs for text in run]
    assert order.index("one") <= AT_ONCE
    assert len(order) == 3 * AT_ONCE + 1


async def test_whoever_asks_waits_for_his_own_turns_alone(house: House) -> None:
    shelf, turns = await house.said("a", *[str(number) for number in range(4 * AT_ONCE)])
    others = house.queue.turns("a", shelf, turns[:-1])
    await house.queue.turns("a", shelf, turns[-1:]).wait()
    assert not others.is_set()
    await house.done()
    assert others.is_set()


async def test_turns_beyond_what_may_wait_are_owed_until_they_are_asked_for_again(house: House) -> None:
    shelf, turns = await house.said("a", *[str(number) for number in range(MOST_TURNS + 1)])
    house.queue.turns("a", shelf, turns)
    await house.done()
    assert list(shelf.owed) == [turns[-1].link]


async def test_what_is_forgotten_meanwhile_gets_no_vectors(house: House) -> None:
    shelf, turns = await house.said("a", "one", "two")
    house.engine.gate.clear()
    house.queue.turns("a", shelf, turns)
    await until(lambda: bool(house.engine.runs))
    shelf.forget(frozenset([turns[0].link]), 2.0)
    house.engine.gate.set()
    await house.done()
    with shelf.lock:
        shelf.settle()
    assert (len(shelf.index), len(shelf.owed)) == (1, 0)


async def test_without_an_embedder_nobody_waits() -> None:
    house = House(FakeEngine(unavailable))
    await house.open()
    shelf, turns = await house.said("a", "one")
    assert not house.queue.is_ready
    with pytest.raises(EmbeddingUnavailable):
        await house.queue.of(["one"])
    await house.queue.turns("a", shelf, turns).wait()
    await house.done()
    assert list(shelf.owed) == [turns[0].link]
    await house.embedder.close()
    house.executor.shutdown()


async def test_the_current_facts_get_their_vectors_once(house: House) -> None:
    shelf = Shelf()
    held = [a_fact("1", "tea"), a_fact("2", "milk"), a_fact("3", "gin", "2")]
    shelf.facts = {each.id: each for each in held}
    events = [house.queue.facts(shelf), house.queue.facts(shelf)]
    assert all(events)
    assert events[0] is events[1]
    await house.done()
    assert (set(shelf.fact_vectors), house.engine.runs) == ({"1", "2"}, [["tea", "milk"]])
    assert house.queue.facts(shelf) is None


async def test_many_facts_are_read_before(house: House) -> None:
    shelf = Shelf()
    held = [a_fact(str(number), f"I like tea {number}") for number in range(AT_ONCE + 1)]
    shelf.facts = {each.id: each for each in held}
    house.queue.facts(shelf)
    await house.done()
    assert len(shelf.fact_vectors) == AT_ONCE + 1


async def test_facts_are_chosen_by_their_words_where_vectors_fail(house: House) -> None:
    shelf = Shelf(facts={"1": a_fact("1", "tea")})
    await house.embedder.close()
    made = house.queue.facts(shelf)
    assert made is not None
    await made.wait()
    assert shelf.fact_vectors == {}
