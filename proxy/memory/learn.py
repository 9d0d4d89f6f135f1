"""Learning from an answered request: its turns, the facts that the user stated in them, and the state from which the
next request of the conversation is planned.

The state is stored before the last byte goes to the client, whose next request may follow at once. The rest is done in
the background, in proportion to what is new: a turn is read once. Per scope one request is learnt from at a time, a
slice after the other, so that a client that sends much delays nobody else. Vectors come last, when the next request of
the scope may be learnt from already.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from proxy.conversation.progress import open_turn
from proxy.embedding.base import Embedder, EmbeddingUnavailable
from proxy.memory import choosing
from proxy.memory.commands import commands, mark
from proxy.memory.ingest import Ingested, read
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.storage.shared import OpenTurns
from proxy.tasks import Attempts, FairQueue, Tasks, in_slices
from proxy.types import ArchivedTurn, Exchange, Fact, Identity, Message, Vector

DEADLINE = 30.0  # seconds, from when its turn in the queue has come
WAITING = 64  # requests of one scope in its queue; nothing is learnt from those beyond
UNEMBEDDED = 64  # requests of one scope that wait for vectors; those beyond get none until they are read again
QUEUED_AT_ONCE = 500  # turns of one request between two flushes of the archive
EMBEDDED_AT_ONCE = 16  # texts: other requests are embedded in between


class Overrun(Exception):
    """Too many requests of a scope are waiting to be learnt from."""


@dataclass(slots=True)
class _Queue:
    """The requests of one scope that are learnt from, one after the other."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    embedding: asyncio.Lock = field(default_factory=asyncio.Lock)  # of one request at a time, too
    waiting: int = 0  # requests to be learnt from
    unembedded: int = 0  # requests that are learnt, and wait for vectors
    under_way: set[bytes] = field(default_factory=set)  # links of turns that wait for their vectors


@dataclass(frozen=True, slots=True)
class _Learnt:
    shelf: Shelf
    turns: tuple[ArchivedTurn, ...]  # to be embedded


