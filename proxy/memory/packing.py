"""A search index as bytes, which a process that has not served a scope yet can load at once: reading 10,000 turns takes
seconds, loading their index some tens of milliseconds. Messages and posting lists stay packed until they are used.

It holds what its turns say: it is stored, and forgotten, with them.
"""

from array import array
from bisect import bisect_left
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

FORMAT = 3  # of the bytes: another one is not read
ROLES: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class IndexedMessage:
    """A message of the index."""

    link: bytes
    role: Literal["user", "assistant"]
    text: str
    session: str
    turn: int
    at: float  # seconds since the epoch
    spans: tuple[tuple[int, int], ...]  # of its passages


@dataclass(frozen=True, slots=True)
class PackedMessages:
    """Messages as arrays, one item each; a message without a link was removed."""

    links: bytes  # 16 bytes each
    roles: bytes
    sessions: tuple[str, ...]
    session: bytes  # int32: its place in `sessions`
    turns: bytes  # int32
    times: bytes  # float64
    texts: memoryview  # UTF-8, one after another
    text_ends: bytes  # int64
    spans: bytes  # int32, start and end of each passage, one after another
    span_ends: bytes  # int32: passages up to and with this message


@dataclass(frozen=True, slots=True)
class PackedPostings:
    """Posting lists as arrays."""

    terms: bytes  # UTF-8, one a line
    entries: memoryview  # uint32, list after list
    ends: bytes  # int64: bytes of `entries` up to and with each list


@dataclass(frozen=True, slots=True)
class PackedIndex:
    """An index in parts that msgpack can hold."""

    format: int
    messages: PackedMessages
    postings: PackedPostings
    columns: Mapping[str, bytes]  # of messages and of passages
    vectors: memoryview  # int8, a row a passage that has one
    dimensions: int  # 0: there are none
    entries: int
    text_bytes: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PackedIndex).decode
LINK_BYTES = 16
AT_ONCE = 500  # messages of a step
TERMS_AT_ONCE = 4_000  # of a step
_REMOVED = bytes(LINK_BYTES)


def encode(index: PackedIndex) -> bytes:
    """Returns the bytes of an index."""
    return _encode(index)


def decode(data: bytes | memoryview) -> PackedIndex | None:
    """Returns the index of bytes; None if they are none, or another version's."""
    try:
        index = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return index if index.format == FORMAT else None


class Messages:
    """The messages of an index, by number. Packed ones are made when they are used."""

    def __init__(self, packed: PackedMessages | None = None) -> None:
        self._packed = packed
        self._made: list[IndexedMessage | None] = []
        self._first = 0  # number of packed ones
        if packed is not None:
            self._first = len(packed.roles)
            self._made = [None] * self._first
            halves = np.frombuffer(packed.links, np.uint64).reshape(-1, 2)
            self._is_packed = bytearray(halves.any(axis=1).tobytes())
            self._turns = np.frombuffer(packed.turns, np.int32)
            self._times = np.frombuffer(packed.times, np.float64)
            self._session = np.frombuffer(packed.session, np.int32)
            self._text_ends = np.frombuffer(packed.text_ends, np.int64)
            self._spans = np.frombuffer(packed.spans, np.int32).reshape(-1, 2)
            self._span_ends = np.frombuffer(packed.span_ends, np.int32)

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, number: int) -> IndexedMessage | None:
        """Returns a message; None if it was removed."""
        if number < self._first and self._is_packed[number]:
            self._made[number] = self._message(number)
            self._is_packed[number] = 0
        return self._made[number]

    def link(self, number: int) -> bytes | None:
        """Returns the link of a message, which is not made for that; None if it was removed."""
        if number < self._first and self._is_packed[number]:
            assert self._packed is not None
            return self._packed.links[LINK_BYTES * number : LINK_BYTES * (number + 1)]
        made = self._made[number]
        return None if made is None else made.link

    def since(self, number: int) -> Iterator[IndexedMessage | None]:
        """Yields the messages from a number on."""
        return (self[each] for each in range(number, len(self._made)))

    def append(self, message: IndexedMessage) -> None:
        """Adds a message."""
        self._made.append(message)

    def until(self, at: float) -> list[int]:
        """Returns the numbers of the messages up to a time, without making them."""
        packed = np.flatnonzero(self._times <= at).tolist() if self._first else []
        made = (number for number, said in enumerate(self._made) if said is not None and said.at <= at)
        return sorted({*(number for number in packed if self._is_packed[number]), *made})

    def remove(self, number: int) -> None:
        """Removes a message; its number stays."""
        self._made[number] = None
        if number < self._first:
            self._is_packed[number] = 0

    def packing(self, sessions: Mapping[str, int]) -> Generator[None, None, PackedMessages]:
        """Returns all that are there now as arrays, a step at a time. `sessions`: the numbers of all sessions, in their
        order."""
        links, roles, session, turns, times, texts, span_ends = [], bytearray(), [], [], [], [], []
        spans: list[tuple[int, int]] = []
        names, most = tuple(sessions), len(self._made)
        for number in range(most):
            if number % AT_ONCE == 0:
                yield
            message = self[number]
            spans += message.spans if message else ()
            session.append(sessions[message.session] if message else 0)
            links.append(message.link if message else _REMOVED)
            roles.append(ROLES.index(message.role) if message else 0)
            turns.append(message.turn if message else 0)
            times.append(message.at if message else 0.0)
            texts.append(message.text.encode() if message else b"")
            span_ends.append(len(spans))
        yield
        every = np.fromiter((place for span in spans for place in span), np.int32, 2 * len(spans)).tobytes()
        yield
        return PackedMessages(
            links=b"".join(links),
            roles=bytes(roles),
            sessions=names,
            session=np.array(session, np.int32).tobytes(),
            turns=np.array(turns, np.int32).tobytes(),
            times=np.array(times, np.float64).tobytes(),
            texts=memoryview(b"".join(texts)),
            text_ends=np.cumsum([len(text) for text in texts], dtype=np.int64).tobytes(),
            spans=every,
            span_ends=np.array(span_ends, np.int32).tobytes(),
        )

    def _message(self, number: int) -> IndexedMessage:
        packed = self._packed
        assert packed is not None
        start, end = (0 if number == 0 else int(self._text_ends[number - 1])), int(self._text_ends[number])
        first, last = (0 if number == 0 else int(self._span_ends[number - 1])), int(self._span_ends[number])
        return IndexedMessage(
            packed.links[LINK_BYTES * number : LINK_BYTES * (number + 1)],
            ROLES[packed.roles[number]],
            str(packed.texts[start:end], "utf-8"),
            packed.sessions[self._session[number]],
            int(self._turns[number]),
            float(self._times[number]),
            tuple((begin, stop) for begin, stop in self._spans[first:last].tolist()),
        )


