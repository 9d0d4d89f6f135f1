"""The memory of one scope: facts, index of old turns, histories, cached summaries; and the reading of an answered
request for what is new to it: turns to archive, statements to learn.

The reading is done by generators, a step at a time: a history may be long, and other requests wait for the thread that
reads it. It changes nothing but the shelf's index, which takes the new turns.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from proxy.conversation.progress import Histories, archived, complete
from proxy.language.values import normal
from proxy.lru import Lru
from proxy.memory import facts
from proxy.memory.commands import LONGEST, commands, is_command, mark, meant, outlived
from proxy.memory.current import Current
from proxy.memory.extract import extract
from proxy.memory.owed import Owed
from proxy.memory.packing import IndexedMessage
from proxy.memory.shapes import Voice
from proxy.memory.superseding import ComparedValues
from proxy.memory.turn_index import TurnIndex
from proxy.storage.recollection import ArchiveChanges
from proxy.types import ArchivedTurn, Exchange, Fact, Forgetting, Message, Statement, Summary, Utterance, Vector
from proxy.types.curation import StoredSummary

T = TypeVar("T")
Steps = Generator[None, None, T]

MOST_NOTES = 128  # summaries of a scope in memory
MOST_HEARD = 512  # user messages of a scope, behind which a longer history may be read on
REVISED = 3  # newest user messages of a history that may be revised: it is read on from the one before
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


# --- reading of a request --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answered:
    """A request that is learnt from, with its answer."""

    exchange: Exchange
    messages: tuple[Message, ...]  # of the request, and of the answer if there is one
    chain: tuple[bytes, ...]  # links of `messages`

    @property
    def newest(self) -> int:
        """Index of the last message of the request if it is the user's, else -1."""
        asked = self.exchange.request.messages
        return len(asked) - 1 if asked and asked[-1].role == "user" else -1

    def unheard(self, start: int) -> int:
        """Returns the characters of the user messages from `start` on."""
        return sum(len(said.text) for said in self.messages[start:] if said.role == "user")


@dataclass(frozen=True, slots=True)
class Ingested:
    """The new turns and facts of a request and its answer."""

    turns: tuple[ArchivedTurn, ...]
    facts: tuple[Fact, ...]
    again: tuple[bytes, ...] = ()  # marks (`commands.mark`) of forgotten values that are stated anew
    said: "_Statements | None" = None  # of which the facts were made


@dataclass(frozen=True, slots=True)
class Heard:
    """The state of a reading after a user message: from here on a longer history of the session is read. There is none
    behind an order to forget, which concerns all that was said before it."""

    index: int  # of the next message
    turn: int  # number of the last turn
    voice: Voice  # of the next user message
    previous: str  # the user message, as far as the next one may refer to it
    forgotten: frozenset[bytes] = frozenset()  # the shelf's: where it has changed, all is read again


@dataclass(frozen=True, slots=True)
class _Statements:
    """The statements of the user's own messages, without those that are to be forgotten."""

    # By the index of their message, with the number of its turn.
    statements: Mapping[int, tuple[int, Sequence[Statement]]]
    unsaid: frozenset[int]  # indices of messages whose turns are not kept: they state what is to be forgotten
    newest: int  # index of the last message if it is the user's, else -1
    again: tuple[bytes, ...] = ()  # marks (`commands.mark`) of forgotten values that are stated anew


def read(
    request: Answered,
    shelf: Shelf,
    is_known: Callable[[bytes], bool] | None,
    again: frozenset[bytes],
    *,
    keeps_facts: bool,
    since: Sequence[Forgetting] = (),
) -> Steps[Ingested]:
    """Reads what is new in a request and its answer. `is_known` tells whether a turn with this link was read before;
    None: the turns of earlier requests were, and the index is not used. `since`: commands to forget that were given
    while the request was under way."""
    messages, chain = request.messages, request.chain
    identity, at = request.exchange.identity, request.exchange.incoming.received_at
    found = yield from _statements(request, shelf, again, since)
    turns = complete(messages)
    new = []
    # From the newest turn back to the first that is known.
    for number in range(len(turns), 0, -1):
        start, stop = turns[number - 1]
        if stop <= identity.known if is_known is None else is_known(chain[stop - 1]):
            break
        turn = archived(
            messages, chain, start, stop, number=number, session=identity.session, at=at, root=identity.root
        )
        orders = any(said.role == "user" and is_command(said.text) for said in turn.utterances)
        if not orders and shelf.may_keep(turn) and found.unsaid.isdisjoint(range(start, stop)):
            new.append(turn)
        yield
    new.reverse()
    if is_known is not None:
        for turn in new:
            shelf.put(turn, None)
            yield
    stated = (yield from _changed_facts(request, shelf, found)) if keeps_facts else ()
    return Ingested(tuple(new), stated, found.again, found)


