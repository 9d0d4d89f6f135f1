"""The posting lists of a search index, by term: in memory, and as bytes. A posting is the number of a passage and the
frequency of the term in it."""

from array import array
from bisect import bisect_left
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from proxy.memory.columns import Floats, Ints

TERMS_AT_ONCE = 4_000  # of a step
_FREQUENCY_BITS = 8  # of a posting; the others number the passage
_MOST_FREQUENT = (1 << _FREQUENCY_BITS) - 1
_TERM_BYTES = 200  # of a term's objects: the word, its entry, its list


@dataclass(frozen=True, slots=True)
class PackedPostings:
    """Posting lists as arrays."""

    terms: bytes  # uint64, sorted: `_name` of each term
    entries: memoryview  # uint32, list after list
    ends: bytes  # int64: bytes of `entries` up to and with each list


class Postings:
    """The posting lists of an index, by term. Packed ones become arrays when they are used; until then a number of 64
    bits stands for a term, which two of them share once in some billion indexes. `entries`: in the packed lists."""

    def __init__(self, packed: PackedPostings | None = None, entries: int = 0) -> None:
        self.entries = entries  # in all lists
        self._made: dict[str, array[int]] = {}
        self._names = memoryview(b"" if packed is None else packed.terms).cast("Q")
        self._entries = memoryview(b"") if packed is None else packed.entries
        self._ends = memoryview(b"" if packed is None else packed.ends).cast("q")
        self._taken: set[int] = set()  # places of packed lists that were made, or removed

    def __len__(self) -> int:
        return len(self._made) + len(self._names) - len(self._taken)

    def __contains__(self, term: str) -> bool:
        return term in self._made or self._place(term) is not None

    @property
    def size(self) -> int:
        """Returns the approximate size in memory, in bytes."""
        return _TERM_BYTES * len(self) + 4 * self.entries

    def add(self, passage: int, counted: Mapping[str, int]) -> None:
        """Adds a passage, the last one so far, to the lists of its terms. `counted`: how often each is in it."""
        for term, times in counted.items():
            self.of(term).append(passage << _FREQUENCY_BITS | min(times, _MOST_FREQUENT))
        self.entries += len(counted)

    def remove(self, term: str, passage: int) -> None:
        """Removes a passage from the list of a term."""
        posting = self.of(term)
        at = bisect_left(posting, passage << _FREQUENCY_BITS)
        stop = bisect_left(posting, (passage + 1) << _FREQUENCY_BITS, at)
        self.entries -= stop - at
        del posting[at:stop]
        self.put(term, posting)

    def frequencies(self, wanted: Sequence[str], passages: Ints) -> Floats:
        """Returns the frequency of each term (row) in each of these passages (column)."""
        found = np.zeros((len(wanted), len(passages)), dtype=np.float32)
        low, high = int(passages.min()), int(passages.max()) + 1
        # A conversation takes few of a scope's passages, most of them beside each other.
        near = {row: self._between(term, low, high) for row, term in enumerate(wanted) if term in self}
        if not near:
            return found
        column = np.full(high - low, -1, dtype=np.int64)
        column[passages - low] = np.arange(len(passages))
        entries = np.concatenate([np.array(posting, dtype=np.uint32) for posting in near.values()])
        rows = np.repeat(list(near), [len(posting) for posting in near.values()])
        columns = column[(entries >> _FREQUENCY_BITS) - low]
        seen = columns >= 0
        found[rows[seen], columns[seen]] = (entries & _MOST_FREQUENT)[seen]
        return found

    def _between(self, term: str, low: int, high: int) -> "array[int]":
        """Returns the list of a term, of passages from `low` to before `high`."""
        posting = self.of(term)
        start = bisect_left(posting, low << _FREQUENCY_BITS)
        return posting[start : bisect_left(posting, high << _FREQUENCY_BITS, start)]

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

    def packing(self, passages: int) -> Generator[None, None, PackedPostings]:
        """Returns all lists with the first `passages` in them, as bytes, a step at a time. Between steps lists may
        grow."""
        below = passages << _FREQUENCY_BITS
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
