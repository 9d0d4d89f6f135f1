"""Aligns two questions: pairs the words that stand for each other, and tells which are left over.

Content words are paired one to one, the surest pairs first: the same lemma (or synonym), the same stem, the same root,
then a typo of a word that the dictionary has. What remains may still be an acronym and its words ("UN", "united
nations"), a function word typed wrongly, or words written together.
"""

import re
from dataclasses import dataclass
from operator import attrgetter, itemgetter

from rapidfuzz.distance import OSA

from proxy.language.words import are_kin, is_form_of, is_known, is_typo, lemma, sound
from proxy.reuse.question import Question, Token

_FAMILY = 0.9
_DIGIT = re.compile(r"\d")
_ACRONYM = range(2, 7)  # letters
_LONGEST_NAME = 8  # words
_SHORTEST_COMPOUND = 6  # letters


@dataclass(frozen=True, slots=True)
class Pair:
    """A word of one question and the word of the other that stands for it."""

    asked: Token
    earlier: Token
    surety: float  # 1: the same lemma

    @property
    def is_derived(self) -> bool:
        """Not the same word: one of the same family."""
        return self.surety == _FAMILY


_SUREST = itemgetter(0, 1)
_PLACE = attrgetter("asked.position")


@dataclass(frozen=True, slots=True)
class Alignment:
    """Two questions, word by word: the pairs, and the content words that are left over."""

    asked: Question
    earlier: Question
    pairs: tuple[Pair, ...]  # in the order of the question asked
    left_asked: tuple[Token, ...]  # content words that the other question has no word for
    left_earlier: tuple[Token, ...]


def align(asked: Question, earlier: Question) -> Alignment:
    """Pairs the content words of two questions: the same word first, then its forms and relatives, then acronyms."""
    left, left_earlier = [*asked.content], [*earlier.content]
    pairs = _taken(_same(left, left_earlier), left, left_earlier)
    if not left and not left_earlier:
        pairs.sort(key=_PLACE)
        return Alignment(asked, earlier, tuple(pairs), (), ())
    pairs += _taken(_alike(left, left_earlier, asked, earlier), left, left_earlier)
    for short, long in _acronyms(left, asked, left_earlier, earlier):
        pairs.append(Pair(short, long, 0.95))
    for short, long in _acronyms(left_earlier, earlier, left, asked):
        pairs.append(Pair(long, short, 0.95))
    left = [token for token in left if not _is_mistyped_function(token, earlier)]
    left_earlier = [token for token in left_earlier if not _is_mistyped_function(token, asked)]
    if _are_run_together(left, left_earlier):
        left, left_earlier = [], []
    for short, long in _compounds(left, left_earlier):
        pairs.append(Pair(short, long, 0.95))
    for short, long in _compounds(left_earlier, left):
        pairs.append(Pair(long, short, 0.95))
    pairs.sort(key=_PLACE)
    return Alignment(asked, earlier, tuple(pairs), tuple(left), tuple(left_earlier))


Found = tuple[float, int, Token, Token]  # less of surety, distance


def _same(left: list[Token], left_other: list[Token]) -> list[Found]:
    """Every two that are one word."""
    return [
        (-1.0, abs(at - other), one, two)
        for at, one in enumerate(left)
        for other, two in enumerate(left_other)
        if one.word == two.word or one.lemma == two.lemma or one.word.replace("-", "") == two.word.replace("-", "")
    ]


def _alike(left: list[Token], left_other: list[Token], asked: Question, earlier: Question) -> list[Found]:
    """Every two words of which one may stand for the other."""
    return [
        (-surety, abs(asked.content.index(one) - earlier.content.index(two)), one, two)
        for one in left
        for two in left_other
        if (surety := _surety(one, two, asked))
    ]


def _taken(found: list[Found], left: list[Token], left_other: list[Token]) -> list[Pair]:
    """Of those the pairs that stand, one for a word: the surest first, and the nearest. Their words leave the lists."""
    found.sort(key=_SUREST)
    pairs: list[Pair] = []
    for surety, _, one, two in found:
        if one in left and two in left_other:
            left.remove(one)
            left_other.remove(two)
            pairs.append(Pair(one, two, -surety))
    return pairs


