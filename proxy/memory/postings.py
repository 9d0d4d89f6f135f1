"""The posting lists of a search index, by term: in memory, and as bytes."""

from array import array
from bisect import bisect_left
from collections.abc import Generator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

TERMS_AT_ONCE = 4_000  # of a step


@dataclass(frozen=True, slots=True)
class PackedPostings:
    """Posting lists as arrays."""

    terms: bytes  # uint64, sorted: `_name` of each term
    entries: memoryview  # uint32, list after list
    ends: bytes  # int64: bytes of `entries` up to and with each list


class Postings:
    """The posting lists of an index, by term. Packed ones become arrays when they are used; until then a number of 64
    bits stands for a term, which two of them share once in some billion indexes."""

    def __init__(self, packed: PackedPostings | None = None) -> None:
        self._made: dict[str, array[int]] = {}
        self._names = memoryview(b"" if packed is None else packed.terms).cast("Q")
        self._entries = memoryview(b"") if packed is None else packed.entries
        self._ends = memoryview(b"" if packed is None else packed.ends).cast("q")
        self._taken: set[int] = set()  # places of packed lists that were made, or removed

    def __len__(self) -> int:
        return len(self._made) + len(self._names) - len(self._taken)

    def __contains__(self, term: str) -> bool:
        return term in self._made or self._place(term) is not None

    def of(self, term: str) -> "array[int]":
        """Returns the list of a term, to read and to append to: a new one if it has none."""
        made = self._made.get(term)
        if made is None:
            made = array("I")
            if (place := self._take(term)) is not None:
                made.frombytes(self._packed(place))
            self._made[term] = made
        return made

    def put(self, term: str, entries: "array[int]") -> None:
        """Sets the list of a term; an empty one is removed."""
        self._take(term)
        if entries:
            self._made[term] = entries
        else:
            self._made.pop(term, None)

    def packing(self, below: int) -> Generator[None, None, PackedPostings]:
        """Returns all lists with what is `below` in them, as bytes, a step at a time. Between steps lists may grow."""
        names, lists = list[int](), list[bytes | memoryview]()
        made, places = list(self._made), [at for at in range(len(self._names)) if at not in self._taken]
        for start in range(0, len(places), TERMS_AT_ONCE):
            some = places[start : start + TERMS_AT_ONCE]
            names += [self._names[place] for place in some]
            lists += [self._packed(place) for place in some]
            yield
        for start in range(0, len(made), TERMS_AT_ONCE):
            terms = made[start : start + TERMS_AT_ONCE]
            names += [_name(term) for term in terms]
            lists += [_below(self._made.get(term), below) for term in terms]
            yield
        every = np.array(names, np.uint64)
        order = np.argsort(every)
        lists = [lists[at] for at in order.tolist()]
        ends = np.cumsum([len(each) for each in lists], dtype=np.int64)
        return PackedPostings(every[order].tobytes(), memoryview(b"".join(lists)), ends.tobytes())

    def _place(self, term: str) -> int | None:
        """Returns the place of a packed list that was not made."""
        if not self._names:
            return None
        place = bisect_left(self._names, name := _name(term))
        is_here = place < len(self._names) and self._names[place] == name and place not in self._taken
        return place if is_here else None

    def _take(self, term: str) -> int | None:
        if (place := self._place(term)) is not None:
            self._taken.add(place)
        return place

    def _packed(self, place: int) -> memoryview:
        return self._entries[self._ends[place - 1] if place else 0 : self._ends[place]]


def _name(term: str) -> int:
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _below(entries: "array[int] | None", below: int) -> bytes:
    return b"" if entries is None else bytes(memoryview(entries)[: bisect_left(entries, below)])
