"""Comparison of a managed answer with the one that the same request has got as it was: whether it has held. Pure.

An answer has held if it serves its reader as well: it may be shorter, longer or in other words. What tells that one has
not, in this order: other tool calls, nothing said, cut off, another language, not knowing or refusing where the
original does not, the opposite, numbers or names that are missing, another meaning. All of it is measured, nothing is
learnt; how often it is right is measured by `python -m tests.bench.quality`.
"""

import re
from collections import Counter
from collections.abc import Collection
from functools import lru_cache

import msgspec

from proxy.language.detect import language
from proxy.language.phrases import phrases
from proxy.language.tables import everywhere
from proxy.language.words import plain
from proxy.quality.holdings import Holdings, holdings
from proxy.types.quality import Comparison, Measures, Reason, Said

ENOUGH_NUMBERS = 0.6  # share of the original's numbers that an answer has to have
ENOUGH_NAMES = 0.7  # of its names
ENOUGH_TERMS = 0.25  # of its words of meaning, where no vectors tell
ENOUGH_ALIKE = 0.45  # cosine
SMALL_TALK = 25  # words of an answer that has no number and no name, beyond which it has to be alike
LEAST_LIKE = 0.1  # cosine of small talk
_SENTENCE = re.compile(r"[.!?\n]")
_LATIN = re.compile(r"[A-Za-zÀ-ÿ]")


def compared(managed: Said, original: Said, similarity: float | None = None) -> Comparison:
    """Returns whether the managed answer has held, and why not. `similarity`: cosine of both texts; None: unknown."""
    mine, theirs = holdings(managed.text), holdings(original.text)
    measures = Measures(
        length=round(len(managed.text) / max(1, len(original.text)), 3),
        numbers=_share(theirs.numbers, mine.counts),
        names=_share(theirs.names, mine.words),
        terms=_share(theirs.terms, mine.terms),
        similarity=None if similarity is None else round(similarity, 3),
        calls=_same_calls(managed, original) if managed.calls or original.calls else None,
    )
    reason = _reason(managed, original, mine, theirs, measures)
    return Comparison(reason in ("alike", "small_talk"), reason, measures)


def _reason(managed: Said, original: Said, mine: Holdings, theirs: Holdings, measures: Measures) -> Reason:
    if measures.calls is not None:
        return _of_calls(managed, original, is_same=measures.calls)
    if not managed.text.strip() or not original.text.strip():
        return "alike" if managed.text.strip() == original.text.strip() else "empty"
    if " ".join(managed.text.split()) == " ".join(original.text.split()):
        return "alike"
    if _is_cut(managed, original):
        return "cut_off"
    if _speaks_otherwise(managed.text, original.text):
        return "language"
    if (stance := _stance(managed.text, original.text)) is not None:
        return stance
    if _is_opposite(managed.text, original.text):
        return "opposite"
    if (missing := _missing(mine, theirs, measures)) is not None:
        return missing
    return _meaning(original.text, theirs, measures)


def _of_calls(managed: Said, original: Said, *, is_same: bool) -> Reason:
    if is_same:
        return "alike"
    names = [Counter(name for name, _ in said.calls) for said in (managed, original)]
    return "arguments" if names[0] == names[1] else "tools"


def _same_calls(one: Said, other: Said) -> bool:
    calls = [Counter((name, _canonical(arguments)) for name, arguments in said.calls) for said in (one, other)]
    return calls[0] == calls[1]


def _canonical(arguments: str) -> bytes:
    """Returns arguments without what JSON leaves to the writer: white space, the order of keys."""
    try:
        return msgspec.json.encode(msgspec.json.decode(arguments), order="sorted")
    except ValueError:
        return arguments.encode("utf-8", "replace")


def _share(of: Collection[str], found: Collection[str]) -> float | None:
    return round(sum(each in found for each in of) / len(of), 3) if of else None


def _is_cut(managed: Said, original: Said) -> bool:
    """Tells whether the managed answer breaks off, and the original does not."""
    if managed.is_cut or original.is_cut:
        return managed.is_cut and not original.is_cut
    text, whole = managed.text.rstrip(), original.text.rstrip()
    return len(text) < len(whole) and text[-1].isalpha() and not whole[-1].isalpha() and whole.startswith(text)


def _speaks_otherwise(managed: str, original: str) -> bool:
    one, other = language(managed), language(original)
    return (one is not None and other is not None and one != other) or _is_latin(managed) != _is_latin(original)


def _is_latin(text: str) -> bool:
    letters = [letter for letter in text[:2_000] if letter.isalpha()]
    return not letters or sum(_LATIN.match(letter) is not None for letter in letters) * 2 >= len(letters)


# --- what an answer makes of its question --------------------------------------------------------------------------


@lru_cache(1)
def _patterns() -> dict[str, re.Pattern[str]]:
    names = ("unknowing", "undecided", "asking-back", "refusing", "yes", "no")
    return {name: phrases(*everywhere("answering", name)) for name in names}


def _says(name: str, text: str) -> bool:
    return _patterns()[name].search(plain(text)) is not None


def _stance(managed: str, original: str) -> Reason | None:
    """Returns why the managed answer does not answer where the original does; None if both do, or none."""
    if _says("refusing", managed) and not _says("refusing", original):
        return "refused"
    is_less = any(_says(name, managed) and not _says(name, original) for name in ("unknowing", "undecided"))
    return "unknowing" if is_less or (_asks_back(managed) and not _asks_back(original)) else None


def _asks_back(text: str) -> bool:
    """Tells whether an answer is hardly more than a question."""
    return _says("asking-back", text) and len(text.split()) <= 40


def _is_opposite(managed: str, original: str) -> bool:
    """Tells whether one answer begins by allowing, and the other one by forbidding."""
    one, other = _inclination(managed), _inclination(original)
    return one * other < 0


def _inclination(text: str) -> int:
    """Returns 1 if the first sentence agrees, -1 if it declines, 0 if it does neither."""
    words = next((part for part in _SENTENCE.split(text.strip()) if part.strip()), "").split()
    if _says("yes", " ".join(words[:1])):
        return 1
    if _says("no", " ".join(words[:8])):
        return -1
    return 1 if _says("yes", " ".join(words[:4])) else 0


# --- what it holds ------------------------------------------------------------------------------------------------


def _missing(mine: Holdings, theirs: Holdings, measures: Measures) -> Reason | None:
    """Returns what of the original the managed answer lacks, or says otherwise."""
    if mine.has_placeholder and not theirs.has_placeholder:
        return "names"
    if measures.numbers is not None and measures.numbers < 1:
        said_otherwise = mine.numbers - theirs.counts
        if measures.numbers < ENOUGH_NUMBERS or said_otherwise:
            return "numbers"
    if measures.names is not None and measures.names < ENOUGH_NAMES:
        return "names"
    return None


def _meaning(original: str, theirs: Holdings, measures: Measures) -> Reason:
    is_small = not theirs.numbers and not theirs.names and len(original.split()) <= SMALL_TALK
    if measures.similarity is not None:
        if measures.similarity >= ENOUGH_ALIKE:
            return "alike"
        return "small_talk" if is_small and measures.similarity >= LEAST_LIKE else "meaning"
    if measures.terms is None or measures.terms >= ENOUGH_TERMS:
        return "alike"
    return "small_talk" if is_small else "meaning"
