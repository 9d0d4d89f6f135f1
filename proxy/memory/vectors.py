"""Vectors of what was learnt: the queue of turns and facts that wait for theirs, and the task that makes them.

Vectors come last, when the next request of the scope may be learnt from already. Runs go through the scopes in turn, so
that one that has much to embed delays nobody else. What has no vector is found by its words; the queue of a scope is
bounded, and the turns beyond it get theirs when they are asked for.
"""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

import numpy as np

from proxy.embedding import Embedder, EmbeddingUnavailable
from proxy.memory import choosing
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.tasks import Attempts, FairQueue, Tasks, in_slices
from proxy.types import ArchivedTurn, Vector

DEADLINE = 30.0  # seconds of one run for a scope
MOST_TURNS = 512  # of one scope that wait; the oldest leave
AT_ONCE = 16  # texts: other requests are embedded in between


@dataclass(slots=True)
class _Waiting:
    """The turns and facts of one scope that wait."""

    shelf: Shelf
    facts: bool = True
    turns: dict[bytes, ArchivedTurn] = field(default_factory=dict)  # by link, the newest last


class VectorQueue:
    """The queue of turns and facts that wait for their vectors, and its background task."""

    def __init__(
        self,
        library: Library,
        embedder: Embedder,
        executor: Executor,
        tasks: Tasks,
        on_fail_open: Callable[[str, str], None] = lambda _stage, _reason: None,
    ) -> None:
        self._waiting: dict[str, _Waiting] = {}  # by memory scope
        self._slices = FairQueue()
        self._library = library
        self._embedder = embedder
        self._executor = executor
        self._tasks = tasks
        self._on_fail_open = on_fail_open
        self._running = False

    @property
    def pending(self) -> int:
        """The number of scopes in which something waits."""
        return len(self._waiting)

    def wanted(self, scope: str, shelf: Shelf, turns: Sequence[ArchivedTurn]) -> None:
        """Queues turns, oldest first, and the facts that have no vector yet."""
        if self._embedder.state != "ready":
            return
        waiting = self._waiting.get(scope)
        if waiting is None or waiting.shelf is not shelf:
            waiting = self._waiting[scope] = _Waiting(shelf)
        waiting.facts = True
        for turn in turns:
            waiting.turns.pop(turn.link, None)
            waiting.turns[turn.link] = turn
        while len(waiting.turns) > MOST_TURNS:
            del waiting.turns[next(iter(waiting.turns))]
        if not self._running:
            self._running = True
            self._tasks.spawn(self._work(), name="vectors")

    async def _work(self) -> None:
        try:
            while self._waiting:
                scope, waiting = next(iter(self._waiting.items()))
                del self._waiting[scope]
                attempts = Attempts(self._on_fail_open)
                await attempts.run("learn", self._run(scope, waiting), fallback=None, deadline=DEADLINE)
                if waiting.turns and not attempts.failed:
                    newer = self._waiting.pop(scope, None)  # behind the other scopes
                    if newer is None or newer.shelf is waiting.shelf:
                        newer = newer or _Waiting(waiting.shelf, facts=False)
                        newer.turns = waiting.turns | newer.turns
                    self._waiting[scope] = newer
        finally:
            self._running = False
            self._waiting.clear()  # nothing, unless this task was cancelled

    async def _run(self, scope: str, waiting: _Waiting) -> None:
        """Embeds the facts of a scope, then its newest turns, up to AT_ONCE texts: a conversation that goes on asks for
        them soonest."""
        shelf = waiting.shelf
        try:
            if waiting.facts:
                await self._embed_facts(scope, shelf)
            turns, texts = self._taken(waiting)
            runs = range(0, len(texts), AT_ONCE)
            rows = [await self._embedder.embed(texts[start : start + AT_ONCE]) for start in runs]
        except EmbeddingUnavailable:
            waiting.turns.clear()
            return  # found by their words alone
        if not turns:
            return
        vectors = np.concatenate(rows)
        found, row = [], 0
        for turn, count in turns:
            found.append((turn, vectors[row : row + count]))
            row += count
        await in_slices(self._executor, _put(shelf, found), self._slices, scope)
        for turn, of_turn in found:
            self._library.keep_turn(scope, turn, of_turn)  # slower than the disk: a text takes milliseconds

    def _taken(self, waiting: _Waiting) -> tuple[list[tuple[ArchivedTurn, int]], list[str]]:
        """Takes the newest turns out of the queue; returns them with their number of texts, and all texts."""
        turns: list[tuple[ArchivedTurn, int]] = []
        texts: list[str] = []
        while waiting.turns and len(texts) < AT_ONCE:
            _, turn = waiting.turns.popitem()
            if of_turn := waiting.shelf.index.texts(turn):
                turns.append((turn, len(of_turn)))
                texts += of_turn
        return turns, texts

    async def _embed_facts(self, scope: str, shelf: Shelf) -> None:
        """Embeds the current facts that have no vector yet."""
        held = shelf.facts.values()
        new = [fact for fact in held if fact.superseded_by is None and fact.id not in shelf.fact_vectors]
        if not new:
            return
        # Else the first question that needs facts would have to wait for all of them.
        await in_slices(self._executor, choosing.read(tuple(fact.value for fact in new)), self._slices, scope)
        vectors = await self._embedder.embed([fact.value for fact in new])
        found = zip(new, vectors, strict=True)
        shelf.fact_vectors.update((fact.id, vector) for fact, vector in found if fact.id in shelf.facts)


def _put(shelf: Shelf, found: Sequence[tuple[ArchivedTurn, Vector]]) -> Generator[None, None, None]:
    for turn, vectors in found:
        shelf.put(turn, vectors)
        yield