class Postings:
    """The posting lists of an index, by term. Packed ones become arrays when they are used."""

    def __init__(self, packed: PackedPostings | None = None) -> None:
        self._made: dict[str, array[int]] = {}
        self._packed: dict[str, int] = {}  # the place of each packed list
        if packed is not None:
            self._entries = packed.entries
            self._ends = np.frombuffer(packed.ends, np.int64)
            # A loop over so many takes the interpreter for long.
            self._packed = dict(zip(packed.terms.decode().split("\n"), range(len(self._ends)), strict=False))

    def __len__(self) -> int:
        return len(self._made) + len(self._packed)

    def __contains__(self, term: str) -> bool:
        return term in self._made or term in self._packed

    def of(self, term: str) -> "array[int]":
        """Returns the list of a term, to read and to append to: a new one if it has none."""
        made = self._made.get(term)
        if made is None:
            made = self._made[term] = array("I")
            made.frombytes(self._bytes(self._packed.pop(term, None)))
        return made

    def put(self, term: str, entries: "array[int]") -> None:
        """Sets the list of a term; an empty one is removed."""
        self._packed.pop(term, None)
        if entries:
            self._made[term] = entries
        else:
            self._made.pop(term, None)

    def packing(self, below: int) -> Generator[None, None, PackedPostings]:
        """Returns all lists with what is `below` in them, as bytes, a step at a time. Between steps lists may grow."""
        terms, lists = [*self._packed, *self._made], list[bytes | memoryview]()
        for start in range(0, len(terms), TERMS_AT_ONCE):
            lists += [self._below(term, below) for term in terms[start : start + TERMS_AT_ONCE]]
            yield
        ends = np.cumsum([len(each) for each in lists], dtype=np.int64)
        return PackedPostings("\n".join(terms).encode(), memoryview(b"".join(lists)), ends.tobytes())

    def _bytes(self, place: int | None) -> bytes | memoryview:
        if place is None:
            return b""
        return self._entries[0 if place == 0 else int(self._ends[place - 1]) : int(self._ends[place])]

    def _below(self, term: str, below: int) -> bytes | memoryview:
        made = self._made.get(term)
        if made is None:
            return self._bytes(self._packed.get(term))
        return bytes(memoryview(made)[: bisect_left(made, below)])


def columns_of(packed: Mapping[str, bytes], types: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Returns packed columns as arrays that can be written."""
    return {name: np.frombuffer(packed[name], kind).copy() for name, kind in types.items()}


def oldest(messages: PackedMessages) -> float:
    """Returns the time of the first message; 0 if there is none."""
    times = np.frombuffer(messages.times, np.float64)
    return float(min(times[times > 0], default=0.0))


def links_of(messages: PackedMessages) -> Sequence[bytes]:
    """Returns the links of packed messages, in their order."""
    return [messages.links[start : start + LINK_BYTES] for start in range(0, len(messages.links), LINK_BYTES)]
