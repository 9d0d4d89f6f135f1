"""A shelf as bytes: the search index of a large scope, and what else of its archive a process has in memory. A process
that has not served the scope yet loads it, and reads from the archive only what came later.
"""

from collections.abc import Generator
from dataclasses import dataclass

import msgspec

from proxy.memory.shelf import Shelf
from proxy.memory.turn_index import TurnIndex
from proxy.storage.recollection import StoredShelf
from proxy.types import ArchivedTurn, Utterance

FEWEST = 2_000  # messages of a scope whose shelf is stored: fewer are read from the archive in a moment
GROWTH = 16  # it is stored again once one of so many messages is new

_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class _Packed:
    index: bytes
    kept: list[bytes]
    owed: list[tuple[bytes, list[bytes]]]  # links of turns without vectors, with those of their messages
    forgotten: list[bytes]


_decode = msgspec.msgpack.Decoder(_Packed).decode


def is_due(shelf: Shelf) -> bool:
    """Tells whether the shelf has grown enough to be stored."""
    messages = len(shelf.index)
    return messages >= FEWEST and messages - shelf.stored >= messages // GROWTH


def packing(shelf: Shelf, upto: int) -> Generator[None, None, StoredShelf | None]:
    """Returns a shelf as it is stored, with the changes of the archive up to `upto`, a step at a time, in worker
    threads: its lock is held for a step alone. None if
    something was forgotten meanwhile."""
    with shelf.lock:
        shelf.settle()
        forgotten, kept = shelf.forgotten, list(shelf.kept)
        owed = [(turn.link, [said.link for said in turn.utterances]) for turn in list(shelf.owed.values())]
        steps = shelf.index.packing()
        next(steps)
    while True:
        yield
        with shelf.lock:
            shelf.settle()
            if shelf.forgotten is not forgotten:
                return None
            try:
                next(steps)
            except StopIteration as end:
                index, oldest = end.value
                return StoredShelf(upto, oldest, _encode(_Packed(index, kept, owed, list(forgotten))))


def unpack(shelf: Shelf, stored: StoredShelf) -> frozenset[bytes] | None:
    """Fills an empty shelf, in a worker thread, with what was stored; returns the links that were forgotten by then.
    None if it is no shelf, or another version's, or the shelf is not empty."""
    try:
        packed = _decode(stored.shelf)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    index = TurnIndex.unpacked(packed.index)
    if index is None:
        return None
    with shelf.lock:
        if len(shelf.index) or shelf.upto:
            return None
        index.remove([link for link in shelf.forgotten if link in index])
        shelf.index = index
        shelf.kept = set(packed.kept) - shelf.forgotten
        shelf.owed = {link: turn for link, links in packed.owed if (turn := _turn(index, link, links)) is not None}
        shelf.upto, shelf.stored = stored.upto, len(index)
    return frozenset(packed.forgotten)


def _turn(index: TurnIndex, link: bytes, links: list[bytes]) -> ArchivedTurn | None:
    """Returns a turn as far as the index has it: its messages' bytes are in the archive alone."""
    found = [index.find(each) for each in links]
    said = [message for message in found if message is not None]
    if not said:
        return None
    utterances = tuple(Utterance(message.role, message.text, message.link) for message in said)
    return ArchivedTurn(link, b"", said[0].session, said[0].turn, said[0].at, b"", utterances)
