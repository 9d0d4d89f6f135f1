"""What each scope remembers, in memory, over what storage keeps: facts, the index of old turns, the states of
conversations. It follows what other processes write, and lets go of what was not needed for longest.

Everything but searching happens on the event loop. A shelf's index is searched, and grows, in worker threads: they hold
its lock.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from time import monotonic, time

from proxy.attempt import Attempts
from proxy.memory.progress import Pasts
from proxy.memory.state import pack, unpack
from proxy.memory.turn_index import TurnIndex
from proxy.storage.accounts import ContentsOff, ContentStore
from proxy.storage.base import StorageError
from proxy.storage.recollection import Archive, ArchiveChanges, FactStore, StateStore
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact, PathState, Vector

PATIENCE = 0.3  # seconds that a request waits for the index of a scope that was not asked for lately
READING_DEADLINE = 60.0  # seconds; the next request goes on where it ends
TIDY_SECONDS = 60.0  # between two looks for turns whose time in the archive has passed
FRESH_SECONDS = 1.0  # what another process has written is seen after as long
MOST_BYTES = 256 * 2**20  # of all shelves; the one in use may be larger
MOST_SHELVES = 5_000  # an empty one takes 5 kB; one that has left is read again
MOST_STATES = 20_000
STEPS_BACK = 64  # messages between two requests of a conversation, at most: else it is read as if it were new


@dataclass(slots=True)
class Shelf:
    """One scope's."""

    index: TurnIndex = field(default_factory=TurnIndex)
    facts: dict[str, Fact] = field(default_factory=dict)
    fact_vectors: dict[str, Vector] = field(default_factory=dict)  # by id
    forgotten: frozenset[bytes] = frozenset()  # links of what must never come back
    embedded: set[bytes] = field(default_factory=set)  # links of turns that the index has vectors of
    walked: set[bytes] = field(default_factory=set)  # links of turns up to which the index has all it may have
    pasts: Pasts = field(default_factory=Pasts)
    lock: threading.Lock = field(default_factory=threading.Lock)
    changes: int = 0  # of the facts, by this process
    stated_at: float = float("-inf")  # when the facts were read
    upto: int = 0
    read_at: float = float("-inf")  # when the archive was
    reading: asyncio.Task[None] | None = None

    @classmethod
    def passing(cls) -> "Shelf":
        """Of a scope that nothing is kept of yet: what a request adds to it goes with the request."""
        return cls()

    @property
    def size(self) -> int:
        """Bytes that it takes in memory, about."""
        return self.index.size + self.pasts.size

    def apart(self) -> "Shelf":
        """With the same facts, for a request that must leave nothing: what it adds to the index goes with it."""
        return Shelf(facts=self.facts, fact_vectors=self.fact_vectors, forgotten=self.forgotten, read_at=monotonic())

    def take(self, changes: ArchiveChanges) -> None:
        """In a worker thread."""
        with self.lock:
            for turn, vectors in changes.entries:
                if self.may_keep(turn):
                    self.add(turn, vectors)
            self.index.remove(changes.gone)

    def may_keep(self, turn: ArchivedTurn) -> bool:
        return self.forgotten.isdisjoint((turn.link, *(said.link for said in turn.utterances)))

    def turn_mates(self, links: set[bytes]) -> set[bytes]:
        """In a worker thread: the other messages of the turns that these are in."""
        with self.lock:
            return set(self.index.turn_mates(links))

    def put(self, turn: ArchivedTurn, vectors: Vector | None) -> None:
        """In a worker thread. What was forgotten while it was read, or embedded, does not come back."""
        with self.lock:
            if self.may_keep(turn):
                self.add(turn, vectors)

    def add(self, turn: ArchivedTurn, vectors: Vector | None) -> None:
        """Whoever calls holds the lock."""
        self.index.add(turn, vectors)
        if vectors is not None:
            self.embedded.add(turn.link)


@dataclass(frozen=True, slots=True)
class Held:
    """What is in memory now."""

    scopes: int
    bytes: int  # of the indexes
    facts: tuple[Fact, ...]


