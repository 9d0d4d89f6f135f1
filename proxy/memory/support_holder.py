"""The person that a quotation is about: the user, as the value says, or somebody else, or everybody.

Users speak of themselves in the first person, values of them in the third. So a quotation that has the value's verb in
the third person is about another; and so is a clause whose subject is a pronoun, or stands before the quotation.
"""

import re
from collections.abc import Iterable

from proxy.language.words import fold
from proxy.memory.claim_terms import Term
from proxy.memory.signals import folded
from proxy.memory.support_quoted import NEAR, Quoted, any_are_one, people, spoken

_WORD = re.compile(r"[\w']+")


def of_another(quoted: Quoted) -> str:
    """Returns "holder" or "general" if it is about somebody else than the value is, "" if not."""
    told = [term for term in people(quoted.wanted) if term.root in quoted.wanted.holder]
    somebody = [*people(quoted.claim(quoted.said.before)), *people(quoted.all)]
    if told:
        return "holder" if _is_of_others_than(told, somebody, quoted) else _general(quoted)
    if mentioned := people(quoted.wanted):
        near = people(quoted.all) or (() if quoted.is_authors else somebody)
        return "holder" if near and not any_are_one(mentioned, somebody) else _general(quoted)
    if _is_in_third_person(quoted) or _is_possessed_by_another(quoted) or _has_other_subject(quoted):
        return "holder"
    is_led = not quoted.is_author(quoted.said.quote) and not quoted.wanted.holder and _is_led_by_another(quoted)
    return "holder" if is_led else _general(quoted)


def _is_of_others_than(told: Iterable[Term], somebody: Iterable[Term], quoted: Quoted) -> bool:
    """Tells whether a quotation is about others than the people that the value tells of."""
    if _has_pronoun(quoted):
        somebody = people(quoted.claim(quoted.said.everything))
    is_named = not quoted.wanted.names.isdisjoint(spoken(quoted.said.quote))
    if not is_named and not any_are_one(told, somebody):
        return True
    return quoted.is_authors and bool(quoted.shared) and not any_are_one(told, people(quoted.clause))


# --- another's --------------------------------------------------------------------------------------------------------


def _is_in_third_person(quoted: Quoted) -> bool:
    """Tells whether the quotation has the verb of the value in the same person, and not of a thing of the user's."""
    first, passage = _WORD.match(quoted.value), quoted.passage.lower()
    verb = first[0].lower() if first else ""
    if not quoted.marks.patterns["thirds"].fullmatch(verb):
        return False
    at = re.search(rf"(?<![\w']){re.escape(verb)}\b", passage)
    return at is not None and not quoted.marks.has("own_things", passage[: at.start()])


def _is_possessed_by_another(quoted: Quoted) -> bool:
    """Tells whether the value says that the user has what in the quotation is somebody else's."""
    nouns = {other.said for _, other in quoted.shared if other.kind == "word"}
    has = quoted.marks.has("having", quoted.low)
    return has and any(quoted.marks.is_possessed(noun, quoted.quote) for noun in nouns)


def _has_other_subject(quoted: Quoted) -> bool:
    """Tells whether a pronoun is the subject, and the value is not about whom it means, nor about having it."""
    if not _has_pronoun(quoted):
        return False
    first = _WORD.match(quoted.value)
    is_name = first is not None and re.search(rf"(?<=[\w,] ){re.escape(first[0])}\b", quoted.said.everything)
    has = bool(quoted.wanted.terms) and quoted.wanted.terms[0].kind == "light" and not quoted.wanted.is_copular
    is_had = has and bool(quoted.shared) and quoted.marks.patterns["is_one"].search(quoted.passage.lower())
    return not is_name and not is_had


def _has_pronoun(quoted: Quoted) -> bool:
    """Tells whether a pronoun of somebody else is the subject of the clause."""
    is_of_author = quoted.is_authors or quoted.marks.has("first", quoted.here)
    return not is_of_author and quoted.marks.has("pronouns", quoted.passage.lower())


def _is_led_by_another(quoted: Quoted) -> bool:
    """Tells whether somebody else, or something of the author's, is the subject of the clause, or of what stands
    before it."""
    clause, marks, last = quoted.clause, quoted.marks, quoted.last
    if clause.holder or marks.has("clefts", quoted.before):
        return True
    of_verb = {id(other) for _, other in quoted.shared}
    is_led = clause.leads_noun or any(term.kind == "name" for term in clause.terms[:1])
    if is_led and quoted.is_verb_shared and id(clause.terms[0]) not in of_verb:
        return True
    if not quoted.begins or quoted.is_author(last):
        return False
    first = _WORD.search(quoted.quote)
    if first is not None and marks.patterns["thirds"].fullmatch(first[0]) and people(quoted.claim(quoted.said.before)):
        return True
    if not last.strip():
        return False
    return bool(people(quoted.claim(last))) or (quoted.claim(last).leads_noun and quoted.is_verb_shared)


# --- everybody's ------------------------------------------------------------------------------------------------------


def _general(quoted: Quoted) -> str:
    """Returns "general" if it is about all of a kind, or about a thing as such."""
    marks = quoted.marks
    if quoted.is_first:
        return ""
    if not quoted.instructs and marks.has("anybody", folded(quoted.last) + quoted.quote[:NEAR]):
        return "general"
    if any(map(str.isalnum, quoted.said.before)):
        return ""
    if not quoted.instructs and marks.has("general", quoted.quote):
        return "general"
    is_of_user = not quoted.wanted.holder and not people(quoted.wanted) and bool(quoted.wanted.terms)
    is_alone = not marks.has("first", quoted.behind) and not any(map(str.isdigit, _digits(quoted)))
    is_thing = is_of_user and is_alone and not _has_verb(quoted) and marks.has("general_one", quoted.quote)
    return "general" if is_thing else ""


def _digits(quoted: Quoted) -> str:
    """Returns the numbers that the value and the quotation have in common."""
    return " ".join(each for each in quoted.wanted.numbers if each in quoted.all.numbers)


def _has_verb(quoted: Quoted) -> bool:
    """Tells whether the quotation has the first word of the value."""
    first = quoted.wanted.terms[0]
    return first.root in {term.root for term in quoted.all.terms} or fold(first.said) in spoken(quoted.said.quote)
