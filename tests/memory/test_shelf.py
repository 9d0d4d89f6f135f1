"""What one scope remembers, in memory, and how something leaves it."""

from dataclasses import replace

import pytest

from proxy.memory.shelf import Notes, Segment, Shelf
from proxy.storage.recollection import ArchiveChanges
from proxy.types import Summary
from proxy.types.curation import StoredSummary
from tests.memory.indexed import link, turn

TEA, REST = turn(1, "I like tea", "Noted"), turn(2, "q", "a")


def shelf() -> Shelf:
    made = Shelf()
    for each in (TEA, REST):
        made.put(each, None)
    return made


def test_no_summary_is_kept_that_may_say_what_is_forgotten() -> None:
    made = shelf()
    segment = Segment(starts=(0,), link=link("1.1"), number=1, heard=(True,), tokens=50)
    made.notes.of(segment, lambda: Summary("tea", (), "", (), (), 1, 1))
    made.settle()
    assert made.notes.of(segment, lambda: None) is not None
    made.summaries = (StoredSummary(link("1.1"), "s", 1.0, SUMMARY),)
    made.forget(frozenset({link("2.0")}), 9.0)
    made.settle()
    assert made.notes.size == 0
    assert not made.summaries


@pytest.mark.parametrize("by", ["search", "put", "take"])
def test_what_is_forgotten_leaves_the_index_before_anybody_else_uses_it(by: str) -> None:
    made = shelf()
    made.forget(frozenset({link("1.0"), link("1.1")}), 9.0)
    if by == "search":
        with made.lock:
            made.settle()
    elif by == "put":
        made.put(TEA, None)
        made.take(ArchiveChanges())
    else:
        made.take(ArchiveChanges(entries=((TEA, None),)))
    assert [link(name) in made.index for name in ("1.0", "1.1", "2.0")] == [False, False, True]
    assert made.since == {link("1.0"): 9.0, link("1.1"): 9.0}


def test_while_all_is_wiped_nothing_that_is_as_old_comes_in() -> None:
    made = Shelf(wiped_at=REST.at)
    made.take(ArchiveChanges(entries=((TEA, None), (REST, None), (turn(3, "q", "a"), None))))
    assert [link(name) in made.index for name in ("1.0", "2.0", "3.0")] == [False, False, True]


SEGMENT = Segment(starts=(0, 2, 4), link=b"link", number=1, heard=(True, True, True), tokens=50)
SUMMARY = Summary("trip", (), "", (), (), 1, 3)


def test_a_summary_is_written_once() -> None:
    notes = Notes()
    assert notes.of(SEGMENT, lambda: SUMMARY) == SUMMARY
    assert notes.of(SEGMENT, lambda: replace(SUMMARY, topic="other")) == SUMMARY


def test_that_a_segment_has_nothing_worth_a_summary_is_found_once_too() -> None:
    notes = Notes()
    assert notes.of(SEGMENT, lambda: None) is None
    assert notes.of(SEGMENT, lambda: SUMMARY) is None


def test_a_turn_that_must_not_be_told_any_more_makes_another_summary() -> None:
    notes = Notes()
    notes.of(SEGMENT, lambda: SUMMARY)
    assert notes.of(replace(SEGMENT, heard=(True, False, True)), lambda: None) is None


def test_the_least_recently_needed_leaves_and_what_is_cleared_is_gone() -> None:
    notes = Notes(most=2)
    segments = [replace(SEGMENT, number=number) for number in (1, 2, 3)]
    for segment in segments[:2]:
        notes.of(segment, lambda: SUMMARY)
    notes.of(segments[0], lambda: None)
    notes.of(segments[2], lambda: SUMMARY)
    assert notes.of(segments[0], lambda: None) == SUMMARY
    assert notes.of(segments[1], lambda: None) is None
    assert notes.size > 0
    notes.clear()
    assert notes.size == 0
    assert notes.of(segments[0], lambda: None) is None
