"""Search index of one scope's archived messages, in memory: terms and a vector for each passage. It grows turn by turn;
adding costs the same however much is there.

A request sees a `View` of it: the messages of its own path in the order they were said, found by the links of its hash
chain (`paths`), and optionally those of the scope's other sessions. Neighbours are neighbours in the view: so a branch
never sees its sibling.

For one thread at a time: a posting list that is being read cannot grow.
"""

from collections import Counter
from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from proxy.language.words import terms
from proxy.memory import packing
from proxy.memory.columns import Columns, Flags, Floats
from proxy.memory.cues import asking, concreteness
from proxy.memory.packing import IndexedMessage, Messages, PackedIndex
from proxy.memory.passage_vectors import PassageVectors
from proxy.memory.paths import Views
from proxy.memory.postings import Postings
from proxy.memory.spans import estimate, spans
from proxy.memory.view import View, spread
from proxy.types import ArchivedTurn, Utterance, Vector

PASSAGE_TOKENS = 120  # of a passage, at most
# Passages of a message that get a vector; the others are found by their words. An answer states its topic first:
# on BEAM a vector for every passage finds no more than one for the first two, at three times the embeddings.
EMBEDDED: Mapping[str, int] = {"user": 8, "assistant": 2}

_MESSAGE_BYTES = 600  # of a message's objects: its entry, its link, its spans


_MESSAGE_COLUMNS: Mapping[str, Any] = {
    "first": np.int64,
    "count": np.int64,
    "is_user": np.bool_,
    "asks": np.float32,
    "concrete": np.float32,
    "tokens": np.int64,
    "session": np.int64,
    "is_here": np.bool_,
}
_PASSAGE_COLUMNS: Mapping[str, Any] = {"length": np.float32, "scale": np.float32}


