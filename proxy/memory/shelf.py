"""The memory of one scope: facts, index of old turns, histories, cached summaries."""

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

MOST_NOTES = 128  # summaries of a scope in memory
_NOTE_BYTES = 1_000  # of a summary, about


@dataclass(frozen=True, slots=True)
class Segment:
    """The turns that a summary covers, and its form."""

    starts: tuple[int, ...]  # index of the first message of every turn
    link: bytes  # of the last message, which identifies all messages before it
    number: int  # of the first turn
    heard: tuple[bool, ...]  # of every turn: its content may be summarised
    tokens: int


class Notes:
    """The bounded cache of a scope's summaries. For one thread at a time: the one that holds the shelf's lock."""

    def __init__(self, most: int = MOST_NOTES) -> None:
        self._known: Lru[Segment, Summary | None] = Lru(most)

    @property
    def size(self) -> int:
        """Returns the approximate size in memory, in bytes."""
        return _NOTE_BYTES * len(self._known)

    def of(self, segment: Segment, written: Callable[[], Summary | None]) -> Summary | None:
        """Returns the summary of a segment from the cache, else calls `written` and caches its result."""
        if segment in self._known:
            self._known.move_to_end(segment)
            return self._known[segment]
        found = written()
        self._known.put(segment, found)
        return found

    def clear(self) -> None:
        """Empties the cache: its summaries may quote what is to be forgotten."""
        self._known.clear()


@dataclass(slots=True)
class Shelf:
    """The memory of one scope."""

    index: TurnIndex = field(default_factory=TurnIndex)
    facts: dict[str, Fact] = field(default_factory=dict)
    fact_vectors: dict[str, Vector] = field(default_factory=dict)  # by id
    forgotten: frozenset[bytes] = frozenset()  # links and marks that a history must not bring back
    since: dict[bytes, float] = field(default_factory=dict)  # by link or mark: epoch seconds of its forgetting, here
    wiped_at: float = float("-inf")  # while a wipe is carried out: turns up to this time are not kept
    embedded: set[bytes] = field(default_factory=set)  # links of turns that the index has vectors of
    walked: set[bytes] = field(default_factory=set)  # links of turns up to which the index is complete
    histories: Histories = field(default_factory=Histories)
    notes: Notes = field(default_factory=Notes)
    current: Current | None = None  # the valid facts, as the last request found them
    lock: threading.Lock = field(default_factory=threading.Lock)
    leaving: deque[frozenset[bytes]] = field(default_factory=deque)  # links to be removed by the next lock holder
    changes: int = 0  # number of changes of the facts by this process
    stated_at: float = float("-inf")  # `monotonic` time when the facts were read from storage
    upto: int = 0  # position in the archive's changes up to which the index is read
    read_at: float = float("-inf")  # `monotonic` time when the archive was read
    reading: asyncio.Task[None] | None = None  # of the archive, under way

    @classmethod
    def passing(cls) -> "Shelf":
        """Returns a shelf for a scope of which nothing is kept yet; it is dropped with the request."""
        return cls()

    @property
    def size(self) -> int:
        """Returns the approximate size in memory, in bytes."""
        return self.index.size + self.histories.size + self.notes.size

    def apart(self) -> "Shelf":
        """Returns a shelf with the same facts and an empty index, for a request that must leave no trace."""
        return Shelf(facts=self.facts, fact_vectors=self.fact_vectors, forgotten=self.forgotten, read_at=monotonic())

    def take(self, changes: ArchiveChanges) -> None:
        """Applies changes of the archive to the index, in a worker thread."""
        with self.lock:
            self.settle()
            for turn, vectors in changes.entries:
                if self.may_keep(turn):
                    self.add(turn, vectors)
            self.index.remove(changes.gone)

    def may_keep(self, turn: ArchivedTurn) -> bool:
        """Tells whether no message of a turn was forgotten, and no wipe covers it."""
        return turn.at > self.wiped_at and self.forgotten.isdisjoint(
            (turn.link, *(said.link for said in turn.utterances))
        )

    def turn_mates(self, links: set[bytes]) -> set[bytes]:
        """Returns the links of all messages in the turns of these messages, in a worker thread."""
        with self.lock:
            self.settle()
            return set(self.index.turn_mates(links))

    def forget(self, links: frozenset[bytes], at: float) -> None:
        """Marks messages as forgotten, on the event loop; they leave the index before the next search."""
        self.forgotten |= links
        self.since.update(dict.fromkeys(links, at))
        self.leaving.append(links)

    def settle(self) -> None:
        """Removes the messages forgotten since the last call from the index. The caller holds the lock."""
        while self.leaving:
            self.notes.clear()
            self.index.remove(tuple(self.leaving.popleft()))

    def put(self, turn: ArchivedTurn, vectors: Vector | None) -> None:
        """Adds a turn to the index, in a worker thread, unless it was forgotten while it was read or embedded."""
        with self.lock:
            if self.may_keep(turn):
                self.add(turn, vectors)

    def add(self, turn: ArchivedTurn, vectors: Vector | None) -> None:
        """Adds a turn to the index. The caller holds the lock."""
        self.index.add(turn, vectors)
        if vectors is not None:
            self.embedded.add(turn.link)
