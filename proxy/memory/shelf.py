"""What one scope remembers, in memory."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from proxy.conversation.progress import Histories
from proxy.lru import Lru
from proxy.memory.choosing import Current
from proxy.memory.turn_index import TurnIndex
from proxy.storage.recollection import ArchiveChanges
from proxy.types import ArchivedTurn, Fact, Summary, Vector

MOST_NOTES = 128
_NOTE_BYTES = 1_000


@dataclass(frozen=True, slots=True)
class Segment:
    """The turns that a summary is of, and how it is written."""

    starts: tuple[int, ...]  # index of the first message of every turn
    link: bytes  # of the last message, which names all that stands before it
    number: int  # of the first turn
    heard: tuple[bool, ...]  # of every turn: it may be told
    tokens: int


class Notes:
    """Those of one scope, bounded. One thread at a time: that which holds the shelf's lock."""

    def __init__(self, most: int = MOST_NOTES) -> None:
        self._known: Lru[Segment, Summary | None] = Lru(most)

    @property
    def size(self) -> int:
        """Bytes that it takes in memory, about."""
        return _NOTE_BYTES * len(self._known)

    def of(self, segment: Segment, written: Callable[[], Summary | None]) -> Summary | None:
        if segment in self._known:
            self._known.move_to_end(segment)
            return self._known[segment]
        found = written()
        self._known.put(segment, found)
        return found

    def clear(self) -> None:
        """They may say what is to be forgotten."""
        self._known.clear()


@dataclass(slots=True)
class Shelf:
    """One scope's."""

    index: TurnIndex = field(default_factory=TurnIndex)
    facts: dict[str, Fact] = field(default_factory=dict)
    fact_vectors: dict[str, Vector] = field(default_factory=dict)  # by id
    forgotten: frozenset[bytes] = frozenset()  # links of what must not come back with a history
    since: dict[bytes, float] = field(default_factory=dict)  # when, of those that were forgotten in this process
    wiped_at: float = float("-inf")  # while a wipe is carried out: what is as old must not come back either
    embedded: set[bytes] = field(default_factory=set)  # links of turns that the index has vectors of
    walked: set[bytes] = field(default_factory=set)  # links of turns up to which the index has all it may have
    histories: Histories = field(default_factory=Histories)
    notes: Notes = field(default_factory=Notes)
    current: Current | None = None  # of the facts, as the last request found them
    lock: threading.Lock = field(default_factory=threading.Lock)
    leaving: deque[frozenset[bytes]] = field(default_factory=deque)  # links to be removed by who next holds the lock
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
        return self.index.size + self.histories.size + self.notes.size

    def apart(self) -> "Shelf":
        """With the same facts, for a request that must leave nothing: what it adds to the index goes with it."""
        return Shelf(facts=self.facts, fact_vectors=self.fact_vectors, forgotten=self.forgotten, read_at=monotonic())

    def take(self, changes: ArchiveChanges) -> None:
        """In a worker thread."""
        with self.lock:
            self.settle()
            for turn, vectors in changes.entries:
                if self.may_keep(turn):
                    self.add(turn, vectors)
            self.index.remove(changes.gone)

    def may_keep(self, turn: ArchivedTurn) -> bool:
        return turn.at > self.wiped_at and self.forgotten.isdisjoint(
            (turn.link, *(said.link for said in turn.utterances))
        )

    def turn_mates(self, links: set[bytes]) -> set[bytes]:
        """In a worker thread: the other messages of the turns that these are in."""
        with self.lock:
            self.settle()
            return set(self.index.turn_mates(links))

    def forget(self, links: frozenset[bytes], at: float) -> None:
        """On the event loop, where others may be searching: they leave the index before the next one does."""
        self.forgotten |= links
        self.since.update(dict.fromkeys(links, at))
        self.leaving.append(links)

    def settle(self) -> None:
        """Whoever calls holds the lock: what has been forgotten since leaves the index."""
        while self.leaving:
            self.notes.clear()
            self.index.remove(tuple(self.leaving.popleft()))

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
