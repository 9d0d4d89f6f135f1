"""What makes two questions with nearly the same words different ones: a table of small pure functions.

Each says in a few words what differs, or "" if it sees nothing. `QUESTION_GUARDS` look at the two questions,
`ALIGNED_GUARDS` at which word stands for which as well. The order is that of their cost.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from typing import Final

from proxy.language.text import fold
from proxy.reuse.align import Alignment, Pair, crossings
from proxy.reuse.enumerations import DIFFERENCE, are_only_listed, differing, numbers, things_told_apart
from proxy.reuse.lexicon import Language, lexicon, words
from proxy.reuse.opposites import are_opposite
from proxy.reuse.particles import particles
from proxy.reuse.question import Question, Token
from proxy.reuse.tense import tense_of_verb

QuestionGuard = Callable[[Question, Question], str]
AlignedGuard = Callable[[Alignment], str]

_EMPHASIS = frozenset({"more", "all", "already", "mas", "todo", "ya"})
_NEAR_TENSES = ({"present", "future"}, {"past", "perfect"})
_NEGATIONS = frozenset({"not", "no"})
_SAME_KIND = ({"none", "what"}, {"none", "yesno"})
_BELONGING = frozenset(["of", "in", "for", "de", "del", "en", "para", "on", "at"])
_AGAINST_EACH_OTHER = frozenset(
    words(pair)
    for pair in (
        "from to",
        "from into",
        "from for",
        "with for",
        "with against",
        "for against",
        "by for",
        "by to",
        "over under",
        "desde hasta",
        "desde a",
        "sobre bajo",
        "sobre de",
        "para con",
        "para contra",
        "con contra",
        "durante tras",
    )
)
_WHAT_IT_IS_LIKE = re.compile(r"\bwhat is it like\b|\bque se siente\b")
_COMPARES = re.compile(
    r"\b(?:than|mas \w+ \w* ?que|menos \w+ \w* ?que|mejor \w* ?que|peor \w* ?que|conviene \w* ?que)\b"
)
# Nouns that end like an infinitive, in the lemma that they are given.
_NO_VERBS = words(
    """
    dolar celular mujer mar hogar lugar bar collar azucar taller alquiler kilometrar militar escolar familiar nuclear
    solar lunar titular particular regular popular polar molar ayer placer cancer lider caracter elixir
    """
)
# Adverbs that stand where they like: "an online business", "a business online".
_MOVABLE = words(
    "online offline abroad together well fast quickly easily fluently currently approximately exactly again"
)
_PARTICIPLES = ("ado", "ada", "ido", "ida", "ando", "iendo")
_VERB_ES = ("ar", "er", "ir")


def negation(asked: Question, earlier: Question) -> str:
    said, said_earlier = ([word for word in q.operators if word in _NEGATIONS] for q in (asked, earlier))
    return differing(said, said_earlier) if said != said_earlier else ""


def operators(asked: Question, earlier: Question) -> str:
    more, more_earlier = Counter(asked.operators), Counter(earlier.operators)
    if more == more_earlier:
        return ""
    extra = [*(more - more_earlier), *(more_earlier - more)]
    if all(word in _EMPHASIS for word in extra) and len(extra) == 1:
        return ""
    return differing(asked.operators, earlier.operators)


def emphasis(asked: Question, earlier: Question) -> str:
    return differing(asked.operators, earlier.operators) if asked.operators != earlier.operators else ""


def opposites(asked: Question, earlier: Question) -> str:
    """Among all words, also those that count for little: give and take, up and down."""
    lemmas = [{form for token in q.tokens for form in (token.word, token.lemma)} for q in (asked, earlier)]
    written = [{token.word for token in q.tokens} for q in (asked, earlier)]  # "suegra" has the lemma "suegro"
    for said, said_earlier in (lemmas, written):
        for word, other in product(said - said_earlier, said_earlier - said):
            if are_opposite(word, other, asked.language):
                return f"{word} / {other}"
    return ""


def kind(asked: Question, earlier: Question) -> str:
    if asked.asks != earlier.asks and {asked.asks, earlier.asks} not in _SAME_KIND:
        return f"{asked.asks} / {earlier.asks}"
    if len({_WHAT_IT_IS_LIKE.search(q.text) is None for q in (asked, earlier)}) > 1:
        return "what it is like"
    return "what it does / what it is" if asked.asks_what_it_does != earlier.asks_what_it_does else ""


def tense(asked: Question, earlier: Question) -> str:
    if asked.tense == earlier.tense or {asked.tense, earlier.tense} in _NEAR_TENSES:
        return ""
    return f"{asked.tense} / {earlier.tense}"


def near_tense(asked: Question, earlier: Question) -> str:
    return f"{asked.tense} / {earlier.tense}" if asked.tense != earlier.tense else ""


def person(asked: Question, earlier: Question) -> str:
    them, them_earlier = (tuple(word for word in q.pronouns if word != "they") for q in (asked, earlier))
    if them != them_earlier:
        return differing(them, them_earlier)
    if asked.about_somebody != earlier.about_somebody:
        return "somebody"
    for one, other in ((asked.clitics, earlier.clitics), (earlier.clitics, asked.clitics)):
        if one == {"me"} and other and "me" not in other:
            return f"me / {' '.join(sorted(other))}"
    return ""


def they(asked: Question, earlier: Question) -> str:
    """Who "they" are is mostly said in the question itself."""
    return differing(asked.pronouns, earlier.pronouns) if asked.pronouns != earlier.pronouns else ""


def quoted(asked: Question, earlier: Question) -> str:
    if asked.quoted and earlier.quoted and asked.quoted != earlier.quoted:
        return differing(asked.quoted, earlier.quoted)
    return ""


def joins(asked: Question, earlier: Question) -> str:
    if (things := things_told_apart(asked)) and (others := things_told_apart(earlier)) and things != others:
        return f"{things} things / {others}"
    if asked.joins and earlier.joins and asked.joins != earlier.joins:
        return differing(sorted(asked.joins), sorted(earlier.joins))
    return ""


def verb_forms(alignment: Alignment) -> str:
    """Spanish says tense and person by a verb's ending."""
    if alignment.asked.language != "es":
        return ""
    for pair in alignment.pairs:
        one, two = pair.asked, pair.earlier
        if tense_of_verb(one.written) != tense_of_verb(two.written):
            return f"{one.word} / {two.word}"
        if not _is_verb(pair, "es") or any(token.word.endswith(_PARTICIPLES) for token in (one, two)):
            continue
        if {one.word[-1], two.word[-1]} in ({"o", "a"}, {"o", "e"}):
            about_anyone = alignment.earlier if one.word.endswith("o") else alignment.asked
            if not frozenset(fold(about_anyone.original).split()) & {"se", "uno"}:
                return f"{one.word} / {two.word}"
    return ""