class Learner:
    """The background worker that learns from answered requests, in order within each scope."""

    def __init__(
        self, library: Library, embedder: Embedder, executor: Executor, tasks: Tasks, open_turns: OpenTurns
    ) -> None:
        self.pending = 0  # requests that are being learnt from
        self._keeping: dict[tuple[str, str], asyncio.Event] = {}  # by memory scope and session
        self._queues: dict[str, _Queue] = {}  # by memory scope; empty queues are removed
        self._slices = FairQueue()  # of scopes, to read a slice; other threads serve requests that wait for an answer
        self._library = library
        self._embedder = embedder
        self._executor = executor
        self._tasks = tasks
        self._open_turns = open_turns  # of conversations that clients send without their history

    def delivered(
        self, exchange: Exchange, chain: tuple[bytes, ...], answers: Sequence[Message], attempts: Attempts
    ) -> None:
        """Stores the state of an answered request and starts learning from it. `chain`: the links of the request, and
        of the answer if there is one."""
        identity, state = exchange.identity, exchange.plan.state
        if exchange.directives.mode == "off" or not chain:
            return
        if not exchange.directives.remember:
            return
        if state is not None:
            self._library.keep_state(identity.memory, identity.session, identity.chain[-1], state)
        messages = (*exchange.request.messages, *answers[:1])[: len(chain)]
        if identity.session_source == "header" and answers:
            self._open_turns.put(identity.memory, identity.session, open_turn(messages, chain))
        self.pending += 1
        kept = self._keeping[identity.memory, identity.session] = asyncio.Event()
        self._tasks.spawn(self._attempted(exchange, messages, chain, attempts, kept), name="learn")

    async def settled(self, identity: Identity) -> None:
        """Waits until the turns that were answered in this session are in the archive."""
        if (kept := self._keeping.get((identity.memory, identity.session))) is not None:
            await kept.wait()

    def learning(self, scope: str) -> tuple[asyncio.Event, ...]:
        """Returns an event for each request of a memory scope that is being learnt from; set when it is done."""
        return tuple(kept for (owner, _), kept in self._keeping.items() if owner == scope)

    async def _attempted(
        self,
        exchange: Exchange,
        messages: tuple[Message, ...],
        chain: tuple[bytes, ...],
        attempts: Attempts,
        kept: asyncio.Event,
    ) -> None:
        scope = exchange.identity.memory
        queue = self._queues.setdefault(scope, _Queue())
        try:
            learnt = await self._learnt(exchange, messages, chain, queue, attempts)
            kept.set()
            if learnt is not None and queue.unembedded < UNEMBEDDED:
                await self._embedded(scope, learnt, queue, attempts)
        finally:
            if not queue.waiting and not queue.unembedded:
                self._queues.pop(scope, None)
            self.pending -= 1
            kept.set()
            if self._keeping.get((scope, exchange.identity.session)) is kept:
                del self._keeping[scope, exchange.identity.session]

    async def _learnt(
        self,
        exchange: Exchange,
        messages: tuple[Message, ...],
        chain: tuple[bytes, ...],
        queue: _Queue,
        attempts: Attempts,
    ) -> _Learnt | None:
        queue.waiting += 1
        try:
            if queue.waiting > WAITING:
                return attempts.call("learn", _overrun, fallback=None)
            async with queue.lock:
                learning = self._learn(exchange, messages, chain, queue)
                learnt = await attempts.run("learn", learning, fallback=None, deadline=DEADLINE)
                if learnt is not None and queue.unembedded < UNEMBEDDED:
                    queue.under_way.update(turn.link for turn in learnt.turns)
                return learnt
        finally:
            queue.waiting -= 1

    async def _embedded(self, scope: str, learnt: _Learnt, queue: _Queue, attempts: Attempts) -> None:
        queue.unembedded += 1
        try:
            async with queue.embedding:
                embedding = self._embed(scope, learnt)
                await attempts.run("learn", embedding, fallback=None, deadline=DEADLINE)
        finally:
            queue.unembedded -= 1
            queue.under_way.difference_update(turn.link for turn in learnt.turns)

    async def _learn(
        self, exchange: Exchange, messages: tuple[Message, ...], chain: tuple[bytes, ...], queue: _Queue
    ) -> _Learnt:
        scope = exchange.identity.memory
        shelf = await self._library.shelf(scope)
        is_managed = exchange.plan.state is not None
        if is_managed:
            await self._library.index(scope, shelf)
        # Without an embedder a turn counts as read once it is indexed.
        read_before = shelf.embedded if self._embedder.state == "ready" else shelf.index
        keeps = self._library.facts.keeps

        def known(link: bytes) -> bool:
            return link in read_before or link in queue.under_way

        again: frozenset[bytes] = frozenset()  # kept from the first reading, which lifts it, for the second

        async def reading() -> Ingested:
            nonlocal again
            again |= await self._said_again(exchange, chain, shelf)
            before = shelf.forgotten
            since = self._library.orders.since(scope, exchange.incoming.received_at)
            is_known = known if is_managed else None
            steps = read(exchange, messages, chain, shelf, is_known, again, keeps_facts=keeps, since=since)
            found = await in_slices(self._executor, steps, self._slices, scope)
            gone = shelf.forgotten - before  # forgotten in the meantime
            return replace(found, facts=tuple(fact for fact in found.facts if gone.isdisjoint(fact.links)))

        new = await reading()
        if new.facts and not is_managed and await self._was_forgotten(scope, shelf, new.facts):
            new = await reading()
        if new.again:
            self._library.say_again(scope, shelf, new.again)
        self._library.learn(scope, shelf, new.facts)
        for number, turn in enumerate(new.turns, 1):
            self._library.keep_turn(scope, turn, None)
            if number % QUEUED_AT_ONCE == 0:  # a long history that is new is written bit by bit
                await self._library.archive.flush()
        return _Learnt(shelf, new.turns if is_managed else ())

    async def _was_forgotten(self, scope: str, shelf: Shelf, stated: Sequence[Fact]) -> bool:
        """Looks up whether a message that stated one of these facts was forgotten, which is unknown where no index was
        needed."""
        links = tuple({link for fact in stated for link in (*fact.links, mark(fact.value))})
        gone = frozenset(await self._library.archive.forgotten_at(scope, links))
        is_news = not gone <= shelf.forgotten
        shelf.forgotten |= gone
        return is_news

    async def _said_again(self, exchange: Exchange, chain: Sequence[bytes], shelf: Shelf) -> frozenset[bytes]:
        """Returns the links of the newest message and its answer if the user repeats what was forgotten before this
        request came; they may be kept from now on. In a history that is sent again the message would not be the
        last."""
        messages, identity = exchange.request.messages, exchange.identity
        if not messages or messages[-1].role != "user":
            return frozenset()
        before = next((said.text for said in reversed(messages[:-1]) if said.role == "user"), "")
        if commands(messages[-1].texts, before):
            return frozenset()
        newest = frozenset(chain[len(messages) - 1 :])
        # A link that is known may have been forgotten by another process, or before this one began.
        may_be = identity.known == len(messages) or not newest.isdisjoint(shelf.forgotten)
        if not may_be:
            return frozenset()
        stored = await self._library.archive.forgotten_at(identity.memory, tuple(newest))
        since = {link: shelf.since.get(link, 0.0) for link in newest & shelf.forgotten} | stored
        if not since or max(since.values()) >= exchange.incoming.received_at:
            return frozenset()
        self._library.say_again(identity.memory, shelf, tuple(since))
        return frozenset(since)

    async def _embed_facts(self, scope: str, shelf: Shelf) -> None:
        """Embeds the current facts that have no vector yet."""
        held = shelf.facts.values()
        new = [fact for fact in held if fact.superseded_by is None and fact.id not in shelf.fact_vectors]
        if not new:
            return
        # Else the first question that needs facts would have to wait for all of them.
        await in_slices(self._executor, choosing.read(tuple(fact.value for fact in new)), self._slices, scope)
        try:
            vectors = await self._embedder.embed([fact.value for fact in new])
        except EmbeddingUnavailable:
            return  # chosen by their words alone
        found = zip(new, vectors, strict=True)
        shelf.fact_vectors.update((fact.id, vector) for fact, vector in found if fact.id in shelf.facts)

    async def _embed(self, scope: str, learnt: _Learnt) -> None:
        """Embeds facts, then turns, the newest first: a conversation that goes on asks for them soonest."""
        shelf = learnt.shelf
        await self._embed_facts(scope, shelf)
        for turn in reversed(learnt.turns):
            texts = shelf.index.texts(turn)
            if not texts:
                continue
            rows: list[Vector] = []
            try:
                for start in range(0, len(texts), EMBEDDED_AT_ONCE):
                    rows.extend(await self._embedder.embed(texts[start : start + EMBEDDED_AT_ONCE]))
            except EmbeddingUnavailable:
                return  # found by their words alone, until they are read again
            vectors = np.stack(rows)
            await self._in_thread(partial(shelf.put, turn, vectors))
            self._library.keep_turn(scope, turn, vectors)  # slower than the disk: a text takes milliseconds

    async def _in_thread(self, work: Callable[[], object]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._executor, work)


def _overrun() -> None:
    raise Overrun
