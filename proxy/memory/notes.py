"""Summaries that were written, so that another question after the same history does not write them again."""

from collections.abc import Callable
from dataclasses import dataclass

from proxy.lru import Lru
from proxy.types import Summary

MOST_NOTES = 128
_NOTE_BYTES = 1_000


@dataclass(frozen=True, slots=True)
class Segment:
    """The turns that a summary is of, and how it is written."""

    starts: tuple[int, ...]  # index of the first message of every turn
    link: bytes  # of the last message, which names all that stands before it
    number: int  # of the first turn
    heard: tuple[bool, ...]  # of every turn: it may be told
    tokens: int


class Notes:
    """Those of one scope, bounded. One thread at a time: that which holds the shelf's lock."""

    def __init__(self, most: int = MOST_NOTES) -> None:
        self._known: Lru[Segment, Summary | None] = Lru(most)

    @property
    def size(self) -> int:
        """Bytes that it takes in memory, about."""
        return _NOTE_BYTES * len(self._known)

    def of(self, segment: Segment, written: Callable[[], Summary | None]) -> Summary | None:
        if segment in self._known:
            self._known.move_to_end(segment)
            return self._known[segment]
        found = written()
        self._known.put(segment, found)
        return found

    def clear(self) -> None:
        """They may say what is to be forgotten."""
        self._known.clear()
