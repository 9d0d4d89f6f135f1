"""Summaries that were written are found again, by what they are of."""

from dataclasses import replace

from proxy.memory.notes import Notes, Segment
from proxy.types import Summary

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
