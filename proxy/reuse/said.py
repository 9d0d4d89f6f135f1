"""A question as it is accounted for: its words in canonical form, and how they are written."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from proxy.language.language import Language
from proxy.language.tables import everywhere
from proxy.language.text import fold
from proxy.reuse.question import Question

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*[^\W\d_]*|[^\W\d_][^\W_]*(?:['.][^\W_]+)*[+#]*|[%$€£=+*/<>^,]")
_WRITTEN = re.compile(r"[^\W_]+(?:['.][^\W_]+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
# The words of courtesy that are no part of a question; "por" may be.
_COURTESY = frozenset((*" ".join(everywhere("comparison", "courtesy")).split(), ",")) - {"por", "muchas", "you"}


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """A question as it is accounted for."""

    question: Question
    words: tuple[str, ...]  # folded, in canonical form; a comma between clauses
    written: Mapping[str, str]  # folded: as it is written, the first time
    accented: Mapping[str, tuple[str, ...]]  # folded: every way in which it is written, in lower case
    is_careful: bool  # begins with a capital
    has_accents: bool
    is_of_words: bool  # asks what a word means, or how it is said: then no word stands for another
    is_definition: bool
    is_how_to: bool


@lru_cache(8_192)
def accounted(question: Question, is_framed: bool = False) -> Said:
    """The question as it is accounted for: without its frames, or `is_framed` with them."""
    language = question.language
    text = f" {question.folded if is_framed else question.text} "
    for rule in language.licences.rewrites:
        if rule.may_match(text):
            text = f" {' '.join(rule.pattern.sub(rule.form, text).split())} "
    written = {fold(word): word for word in reversed(_WRITTEN.findall(question.original))}
    if (found := language.licences.introduces.match(text)) and written.get(found[1], "")[:1].isupper():
        text = f" {text[found.end() :]}"
    words: list[str] = []
    for word in _WORD.findall(text.replace("-", " ")):
        words += language.licences.written_apart.get(word, (language.lexicon.numbers.get(word, word),))
    words = [part for word in words for part in _number_and_unit(word, language)]
    thousands = "." if "decimal-comma" in language.traits else ","
    words = [word.replace(thousands, "") if _THOUSANDS.fullmatch(word) else word for word in words]
    while words and words[-1] in _COURTESY:
        words.pop()
    while words and words[0] in _COURTESY:
        words.pop(0)
    accented: dict[str, tuple[str, ...]] = {}
    for word in _WRITTEN.findall(question.original.lower()):
        accented[fold(word)] = tuple(sorted((*accented.get(fold(word), ()), word)))
    bare = question.original.lstrip(" ¿¡\"'(")
    return Said(
        question=question,
        words=tuple(words),
        written=written,
        accented=accented,
        is_careful=bare[:1].isupper() and not question.original.isupper(),
        has_accents=fold(question.original) != question.original.lower(),
        is_of_words=bool(question.quoted) or language.licences.of_words.search(question.folded) is not None,
        is_definition=language.licences.definition.match(question.text) is not None,
        is_how_to=language.licences.how_to.match(question.text) is not None,
    )


def _number_and_unit(word: str, language: Language) -> tuple[str, ...]:
    if not word[0].isdigit() or word[-1].isdigit():
        return (word,)
    number = word.rstrip("abcdefghijklmnopqrstuvwxyz")
    return (number, word[len(number) :]) if word[len(number) :] in language.lexicon.units else (word,)


def is_done_by_somebody(said: Said) -> bool:
    """Asks how somebody does it, rather than how it is done: "cómo come", "cómo se come"."""
    licences = said.question.language.licences
    if said.words[:1] != (licences.opens_how_to,) or not licences.of_somebody.search("".join(said.words[1:2])):
        return False
    return not licences.impersonal.search(said.question.folded)
