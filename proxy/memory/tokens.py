"""The tokens of a text, words, numbers and punctuation marks, and the features that models read off them."""

import re
from collections.abc import Sequence
from functools import lru_cache

from proxy.linear import Hashes, letter_runs, word_runs
from proxy.memory.signals import folded

NUMBER = "<n>"  # stands for what has a digit
MARKS = frozenset("?¿!:;,.()\u2026\u2013\u2014-")  # tokens that are no words
_WORD = re.compile(r"\d+(?:[.,:/]\d+)*\w*|[^\W_]+(?:['\u2019][^\W_]+)*|[?¿!:;,.()\u2026\u2013\u2014-]")


def tokens(text: str) -> tuple[str, ...]:
    """Returns the tokens of `text`, folded; `NUMBER` for each that has a digit."""
    return _tokens(text.strip())


# The same sentence is read as a piece of its message, for its clauses, and as a clause.
@lru_cache(256)
def _tokens(text: str) -> tuple[str, ...]:
    # What stands beside "\u03a3" changes its lower case, and "\u0130" that of the whole text.
    is_odd = "\u03a3" in text or "\u0130" in text
    found = map(folded, _WORD.findall(text)) if is_odd else _WORD.findall(folded(text))
    return tuple(said if said.isalpha() or not any(map(str.isdigit, said)) else NUMBER for said in found)


def starts(text: str) -> list[int]:
    """Returns the position of each token of `text`."""
    return [found.start() for found in _WORD.finditer(text)]


def words(name: str, said: Sequence[str]) -> list[int]:
    """Returns the features of `name` and each token."""
    return word_runs(name, [*map(str.encode, said)])


def word_pairs(said: Sequence[str], name: str = "b=") -> list[int]:
    """Returns the features for two tokens in a row, the ends of the text included."""
    return word_runs(name, [b"^", *map(str.encode, said), b"$"], 2)


def word_triples(said: Sequence[str]) -> list[int]:
    """Returns the features for three tokens in a row."""
    return word_runs("t=", [*map(str.encode, said)], 3)


def letters(said: Sequence[str]) -> Hashes:
    """Returns the features for three to five letters in a row, each once."""
    return letter_runs("c=", f" {' '.join(said)} ")