def directions(alignment: Alignment) -> str:
    """Where from and where to, with whom and against whom: of the same word."""
    for pair in alignment.pairs:
        if frozenset((pair.asked.marker, pair.earlier.marker)) in _AGAINST_EACH_OTHER:
            return f"{pair.asked.marker} / {pair.earlier.marker} {pair.asked.word}"
    return ""


def voice(alignment: Alignment) -> str:
    if alignment.asked.language != "en":
        return ""
    by, by_earlier = ("by" in q.text.split() for q in (alignment.asked, alignment.earlier))
    return "by" if by != by_earlier else ""


def order(alignment: Alignment) -> str:
    """Words that have changed places may have changed parts: who bites whom, from where to where. Two things that are
    told apart have no order."""
    if all(f" {DIFFERENCE[q.language]} " in f" {q.text} " for q in (alignment.asked, alignment.earlier)):
        return ""
    is_compared = _COMPARES.search(alignment.asked.text) is not None
    is_listing = are_only_listed(alignment.asked, alignment.earlier)
    for first, second in crossings(_with_numbers(alignment)):
        if is_listing and first.asked.kind == second.asked.kind == "number":
            continue
        may = _may_change_places(first, second, alignment.asked.language, is_compared=is_compared)
        if not may and not _is_compound(first, second, alignment):
            return f"{first.asked.word} … {second.asked.word}"
    return ""


