"""Grammar words that are typed wrongly: `waht`, `wich`, `ke`, `ase`. A question's frame is made of them, so they are
mended before it is looked for; a mistyped content word is found when two questions are aligned."""

import re
from collections import defaultdict
from functools import cache, lru_cache

from rapidfuzz.distance import OSA

from proxy.reuse.lexicon import Language, lexicon
from proxy.reuse.words import is_known

_DOUBLED = re.compile(r"(.)\1+")
_SHORTEST = 3  # letters; what is shorter stands in the table of chat spellings or is left alone


def mended(folded: str, language: Language) -> str:
    """`folded` text with its grammar words spelt as the tables spell them."""
    return " ".join(_mended(word, language) for word in folded.split())


@lru_cache(50_000)
def _mended(word: str, language: Language) -> str:
    tables = lexicon(language)
    if chatty := tables.chat.get(word):
        return chatty
    if len(word) < _SHORTEST or not word.isalpha():
        return word
    grammar = _grammar(language)
    if word in grammar:
        return word
    near = {candidate for form in _shortened(word) for candidate in _near(language).get(form, ())}
    close = [candidate for candidate in near if _is_slip(word, candidate)]
    if not close or is_known(word, language):
        return word
    swapped = [candidate for candidate in close if sorted(candidate) == sorted(word)]
    best = swapped or close
    return best[0] if len(best) == 1 else word


def _is_slip(word: str, candidate: str) -> bool:
    """Two letters swapped, one doubled or missing; in a longer word also a wrong one. Not one too many: "Ethan"."""
    if OSA.distance(word, candidate, score_cutoff=1) > 1:
        return False
    if sorted(word) == sorted(candidate):
        return True
    if word[0] != candidate[0]:
        return False
    if len(word) > len(candidate):
        return _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", candidate)
    return len(word) > _SHORTEST if len(word) < len(candidate) else len(word) > 5


@cache
def _grammar(language: Language) -> frozenset[str]:
    tables = lexicon(language)
    return frozenset(
        word for word in tables.function | tables.asking | tables.operators.keys() if len(word) >= _SHORTEST
    )


@cache
def _near(language: Language) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for word in _grammar(language):
        for form in _shortened(word):
            found[form].add(word)
    return {form: frozenset(words) for form, words in found.items()}


def _shortened(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
