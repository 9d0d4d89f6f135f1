"""Places of values in texts, however they are written: in other cases, accents and punctuation, across line ends.

Whatever forgets a value finds it so, in files as in what is stored, and takes the words of a line the same way.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from proxy.language.detect import language
from proxy.language.words import fold

FORGOTTEN = ("forgotten", "olvidado")  # in place of words that were forgotten, in English and in Spanish

_SHORTEST = 3  # characters of a value in normal form: a shorter one is looked for as it is written
_TELLING = 8  # from so many on, also within words and in headings: nobody else writes it by chance
# What stands before a line's words: a quote, a bullet or a heading, a time.
_OPENS = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+|#{1,6}[ \t]+|\d+[.)][ \t]+)?(?:\d\d:\d\d[ \t]+)?")
_HEADING = re.compile(r"[ \t]*#")
ENDS = re.compile(r"(\r\n|\r|\n)")


def normal(value: str) -> str:
    """Normalises a value for comparison: words and numbers, folded, without marks."""
    return " ".join("".join(mark if mark.isalnum() else " " for mark in fold(value)).split())


@dataclass(frozen=True)
class Values:
    """Values that are looked for in texts."""

    texts: frozenset[str] = frozenset()

    def is_one(self, text: str) -> bool:
        """Tells whether a text is one of the values, however it is written."""
        return normal(text) in self._words

    def is_in(self, text: str) -> bool:
        """Tells whether a text has the words of a value."""
        if self._written is None and not self._may_be_in(text):
            return False
        return any(self.places([text]))

    def places(self, lines: Sequence[str], headings: Sequence[bool] = ()) -> list[bool]:
        """Returns for each line whether words of a value stand there, wholly or in part; in headings only of one that
        nobody writes by chance."""
        meant = [False] * len(lines)
        if not self.texts:
            return meant
        starts: list[int] = []  # of each word in the text of all
        line_of: list[int] = []  # of each word
        words: list[str] = []
        at = 1
        for number, line in enumerate(lines):
            if self._written is not None:
                meant[number] = self._written.search(" ".join(line.casefold().split())) is not None
            for word in normal(line).split():
                starts.append(at)
                line_of.append(number)
                words.append(word)
                at += len(word) + 1
        text = f" {' '.join(words)} "
        for first, last, size in self._found(text):
            there = range(line_of[bisect_right(starts, first) - 1], line_of[bisect_right(starts, last) - 1] + 1)
            for number in there:
                meant[number] = meant[number] or size >= _TELLING or not (headings and headings[number])
        return meant

    def without(self, text: str) -> str:
        """Returns a text of which each line with words of a value has lost its own: the line, and what opens it, stay.
        The same text, if it has none of them."""
        if self._written is None and not self._may_be_in(text):
            return text
        lines = ENDS.split(text)  # every second one is what ends a line
        said = lines[::2]
        opened = [opening(line) for line in said]
        words = [line[len(opens) :] for line, opens in zip(said, opened, strict=True)]
        for number, is_there in enumerate(self.places(words, [is_heading(line) for line in said])):
            if is_there and words[number] and words[number] not in FORGOTTEN:
                lines[2 * number] = f"{opened[number]}{FORGOTTEN[language(words[number]) == 'es']}"
        return "".join(lines)

    def _may_be_in(self, text: str) -> bool:
        """Tells fast whether a text has the longest word of a value, or may have it: of most there is no more to look
        at. Accents are marks of their own then, between letters; so the text need not be folded, which takes longer."""
        decomposed = unicodedata.normalize("NFD", text.lower())
        return any(probe.search(decomposed) is not None for probe in self._probes)

    def _found(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Yields the first and the last character of every place of a value, and the value's length."""
        for value in self._words:
            sought = value if len(value) >= _TELLING else f" {value} "
            shift = len(sought) - len(value) >> 1
            at = text.find(sought)
            while at >= 0:
                yield at + shift, at + shift + len(value) - 1, len(value)
                at = text.find(sought, at + 1)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(said for value in self.texts if len(said := normal(value)) >= _SHORTEST)

    @cached_property
    def _probes(self) -> tuple[re.Pattern[str], ...]:
        longest = {max(value.split(), key=len) for value in self._words}
        return tuple(re.compile(r"\W*".join(map(re.escape, word))) for word in sorted(longest))

    @cached_property
    def _written(self) -> re.Pattern[str] | None:
        """The values that are hardly a word in normal form, "C++" or an emoji, as they are written."""
        short = (" ".join(value.casefold().split()) for value in self.texts if len(normal(value)) < _SHORTEST)
        found = "|".join(map(re.escape, sorted(filter(None, short), reverse=True)))
        return re.compile(rf"(?<!\w)(?:{found})(?!\w)") if found else None


def opening(line: str) -> str:
    """Returns what stands before the words of a line: its indentation, a bullet, a quote, a heading's marks, a time."""
    found = _OPENS.match(line)
    return found.group() if found is not None else ""


def is_heading(line: str) -> bool:
    """Tells whether a line is a heading."""
    return _HEADING.match(line) is not None
