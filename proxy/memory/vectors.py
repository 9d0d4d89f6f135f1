"""Vectors of turns and facts: the queue of those that a decision waits for, and the task that makes them.

What no question needs gets no vector: it is found by its words. A plan asks for those that it depends on, the most
urgent first, and waits for them a moment; the rest is made in the background. Runs go through the scopes in turn, so
that one that has much to embed delays nobody else.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

import numpy as np

from proxy.embedding import Embedder, EmbeddingUnavailable
from proxy.memory import kinds
from proxy.memory.library import Library
from proxy.memory.shelf import FACT, Shelf
from proxy.storage.pending import BEGUN
from proxy.tasks import Attempts, FairQueue, Tasks, in_slices
from proxy.types import ArchivedTurn, Fact, Vector

DEADLINE = 30.0  # seconds of one run for a scope
MOST_TURNS = 512  # of one scope that wait; the others get theirs when they are needed again
AT_ONCE = 8  # texts: other requests are embedded in between


@dataclass(slots=True)
class _Waiting:
    """Turns of one scope that wait, by link, the most urgent first."""

    scope: str
    shelf: Shelf
    turns: dict[bytes, ArchivedTurn] = field(default_factory=dict)
    wanted: list[tuple[frozenset[bytes], asyncio.Event]] = field(default_factory=list)  # set once none of them waits
    begun: int | None = field(default_factory=BEGUN.get)

    def tell(self) -> None:
        """Sets the events of those of whom no turn waits any more."""
        for links, done in self.wanted:
            if links.isdisjoint(self.turns):
                done.set()
        self.wanted = [each for each in self.wanted if not each[1].is_set()]


class VectorQueue:
    """The queue of turns that wait for their vectors, and its background task."""

    def __init__(
        self,
        library: Library,
        embedder: Embedder,
        executor: Executor,
        tasks: Tasks,
        on_fail_open: Callable[[str, str], None] = lambda _stage, _reason: None,
    ) -> None:
        self._waiting: dict[int, _Waiting] = {}  # by the id of the shelf
        self._facts: dict[int, asyncio.Event] = {}  # the same: facts under way
        self._library = library
        self._embedder = embedder
        self._executor = executor
        self._tasks = tasks
        self._on_fail_open = on_fail_open
        self._running = False
        self._slices = FairQueue()

    @property
    def is_ready(self) -> bool:
        """Tells whether vectors can be made now."""
        return self._embedder.state == "ready"

    @property
    def version(self) -> str:
        """The version of the vectors."""
        return self._embedder.version

    @property
    def pending(self) -> int:
        """The number of scopes in which something waits."""
        return len(self._waiting)

    async def of(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Returns a vector for each text. Raises EmbeddingUnavailable."""
        return tuple(await self._embedder.embed(texts))

    def facts(self, shelf: Shelf) -> asyncio.Event | None:
        """Begins to make the vectors of the current facts that have none. Returns an event for when they are there, or
        can't be; None if all are there."""
        held = shelf.facts.values()
        new = [fact for fact in held if fact.superseded_by is None and fact.id not in shelf.fact_vectors]
        if not new:
            return None
        if (made := self._facts.get(id(shelf))) is None:
            made = self._facts[id(shelf)] = asyncio.Event()
            self._tasks.spawn(self._facts_made(shelf, new, made), name="vectors")
        return made

    async def _facts_made(self, shelf: Shelf, new: Sequence[Fact], made: asyncio.Event) -> None:
        try:
            if len(new) > AT_ONCE:  # else the plan would have to wait for all of them
                values = tuple(fact.value for fact in new)
                await in_slices(self._executor, kinds.read(values), self._slices, str(id(shelf)))
            for start in range(0, len(new), AT_ONCE):
                some = new[start : start + AT_ONCE]
                found = zip(some, await self.of([fact.value for fact in some]), strict=True)
                shelf.fact_vectors.update((fact.id, vector) for fact, vector in found if fact.id in shelf.facts)
                shelf.unstored += FACT * len(some)
        except EmbeddingUnavailable:
            pass  # chosen by their words alone
        finally:
            del self._facts[id(shelf)]
            made.set()

    def turns(self, scope: str, shelf: Shelf, turns: Sequence[ArchivedTurn]) -> asyncio.Event:
        """Begins to make the vectors of turns, the most urgent first. Returns an event for when they are there, or
        can't be."""
        waiting = self._waiting.setdefault(id(shelf), _Waiting(scope, shelf))
        waiting.turns = {turn.link: turn for turn in turns} | waiting.turns
        while len(waiting.turns) > MOST_TURNS:
            waiting.turns.popitem()
        if not self._running:
            self._running = True
            self._tasks.spawn(self._work(), name="vectors")
        done = asyncio.Event()
        waiting.wanted.append((frozenset(turn.link for turn in turns), done))
        return done

    async def _work(self) -> None:
        try:
            while self._waiting:
                key, waiting = next(iter(self._waiting.items()))
                attempts = Attempts(self._on_fail_open)
                await attempts.run("learn", self._run(waiting), fallback=None, deadline=DEADLINE)
                del self._waiting[key]
                if attempts.failed:
                    waiting.turns.clear()
                waiting.tell()
                if waiting.turns:
                    self._waiting[key] = waiting  # behind the other scopes
        finally:
            self._running = False
            for waiting in self._waiting.values():  # none, unless this task was cancelled
                waiting.turns.clear()
                waiting.tell()
            self._waiting.clear()

    async def _run(self, waiting: _Waiting) -> None:
        """Makes the vectors of the first turns, of about AT_ONCE texts."""
        shelf = waiting.shelf
        BEGUN.set(waiting.begun)  # this task is that of somebody's request
        turns, texts = _taken(waiting)
        try:
            runs = range(0, len(texts), AT_ONCE)
            rows = [await self._embedder.embed(texts[start : start + AT_ONCE]) for start in runs]
        except EmbeddingUnavailable:
            waiting.turns.clear()
            return  # found by their words alone
        if not turns:
            return
        vectors, row = np.concatenate(rows), 0
        found: list[tuple[ArchivedTurn, Vector]] = []
        for turn, count in turns:
            found.append((turn, vectors[row : row + count]))
            row += count
        added = await asyncio.get_running_loop().run_in_executor(self._executor, shelf.put_vectors, found)
        for turn, of_turn in added:
            if turn.link in shelf.kept:
                self._library.keep_turn(waiting.scope, turn, of_turn)  # slower than the disk: a text takes milliseconds


def _taken(waiting: _Waiting) -> tuple[list[tuple[ArchivedTurn, int]], list[str]]:
    """Takes the first turns out of the queue; returns them with their number of texts, and all texts."""
    turns: list[tuple[ArchivedTurn, int]] = []
    texts: list[str] = []
    while waiting.turns and len(texts) < AT_ONCE:
        turn = waiting.turns.pop(next(iter(waiting.turns)))
        if turn.link in waiting.shelf.owed:
            of_turn = waiting.shelf.index.texts(turn)
            turns.append((turn, len(of_turn)))
            texts += of_turn
    return turns, texts
