"""The memory of all scopes, cached over storage: facts, the index of old turns, the states of conversations. It follows
writes of other processes, and evicts what was used least recently.

Everything but searching happens on the event loop. A shelf's index is searched, and grows, under its lock, in worker
threads unless it takes but a moment.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic, time
from typing import TypeVar

from proxy.conversation.progress import pack, unpack
from proxy.lru import Lru
from proxy.memory import beside, shelving
from proxy.memory.commands import Order, Orders, mark
from proxy.memory.reuniting import reunited
from proxy.memory.shelf import Shelf
from proxy.memory.watching import Beside, MemoryWatch, Unwatched
from proxy.storage.base import ContentStore, ForeignWrites, StorageError, none_foreign
from proxy.storage.erasures import base_of, of_base
from proxy.storage.jobs import JobStore
from proxy.storage.quality import QualityStore
from proxy.storage.recollection import Archive, ArchiveChanges, FactStore, StateStore, StoredShelf, Wiped, WipeStore
from proxy.tasks import Attempts, FairQueue, Tasks, in_slices
from proxy.types import ArchivedTurn, ContextRead, Fact, PathState, Vector, VolatileBlock

T = TypeVar("T")

PATIENCE = 0.3  # seconds that a request waits for the index of a scope to be read
READING_DEADLINE = 60.0  # seconds; the next request continues the reading
TIDY_SECONDS = 60.0  # between two removals of expired turns
MOST_BYTES = 256 * 2**20  # of all shelves; the one in use may be larger
MOST_SHELVES = 5_000  # an empty one takes 5 kB; an evicted one is read again
MOST_STATES = 20_000
NOBODY = "nobody"  # a scope that no request can have
LOOKS = 3  # attempts to read the facts without one being learnt in the meantime
STEPS_BACK = 64  # messages between two requests of a conversation, at most: else it counts as new


@dataclass(frozen=True, slots=True)
class Held:
    """Counts and facts of what is in memory now, for metrics."""

    scopes: int
    bytes: int  # of the indexes
    facts: tuple[Fact, ...]


class Library:
    """The cache of scopes over the stores of facts, turns, states and wipes."""

    def __init__(  # noqa: PLR0913 (built in one place, services.py)
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
    ) -> None:
        self.facts = facts
        self.archive = archive
        self.orders = Orders()
        self._states = states
        self._executor = executor
        self._tasks = tasks
        self._contents = contents
        self._quality = quality
        self.wipes = wipes
        self._undo = undo  # seconds that a wipe can be undone
        self._on_fail_open = on_fail_open
        self._on_forget = on_forget  # called before anything is forgotten, and once it is
        self._foreign_writes = foreign_writes
        self._is_hot = is_hot  # tells whether a state was found in a hot context
        self._watch = watch or Unwatched()
        self._beside = beside  # brings turns that only files have
        self._jobs = jobs if jobs is not None and jobs.keeps else None  # has the summaries that a model has made
        self._most_bytes = most_bytes
        self._tidied_at = monotonic()
        self._slices = FairQueue()
        self._shelves: Lru[str, Shelf] = Lru(most_shelves)
        # With what `ForeignWrites` was: a state may have a successor, of another process, since then.
        self._recent: Lru[tuple[str, bytes], tuple[int, PathState]] = Lru(most_states)
        self._seen_paths: Lru[str, int] = Lru(most_states)  # `ForeignWrites` of scopes, as of their last request

    async def warm(self) -> None:
        """Reads of a scope that nobody has what the first request of a process reads: the database has its connection
        ready then, and knows its tables."""
        with suppress(StorageError):
            await self._foreign_writes(NOBODY, "facts")
            await self.facts.all(NOBODY)
            await self.archive.shelf(NOBODY, time())
            await self.archive.changes(NOBODY, 0, time())
            await self._states.get(NOBODY, [b""])

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

    async def index(self, scope: str, shelf: Shelf, *, patience: float = PATIENCE) -> None:
        """Updates the shelf's index from the archive, waiting `patience` seconds; the rest is read in the
        background."""
        if shelf.is_complete:
            return
        is_read = shelf.read_as_of == await self._foreign_writes(scope, "turns")
        if is_read and not self._is_beside_due(scope, shelf):
            return
        knows_files = is_read and shelf.beside_at > float("-inf")  # they are looked at again in the background
        if shelf.reading is None or shelf.reading.done():
            reading = self._look_beside(scope, shelf) if is_read else self._read(scope, shelf)
            attempts = Attempts(self._on_fail_open)
            attempt = attempts.run("archive", reading, fallback=None, deadline=READING_DEADLINE)
            shelf.reading = self._tasks.spawn(attempt, name="read archive")
        await asyncio.wait({shelf.reading}, timeout=0 if knows_files else patience)

    async def _read(self, scope: str, shelf: Shelf) -> None:
        foreign = await self._foreign_writes(scope, "turns")
        stored = None if shelf.upto else await self.archive.shelf(scope, time())
        changes = await (self._unpacked(scope, shelf, stored) if stored else self._changes(scope, shelf))
        while True:
            shelf.forgotten = (shelf.forgotten | frozenset(changes.gone)) - frozenset(changes.back)
            if changes.entries or changes.gone:
                await self._in_thread(partial(shelf.take, changes))
            shelf.upto = changes.upto
            if not changes.more:
                break
            changes = await self._changes(scope, shelf)
        shelf.read_as_of = foreign
        self._shrink()
        self.keep_shelf(scope, shelf)
        if self._is_beside_due(scope, shelf):
            await self._look_beside(scope, shelf)

    def _is_beside_due(self, scope: str, shelf: Shelf) -> bool:
        return self._beside is not None and base_of(scope) == scope and beside.is_due(shelf)

    async def _look_beside(self, scope: str, shelf: Shelf) -> None:
        """Takes what only files have of a scope."""
        if self._beside is not None:
            shelf.beside_at = monotonic()
            version = shelf.beside_version
            found = await self._beside(scope, version, partial(beside.knows, shelf), shelf.is_forgotten)
            if found is not None:
                await self._in_thread(partial(beside.place, shelf, found.turns))
                if shelf.beside_version == version and shelf.beside_at > float("-inf"):
                    shelf.beside_version = found.version

    async def _changes(self, scope: str, shelf: Shelf) -> ArchiveChanges:
        return await self.archive.changes(scope, shelf.upto, time())

    async def _unpacked(self, scope: str, shelf: Shelf, stored: StoredShelf) -> ArchiveChanges:
        """Fills a shelf with what was stored; returns the changes since then, which are read meanwhile."""
        since = self._tasks.spawn(self.archive.changes(scope, stored.upto, time()), name="read archive")
        try:
            gone = await self._in_thread(partial(shelving.unpack, shelf, stored))
            shelf.forgotten |= gone or frozenset()
            changes: ArchiveChanges = await since
            return changes if shelf.upto == stored.upto else await self._changes(scope, shelf)
        finally:
            since.cancel()

    def keep_shelf(self, scope: str, shelf: Shelf) -> None:
        """Begins to store the shelf of a large scope that has grown, for processes that have not served it yet."""
        is_whole = shelf.read_as_of is not None and self._shelves.get(scope) is shelf
        if is_whole and shelf.wiped_at == float("-inf") and shelving.is_due(shelf):
            shelf.unstored = 0.0
            self._tasks.spawn(self._store(scope, shelf), name="store shelf")

    async def _store(self, scope: str, shelf: Shelf) -> None:
        shelf.read_as_of = None  # what this process has written is read, too, or the others would have to
        await self.index(scope, shelf, patience=READING_DEADLINE)
        steps = shelving.packing(shelf, shelf.upto, time() - self.archive.ttl * (1 - shelving.EARLY))
        packed = await in_slices(self._executor, steps, self._slices, scope)
        shelf.look_beside()  # it was packed without what files have
        if packed is not None and self._shelves.get(scope) is shelf:  # else it was wiped meanwhile
            self.archive.keep_shelf(scope, packed)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _shrink(self) -> None:
        held = sum(shelf.size for shelf in self._shelves.values())
        while held > self._most_bytes and len(self._shelves) > 1:
            _, shelf = self._shelves.popitem(last=False)
            held -= shelf.size

    def learn(self, scope: str, shelf: Shelf, facts: Sequence[Fact]) -> None:
        """Stores new and changed facts; does nothing where facts are not kept."""
        if facts and self.facts.keeps:
            before = {fact.id: shelf.facts[fact.id] for fact in facts if fact.id in shelf.facts}
            shelf.changes += 1
            shelf.facts.update((fact.id, fact) for fact in facts)
            self.facts.put(scope, facts)
            self._watch.learnt(scope, facts, before, time())

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
        await self.state(scope, order.chain)  # its conversation goes on here, with what is left of its state
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
        self.forget_states(scope)
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
            await self.index(scope, shelf)
        looking = asyncio.get_running_loop().run_in_executor(self._executor, shelf.turn_mates, said)
        await asyncio.wait({looking}, timeout=PATIENCE)
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
        self.forget_states(scope)
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
        await self._in_thread(partial(shelf.take, ArchiveChanges()))

    def _forget_contents(self, scope: str) -> None:
        for texts in (self._contents, self._quality):
            if texts is not None:
                texts.forget(scope.partition("~")[0])  # without a conversation's own name, see Identity.memory

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased, and those of its single conversations, from memory."""
        for name in of_base(self._shelves, scope):
            del self._shelves[name]
        for key in [key for key in self._recent if base_of(key[0]) == scope]:
            del self._recent[key]
        self._on_forget()

    # --- states of conversations --------------------------------------------------------------------------------------

    async def state(
        self,
        scope: str,
        chain: Sequence[bytes],
        *,
        is_new: bool = False,
        on_read: Callable[[ContextRead], object] = lambda _place: None,
    ) -> tuple[PathState, int] | None:
        """Returns the state of the last request before this one on the path `chain`, and its number of messages; None
        if unknown. `is_new`: storage was asked for this history, and has none of it. `on_read` is told the place where
        it was looked up, if anywhere."""
        lengths = range(len(chain) - 1, max(0, len(chain) - 1 - STEPS_BACK), -1)
        foreign = await self._foreign_writes(scope, "paths")
        self._seen_paths.put(scope, foreign)
        known = next((length for length in lengths if (scope, chain[length - 1]) in self._recent), 0)
        held = self._recent.used((scope, chain[known - 1])) if known else None
        if held is not None and held[0] == foreign:
            on_read("memory")
            return held[1], known
        asked = [] if is_new else [chain[length - 1] for length in lengths if length >= max(known, 1)]
        found = await self._states.get(scope, asked) if asked else None
        if asked:
            on_read("hot" if found is not None and self._is_hot(scope, found[0]) else "database")
        if found is not None and (state := unpack(found[1])) is not None:
            self._recent.put((scope, found[0]), (foreign, state))
            return state, next(length for length in lengths if chain[length - 1] == found[0])
        if held is None:
            return None
        # Another process has deleted it: what it quotes may be forgotten.
        self._recent.put((scope, chain[known - 1]), (foreign, left := _without_text(held[1])))
        return left, known

    def keep_state(self, scope: str, session: str, link: bytes, state: PathState) -> None:
        """Stores the state after a request whose last message has the link `link`."""
        self._recent.put((scope, link), (self._seen_paths.get(scope, 0), state))
        self._states.put(scope, session, link, state.at, pack(state))

    def forget_states(self, scope: str) -> None:
        """Removes text from the states of a scope, since it may quote what is forgotten: folds stay, their heads are
        rebuilt, and a turn that goes on loses what was recalled for it."""
        for key, (as_of, state) in self._recent.items():
            if key[0] == scope:
                self._recent[key] = as_of, _without_text(state)
        self._states.forget(scope)


def _without_text(state: PathState) -> PathState:
    fold = None if state.fold is None else replace(state.fold, head="", head_tokens=0, summaries=())
    return replace(state, fold=fold, volatile=VolatileBlock())


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
