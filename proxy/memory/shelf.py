"""The memory of one scope: facts, index of old turns, histories, cached summaries, and what was forgotten.

Its index is searched, and grows, under its lock, in worker threads unless it takes but a moment.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from proxy.conversation.progress import Histories
from proxy.lru import Lru
from proxy.memory.current import Current
from proxy.memory.likeness import ComparedValues
from proxy.memory.owed import Owed
from proxy.memory.packing import IndexedMessage
from proxy.memory.shapes import Voice
from proxy.memory.turn_index import TurnIndex
from proxy.storage.recollection import ArchiveChanges
from proxy.types import ArchivedTurn, Fact, Summary, Utterance, Vector
from proxy.types.curation import StoredSummary

MOST_NOTES = 128  # summaries of a scope in memory
MOST_HEARD = 512  # user messages of a scope, behind which a longer history may be read on
VECTORS_ALONE = 1 / 2  # of a turn: what reading it again costs when its words are known
FACT = 2.0  # turns: what a fact's vector costs that is not stored
_NOTE_BYTES = 1_000  # of a summary, about
_VALUE_BYTES = 5_000  # of a fact's value as it is compared, about
_OWED_BYTES = 1_500  # of a turn that has no vectors yet, about


@dataclass(frozen=True, slots=True)
class Segment:
    """The turns that a summary covers, and its form."""

    starts: tuple[int, ...]  # index of the first message of every turn
    link: bytes  # of the last message, which identifies all messages before it
    number: int  # of the first turn
    heard: tuple[bool, ...]  # of every turn: its content may be summarised
    tokens: int


class Notes(Lru[Segment, Summary | None]):
    """The bounded cache of a scope's summaries. For one thread at a time: the one that holds the shelf's lock."""

    def __init__(self, most: int = MOST_NOTES) -> None:
        super().__init__(most)

    @property
    def size(self) -> int:
        """Returns the approximate size in memory, in bytes."""
        return _NOTE_BYTES * len(self)

    def of(self, segment: Segment, written: Callable[[], Summary | None]) -> Summary | None:
        """Returns the summary of a segment from the cache, else calls `written` and caches its result."""
        if segment not in self:
            self.put(segment, written())
        return self.used(segment)


@dataclass(slots=True)
class Shelf:
    """The memory of one scope."""

    index: TurnIndex = field(default_factory=TurnIndex)
    facts: dict[str, Fact] = field(default_factory=dict)
    fact_vectors: dict[str, Vector] = field(default_factory=dict)  # by id
    values: ComparedValues = field(default_factory=ComparedValues)  # of facts, for one reading at a time
    forgotten: frozenset[bytes] = frozenset()  # links and marks that a history must not bring back
    since: dict[bytes, float] = field(default_factory=dict)  # by link or mark: epoch seconds of its forgetting, here
    wiped_at: float = float("-inf")  # while a wipe is carried out: turns up to this time are not kept
    kept: set[bytes] = field(default_factory=set)  # links of turns that are in the index and in the archive
    owed: Owed = field(default_factory=Owed)  # turns of the index without vectors
    beside: dict[bytes, bytes] = field(default_factory=dict)  # by link: what the index has of files (`beside.py`)
    beside_at: float = float("-inf")  # when the files were looked at, by a clock that never goes back
    beside_version: bytes = b""  # of the files, as they were then
    walked: set[bytes] = field(default_factory=set)  # links of turns up to which the index is complete
    histories: Histories = field(default_factory=Histories)
    notes: Notes = field(default_factory=Notes)
    summaries: tuple[StoredSummary, ...] | None = None  # a model's; None: to be read
    heard: "Lru[tuple[str, bytes], Heard]" = field(default_factory=lambda: Lru(MOST_HEARD))  # by session and link
    current: Current | None = None  # the valid facts, as the last request found them
    lock: threading.Lock = field(default_factory=threading.Lock)
    leaving: deque[frozenset[bytes]] = field(default_factory=deque)  # links to be removed by the next lock holder
    changes: int = 0  # number of changes of the facts by this process
    stated_as_of: int | None = None  # `ForeignWrites` when the facts were read from storage; None: they were not
    unstored: float = 0.0  # turns that came since it was stored; one that only got its vectors counts for less
    upto: int = 0  # position in the archive's changes up to which the index is read
    read_as_of: int | None = None  # the same, when the archive was read whole
    reading: asyncio.Task[None] | None = None  # of the archive, under way
    is_complete: bool = False  # nothing is to be read into it

    @classmethod
    def passing(cls) -> "Shelf":
        """Returns a shelf for a scope of which nothing is kept yet; it is dropped with the request."""
        return cls()

    @property
    def size(self) -> int:
        """Returns the approximate size in memory, in bytes."""
        waiting = _VALUE_BYTES * len(self.values) + _OWED_BYTES * len(self.owed)
        made = _NOTE_BYTES * len(self.summaries or ())
        return self.index.size + self.histories.size + self.notes.size + made + waiting

    def apart(self) -> "Shelf":
        """Returns a shelf with the same facts and an empty index, for a request that must leave no trace."""
        apart = Shelf(facts=self.facts, fact_vectors=self.fact_vectors, forgotten=self.forgotten, current=self.current)
        apart.summaries = self.summaries
        apart.is_complete = True
        return apart

    def take(self, changes: ArchiveChanges) -> None:
        """Applies changes of the archive to the index, in a worker thread."""
        with self.lock:
            self.settle()
            for turn, vectors in changes.entries:
                if self.may_keep(turn):
                    self._replace_beside(turn)
                    self.add(turn, vectors)
                    self.kept.add(turn.link)
            self.leave_beside(changes.gone)
            self.index.remove(changes.gone)
            self.kept.difference_update(changes.gone)
            self.owed.leave(changes.gone)

    def may_keep(self, turn: ArchivedTurn) -> bool:
        """Tells whether no message of a turn was forgotten, and no wipe covers it."""
        return turn.at > self.wiped_at and self.forgotten.isdisjoint(
            (turn.link, *(said.link for said in turn.utterances))
        )

    def is_forgotten(self, link: bytes) -> bool:
        """Tells whether a message, or a value by its mark, was forgotten."""
        return link in self.forgotten

    def turn_mates(self, links: set[bytes]) -> set[bytes]:
        """Returns the links of all messages in the turns of these messages, in a worker thread."""
        with self.lock:
            self.settle()
            return set(self.index.turn_mates(links))

    def turns_of(self, session: str, most: int) -> list[ArchivedTurn]:
        """Returns the last turns of a session that the index has, without those of files, in a worker thread."""
        turns: dict[int, list[IndexedMessage]] = {}
        with self.lock:
            self.settle()
            for said in self.index.said_in(session):
                if said.link not in self.beside:
                    turns.setdefault(said.turn, []).append(said)
        return [
            ArchivedTurn(
                said[-1].link,
                b"",
                session,
                number,
                said[-1].at,
                b"",
                tuple(Utterance(e.role, e.text, e.link) for e in said),
            )
            for number, said in sorted(turns.items())[-most:]
        ]

    def forget(self, links: frozenset[bytes], at: float) -> None:
        """Marks messages as forgotten, on the event loop; they leave the index before the next search."""
        self.summaries = ()  # they may say it, until storage has carried it out, and they are read anew
        self.forgotten |= links
        self.since.update(dict.fromkeys(links, at))
        self.kept -= links
        for link in links:
            self.owed.pop(link, None)
        self.leaving.append(links)
        self.look_beside()  # files may say it in other lines

    def settle(self) -> None:
        """Removes the messages forgotten since the last call from the index. The caller holds the lock."""
        while self.leaving:
            self.notes.clear()  # they may quote what is forgotten
            links = tuple(self.leaving.popleft())
            self.leave_beside(links)
            self.index.remove(links)

    def put(self, turn: ArchivedTurn, vectors: Vector | None) -> None:
        """Adds a turn to the index, in a worker thread, unless it was forgotten while it was read or embedded."""
        with self.lock:
            if self.may_keep(turn):
                self._replace_beside(turn)
                self.add(turn, vectors)

    def look_beside(self) -> None:
        """Makes the next reading look at the files anew, on the event loop."""
        self.beside_at, self.beside_version = float("-inf"), b""

    def leave_beside(self, links: Iterable[bytes]) -> None:
        """Removes those of these messages that the index has of files. The caller holds the lock."""
        if self.beside:
            here = [link for link in links if self.beside.pop(link, None) is not None]
            self.index.remove(here)
            self.owed.leave(here)

    def _replace_beside(self, turn: ArchivedTurn) -> None:
        """Makes room for a turn, some of which may be known from files."""
        self.leave_beside(said.link for said in turn.utterances)

    def put_vectors(self, found: Sequence[tuple[ArchivedTurn, Vector]]) -> list[tuple[ArchivedTurn, Vector]]:
        """Adds the vectors of turns to the index, in a worker thread, but for those that were forgotten, or have
        expired, meanwhile; returns what it has added."""
        added = []
        with self.lock:
            self.settle()
            for turn, vectors in found:
                is_here = self.index.has_any([said.link for said in turn.utterances])
                if turn.link in self.owed and is_here and self.may_keep(turn):
                    self.add(turn, vectors)
                    added.append((turn, vectors))
                else:
                    self.owed.pop(turn.link, None)
        return added

    def add(self, turn: ArchivedTurn, vectors: Vector | None) -> None:
        """Adds a turn to the index. The caller holds the lock."""
        messages = len(self.index)
        self.index.add(turn, vectors)
        if turn.link not in self.beside:
            self.unstored += 1.0 if len(self.index) > messages else VECTORS_ALONE
        if self.index.has_vectors(turn):
            self.owed.pop(turn.link, None)
        else:
            self.owed[turn.link] = turn


@dataclass(frozen=True, slots=True)
class Heard:
    """The state of a reading after a user message: from here on a longer history of the session is read. There is none
    behind an order to forget, which concerns all that was said before it."""

    index: int  # of the next message
    turn: int  # number of the last turn
    voice: Voice  # of the next user message
    previous: str  # the user message, as far as the next one may refer to it
    forgotten: frozenset[bytes] = frozenset()  # the shelf's: where it has changed, all is read again
