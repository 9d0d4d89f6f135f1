"""Learning from answered requests, in the background.

Learnt are a request's turns, the facts that the user stated in them, and the state from which the next request of the
conversation is planned. The state is stored before the last byte goes to the client, whose next request may follow at
once. The rest is done in the background, in proportion to what is new: a turn is read once. Per scope one request is
learnt from at a time, a slice after the other, so that a client that sends much delays nobody else. Vectors come
when a question needs them (`vectors.py`).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace

from proxy.conversation.turns import open_turn
from proxy.memory.commands import commands, mark
from proxy.memory.ingesting import Answered, Ingested, begins, read, restated
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.storage.pending import BEGUN
from proxy.storage.shared import OpenTurns
from proxy.tasks import Attempts, FairQueue, Tasks, in_place, in_slices
from proxy.types import Exchange, Fact, Identity, Message, OpenTurn

log = logging.getLogger(__name__)

AWAY_SECONDS = 0.5  # until storage that could not be read is asked again
MOST_TRIES = 20
_UNREAD = frozenset({"Unavailable", "StorageError"})
DEADLINE = 30.0  # seconds, from when its turn in the queue has come
WAITING = 64  # requests of one scope in its queue; nothing is learnt from those beyond
IN_PLACE = 1_000  # characters of new user messages that are read on the event loop: each takes some microseconds
QUEUED_AT_ONCE = 500  # turns of one request between two flushes of the archive


class Overrun(Exception):
    """Too many requests of a scope are waiting to be learnt from."""


@dataclass(frozen=True, slots=True, eq=False)
class _Owed:
    """A request that is to be learnt from."""

    request: Answered
    attempts: Attempts
    kept: asyncio.Event  # set when it is done
    begun: int | None = field(default_factory=BEGUN.get)


class Learner:
    """The background worker that learns from answered requests, in order within each scope."""

    def __init__(
        self,
        library: Library,
        executor: Executor,
        tasks: Tasks,
        open_turns: OpenTurns,
        *,
        is_on: bool = True,
        alone: Callable[[str], AbstractAsyncContextManager[None]] | None = None,
        is_away: Callable[[], bool] | None = None,
        on_learnt: Callable[[Exchange], object] = lambda _exchange: None,
    ) -> None:
        """`is_on`: contexts are managed. If not, nothing is learnt but the turns of sessions that clients name, which
        they may go on with without sending their history. `alone`: holds a memory scope for this process, of several
        that learn facts; None: there are no others. `is_away`: tells whether a database
        that machines share cannot be reached now; None: it is here. `on_learnt` is told of each request whose turns and
        facts are queued."""
        self._keeping: dict[tuple[str, str], asyncio.Event] = {}  # by memory scope and session
        self._owed: dict[str, deque[_Owed]] = {}  # by memory scope, each worked off by a task; the first is under way
        self._slices = FairQueue()  # of scopes, to read a slice; other threads serve requests that wait for an answer
        self._library = library
        self._executor = executor
        self._tasks = tasks
        self._is_on = is_on
        self._alone = alone
        self._is_away = is_away
        self._on_learnt = on_learnt
        self._open_turns = open_turns  # of conversations that clients send without their history

    def delivered(
        self, exchange: Exchange, chain: tuple[bytes, ...], answers: Sequence[Message], attempts: Attempts
    ) -> None:
        """Stores the state of an answered request and starts learning from it. `chain`: the links of the request, and
        of the answer if there is one."""
        identity, state = exchange.identity, exchange.plan.state
        if exchange.directives.mode == "off" or not exchange.directives.remember or not chain:
            return
        if not self._is_on and identity.session_source != "header":
            return
        if state is not None:
            self._library.paths.keep(identity.memory, identity.session, identity.chain[-1], state)
        messages = (*exchange.request.messages, *answers[:1])[: len(chain)]
        if identity.session_source == "header" and answers:
            turn = open_turn(messages, chain, identity.root) or OpenTurn((), chain[-1])
            self._open_turns.put(identity.memory, identity.session, turn)
        owed = self._owed.get(identity.memory)
        if owed is not None and len(owed) >= WAITING:
            attempts.call("learn", _overrun, fallback=None)
            return
        kept = self._keeping[identity.memory, identity.session] = asyncio.Event()
        new = _Owed(Answered(exchange, messages, chain), attempts, kept)
        if owed is not None:
            owed.append(new)
        else:
            owed = self._owed[identity.memory] = deque((new,))
            self._tasks.spawn(self._work(identity.memory, owed), name="learn")

    @property
    def pending(self) -> int:
        """The number of requests that are to be learnt from."""
        return sum(map(len, self._owed.values()))

    async def settled(self, identity: Identity) -> None:
        """Waits until the turns that were answered in this session are in the archive."""
        await self.settled_in(identity.memory, identity.session)

    async def settled_in(self, scope: str, session: str) -> None:
        """Waits for the same, of a session of a memory scope."""
        if (kept := self._keeping.get((scope, session))) is not None:
            await kept.wait()

    def learning(self, scope: str) -> tuple[asyncio.Event, ...]:
        """Returns an event for each request of a memory scope that is being learnt from; set when it is done."""
        return tuple(kept for (owner, _), kept in self._keeping.items() if owner == scope)

    async def _work(self, scope: str, owed: deque[_Owed]) -> None:
        try:
            while owed:
                each = owed[0]
                BEGUN.set(each.begun)  # this task is that of the first
                await self._attempted(each)
                self._done(scope, owed.popleft())
        finally:  # cancelled, perhaps
            del self._owed[scope]
            for each in owed:
                self._done(scope, each)

    async def _attempted(self, each: _Owed) -> None:
        """Learns from a request; again, where what is known of its scope could not be read, once it can be."""
        for _ in range(MOST_TRIES):
            while self._is_away is not None and self._is_away():
                each.kept.set()  # nobody waits for that
                await asyncio.sleep(AWAY_SECONDS)
            await each.attempts.run("learn", self._learn(each.request), fallback=None, deadline=DEADLINE)
            if self._is_away is None or each.attempts.failed.get("learn") not in _UNREAD:
                break
            del each.attempts.failed["learn"]
            await asyncio.sleep(AWAY_SECONDS)

    def _done(self, scope: str, each: _Owed) -> None:
        each.kept.set()
        session = each.request.exchange.identity.session
        if self._keeping.get((scope, session)) is each.kept:
            del self._keeping[scope, session]

    async def _learn(self, request: Answered) -> None:
        exchange, scope = request.exchange, request.exchange.identity.memory
        shelf = await self._library.shelf(scope)
        is_managed = exchange.plan.state is not None
        if is_managed:
            await self._library.indexes.read(scope, shelf)
        keeps = self._is_on and self._library.facts.keeps

        forgotten = shelf.forgotten
        again: frozenset[bytes] = frozenset()  # kept from the first reading, which lifts it, for the second

        async def reading() -> Ingested:
            nonlocal again
            again |= await self._said_again(exchange, request.chain, shelf)
            before = shelf.forgotten
            since = self._library.orders.since(scope, exchange.incoming.received_at)
            is_known = shelf.kept.__contains__ if is_managed else None
            steps = read(request, shelf, is_known, again, keeps_facts=keeps, since=since)
            if request.unheard(begins(request, shelf).index) <= IN_PLACE:
                found = await in_place(steps)
            else:
                found = await in_slices(self._executor, steps, self._slices, scope)
            gone = shelf.forgotten - before  # forgotten in the meantime
            return replace(found, facts=tuple(fact for fact in found.facts if gone.isdisjoint(fact.links)))

        new = await reading()
        if new.facts and not is_managed and await self._was_forgotten(scope, shelf, new.facts):
            new = await reading()
        if new.again:
            self._library.say_again(scope, shelf, new.again)
        if new.turns and not is_managed:
            shelf.read_as_of = None  # the index has to read them from the archive
        for number, turn in enumerate(new.turns, 1):
            self._library.keep_turn(scope, turn, None)
            if number % QUEUED_AT_ONCE == 0:  # a long history that is new is written bit by bit
                await self._library.archive.flush()
        if is_managed:
            shelf.kept.update(turn.link for turn in new.turns)
            self._library.indexes.keep(scope, shelf)
        await self._keep_facts(request, shelf, new, forgotten)
        self._on_learnt(exchange)

    async def _keep_facts(self, request: Answered, shelf: Shelf, new: Ingested, forgotten: frozenset[bytes]) -> None:
        """Stores the facts of a request. Where several processes learn, one at a time: what another has just learnt is
        superseded or confirmed by them, as if this one had. `forgotten`: what was, when the request was read."""
        scope, facts = request.exchange.identity.memory, new.facts
        if not facts or self._alone is None:
            self._library.learn(scope, shelf, facts)
            return
        async with self._alone(scope):
            before = shelf.facts
            shelf = await self._library.renewed(scope)
            if shelf.facts is not before:
                facts = await in_slices(self._executor, restated(request, shelf, new), self._slices, scope)
                gone = shelf.forgotten - forgotten
                facts = tuple(fact for fact in facts if gone.isdisjoint(fact.links))
            self._library.learn(scope, shelf, facts)
            await self._library.facts.flush()

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
        newest = frozenset(chain[len(messages) - 1 :])
        # A link that is known may have been forgotten by another process, or before this one began.
        if identity.known != len(messages) and newest.isdisjoint(shelf.forgotten):
            return frozenset()
        before = next((said.text for said in reversed(messages[:-1]) if said.role == "user"), "")
        if commands(messages[-1].texts, before):
            return frozenset()
        stored = await self._library.archive.forgotten_at(identity.memory, tuple(newest))
        since = {link: shelf.since.get(link, 0.0) for link in newest & shelf.forgotten} | stored
        if not since or max(since.values()) >= exchange.incoming.received_at:
            return frozenset()
        self._library.say_again(identity.memory, shelf, tuple(since))
        return frozenset(since)


def _overrun() -> None:
    raise Overrun
