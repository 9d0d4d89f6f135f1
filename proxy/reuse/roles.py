"""Guards on aligned words: who does it, where from and where to, in which order.

Each says in a few words what differs between two questions, or "" if it sees nothing; the order is that of their
cost.
"""

from collections.abc import Callable, Mapping
from typing import Final

from proxy.language.language import Language
from proxy.language.text import fold
from proxy.language.words import lemma
from proxy.reuse.align import Alignment, Pair, crossings
from proxy.reuse.guards import are_only_listed
from proxy.reuse.question import Question, Token

AlignedGuard = Callable[[Alignment], str]


def verb_forms(alignment: Alignment) -> str:
    """Of a language that says tense and person by a verb's ending."""
    language, words = alignment.asked.language, alignment.asked.language.comparison
    if words.participle is None:
        return ""
    for pair in alignment.pairs:
        one, two = pair.asked, pair.earlier
        if tense_of_verb(one.written, language) != tense_of_verb(two.written, language):
            return f"{one.word} / {two.word}"
        if not _is_verb(pair, language) or words.participle.search(one.word) or words.participle.search(two.word):
            continue
        if frozenset((one.word[-1], two.word[-1])) in words.persons:
            about_anyone = alignment.earlier if one.word.endswith("o") else alignment.asked
            if words.impersonal.isdisjoint(fold(about_anyone.original).split()):
                return f"{one.word} / {two.word}"
    return ""


def directions(alignment: Alignment) -> str:
    """Tells apart where from and where to, with whom and against whom: of the same word."""
    against_each_other = alignment.asked.language.comparison.against_each_other
    for pair in alignment.pairs:
        if frozenset((pair.asked.marker, pair.earlier.marker)) in against_each_other:
            return f"{pair.asked.marker} / {pair.earlier.marker} {pair.asked.word}"
    return ""


def voice(alignment: Alignment) -> str:
    """Tells the word of the passive voice where only one question has it."""
    word = alignment.asked.language.comparison.voice
    if not word:
        return ""
    return word if (word in alignment.asked.text.split()) != (word in alignment.earlier.text.split()) else ""


def order(alignment: Alignment) -> str:
    """Words that have changed places may have changed parts: who bites whom, from where to where. Two things that are
    told apart have no order."""
    crossed = crossings(_with_numbers(alignment))
    if not crossed:
        return ""
    words = alignment.asked.language.comparison
    if all(f" {words.difference} " in f" {q.text} " for q in (alignment.asked, alignment.earlier)):
        return ""
    is_compared = words.compares.search(alignment.asked.text) is not None
    is_listing = are_only_listed(alignment.asked, alignment.earlier)
    for first, second in crossed:
        if is_listing and first.asked.kind == second.asked.kind == "number":
            continue
        may = _may_change_places(first, second, alignment.asked.language, is_compared=is_compared)
        if not may and not _is_compound(first, second, alignment):
            return f"{first.asked.word} … {second.asked.word}"
    return ""


def tense_of_verb(written: str, language: Language) -> str:
    """`past`, `future` or `present`: of a word by its ending, if it is a form of a verb that says otherwise."""
    words = language.comparison
    base = lemma(written, language)
    if base == fold(written) or words.infinitive is None or not words.infinitive.search(base):
        return "present"
    if words.past_ending and words.past_ending.search(written):
        return "past"
    return "future" if words.future_ending and words.future_ending.search(written) else "present"


ALIGNED_GUARDS: Final[Mapping[str, AlignedGuard]] = {
    "verb_forms": verb_forms,
    "directions": directions,
    "voice": voice,
    "order": order,
}


def _with_numbers(alignment: Alignment) -> tuple[Pair, ...]:
    if not alignment.asked.numbers or not alignment.earlier.numbers:
        return alignment.pairs
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
    if any(pair.asked.word in language.comparison.movable for pair in (first, second)):
        return True
    # "Which jobs are best for …", "the best jobs for …"
    if any(pair.asked.lemma in language.lexicon.praise for pair in (first, second)):
        return True
    if not all(one.clause == two.clause for one, two in ((first.asked, second.asked), (first.earlier, second.earlier))):
        return True
    return _keep_their_parts(first, second, language.comparison.belonging)


def _keep_their_parts(first: Pair, second: Pair, belonging: frozenset[str]) -> bool:
    """Both have the preposition or the condition that they had, and not the same."""
    keeps, keeps_too = (pair.asked.marker == pair.earlier.marker for pair in (first, second))
    if keeps and keeps_too and first.asked.marker != second.asked.marker:
        return True
    if keeps and first.asked.marker not in belonging and _markers(second) <= belonging:
        return True
    if keeps_too and second.asked.marker not in belonging and _markers(first) <= belonging:
        return True
    same_condition = all(pair.asked.condition == pair.earlier.condition for pair in (first, second))
    return same_condition and first.asked.condition != second.asked.condition


def _is_compound(first: Pair, second: Pair, alignment: Alignment) -> bool:
    """Tells whether they are one thing: "Google Play codes", "codes for Google Play"? In one question they stand side
    by side, in the other with "for" or "of" between them."""
    asked, earlier = (alignment.asked, alignment.earlier)
    return (_side_by_side(first.asked, second.asked, asked) and _belongs(second.earlier, first.earlier, earlier)) or (
        _side_by_side(second.earlier, first.earlier, earlier) and _belongs(first.asked, second.asked, asked)
    )


def _side_by_side(one: Token, two: Token, question: Question) -> bool:
    return all(token.is_content for token in _between(one, two, question)) and not two.marker


def _belongs(thing: Token, owner: Token, question: Question) -> bool:
    """Tells whether `owner` follows `thing` in one phrase that says whose or what for."""
    markers = [token.marker for token in (*_between(thing, owner, question), owner) if token.marker]
    return len(markers) == 1 and markers[0] in question.language.comparison.belonging


def _between(one: Token, two: Token, question: Question) -> list[Token]:
    return [token for token in question.tokens if one.position < token.position < two.position]


def _markers(pair: Pair) -> frozenset[str]:
    return frozenset((pair.asked.marker, pair.earlier.marker))


def _is_verb(pair: Pair, language: Language) -> bool:
    words = language.comparison
    for token in (pair.asked, pair.earlier):
        if words.infinitive and words.infinitive.search(token.lemma) and token.lemma not in words.no_verbs:
            return True
        if words.verb_form and token.word != token.lemma and words.verb_form.search(token.word):
            return True
    return False