def _surety(one: Token, two: Token, question: Question) -> float:
    language = question.language
    regular, infinitive = language.comparison.regular, language.comparison.infinitive
    if regular and infinitive:
        for form, other in ((one, two), (two, one)):
            if is_form_of(form.word, lemma(other.written, language), regular, infinitive):
                return 0.95
    if _DIGIT.search(one.word) or _DIGIT.search(two.word):
        return 0.0  # "6a" is no typo of "6b"
    if are_kin(one.lemma, two.lemma, language):
        return _FAMILY
    known, other_known = (_is_known(token, question) for token in (one, two))
    if not (one.word + two.word).isalpha():
        return 0.0
    if is_typo(one.word, two.word, language, both_known=known and other_known, one_known=known or other_known):
        return 0.8
    return 0.0


def _is_known(token: Token, question: Question) -> bool:
    # A word that was written out from its short form is one of our tables.
    return (
        token.word != token.written
        or is_known(token.written, question.language)
        or is_known(token.lemma, question.language)
    )


def _acronyms(
    left: list[Token], question: Question, left_other: list[Token], other: Question
) -> list[tuple[Token, Token]]:
    """Pairs of an acronym and the first of the words that it stands for; takes all of them out of the lists."""
    pairs = []
    for short in list(left):
        if not _may_be_acronym(short, question):
            continue
        run = _spelled_out(short.word, left_other, other)
        if run:
            left.remove(short)
            for token in run:
                left_other.remove(token)
            pairs.append((short, run[0]))
    return pairs


def _may_be_acronym(token: Token, question: Question) -> bool:
    if len(token.word) not in _ACRONYM or not token.word.isalpha():
        return False
    return token.word in question.acronyms or not is_known(token.word, question.language)


def _spelled_out(acronym: str, left: list[Token], question: Question) -> list[Token]:
    for start in range(len(left)):
        for stop in range(start + 2, min(start + _LONGEST_NAME, len(left)) + 1):
            run = left[start:stop]
            words = question.tokens[run[0].position : run[-1].position + 1]
            if sum(token.is_content for token in words) == len(run) and _has_initials(words, acronym):
                return run
    return []


def _has_initials(words: tuple[Token, ...], acronym: str) -> bool:
    """Tells whether every content word gives its letter. A function word or the second half of a compound may."""
    parts = [
        (part[:1], is_optional or not word.is_content)
        for word in words
        for is_optional, part in enumerate(word.word.replace("'", "-").split("-"))
    ]
    reached = {0}  # how many letters of the acronym may have been given so far
    for letter, may_be_missing in parts:
        given = {at + 1 for at in reached if at < len(acronym) and acronym[at] == letter}
        reached = given | reached if may_be_missing else given
    return len(acronym) in reached


def _is_mistyped_function(token: Token, other: Question) -> bool:
    language = other.language
    if is_known(token.written, language):
        return False
    return any(
        len(function.word) >= 3
        and (
            is_typo(token.word, function.word, language, both_known=False, one_known=True)
            or (len(token.word) >= 3 and sound(token.word, language) == sound(function.word, language))
        )
        for function in other.tokens
        if function.kind == "function"
    )


def _are_run_together(left: list[Token], left_other: list[Token]) -> bool:
    if len(left) == len(left_other):
        return False
    one, two = ("".join(token.word.replace("-", "") for token in side) for side in (left, left_other))
    return min(len(one), len(two)) >= 6 and OSA.distance(one, two, score_cutoff=1) <= 1


def _compounds(left: list[Token], left_other: list[Token]) -> list[tuple[Token, Token]]:
    """Pairs of a compound and the first of the words that it is written in elsewhere: "clock-driven", "clock driven";
    takes all of them out of the lists."""
    pairs = []
    for whole in list(left):
        run = _parts_of(whole.word.replace("-", ""), left_other)
        if run:
            left.remove(whole)
            for token in run:
                left_other.remove(token)
            pairs.append((whole, run[0]))
    return pairs


def _parts_of(whole: str, left: list[Token]) -> list[Token]:
    for start in range(len(left) if len(whole) >= _SHORTEST_COMPOUND else 0):
        for stop in range(start + 2, len(left) + 1):
            run = left[start:stop]
            if run[-1].position - run[0].position == len(run) - 1 and "".join(each.word for each in run) == whole:
                return run
    return []


def crossings(pairs: tuple[Pair, ...]) -> list[tuple[Pair, Pair]]:
    """Two pairs each whose words stand in the other order in the earlier question."""
    return [
        (first, second)
        for at, first in enumerate(pairs)
        for second in pairs[at + 1 :]
        if first.earlier.position > second.earlier.position
    ]