class Library:
    def __init__(  # noqa: PLR0913 (built in one place, services.py)
        self,
        facts: FactStore,
        archive: Archive,
        states: StateStore,
        executor: Executor,
        tasks: Tasks,
        *,
        contents: ContentStore | None = None,
        on_fail_open: Callable[[str, str], None] = lambda _stage, _reason: None,
        refresh_seconds: float = FRESH_SECONDS,
        most_bytes: int = MOST_BYTES,
        most_shelves: int = MOST_SHELVES,
        most_states: int = MOST_STATES,
    ) -> None:
        self.facts = facts
        self.archive = archive
        self._states = states
        self._executor = executor
        self._tasks = tasks
        self._contents = contents or ContentsOff()
        self._on_fail_open = on_fail_open
        self._refresh_seconds = refresh_seconds
        self._most_bytes = most_bytes
        self._most_shelves = most_shelves
        self._most_states = most_states
        self._tidied_at = monotonic()
        self._shelves: OrderedDict[str, Shelf] = OrderedDict()
        self._recent: OrderedDict[tuple[str, bytes], PathState] = OrderedDict()

    # --- what a scope remembers ---------------------------------------------------------------------------------------

    async def shelf(self, scope: str) -> Shelf:
        """With its facts as of now; those that other processes have written, as of a second ago."""
        shelf = self._shelves.setdefault(scope, Shelf())
        self._shelves.move_to_end(scope)
        if len(self._shelves) > self._most_shelves:
            self._shelves.popitem(last=False)
        if (at := monotonic()) - shelf.stated_at > self._refresh_seconds:
            before = shelf.changes
            try:
                known = await self.facts.all(scope)
            except StorageError:
                if shelf.stated_at < 0:
                    raise
                return shelf  # what is here is newer than what can be written
            if shelf.changes == before:  # else what was read is older than what is here
                shelf.facts = {fact.id: fact for fact in known}
                shelf.stated_at = at
        return shelf

    async def index(self, scope: str, shelf: Shelf, *, patience: float = PATIENCE) -> None:
        """Bring its index up to date, within `patience` seconds; what is left to read then is read in the
        background."""
        if monotonic() - shelf.read_at <= self._refresh_seconds:
            return
        if shelf.reading is None or shelf.reading.done():
            attempts, reading = Attempts(self._on_fail_open), self._read(scope, shelf)
            attempt = attempts.run("archive", reading, fallback=None, deadline=READING_DEADLINE)
            shelf.reading = self._tasks.spawn(attempt, name="read archive")
        await asyncio.wait({shelf.reading}, timeout=patience)

    async def _read(self, scope: str, shelf: Shelf) -> None:
        at, more = monotonic(), True
        while more:
            changes = await self.archive.turns(scope, shelf.upto, time())
            shelf.forgotten |= frozenset(changes.gone)
            if changes.entries or changes.gone:
                await asyncio.get_running_loop().run_in_executor(self._executor, shelf.take, changes)
            shelf.upto, more = changes.upto, changes.more
        shelf.read_at = at
        self._shrink()

    def _shrink(self) -> None:
        held = sum(shelf.size for shelf in self._shelves.values())
        while held > self._most_bytes and len(self._shelves) > 1:
            _, shelf = self._shelves.popitem(last=False)
            held -= shelf.size

    def learn(self, scope: str, shelf: Shelf, facts: Sequence[Fact]) -> None:
        """New facts, and known ones that have changed; where facts are not kept, nothing."""
        if facts and self.facts.keeps:
            shelf.changes += 1
            shelf.facts.update((fact.id, fact) for fact in facts)
            self.facts.put(scope, facts)

    def held(self) -> Held:
        shelves = self._shelves.values()
        facts = tuple(fact for shelf in shelves for fact in shelf.facts.values())
        return Held(len(shelves), sum(shelf.size for shelf in shelves), facts)

    def keep_turn(self, scope: str, turn: ArchivedTurn, vectors: Vector | None) -> None:
        self.archive.add(scope, turn, vectors)
        if monotonic() - self._tidied_at > TIDY_SECONDS:
            self._tidied_at = monotonic()
            self.archive.prune(time())

    def has_forgotten(self, scope: str, links: Sequence[bytes]) -> bool:
        """Is one of these a message to be forgotten, as far as has been read?"""
        shelf = self._shelves.get(scope)
        return shelf is not None and not shelf.forgotten.isdisjoint(links)

    async def forget(self, scope: str, facts: Sequence[Fact], command: Sequence[bytes] = ()) -> None:
        """The facts, the messages that said them, and what has been made of those; with them all that is kept of what
        this person's requests said, any of which may repeat them. `command`: the link of the request that demands it,
        which says what it is about."""
        if not facts:
            return
        shelf = await self.shelf(scope)
        await self.index(scope, shelf)
        shelf.changes += 1
        said = {*command, *(link for fact in facts for link in fact.links)}
        links = tuple(said | await asyncio.get_running_loop().run_in_executor(self._executor, shelf.turn_mates, said))
        for fact in facts:
            shelf.facts.pop(fact.id, None)
            shelf.fact_vectors.pop(fact.id, None)
        shelf.forgotten |= frozenset(links)
        self.facts.forget(scope, [fact.id for fact in facts])
        self.archive.forget(scope, links)
        self._contents.forget(scope.partition("~")[0])  # without a conversation's own name, see Identity.memory
        self.forget_states(scope)
        gone = ArchiveChanges(gone=links)
        await asyncio.get_running_loop().run_in_executor(self._executor, shelf.take, gone)

    # --- states of conversations --------------------------------------------------------------------------------------

    async def state(self, scope: str, chain: Sequence[bytes]) -> tuple[PathState, int] | None:
        """Of the last request before this one on the path that `chain` is, and how many messages that one had."""
        lengths = range(len(chain) - 1, max(0, len(chain) - 1 - STEPS_BACK), -1)
        for length in lengths:
            if (state := self._recent.get((scope, chain[length - 1]))) is not None:
                self._recent.move_to_end((scope, chain[length - 1]))
                return state, length
        found = await self._states.get(scope, [chain[length - 1] for length in lengths]) if lengths else None
        if found is None or (state := unpack(found[1])) is None:
            return None
        self._remember(scope, found[0], state)
        return state, next(length for length in lengths if chain[length - 1] == found[0])

    def keep_state(self, scope: str, session: str, link: bytes, state: PathState) -> None:
        self._remember(scope, link, state)
        self._states.put(scope, session, link, state.at, pack(state))

    def forget_states(self, scope: str) -> None:
        """What stands in a prompt may quote what is to be forgotten: what was folded stays folded, its head is made
        anew, and a turn that goes on does so without what was recalled for it."""
        for key, state in self._recent.items():
            if key[0] == scope:
                fold = None if state.fold is None else replace(state.fold, head="", head_tokens=0, summaries=())
                self._recent[key] = replace(state, fold=fold, volatile="", volatile_facts=0, volatile_others=0)
        self._states.forget(scope)

    def _remember(self, scope: str, link: bytes, state: PathState) -> None:
        self._recent[scope, link] = state
        if len(self._recent) > self._most_states:
            self._recent.popitem(last=False)
