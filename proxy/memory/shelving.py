"""A shelf as bytes: the search index of a large scope, and what else of its archive a process has in memory. A process
that has not served the scope yet loads it, and reads from the archive only what came later.
"""

import zlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from hashlib import blake2b

import msgspec
import numpy as np

from proxy.memory import kinds
from proxy.memory.owed import Owed
from proxy.memory.predictions import KINDS, models_mark
from proxy.memory.shelf import Shelf
from proxy.memory.turn_index import TurnIndex
from proxy.storage.recollection import StoredShelf

FEWEST = 2_000  # messages of a scope whose shelf is stored: fewer are read from the archive in a moment
# What expires within this share of the time that turns are kept is not stored: a shelf goes with its first turn.
EARLY = 1 / 64
GROWTH = 128  # it is stored again once one of so many turns is new: 75 of 10,000, which are read in 40 ms

AT_ONCE = 20  # messages that leave the index in a step

_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class _PackedFact:
    """The computed parts of a fact."""

    digest: bytes  # of its value
    vector: bytes  # float16
    shares: bytes  # `kinds.shares`, float64; empty if they are not known


@dataclass(frozen=True, slots=True)
class _Packed:
    index: memoryview
    kept: list[bytes]
    owed: list[tuple[bytes, list[bytes]]]  # links of turns without vectors, with those of their messages
    forgotten: list[bytes]
    facts: dict[str, _PackedFact]  # by id
    models: int  # `predictions.models_mark` of what the facts' shares were computed with


_decode = msgspec.msgpack.Decoder(_Packed).decode


def is_due(shelf: Shelf) -> bool:
    """Tells whether the shelf has grown enough to be stored."""
    messages = len(shelf.index)
    return messages >= FEWEST and shelf.unstored * 2 * GROWTH >= messages


def packing(shelf: Shelf, upto: int, until: float = 0.0) -> Generator[None, None, StoredShelf | None]:
    """Returns a shelf as it is stored, with the changes of the archive up to `upto`, a step at a time, in worker
    threads: its lock is held for a step alone. None if something was forgotten meanwhile. Turns up to the time `until`
    leave its index first."""
    with shelf.lock:
        shelf.settle()
        old = [*shelf.index.until(until), *shelf.beside]  # files are read anew
    for start in range(0, len(old), AT_ONCE):
        yield
        with shelf.lock:
            shelf.leave_beside(old[start : start + AT_ONCE])
            shelf.index.remove(old[start : start + AT_ONCE])
            shelf.owed.leave(old[start : start + AT_ONCE])
    with shelf.lock:
        shelf.settle()
        shelf.leave_beside(tuple(shelf.beside))  # those that have come meanwhile
        forgotten, kept = shelf.forgotten, list(shelf.kept)
        owed, facts = shelf.owed.packed(), _facts(shelf)
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
                return StoredShelf(
                    upto, oldest, _encode(_Packed(memoryview(index), kept, owed, list(forgotten), facts, models_mark()))
                )


def unpack(shelf: Shelf, stored: StoredShelf) -> frozenset[bytes] | None:
    """Fills an empty shelf, in a worker thread, with what was stored; returns the links that were forgotten by then.
    None if it is no shelf, or another version's, or the shelf is not empty."""
    try:
        packed = _decode(stored.shelf)
        index = TurnIndex.unpacked(packed.index)
    except (msgspec.DecodeError, ValueError, TypeError, LookupError):
        return None
    if index is None:
        return None
    with shelf.lock:
        if len(shelf.index) or shelf.upto:
            return None
        try:
            index.remove([link for link in shelf.forgotten if link in index])
        except zlib.error:  # damaged
            return None
        shelf.index = index
        shelf.kept = set(packed.kept) - shelf.forgotten
        shelf.owed = Owed(index, packed.owed)
        _take_facts(shelf, packed.facts, are_same=packed.models == models_mark())
        shelf.upto, shelf.unstored = stored.upto, 0.0
    return frozenset(packed.forgotten)


def _facts(shelf: Shelf) -> dict[str, _PackedFact]:
    return {
        name: _PackedFact(
            _digest(fact.value),
            vector.astype(np.float16).tobytes(),
            b"" if (shares := kinds.known(fact.value)) is None else shares.tobytes(),
        )
        for name, vector in tuple(shelf.fact_vectors.items())  # in one step: the event loop may be adding one
        if (fact := shelf.facts.get(name)) is not None
    }


def _take_facts(shelf: Shelf, stored: Mapping[str, _PackedFact], *, are_same: bool) -> None:
    """Takes what was computed of the facts that still say the same. `are_same`: with the models of this process."""
    for name, packed in stored.items():
        fact = shelf.facts.get(name)
        if fact is None or _digest(fact.value) != packed.digest:
            continue
        shelf.fact_vectors.setdefault(name, np.frombuffer(packed.vector, np.float16).astype(np.float32))
        if are_same and len(shares := np.frombuffer(packed.shares)) == len(KINDS):
            kinds.learn(fact.value, shares)


def _digest(value: str) -> bytes:
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
