"""The memory of all scopes, cached over storage: their shelves with facts and index, the states of conversations, and
what is forgotten. It follows writes of other processes, and evicts what was used least recently.

Everything but searching happens on the event loop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic, time
from weakref import WeakValueDictionary

from proxy.lru import Lru
from proxy.memory.commands import Order, Orders, mark
from proxy.memory.indexing import MOST_BYTES, PATIENCE, Indexes
from proxy.memory.reuniting import reunited
from proxy.memory.shelf import Shelf
from proxy.memory.states import MOST_STATES, PathStates
from proxy.memory.watching import Beside, MemoryWatch, Unwatched
from proxy.storage.base import ContentStore, ForeignWrites, StorageError, none_foreign
from proxy.storage.erasures import of_base
from proxy.storage.jobs import JobStore
from proxy.storage.quality import QualityStore
from proxy.storage.recollection import Archive, ArchiveChanges, FactStore, StateStore, Wiped, WipeStore
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact, Vector

TIDY_SECONDS = 60.0  # between two removals of expired turns
MOST_SHELVES = 5_000  # an empty one takes 5 kB; an evicted one is read again
NOBODY = "nobody"  # a scope that no request can have
LOOKS = 3  # attempts to read the facts without one being learnt in the meantime


@dataclass(frozen=True, slots=True)
class Held:
    """Counts and facts of what is in memory now, for metrics."""

    scopes: int
    bytes: int  # of the indexes
    facts: tuple[Fact, ...]


class Library:
    """The cache of scopes over the stores of facts, turns, states and wipes."""

    def __init__(  # noqa: PLR0913 (built in one place, `proxy/services`)
        self,
        facts: FactStore,
        archive: Archive,
        states: StateStore,
        wipes: WipeStore,
        executor: Executor,
        tasks: Tasks,
        *,
        contents: ContentStore | None = None,
        quality: QualityStore | None = None,
        undo: float = 0.0,
        on_fail_open: Callable[[str, str], None] = lambda _stage, _reason: None,
        on_forget: Callable[[], object] = lambda: None,
        foreign_writes: ForeignWrites = none_foreign,
        is_hot: Callable[[str, bytes], bool] = lambda _scope, _link: False,
        watch: MemoryWatch | None = None,
        beside: Beside | None = None,
        jobs: JobStore | None = None,
        most_bytes: int = MOST_BYTES,
        most_shelves: int = MOST_SHELVES,
        most_states: int = MOST_STATES,
        patience: float = 1.0,
    ) -> None:
        self.facts = facts
        self.archive = archive
        self.orders = Orders()
        self._executor = executor
        self._patience = patience  # factor of what a request waits for
        self._contents = contents
        self._quality = quality
        self.wipes = wipes
        self._undo = undo  # seconds that a wipe can be undone
        self._on_forget = on_forget  # called before anything is forgotten, and once it is
        self._foreign_writes = foreign_writes
        self._watch = watch or Unwatched()
        self._jobs = jobs if jobs is not None and jobs.keeps else None  # has the summaries that a model has made
        self._tidied_at = monotonic()
        self._editing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by scope
        self._shelves: Lru[str, Shelf] = Lru(most_shelves)
        self.indexes = Indexes(
            self._shelves,
            archive,
            executor,
            tasks,
            foreign_writes=foreign_writes,
            on_fail_open=on_fail_open,
            beside=beside,
            most_bytes=most_bytes,
            patience=patience,
        )
        self.paths = PathStates(states, foreign_writes=foreign_writes, is_hot=is_hot, most=most_states)

    async def warm(self) -> None:
        """Reads of a scope that nobody has what the first request of a process reads: the database has its connection
        ready then, and knows its tables."""
        with suppress(StorageError):
            await self._foreign_writes(NOBODY, "facts")
            await self.facts.all(NOBODY)
            await self.archive.shelf(NOBODY, time())
            await self.archive.changes(NOBODY, 0, time())
            await self.paths.warm(NOBODY)

    # --- what a scope remembers ---------------------------------------------------------------------------------------

    async def shelf(self, scope: str) -> Shelf:
        """Returns the memory of a scope, with facts as of now; those of other processes as of a second ago."""
        shelf = self._shelves.used(scope) or self._placed(scope, Shelf())
        if (foreign := await self._foreign_writes(scope, "facts")) != shelf.stated_as_of:
            before = shelf.changes
            try:
                known = await self.facts.all(scope)
            except StorageError:
                if shelf.stated_as_of is None:
                    raise
                return shelf  # the cache is all that is known for now
            if shelf.changes == before:  # else what was read is older than the cache
                shelf.facts = {fact.id: fact for fact in self.orders.spared(scope, known)}
                shelf.stated_as_of = foreign
                shelf.summaries = None
        if shelf.summaries is None and self._jobs is not None and not self.orders.is_pending(scope):
            await self._read_summaries(scope, shelf, self._jobs)
        return shelf

    async def _read_summaries(self, scope: str, shelf: Shelf, jobs: JobStore) -> None:
        before = shelf.changes
        with suppress(StorageError):  # folds do without them meanwhile
            found = tuple(await jobs.summaries(scope))
            if shelf.summaries is None and shelf.changes == before:  # else something may have been forgotten
                shelf.summaries = found

    def summarised(self, scope: str) -> None:
        """Lets the model's summaries of a scope be read anew: a job has made one, or some were forgotten."""
        if (shelf := self._shelves.get(scope)) is not None:
            shelf.summaries = None

    async def renewed(self, scope: str) -> Shelf:
        """Returns the memory of a scope, with the facts of other processes as of now, too."""
        await self._foreign_writes(scope, "paths")  # looks at all parts anew
        return await self.shelf(scope)

    def _placed(self, scope: str, shelf: Shelf) -> Shelf:
        self._shelves.put(scope, shelf)
        return shelf

    def learn(self, scope: str, shelf: Shelf, facts: Sequence[Fact]) -> None:
        """Stores new and changed facts; does nothing where facts are not kept."""
        if facts and self.facts.keeps:
            before = {fact.id: shelf.facts[fact.id] for fact in facts if fact.id in shelf.facts}
            shelf.changes += 1
            shelf.facts.update((fact.id, fact) for fact in facts)
            self.facts.put(scope, facts)
            self._watch.learnt(scope, facts, before, time())

    @asynccontextmanager
    async def editing(self, scope: str) -> AsyncIterator[None]:
        """Lets one edit of a scope's facts through at a time, from reading what is known until it is stored: two that
        say the same at once would make two facts of it, each of which the other did not know."""
        if (lock := self._editing.get(scope)) is None:
            lock = self._editing[scope] = asyncio.Lock()
        async with lock:
            yield

    def held(self) -> Held:
        """Returns the numbers and facts that metrics report."""
        shelves = self._shelves.values()
        facts = tuple(fact for shelf in shelves for fact in shelf.facts.values())
        return Held(len(shelves), sum(shelf.size for shelf in shelves), facts)

    def keep_turn(self, scope: str, turn: ArchivedTurn, vectors: Vector | None) -> None:
        """Archives a turn; now and then removes turns and wipes whose time has passed."""
        if turn.messages:  # else it came from a stored shelf: the archive has it
            self.archive.add(scope, turn, vectors)
        if monotonic() - self._tidied_at > TIDY_SECONDS:
            self._tidied_at = monotonic()
            self.archive.prune(time())
            self.wipes.prune(time())

    def has_forgotten(self, scope: str, links: Sequence[bytes]) -> bool:
        """Tells whether one of these messages is known here to be forgotten."""
        shelf = self._shelves.get(scope)
        return shelf is not None and not shelf.forgotten.isdisjoint(links)

    # --- forgetting ---------------------------------------------------------------------------------------------------

    def hide(self, scope: str, order: Order) -> None:
        """Removes what a command means from memory at once, before storage has carried it out."""
        self._on_forget()
        self.orders.give(scope, order)
        if order.is_wipe:
            self._empty(scope, order)
            return
        if (shelf := self._shelves.get(scope)) is None:
            return
        meant = self.orders.means(scope, order, shelf.facts.values())
        shelf.changes += 1
        shelf.facts = {name: fact for name, fact in shelf.facts.items() if fact not in meant}
        shelf.forget(frozenset(name for fact in meant for name in (*fact.links, mark(fact.value))), order.at)

    async def carry_out(self, scope: str, order: Order, recorded: Callable[[], object]) -> None:
        """Carries out a command in storage. `recorded` is called once it is durable; the rest is in memory. Raises
        StorageError, or what storage raises, if it did not become durable."""
        await self.paths.last(scope, order.chain)  # its conversation goes on here, with what is left of its state
        if order.is_wipe:
            await self._wipe(scope, order)
            recorded()
            return
        aside = {fact.id: fact for wipe in await self.wipes.facts(scope, time()) for fact in wipe}
        known = {fact.id: fact for fact in await self.facts.all(scope)}
        meant = {fact.id for fact in self.orders.means(scope, order, (aside | known).values())}
        if gone := [fact for fact in aside.values() if fact.id in meant]:
            self.wipes.forget(scope, gone)
            self._watch.forgotten(scope, [fact.id for fact in gone], (), {fact.value for fact in gone})
        facts = [fact for fact in known.values() if fact.id in meant]
        self.learn(scope, await self.shelf(scope), order.leaves(facts))  # first: an interruption is retried
        await self.forget(scope, facts, order.chain[-1:], at=order.at, recorded=recorded)

    async def _wipe(self, scope: str, order: Order) -> None:
        await self.wipes.settled(scope)  # what an earlier attempt has queued is not queued again
        known = await self.facts.all(scope)
        links = (*order.chain, *dict.fromkeys(mark(fact.value) for fact in known if fact.created_at <= order.at))
        self.wipes.wipe(scope, links, at=order.at, until=order.at + self._undo)
        self._forget_contents(scope)
        self.paths.forget(scope)
        await self.wipes.settled(scope)
        if any(fact.created_at <= order.at for fact in await self.facts.all(scope)):
            raise StorageError("what was to be forgotten is still there")
        shelf = self._empty(scope, order)
        self._watch.wiped(scope, order.at, order.at + self._undo)
        shelf.wiped_at = float("-inf")

    def _empty(self, scope: str, order: Order) -> Shelf:
        """Replaces the shelf of a scope by an empty one; other requests may be searching the old one."""
        before = self._shelves.get(scope, Shelf())
        left = {name: fact for name, fact in before.facts.items() if fact.created_at > order.at}
        shelf = Shelf(facts=left, forgotten=before.forgotten, since=before.since, wiped_at=order.at)
        shelf.forget(frozenset(order.chain), order.at)
        return self._placed(scope, shelf)

    async def restore(self, scope: str, until: float | None = None) -> Wiped | None:
        """Undoes the newest wipe of a scope; returns it, or None if there was none, or it is another one than that
        which can be undone until `until`. Durable once it returns; raises StorageError if it is not."""
        now = time()
        found = await self.wipes.wiped(now, scope)
        if not found or until not in (None, found[0].until):
            return None
        await undo(self.wipes, self.facts, found[0], now)
        await self.facts.flush()
        await self.wipes.settled(scope)
        self._shelves.pop(scope, None)  # it is read anew
        self._watch.restored(scope, found[0].until)
        return found[0]

    def say_again(self, scope: str, shelf: Shelf, links: Sequence[bytes]) -> None:
        """Allows forgotten messages that have been said anew to be kept."""
        shelf.forgotten -= frozenset(links)
        self.archive.lift(scope, links)

    async def forget(
        self,
        scope: str,
        facts: Sequence[Fact],
        command: Sequence[bytes] = (),
        *,
        at: float | None = None,
        recorded: Callable[[], object] = lambda: None,
    ) -> None:
        """Removes facts, the messages that stated them, what was derived from those, and the scope's stored requests,
        any of which may repeat them. `command`: the link of the message that orders it, which names what it is about.
        Raises StorageError if it could not be made durable."""
        if not facts:
            self.summarised(scope)
            recorded()
            return
        at = time() if at is None else at
        shelf = await self.shelf(scope)
        said = {*command, *(name for fact in facts for name in (*fact.links, mark(fact.value)))}
        if shelf.read_as_of is None:
            await self.indexes.read(scope, shelf)
        looking = asyncio.get_running_loop().run_in_executor(self._executor, shelf.turn_mates, said)
        await asyncio.wait({looking}, timeout=PATIENCE * self._patience)
        links = said | looking.result() if looking.done() else said
        shelf.changes += 1
        for fact in facts:
            shelf.facts.pop(fact.id, None)
            shelf.fact_vectors.pop(fact.id, None)
        names = {fact.id for fact in facts}
        self.facts.forget(scope, sorted(names))
        self.archive.forget(scope, tuple(links), at)
        self._forget_contents(scope)
        shelf.forget(frozenset(links), at)
        self.paths.forget(scope)
        await self.facts.flush()
        if not names.isdisjoint(fact.id for fact in await self.facts.all(scope)):
            raise StorageError("what was to be forgotten is still there")
        self.summarised(scope)
        self._on_forget()
        values = {fact.value for fact in facts}
        self._watch.forgotten(scope, names, links, values)
        recorded()
        if late := await looking - links:
            self.archive.forget(scope, tuple(late), at)
            shelf.forget(frozenset(late), at)
            self._watch.forgotten(scope, names, late, values)
            await self.archive.flush()
            self.summarised(scope)
        await self.indexes.in_thread(partial(shelf.take, ArchiveChanges()))

    def _forget_contents(self, scope: str) -> None:
        for texts in (self._contents, self._quality):
            if texts is not None:
                texts.forget(scope.partition("~")[0])  # without a conversation's own name, see Identity.memory

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased, and those of its single conversations, from memory."""
        for name in of_base(self._shelves, scope):
            del self._shelves[name]
        self.paths.drop(scope)
        self._on_forget()


async def undo(wipes: WipeStore, facts: FactStore, wiped: Wiped, now: float) -> None:
    """Queues the restoration of a wipe. Facts that others have ended since are restored as superseded; those learnt
    after the wipe may be superseded by restored ones."""
    scope = wiped.scope
    for _ in range(LOOKS):
        groups = [*await wipes.facts(scope, now, wiped.until), await facts.all(scope)]
        rows = await asyncio.to_thread(reunited, groups)  # compares each with each
        if await facts.all(scope) == groups[-1]:
            break
    wipes.restore(scope, now, wiped.until)
    if rows:
        facts.put(scope, rows)
