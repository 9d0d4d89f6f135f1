"""Do two questions consist of the same words?

They may be spelt otherwise, stand in another order (the guards say which order changes the question) and have another
wrapper at the edge: a greeting, "could you tell me", "please". Anything else is a difference: a word that is replaced,
added or left out, be it a synonym or of grammar, and another form of the same word, which changes tense or number. So
no table has to know that `better` is not `worse`.
"""

import re
from collections import Counter
from functools import lru_cache

from rapidfuzz.distance import OSA

from proxy.language.language import Language
from proxy.language.tables import everywhere
from proxy.language.text import fold
from proxy.language.words import is_known, lemma, sound
from proxy.reuse.canonical import unframe
from proxy.reuse.question import Question

_WORD = re.compile(r"[^\W_]+(?:['.][^\W_]+)*[+#]*|[%$€£=+*/<>^]")
_SPOKEN = re.compile(r"[^\W_]+")
_DIGIT = re.compile(r"\d")
_COURTESY = frozenset(" ".join(everywhere("comparison", "courtesy")).split())
_MOST_WRAPPED = 12  # words of a wrapper
_ENDING = 2  # letters: what differs in them alone may be a form of the word
_SHORT, _LONG = 5, 7  # letters of a word in which one letter may be wrong; two, or one where no dictionary has it


def rewording(asked: Question, earlier: Question) -> str:
    """The words that differ, for the log; "" if none does."""
    if asked.text == earlier.text and asked.folded == earlier.folded:
        return ""
    more, more_earlier = (Counter(_core(question.folded, question.language)) for question in (asked, earlier))
    over, over_earlier = [*(more - more_earlier).elements()], [*(more_earlier - more).elements()]
    if over and over_earlier and "".join(over) == "".join(over_earlier):
        return ""  # written together, or apart
    written = {fold(word): word for question in (asked, earlier) for word in _SPOKEN.findall(question.original.lower())}
    for word in [*over]:
        other = next((each for each in over_earlier if _is_same(word, each, written, asked.language)), None)
        if other is not None:
            over.remove(word)
            over_earlier.remove(other)
    return f"{' '.join(over)} / {' '.join(over_earlier)}" if over or over_earlier else ""


@lru_cache(4_096)
def _core(folded: str, language: Language) -> tuple[str, ...]:
    """The words of a question without wrappers at its edges. A wrapper is what leaves the question as it is, once
    frames are taken off: so what is asked for is never taken for one."""
    numbers = language.lexicon.numbers
    said: list[str] = _WORD.findall(folded.replace("-", " "))
    while said and said[-1] in _COURTESY:
        said.pop()
    while said and said[0] in _COURTESY:
        said.pop(0)
    bare = _unframed(said, language)
    for start in range(min(_MOST_WRAPPED, len(said) - 1), 0, -1):
        if _unframed(said[start:], language) == bare:
            said = said[start:]
            break
    return tuple(numbers.get(word, word) for word in said)


def _unframed(said: list[str], language: Language) -> list[str]:
    return _WORD.findall(unframe(" ".join(said), language))


def _is_same(one: str, other: str, written: dict[str, str], language: Language) -> bool:
    """Are two different folded words one, spelt or typed otherwise?"""
    if _DIGIT.search(one) or _DIGIT.search(other):
        return False
    known, other_known = (
        is_known(word, language) or is_known(written.get(word, word), language) for word in (one, other)
    )
    if known and other_known:
        spellings = language.comparison.spellings
        return bool(spellings) and all(
            _respelt(form, spellings) == _respelt(other_form, spellings)
            for form, other_form in ((one, other), (lemma(one, language), lemma(other, language)))
        )
    if _is_form(one, other):
        return False
    distance = OSA.distance(one, other, score_cutoff=2)
    shorter = min(len(one), len(other))
    if not known and not other_known:
        return shorter >= _LONG and distance <= 1
    if sorted(one) == sorted(other) or sound(one, language) == sound(other, language):
        return distance <= 2 and shorter >= _SHORT - 1
    return (distance <= 1 and shorter >= _SHORT) or (distance <= 2 and shorter >= _LONG)


def _is_form(one: str, other: str) -> bool:
    """Do they differ in the ending alone, or has one a prefix that the other has not?"""
    if sorted(one) == sorted(other):
        return False
    if one.endswith(other) or other.endswith(one):
        return True
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return same >= max(len(one), len(other)) - _ENDING


def _respelt(word: str, spellings: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    for written, meant in spellings:
        word = written.sub(meant, word)
    return word
