"""Search in texts as a person means it: every word, in any order, without regard for case and accents; and the place of
a text where the first of them stands. Pure."""

import re
from dataclasses import dataclass

from proxy.language.words import fold

AROUND = 60  # characters on either side of what was sought
MOST_WORDS = 8

_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Sought:
    """The words that are sought, folded."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Sought":
        """Reads what a person has typed."""
        return cls(tuple(dict.fromkeys(fold(text).split()))[:MOST_WORDS])

    def is_in(self, *texts: str) -> bool:
        """True if each word is in one of the texts."""
        folded = [fold(text) for text in texts]
        return all(any(word in text for text in folded) for word in self.words)

    def place_in(self, text: str) -> str | None:
        """Returns a line of the text around the first of the words that it has; None if it has none."""
        plain = plain_line(text)
        folded = fold(plain)
        at = min((found for word in self.words if (found := folded.find(word)) >= 0), default=-1)
        if at < 0:
            return None
        # Folding takes characters out that are marks alone, so that a place may be a few characters off.
        start = max(0, at - AROUND)
        end = min(len(plain), at + 2 * AROUND)
        return f"{'…' if start else ''}{plain[start:end]}{'…' if end < len(plain) else ''}"


def plain_line(text: str) -> str:
    """Returns a text as one line."""
    return _SPACES.sub(" ", text).strip()