class TurnIndex:
    """The search index of one scope."""

    def __init__(self, packed: PackedIndex | None = None) -> None:
        if packed is None:
            self._by_message, self._by_passage = Columns(**_MESSAGE_COLUMNS), Columns(**_PASSAGE_COLUMNS)
            self._messages, self._postings = Messages(), Postings()
            self._numbers: dict[bytes, int] = {}
            self._sessions: dict[str, int] = {}
            self._vectors = PassageVectors(self._by_passage)
        else:
            self._by_message = Columns.of(packing.columns_of(packed.columns, _MESSAGE_COLUMNS))
            self._by_passage = Columns.of(packing.columns_of(packed.columns, _PASSAGE_COLUMNS))
            self._messages, self._postings = Messages(packed.messages), Postings(packed.postings, packed.entries)
            links, is_here = packing.links_of(packed.messages), self._by_message["is_here"].tolist()
            self._numbers = {link: number for number, link in enumerate(links) if is_here[number]}
            self._sessions = {name: number for number, name in enumerate(packed.messages.sessions)}
            self._vectors = PassageVectors(self._by_passage, packed.vectors, packed.dimensions)
        self._text_bytes = 0 if packed is None else packed.text_bytes
        self._views = Views(self._numbers, self._messages, self._by_message)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, link: bytes) -> bool:
        return link in self._numbers

    def has_any(self, links: Collection[bytes]) -> bool:
        """Tells whether one of these messages is in the index."""
        return not self._numbers.keys().isdisjoint(links)

    @property
    def size(self) -> int:
        """Returns the approximate size in memory, in bytes."""
        arrays = self._by_message.nbytes + self._by_passage.nbytes + self._views.nbytes
        objects = _MESSAGE_BYTES * len(self._numbers) + self._postings.size
        return arrays + self._vectors.nbytes + objects + self._text_bytes

    def packing(self) -> Generator[None, None, tuple[bytes, float]]:
        """Returns what is in the index now as bytes, for `unpacked`, and the time of its first turn, a step at a time.
        Between steps messages may be added, and none removed."""
        columns = {name: self._by_message[name].tobytes() for name in _MESSAGE_COLUMNS}
        columns |= {name: self._by_passage[name].tobytes() for name in _PASSAGE_COLUMNS}
        dimensions, rows = self._vectors.packed()
        entries, text_bytes, passages = self._postings.entries, self._text_bytes, len(self._by_passage)
        messages = yield from self._messages.packing(self._sessions)
        postings = yield from self._postings.packing(passages)
        packed = PackedIndex(
            packing.FORMAT, messages, postings, columns, memoryview(rows), dimensions, entries, text_bytes
        )
        return packing.encode(packed), packing.oldest(messages)

    def packed(self) -> bytes:
        """Returns the index as bytes at once."""
        steps = self.packing()
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return cast(bytes, end.value[0])

    @classmethod
    def unpacked(cls, data: bytes | memoryview) -> "TurnIndex | None":
        """Returns the index of `packed` bytes; None if they are another version's."""
        packed = packing.decode(data)
        return None if packed is None else cls(packed)

    def find(self, link: bytes) -> IndexedMessage | None:
        """Returns the message with this link; None if it is not in the index."""
        number = self._numbers.get(link)
        return None if number is None else self.message(number)

    def message(self, number: int) -> IndexedMessage:
        """Returns the message of this number; raises LookupError if it was removed."""
        found = self._messages[number]
        if found is None:
            raise LookupError(f"message {number} was removed")
        return found

    def link(self, number: int) -> bytes:
        """Returns the link of the message of this number; raises LookupError if it was removed."""
        if (link := self._messages.link(number)) is None:
            raise LookupError(f"message {number} was removed")
        return link

    def texts(self, turn: ArchivedTurn) -> list[str]:
        """Returns the texts that `add` takes vectors of: the first passages of every message, in their order."""
        return [
            utterance.text[start:end]
            for utterance in turn.utterances
            for start, end in spans(utterance.text, PASSAGE_TOKENS)[: EMBEDDED[utterance.role]]
        ]

    def add(self, turn: ArchivedTurn, vectors: Vector | None = None) -> None:
        """Adds the messages of a turn; those that are known only get the vectors. `vectors`: one row for each of
        `texts(turn)`. Raises ValueError if their number is another, or their dimensions differ from those before."""
        if vectors is not None:
            self._check(turn, vectors)
        row = 0
        asks = 0.0  # of the user's message that is being answered
        for utterance in turn.utterances:
            asks = asking(utterance.text) if utterance.role == "user" else asks
            if not utterance.text.strip():  # a message that only calls tools has no words
                continue
            number = self._numbers.get(utterance.link)
            if number is None:
                number = self._append(turn, utterance, asks)
            embedded = min(len(self.message(number).spans), EMBEDDED[utterance.role])
            if vectors is not None:
                self._vectors.put(int(self._by_message["first"][number]), vectors[row : row + embedded])
            row += embedded

    def has_vectors(self, turn: ArchivedTurn) -> bool:
        """Tells whether all messages of a turn that may have a vector have one."""
        numbers = [self._numbers[said.link] for said in turn.utterances if said.link in self._numbers]
        first = self._by_message["first"][np.array(numbers, dtype=np.int64)]
        return bool(self._vectors.has(first).all())

    def remove(self, links: Sequence[bytes]) -> None:
        """Removes messages with their text, terms and vectors."""
        for link in links:
            number = self._numbers.pop(link, None)
            if number is None:
                continue
            message = self.message(number)
            first = int(self._by_message["first"][number])
            for offset, (start, end) in enumerate(message.spans):
                for term in set(terms(message.text[start:end])):
                    self._postings.remove(term, first + offset)
            self._vectors.remove(first, len(message.spans))
            self._messages.remove(number)
            self._by_message["is_here"][number] = False
            self._views.clear()
            self._text_bytes -= len(message.text.encode())

    def until(self, at: float) -> list[bytes]:
        """Returns the links of the messages up to a time."""
        return [self.link(number) for number in self._messages.until(at)]

    def flags(self, links: Collection[bytes]) -> Flags:
        """Returns a flag for each message that was ever in the index: it is one of these."""
        found = np.zeros(len(self._messages), dtype=np.bool_)
        found[[self._numbers[link] for link in links if link in self._numbers]] = True
        return found

    def turn_mates(self, links: Collection[bytes]) -> set[bytes]:
        """Returns the links of all messages in the turns of these messages."""
        said = [self.message(self._numbers[link]) for link in links if link in self._numbers]
        turns = {(each.session, each.turn) for each in said}
        runs: list[tuple[bool, set[bytes]]] = []  # of messages that came together: is it known whom they answer? links
        last: tuple[int, tuple[str, int]] | None = None
        for number, each in enumerate(self._messages.since(0) if turns else ()):
            if each is None or (turn := (each.session, each.turn)) not in turns:
                continue
            if each.role == "user" or last != (number - 1, turn):
                runs.append((each.role == "user", set()))
            runs[-1][1].add(each.link)
            last = number, turn
        # Numbers of turns begin again where a conversation was cleared: what answers another message stays.
        meant = [links_of for is_whole, links_of in runs if not (is_whole and links_of.isdisjoint(links))]
        return set().union(*meant)

    def said_in(self, session: str) -> list[IndexedMessage]:
        """Returns the messages of a session, in the order they came."""
        return [each for each in self._messages.since(0) if each is not None and each.session == session]

    def view(self, path: Sequence[bytes], *, others_than: str | None = None) -> View:
        """Returns the view of `path`, the links of a request's chain in their order; links that are not archived are
        skipped. `others_than`: adds every other session of the scope than this one."""
        return self._views.of(path, others_than=None if others_than is None else self._sessions.get(others_than, -1))

    def lengths(self, view: View) -> Floats:
        """Returns the number of terms of every passage."""
        return self._by_passage["length"][view.passages]

    def frequencies(self, wanted: Sequence[str], view: View) -> Floats:
        """Returns the frequency of each term (row) in each passage (column)."""
        return self._postings.frequencies(wanted, view.passages)

    def cosines(self, vector: Vector, view: View) -> Floats | None:
        """Returns the cosine of every passage, 0 for one without a vector; None if none has one."""
        return self._vectors.cosines(vector, view.passages)

    def embedded(self, view: View) -> Flags:
        """Returns a flag for each passage that has a vector."""
        return self._vectors.has(view.passages)

    def awaited(self, view: View) -> Flags:
        """Returns a flag for each passage of a message that has no vector yet. Passages that never get one, behind the
        first of an embedded message, are not flagged."""
        return spread(~self._vectors.has(view.passages[view.first]), view)

    def _append(self, turn: ArchivedTurn, utterance: Utterance, asks: float) -> int:
        found = tuple(spans(utterance.text, PASSAGE_TOKENS))
        number, first = len(self._messages), len(self._by_passage)
        for offset, (start, end) in enumerate(found):
            counted = Counter(terms(utterance.text[start:end]))
            self._by_passage.append(length=counted.total(), scale=0.0)
            self._postings.add(first + offset, counted)
        self._by_message.append(
            first=first,
            count=len(found),
            is_user=utterance.role == "user",
            asks=asks,
            concrete=concreteness(utterance.text),
            tokens=estimate(utterance.text),
            session=self._sessions.setdefault(turn.session, len(self._sessions)),
            is_here=True,
        )
        self._messages.append(
            IndexedMessage(utterance.link, utterance.role, utterance.text, turn.session, turn.number, turn.at, found)
        )
        self._numbers[utterance.link] = number
        self._text_bytes += len(utterance.text.encode())
        return number

    def _check(self, turn: ArchivedTurn, vectors: Vector) -> None:
        if len(vectors) != (wanted := len(self.texts(turn))):
            raise ValueError(f"{len(vectors)} vectors for {wanted} texts")
        self._vectors.check(vectors)