QUESTION_GUARDS: Final[Mapping[str, QuestionGuard]] = {
    "numbers": numbers,
    "negation": negation,
    "operators": operators,
    "kind": kind,
    "opposites": opposites,
    "tense": tense,
    "person": person,
    "quoted": quoted,
    "joins": joins,
    "particles": particles,
}
ALIGNED_GUARDS: Final[Mapping[str, AlignedGuard]] = {
    "verb_forms": verb_forms,
    "directions": directions,
    "voice": voice,
    "order": order,
}

# What may be a way of speaking: it needs the consent of the verifier.
DOUBTS: Final[Mapping[str, QuestionGuard]] = {
    "emphasis": emphasis,
    "near_tense": near_tense,
    "they": they,
}


def _with_numbers(alignment: Alignment) -> tuple[Pair, ...]:
    counted, counted_earlier = (
        sorted((token for token in q.tokens if token.kind == "number"), key=lambda token: (token.word, token.position))
        for q in (alignment.asked, alignment.earlier)
    )
    pairs = [Pair(one, two, 1.0) for one, two in zip(counted, counted_earlier, strict=False)]
    return tuple(sorted((*alignment.pairs, *pairs), key=lambda pair: pair.asked.position))


def _may_change_places(first: Pair, second: Pair, language: Language, *, is_compared: bool) -> bool:
    if all(pair.asked.is_coordinated and pair.earlier.is_coordinated for pair in (first, second)):
        return True
    verbs = _is_verb(first, language), _is_verb(second, language)
    if any(verbs):
        return not (all(verbs) and is_compared)
    if any(pair.asked.word in _MOVABLE for pair in (first, second)):
        return True
    # "Which jobs are best for …", "the best jobs for …"
    if any(pair.asked.lemma in lexicon(language).praise for pair in (first, second)):
        return True
    if not all(one.clause == two.clause for one, two in ((first.asked, second.asked), (first.earlier, second.earlier))):
        return True
    return _keep_their_parts(first, second)


def _keep_their_parts(first: Pair, second: Pair) -> bool:
    """Both have the preposition or the condition that they had, and not the same."""
    keeps, keeps_too = (pair.asked.marker == pair.earlier.marker for pair in (first, second))
    if keeps and keeps_too and first.asked.marker != second.asked.marker:
        return True
    if keeps and first.asked.marker not in _BELONGING and _markers(second) <= _BELONGING:
        return True
    if keeps_too and second.asked.marker not in _BELONGING and _markers(first) <= _BELONGING:
        return True
    same_condition = all(pair.asked.condition == pair.earlier.condition for pair in (first, second))
    return same_condition and first.asked.condition != second.asked.condition


def _is_compound(first: Pair, second: Pair, alignment: Alignment) -> bool:
    """Are they one thing: "Google Play codes", "codes for Google Play"? In one question they stand side by side, in the
    other with "for" or "of" between them."""
    asked, earlier = (alignment.asked, alignment.earlier)
    return (_side_by_side(first.asked, second.asked, asked) and _belongs(second.earlier, first.earlier, earlier)) or (
        _side_by_side(second.earlier, first.earlier, earlier) and _belongs(first.asked, second.asked, asked)
    )


def _side_by_side(one: Token, two: Token, question: Question) -> bool:
    return all(token.is_content for token in _between(one, two, question)) and not two.marker


def _belongs(thing: Token, owner: Token, question: Question) -> bool:
    """Does `owner` follow `thing` in one phrase that says whose or what for?"""
    markers = [token.marker for token in (*_between(thing, owner, question), owner) if token.marker]
    return len(markers) == 1 and markers[0] in _BELONGING


def _between(one: Token, two: Token, question: Question) -> list[Token]:
    return [token for token in question.tokens if one.position < token.position < two.position]


def _markers(pair: Pair) -> frozenset[str]:
    return frozenset((pair.asked.marker, pair.earlier.marker))


def _is_verb(pair: Pair, language: str) -> bool:
    tokens: tuple[Token, Token] = (pair.asked, pair.earlier)
    if language == "es":
        return any(token.lemma.endswith(_VERB_ES) and token.lemma not in _NO_VERBS for token in tokens)
    return any(token.word != token.lemma and token.word.endswith(("ed", "ing")) for token in tokens)
