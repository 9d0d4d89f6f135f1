"""Turns and facts get their vectors in the background, the newest first, a scope after the other."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from proxy.embedding.service import EngineEmbedder
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.memory.vectors import AT_ONCE, MOST_TURNS, VectorQueue
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Utterance
from tests import stores
from tests.embedding.engines import FakeEngine, unavailable, until


@dataclass
class House:
    engine: FakeEngine = field(default_factory=FakeEngine)
    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    tasks: Tasks = field(default_factory=Tasks)

    async def open(self) -> None:
        archive = stores.archive()
        library = Library(stores.facts(), archive, stores.states(), stores.wipes(), self.executor, self.tasks)
        self.embedder = EngineEmbedder(self.engine)
        self.queue = VectorQueue(library, self.embedder, self.executor, self.tasks)
        self.embedder.start()
        await until(lambda: self.embedder.state == "ready")
        self.engine.runs.clear()

    def said(self, shelf: Shelf, *texts: str) -> list[ArchivedTurn]:
        turns = [turn(text) for text in texts]
        for each in turns:
            shelf.put(each, None)
        return turns

    async def done(self) -> None:
        assert await self.tasks.drain(10.0) == 0
        assert self.queue.pending == 0


def turn(text: str) -> ArchivedTurn:
    link = text.encode()
    return ArchivedTurn(link, b"", "s", 1, 1.0, b"", (Utterance("user", text, link),))


@pytest.fixture
async def house() -> AsyncIterator[House]:
    opened = House()
    await opened.open()
    yield opened
    await opened.embedder.close()
    opened.executor.shutdown()


async def test_turns_of_several_requests_are_embedded_in_one_run_newest_first(house: House) -> None:
    shelf = Shelf()
    turns = house.said(shelf, "one", "two", "three")
    house.queue.wanted("a", shelf, turns[:1])
    house.queue.wanted("a", shelf, turns[1:])
    await house.done()
    assert house.engine.runs == [["three", "two", "one"]]
    assert shelf.embedded == {each.link for each in turns}


async def test_a_scope_with_much_to_embed_delays_no_other(house: House) -> None:
    many, few = Shelf(), Shelf()
    house.queue.wanted("many", many, house.said(many, *[f"{n} of many" for n in range(3 * AT_ONCE)]))
    house.queue.wanted("few", few, house.said(few, "one"))
    await house.done()
    order = [text for run in house.engine.runs for text in run]
    assert order.index("one") <= AT_ONCE
    assert len(order) == 3 * AT_ONCE + 1


async def test_turns_beyond_what_a_scope_may_queue_get_no_vectors(house: House) -> None:
    shelf = Shelf()
    turns = house.said(shelf, *[str(n) for n in range(MOST_TURNS + 1)])
    house.queue.wanted("a", shelf, turns)
    await house.done()
    assert turns[0].link not in shelf.embedded
    assert len(shelf.embedded) == MOST_TURNS


async def test_without_an_embedder_nothing_waits() -> None:
    house = House(FakeEngine(unavailable))
    archive = stores.archive()
    library = Library(stores.facts(), archive, stores.states(), stores.wipes(), house.executor, house.tasks)
    queue = VectorQueue(library, EngineEmbedder(house.engine), house.executor, house.tasks)
    shelf = Shelf()
    queue.wanted("a", shelf, house.said(shelf, "one"))
    assert queue.pending == 0
    house.executor.shutdown()
