"""What a question enumerates: its numbers, and the things that it wants told apart."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from proxy.language.text import fold
from proxy.reuse.lexicon import Language
from proxy.reuse.question import Question

DIFFERENCE: Final[Mapping[Language, str]] = {"en": "difference between", "es": "diferencia entre"}

_LISTED = re.compile(r"^\D*\d[\d.]*(?: ?(?:,|/|&|and|or|y|e|o|u)(?: (?:rs|inr)?\.?)? ?\d[\d.]*)+\D*$")
# Of what is calculated, the order of two numbers is a part.
_CALCULATES = re.compile(
    r"\b(?:ratio|divi|subtract|minus|percent|power|less|razon|rest[aeo]|menos|potencia|proporcion)"
)
_BETWEEN_THINGS = re.compile(r"(?: ,)? (?:and|or|y|e|o|vs|versus) | , ")


def numbers(asked: Question, earlier: Question) -> str:
    if asked.numbers == earlier.numbers or are_only_listed(asked, earlier):
        return ""
    return differing(asked.numbers, earlier.numbers)


def are_only_listed(asked: Question, earlier: Question) -> bool:
    """The same numbers, with nothing but "and" or "or" between them: such have no order, but for what is calculated."""
    return sorted(asked.numbers) == sorted(earlier.numbers) and all(
        _LISTED.search(q.text) and not _CALCULATES.search(fold(q.original)) for q in (asked, earlier)
    )


def things_told_apart(question: Question) -> int:
    """How many, if it asks for the difference between them; 0 if it doesn't."""
    _, between, things = question.text.partition(DIFFERENCE[question.language])
    return len(_BETWEEN_THINGS.findall(things)) + 1 if between else 0


def differing(said: Sequence[str], said_earlier: Sequence[str]) -> str:
    one, two = Counter(said), Counter(said_earlier)
    return f"{' '.join((one - two).elements())} / {' '.join((two - one).elements())}"