def restated(request: Answered, shelf: Shelf, ingested: Ingested) -> Steps[tuple[Fact, ...]]:
    """Makes the facts of what was read once more, beside those that the shelf has now."""
    return (yield from _changed_facts(request, shelf, ingested.said)) if ingested.said is not None else ()


def _changed_facts(request: Answered, shelf: Shelf, found: _Statements) -> Steps[tuple[Fact, ...]]:
    """Applies the statements to the known facts; returns those that are new, confirmed or superseded. The newest
    message counts even if its words were read before: then they hold again."""
    if not found.statements:
        return ()
    exchange, known = request.exchange, dict(shelf.facts)
    changed: dict[str, Fact] = {}
    yield from shelf.values.refreshed({fact.value for fact in known.values()})
    for index, (turn, statements) in found.statements.items():
        link = request.chain[index]
        again = index == found.newest and _was_superseded(known.values(), link)
        for statement in statements:
            yield  # beside many facts each takes half a millisecond
            changes = facts.learn(
                known.values(),
                (statement,),
                session=exchange.identity.session,
                turn=turn,
                link=link,
                now=exchange.incoming.received_at,
                again=again,
                values=shelf.values,
            )
            for fact in changes:
                known[fact.id] = changed[fact.id] = fact
    return tuple(changed.values())


def _statements(
    request: Answered, shelf: Shelf, again: frozenset[bytes], since: Sequence[Forgetting]
) -> Steps[_Statements]:
    """Extracts the statements that are to be learnt."""
    exchange, messages, chain = request.exchange, request.messages, request.chain
    session, heard, newest = exchange.identity.session, begins(request, shelf), request.newest
    turn, voice, previous = heard.turn, heard.voice, heard.previous
    said: list[tuple[int, Statement]] = []  # with the index of the message
    turns: dict[int, int] = {}
    orders: list[tuple[int, Forgetting]] = []  # the same
    states: deque[tuple[bytes, Heard]] = deque(maxlen=REVISED)
    for index in range(heard.index, len(messages)):
        if (each := messages[index]).role != "user":
            continue
        turn += 1
        yield
        said_by, voice = voice, voice.after(*each.texts)
        text_before, previous = previous, each.text[: LONGEST + 1]
        states.append((chain[index], Heard(index + 1, turn, voice, previous, heard.forgotten)))
        if not said_by.is_own:
            continue
        if ordered := commands(each.texts, text_before):
            orders += ((index, what) for what in ordered)
            continue
        is_known = index < exchange.identity.known and chain[index] not in again
        returns = is_known and index == newest and _was_superseded(tuple(shelf.facts.values()), chain[index])
        if (is_known and not returns) or chain[index] in heard.forgotten:
            continue
        turns[index] = turn
        said += ((index, statement) for statement in extract(*each.texts))
    orders += ((len(messages), what) for what in since)
    gone = meant(said, orders)
    kept: dict[int, list[Statement]] = {}
    unsaid, anew = set(), []
    names = [mark(statement.value) for _, statement in said]
    are_anew = [
        index == newest and shelf.since.get(name, 0.0) <= exchange.incoming.received_at
        for name, (index, _) in zip(names, said, strict=True)
    ]
    old = frozenset() if all(are_anew) else outlived(tuple(shelf.facts.values()))
    for place, (name, is_anew, (index, statement)) in enumerate(zip(names, are_anew, said, strict=True)):
        if place in gone or (name in heard.forgotten and not is_anew):
            unsaid.add(index)
        elif is_anew or normal(statement.value) not in old:
            kept.setdefault(index, []).append(statement)
            anew += [name] if name in heard.forgotten else []
    for link, state in states if not (orders or unsaid or anew) else ():
        shelf.heard.put((session, link), state)
    statements = {index: (turns[index], tuple(found)) for index, found in kept.items()}
    wiped = max((index for index, order in orders if not order.what.strip()), default=0)
    return _Statements(statements, frozenset(unsaid) | frozenset(range(wiped)), newest, tuple(anew))


def begins(request: Answered, shelf: Shelf) -> Heard:
    """Returns the state from which a history is read: after the last user message before the newest that was heard
    here in this session."""
    session, forgotten = request.exchange.identity.session, shelf.forgotten
    for index in range((request.newest if request.newest >= 0 else len(request.messages)) - 1, -1, -1):
        heard = shelf.heard.get((session, request.chain[index])) if request.messages[index].role == "user" else None
        if heard is not None and heard.forgotten is forgotten:
            return heard
    return Heard(0, 0, Voice(), "", forgotten)


def _was_superseded(known: Iterable[Fact], link: bytes) -> bool:
    """Tells whether a fact stated by the message `link` was ended, or may have been, by a later one."""
    return any(link in fact.links and (fact.superseded_by or fact.doubted_by) is not None for fact in known)
