"""A personal fact as it is compared with another: who it is about, what it denies, when it holds, its names and
numbers, and the words that are left, whatever person and order they are said in.

"Trabajo en Google" and "trabaja en Google" are one claim; "no trabajo en Google" and "trabajé en Google" are others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from proxy.language.detect import language as spoken
from proxy.language.words import fold
from proxy.memory.claim_terms import ARTICLES, USER, Term, Word, compares, is_perfect, terms_of, words_of
from proxy.memory.claim_words import Wording, spoken_in_claims, wording
from proxy.memory.roots import Root, rooted
from proxy.types.memory import Language

Tense = Literal["present", "past", "perfect", "future"]

_REMEMBERED = 4_096  # texts whose claims are cached
_LONGEST = 600  # characters that are read: a fact is a sentence
_PAST_ENDING = {
    "es": re.compile(
        r"\w{2,}(?:ó|é|í|aron|ieron|aba|aban|aste|iste|ábamos|(?:tuv|pus|duj|traj|vin|hiz|quis|dij|pud|sup)[eo])$"
    ),
    "en": re.compile(r"[a-z]{2,}ed$"),
}
_NO_PAST = frozenset(
    [
        "café",
        "bebé",
        "qué",
        "sé",
        "té",
        "sí",
        "ahí",
        "allí",
        "así",
        "aquí",
        "mí",
        "también",
        "además",
        "porqué",
        "olé",
        "need",
        "speed",
        "bed",
        "red",
    ]
)
_FUTURE_ENDING = re.compile(r"\w{3,}r(?:é|ás|á|emos|án)$")
_PRESENT = {
    "es": frozenset(["es", "soy", "esta", "estoy", "tengo", "tiene", "son", "somos"]),
    "en": frozenset(["is", "are", "am", "do", "does", "have", "has"]),
}
_YEAR = re.compile(r"(?:19|20)\d\d")
_BEGINNING = 4  # words among which the verb stands
_MODALS = frozenset(["used", "am", "is", "are", "going", "do", "does", "would", "had"])
_ONE = frozenset(["un", "una", "a", "an"])
_DETERMINERS = frozenset(["el", "un", "a", "the"])
_CLITICS, _OBJECTS = frozenset(["me", "se", "te", "nos"]), frozenset(["la", "lo", "las", "los"])
_TO_WHOM = frozenset(["me", "nos", "le", "les", "lo"])
_PERSONS = frozenset(["i", "we", "she", "he", "they", "who", "that"])
_SUBORDINATES = frozenset(
    ["que", "cuando", "donde", "when", "that", "who", "where", "since", "while", "after", "before", "because"]
)
_BY = {"es": "por", "en": "by"}


@dataclass(frozen=True, slots=True)
class Claim:
    """The parts of a statement about a user."""

    language: Language
    terms: tuple[Term, ...]  # all that says something, in order
    is_own: bool  # the user is its subject
    holder: frozenset[Root]  # the relatives and others that it is about, if not the user
    leading: int  # number of terms, names and people, that stand before all else
    leads_noun: bool  # it begins with a noun
    leads_own: bool  # the noun is the user's: "my knees"
    is_copular: bool  # "is" joins what it says
    is_passive: bool  # "was treated by": its subject is not who does it
    compares: bool
    is_denied: bool
    tense: Tense
    has_clitics: bool  # "se la diseñó su tío": what stands first may be the object

    def acts(self, term: Term) -> bool:
        """Tells whether somebody does it, as far as the place in the sentence tells."""
        if self.language == "es":
            return not term.behind and not term.turned
        return term in self.terms[: self.leading]

    @property
    def names(self) -> frozenset[str]:
        """Returns its names, folded."""
        return frozenset(term.said for term in self.terms if term.kind == "name")

    @property
    def numbers(self) -> tuple[str, ...]:
        """Returns its numbers as figures, sorted."""
        return tuple(sorted(term.said for term in self.terms if term.kind == "number"))

    @property
    def attribute(self) -> frozenset[str]:
        """Returns the notions it is about: of its verb and its nouns."""
        return frozenset().union(*(term.notions for term in self.terms))


@lru_cache(_REMEMBERED)
def claim(text: str, language: Language | None = None) -> Claim:
    """Reads a statement, in the first or the third person, in Spanish or English."""
    text = text[:_LONGEST].replace("\u2019", "'")
    table = wording(language or spoken(text) or spoken_in_claims(text))
    words = words_of(text, table)
    terms = terms_of(words, table)
    said = [word.said for word in words]
    first = said[0] if said else ""
    has_be = any(rooted(each, table.code, frozenset()) in table.be for each in said)
    is_own, holder = _held(words, terms, table)
    return Claim(
        language=table.code,
        terms=terms,
        is_own=is_own,
        holder=holder,
        leading=_leading(terms) if first not in {"i", "we"} else 0,
        leads_own=first in table.possessives,
        leads_noun=first in table.possessives or first in ARTICLES or first in _ONE,
        is_copular=has_be and not any(each.endswith("ing") for each in said),
        is_passive=_BY[table.code] in said and has_be,
        compares=compares(words, table),
        is_denied=any(term.is_denied for term in terms),
        tense=_tense(["" if word.is_name else word.raw.lower() for word in words], table),
        has_clitics=_has_clitics(said, table),
    )


def _leading(terms: Sequence[Term]) -> int:
    """Returns the number of names and people before all else; what stands first may be one written as a word."""
    if not terms or terms[0].behind:
        return 0
    found = next((at for at, term in enumerate(terms) if term.kind not in {"person", "name"}), len(terms))
    return max(found, 1)


def _has_clitics(said: Sequence[str], table: Wording) -> bool:
    return any(
        other == "lo" or (other in _OBJECTS and (one in _CLITICS or one not in table.keep | table.empty))
        for one, other in pairwise(said)
    )


def _held(words: Sequence[Word], terms: Sequence[Term], table: Wording) -> tuple[bool, frozenset[Root]]:
    """Tells whether the user is the subject, and returns the people who are if not."""
    leading = next((at for at, term in enumerate(terms) if term.kind not in {"person", "name"}), len(terms))
    opening = [term for term in terms[:leading] if term.kind == "person"]
    if opening and (not opening[0].behind or (opening[0].behind == "a" and table.code == "es")):
        return False, frozenset(term.root for term in opening)
    if table.code == "es" and any(word.said in _TO_WHOM for word in words):
        bare = [term for term in terms if term.kind == "person" and not term.behind and not term.turned]
        if bare:
            return False, frozenset(term.root for term in bare)
    first = words[0].said if words else ""
    return first not in table.empty - {USER[table.code], "we"} and first not in table.possessives, frozenset()


# --- tense ------------------------------------------------------------------------------------------------------------


def _tense(said: Sequence[str], table: Wording) -> Tense:
    """Returns the tense of the first verb that has one, of words in lower case with their accents."""
    folded = [fold(each) for each in said]
    is_ago = any(each in table.ago or _YEAR.fullmatch(each) for each in folded)
    if is_ago and not table.unmarked.isdisjoint(folded[:_BEGINNING]):
        return "past"
    if table.code == "en" and _begins_in_present(folded, table):
        return "present"
    found = (_tense_at(said, folded, at, table) for at in range(len(said)))
    return next((each for each in found if each is not None), "present")


def _begins_in_present(said: Sequence[str], table: Wording) -> bool:
    """Tells whether it begins with a verb in the present: "owns a boat named Ada"."""
    nothing = table.intensity | table.negations
    rest = [each for each in said if each not in nothing][:2]
    first = rest[1] if len(rest) > 1 and rest[0] == USER["en"] else "".join(rest[:1])
    is_verb = first.endswith("s") or (len(rest) > 1 and rest[0] == USER["en"])
    known = table.past | table.future | table.perfect | table.empty | table.possessives | table.unmarked | table.people
    return is_verb and not first.endswith("ed") and first not in known and first not in _MODALS


def _tense_at(said: Sequence[str], folded: Sequence[str], at: int, table: Wording) -> Tense | None:
    word, plainly, after = said[at], folded[at], folded[at + 1] if at + 1 < len(folded) else ""
    is_going = plainly in table.going and after in {"a", "to"}
    if plainly in table.future or is_going or (table.code == "es" and _FUTURE_ENDING.fullmatch(word)):
        return "future"
    if plainly in table.perfect and is_perfect(folded, at, table):
        return "perfect"
    if plainly == "used" and after == "to":
        return "past"
    before = folded[at - 1] if at else ""
    if plainly in table.numbers or (before in _SUBORDINATES and at > 1):
        return None
    if plainly in table.past:
        return None if before in _DETERMINERS else "past"
    if _PAST_ENDING[table.code].fullmatch(word) and word not in _NO_PAST and not _is_participle(folded, at, table):
        return "past"
    return "present" if plainly in _PRESENT[table.code] else None


def _is_participle(said: Sequence[str], at: int, table: Wording) -> bool:
    """Tells whether "-ed" stands behind a verb or an article: "is edited", "a retired teacher"."""
    before = said[at - 1] if at else ""
    if table.code == "es" or not before or before in _PERSONS:
        return False
    if before in table.empty | table.possessives | table.small | table.intensity:
        return True
    return rooted(before, "en", frozenset()) in table.be | {"have", "get"}
