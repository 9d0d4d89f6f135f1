"""Verification of two questions that may be the same although a word is left over, or said with another emphasis.

A logistic regression over a dozen plain features, learned by tests/bench/verifier.py from the development data. It is
only asked where no guard objects, and never where one word decides the answer: in yes-no questions, of names and words
that the dictionary doesn't know, of the form of the answer and who it is for, of a clause that only one question has.
Nor in a language of which the data have too few such pairs to learn from, as they have of Spanish.
"""

from collections.abc import Iterable, Mapping
from math import exp
from typing import Final

from proxy.language.words import is_known
from proxy.reuse.align import Alignment
from proxy.reuse.guards import DOUBTS
from proxy.reuse.question import Token

THRESHOLD: Final = 0.45  # of the probability
# Where one word stands for another, they may be opposites that no table knows ("thin" and "thicken" a sauce), and the
# features can't tell: so it takes more.
EXCHANGED_THRESHOLD: Final = 0.65
EXCHANGED_COSINE: Final = 0.93
WEIGHTS: Final[Mapping[str, float]] = {
    "always": -0.53,
    "cosine above 0.9, in tenths": 1.74,
    "words left over": 0.37,
    "a single one": 0.30,
    "on both sides": -0.43,
    "share of all words": 0.01,
    "after a preposition": -0.19,
    "coordinated": 0.22,
    "only one has and, or": 0.24,
    "pairs": -0.05,
    "doubtful pairs": 0.57,
    "numbers": 0.20,
    "operators": 0.62,
    "clauses": 0.42,
    "asks how": 1.27,
    "asks what": 0.14,
    "asks why": 1.53,
    "asks by no word": 0.24,
    "emphasis": 0.49,
    "near_tense": 0.42,
    "they": 0.56,
}

_LONGEST = 12  # content words: in more of them, one that differs hardly moves the cosine


def consents(alignment: Alignment, left: tuple[Token, ...], left_earlier: tuple[Token, ...], cosine: float) -> bool:
    """`left`, `left_earlier`: the words that the other question has none for."""
    if is_out_of_bounds(alignment, left, left_earlier):
        return False
    likely = probability(evidence(alignment, left, left_earlier, cosine))
    if left and left_earlier:
        return likely >= EXCHANGED_THRESHOLD and cosine >= EXCHANGED_COSINE
    return likely >= THRESHOLD


def probability(found: Mapping[str, float]) -> float:
    """Returns the probability, 0 to 1, that two questions with this evidence are the same."""
    return 1 / (1 + exp(-sum(WEIGHTS.get(name, 0.0) * value for name, value in found.items())))


def is_out_of_bounds(alignment: Alignment, left: tuple[Token, ...], left_earlier: tuple[Token, ...]) -> bool:
    """Tells whether one word decides the answer, so that no probability is asked for."""
    language = alignment.asked.language
    if "learned-verifier" not in language.traits or "yesno" in (alignment.asked.asks, alignment.earlier.asks):
        return True
    if max(len(alignment.asked.content), len(alignment.earlier.content)) > _LONGEST:
        return True
    over, decisive = (*left, *left_earlier), language.comparison.decisive
    if any(_is_name(token, alignment) or token.lemma in decisive or token.word in decisive for token in over):
        return True
    clauses = {pair.asked.clause for pair in alignment.pairs}
    clauses_earlier = {pair.earlier.clause for pair in alignment.pairs}
    return _outside(left, clauses) or _outside(left_earlier, clauses_earlier)


def evidence(
    alignment: Alignment, left: tuple[Token, ...], left_earlier: tuple[Token, ...], cosine: float
) -> dict[str, float]:
    """Returns the features of an alignment, by their names in WEIGHTS."""
    asked, earlier = alignment.asked, alignment.earlier
    over = (*left, *left_earlier)
    found = {
        "always": 1.0,
        "cosine above 0.9, in tenths": (cosine - 0.9) * 10,
        "words left over": min(len(over), 5),
        "a single one": len(over) == 1,
        "on both sides": bool(left) and bool(left_earlier),
        "share of all words": len(over) / max(1, len(asked.content) + len(earlier.content)),
        "after a preposition": sum(bool(token.marker) for token in over),
        "coordinated": any(token.is_coordinated for token in over),
        "only one has and, or": asked.joins != earlier.joins,
        "pairs": min(len(alignment.pairs), 6),
        "doubtful pairs": sum(pair.surety < 0.9 for pair in alignment.pairs),
        "numbers": bool(asked.numbers),
        "operators": bool(asked.operators),
        "clauses": min(3, asked.text.count(",") + earlier.text.count(",")),
        "asks how": asked.asks == "how",
        "asks what": asked.asks == "what",
        "asks why": asked.asks == "why",
        "asks by no word": "none" in (asked.asks, earlier.asks),
        **{name: bool(differs(asked, earlier)) for name, differs in DOUBTS.items()},
    }
    return {name: float(value) for name, value in found.items()}


def _is_name(token: Token, alignment: Alignment) -> bool:
    return token.is_capital or not is_known(token.written, alignment.asked.language)


def _outside(tokens: Iterable[Token], clauses: set[int]) -> bool:
    return any(token.clause not in clauses for token in tokens)
