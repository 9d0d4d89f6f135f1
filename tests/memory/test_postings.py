"""Posting lists that were packed and unpacked are the lists that they were, and grow as they would have."""

from array import array
from collections.abc import Generator

import numpy as np
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


def packed(postings: Postings, passages: int = 2**24) -> PackedPostings:
    return finished(postings.packing(passages))


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
    postings = Postings(packed(filled({"boat": 1, "5433": 2}, {"boat": 1})))
    steps = postings.packing(2)
    next(steps)
    postings.add(2, {"boat": 3, "new": 1})
    again = Postings(finished(steps))
    assert frequencies(again, "boat", "5433") == [[1, 1], [2, 0]]
    assert "new" not in again


def filled(*passages: dict[str, int]) -> Postings:
    """The lists of passages, each given by the frequencies of its terms."""
    postings = Postings()
    for number, counted in enumerate(passages):
        postings.add(number, counted)
    return postings


def frequencies(postings: Postings, *terms: str, passages: tuple[int, ...] = (0, 1)) -> list[list[float]]:
    found: list[list[float]] = postings.frequencies(terms, np.array(passages)).tolist()
    return found


def test_a_term_is_as_frequent_as_it_was_counted_in_the_passages_that_are_asked_for() -> None:
    postings = filled({"boat": 2}, {"boat": 1, "5433": 1}, {"5433": 1_000})
    assert frequencies(postings, "boat", "5433", "new", passages=(2, 0)) == [[0, 2], [255, 0], [0, 0]]
    assert postings.entries == 4


def test_a_passage_that_is_removed_is_in_no_list() -> None:
    postings = filled({"boat": 2}, {"boat": 1, "5433": 1})
    for term in ("boat", "5433", "new"):
        postings.remove(term, 1)
    assert frequencies(postings, "boat") == [[2, 0]]
    assert ("5433" in postings, postings.entries) == (False, 1)
