"""Posting lists that were packed and unpacked are the lists that they were, and grow as they would have."""

from array import array
from collections.abc import Generator

from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.postings import PackedPostings, Postings

TERMS = ("boat", "ñandú", "5433", "\0", "long" * 40)
lists = st.dictionaries(st.sampled_from(TERMS), st.lists(st.integers(0, 2**32 - 1), min_size=1).map(sorted))


def made(entries: dict[str, list[int]]) -> Postings:
    found = Postings()
    for term, numbers in entries.items():
        found.put(term, array("I", numbers))
    return found


def packed(postings: Postings, below: int = 2**32) -> PackedPostings:
    return finished(postings.packing(below))


def finished(steps: Generator[None, None, PackedPostings]) -> PackedPostings:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: PackedPostings = end.value
            return found


def held(postings: Postings) -> dict[str, list[int]]:
    return {term: postings.of(term).tolist() for term in TERMS if term in postings}


@given(entries=lists, used=st.sets(st.sampled_from(TERMS)), removed=st.sets(st.sampled_from(TERMS)))
def test_what_is_unpacked_is_what_was_packed_however_much_of_it_was_used(
    entries: dict[str, list[int]], used: set[str], removed: set[str]
) -> None:
    once = Postings(packed(made(entries)))
    assert len(once) == len(entries)
    for term in used & entries.keys():
        assert once.of(term).tolist() == entries[term]
    for term in removed:
        once.put(term, array("I"))
    left = {term: numbers for term, numbers in entries.items() if term not in removed}
    assert len(once) == len(left)
    twice = Postings(packed(once))
    assert held(once) == held(twice) == left


def test_what_comes_while_it_is_packed_is_left_out() -> None:
    postings = Postings(packed(made({"boat": [1, 2], "5433": [2]})))
    steps = postings.packing(3)
    next(steps)
    postings.of("boat").append(7)
    postings.of("new").append(8)
    again = Postings(finished(steps))
    assert held(again) == {"boat": [1, 2], "5433": [2]}
