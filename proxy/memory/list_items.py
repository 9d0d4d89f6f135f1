"""The item of a list that a reference means: in the newest answer whose list has such a place; if the reference names
what it is of, in the newest list whose items, lead-in or question have that noun. It works on texts alone.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from proxy.conversation.lists import GivenList, ListedItem, lists
from proxy.language.words import plain, terms
from proxy.memory.list_references import Reference

MOST_LISTS = 3  # newest answers with lists in which an attribute is looked for
_LEAST_STEM, _MOST_ENDING = 4, 3  # letters of a stem, and of an ending that is left of another form


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that may give a list, and the question before it."""

    index: int  # of the message
    question: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """The items that a reference means."""

    index: int  # of the message
    given: GivenList
    items: tuple[ListedItem, ...]


def resolved(wanted: Reference, answers: Iterable[Answer]) -> Found | None:
    """Returns the items that a reference means; None if no list has them. `answers`: newest first; they are read no
    further than needed."""
    newest: Found | None = None
    read = 0
    for answer in answers:
        given = lists(answer.text)
        if not given:
            continue
        read += 1
        found = _by_what(wanted, answer, given) if wanted.kind == "attribute" else _by_position(wanted, answer, given)
        if found is not None and (wanted.kind != "noun" or _has_noun(wanted, answer, found.given)):
            return found
        newest = newest or found
        if wanted.kind == "attribute" and read == MOST_LISTS:
            return None
    return newest if wanted.newest else None


def _by_position(wanted: Reference, answer: Answer, given: tuple[GivenList, ...]) -> Found | None:
    """Returns the items at the places that are wanted, of the list that is likeliest meant."""
    has = [each for each in given if all(abs(place) <= len(each.items) for place in wanted.places)]
    if not has:
        return None
    best = max(has, key=lambda each: (_has_noun(wanted, Answer(0, "", ""), each), each.form != "bulleted"))
    chosen = tuple(best.items[place - 1 if place > 0 else place] for place in dict.fromkeys(wanted.places))
    return Found(answer.index, best, chosen)


def _has_noun(wanted: Reference, answer: Answer, given: GivenList) -> bool:
    """Tells whether a list is one of what is named: by its question, its lead-in, or the names of half of its items. Of
    several words the first one counts: what follows may be no part of the noun ("the second museum open late")."""
    if not wanted.terms:
        return False
    names = [_stems(item.name) for item in given.items]
    around = _stems(answer.question) | _stems(given.lead)
    noun = wanted.terms[0]
    return _in(noun, around) or 2 * sum(_in(noun, name) for name in names) >= len(names)


def _stems(text: str) -> set[str]:
    """Returns the stems of a text as a question has them: without accents before they are cut."""
    return set(terms(plain(text)))


def _in(term: str, known: Collection[str]) -> bool:
    """Tells whether a stem is among others; one of a plural may have more of its ending ("excurs", "excursion")."""
    return term in known or any(
        min(len(term), len(other)) >= _LEAST_STEM
        and abs(len(term) - len(other)) <= _MOST_ENDING
        and (term.startswith(other) or other.startswith(term))
        for other in known
    )


def _by_what(wanted: Reference, answer: Answer, given: tuple[GivenList, ...]) -> Found | None:
    """Returns the one item that has the attribute: its first term, and more of the others than any other item."""
    scored = []
    for each in given:
        for item in each.items:
            has = _stems(item.text)
            if _in(wanted.terms[0], has):
                scored.append((sum(_in(term, has) for term in wanted.terms), each, item))
    most = max((score for score, _, _ in scored), default=0)
    best = [(each, item) for score, each, item in scored if score == most]
    return Found(answer.index, best[0][0], (best[0][1],)) if len(best) == 1 else None
