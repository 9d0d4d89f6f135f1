"""A search index as bytes, which a process that has not served a scope yet can load at once: reading 10,000 turns takes
seconds, loading their index some tens of milliseconds. Messages and posting lists stay packed until they are used.

It holds what its turns say: it is stored, and forgotten, with them.
"""

import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from proxy.lru import Lru
from proxy.memory.postings import PackedPostings

FORMAT = 4  # of the bytes: another one is not read
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
    texts: tuple[memoryview, ...]  # UTF-8, one after another, TEXTS_AT_ONCE messages each; zlib
    text_ends: bytes  # int64: of the message's text, in what its part holds
    spans: bytes  # int32, start and end of each passage, one after another
    span_ends: bytes  # int32: passages up to and with this message


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
AT_ONCE = 480  # messages of a step
TEXTS_AT_ONCE = 32  # messages that are compressed together: a third of their size, 0.1 ms to read
LEVEL = 1  # of compression
MOST_PARTS = 8  # that are kept as they were read
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
            self._parts: Lru[int, bytes] = Lru(MOST_PARTS)
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
        links, roles, session, turns, times, span_ends = [], bytearray(), [], [], [], []
        texts, text_ends, part = list[memoryview](), list[int](), bytearray()
        spans: list[tuple[int, int]] = []
        names, most = tuple(sessions), len(self._made)
        for number in range(most):
            if number % TEXTS_AT_ONCE == 0 < number:
                texts.append(memoryview(zlib.compress(part, LEVEL)))
                part.clear()
            if number % AT_ONCE == 0:
                yield
            is_packed = number < self._first and self._is_packed[number]
            message = self._message(number) if is_packed else self._made[number]
            spans += message.spans if message else ()
            session.append(sessions[message.session] if message else 0)
            links.append(message.link if message else _REMOVED)
            roles.append(ROLES.index(message.role) if message else 0)
            turns.append(message.turn if message else 0)
            times.append(message.at if message else 0.0)
            part += message.text.encode() if message else b""
            text_ends.append(len(part))
            span_ends.append(len(spans))
        texts.append(memoryview(zlib.compress(part, LEVEL)))
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
            texts=tuple(texts),
            text_ends=np.array(text_ends, np.int64).tobytes(),
            spans=every,
            span_ends=np.array(span_ends, np.int32).tobytes(),
        )

    def _part(self, place: int) -> bytes:
        if (part := self._parts.used(place)) is None:
            assert self._packed is not None
            try:
                part = zlib.decompress(self._packed.texts[place])
            except zlib.error:  # damaged: its messages have no words, until the shelf is made anew
                part = b""
            self._parts.put(place, part)
        return part

    def _message(self, number: int) -> IndexedMessage:
        packed = self._packed
        assert packed is not None
        start = 0 if number % TEXTS_AT_ONCE == 0 else int(self._text_ends[number - 1])
        first, last = (0 if number == 0 else int(self._span_ends[number - 1])), int(self._span_ends[number])
        return IndexedMessage(
            packed.links[LINK_BYTES * number : LINK_BYTES * (number + 1)],
            ROLES[packed.roles[number]],
            self._part(number // TEXTS_AT_ONCE)[start : int(self._text_ends[number])].decode(),
            packed.sessions[self._session[number]],
            int(self._turns[number]),
            float(self._times[number]),
            tuple((begin, stop) for begin, stop in self._spans[first:last].tolist()),
        )


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
