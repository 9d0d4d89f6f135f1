"""A quotation in its sentence, beside a value that it may state: what both checks of its mood and of its content read.

The clause of the quotation that has most in common with the value is where most signs count: "we met years ago and I
keep bees" says nothing of how it was with the bees.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from proxy.language.words import fold
from proxy.memory.agreeing import agreeing
from proxy.memory.claim_terms import Term
from proxy.memory.claim_words import Wording, wording
from proxy.memory.claims import Claim, claim
from proxy.memory.signals import folded
from proxy.memory.support_marks import Marks, marks
from proxy.types.memory import Language

Paired = list[tuple[Term, Term]]  # of the value, and of what was said
CLAUSE = re.compile(
    r"[,;:\u2014()]\s*|\s(?=(?:and|but|y|e|pero|aunque|although|though|because|porque|while|mientras)\s)"
)
NEAR = 40  # characters around a quotation that say how it is meant
_ENDS = re.compile(r"(?<=[.!?\u2026])[\"'\u201d»)]*\s+|\n+|(?=\u00bf)")
_WORD = re.compile(r"[\w']+")
_COUNTRY = re.compile(r"\bUSA?\b")  # not "us"
_MARK = re.compile(r"\s*[,;:.\u2026)]")


@dataclass(frozen=True, slots=True)
class Said:
    """A quotation in its message."""

    quote: str
    sentence: str  # the sentences that it stands in
    before: str  # of these, what stands before it
    behind: str
    everything: str  # the message, and what the same user said beside it


def said_in(text: str, start: int, end: int, others: str) -> Said:
    """Returns the quotation that stands in a message from `start` to `end`. `others`: what else its user said."""
    cuts = [0, *(found.end() for found in _ENDS.finditer(text)), len(text)]
    begin = max(cut for cut in cuts if cut <= start)
    until = min(cut for cut in cuts if cut >= end)
    return Said(text[start:end], text[begin:until], text[begin:start], text[end:until], f"{text} {others}")


_NAMED_WORDS = 6  # of a quotation that names something


class Quoted:
    """A quotation beside a value, both as they are compared."""

    def __init__(self, said: Said, value: str, code: Language) -> None:
        self.said, self.value = said, value
        self.marks: Marks = marks(code)
        self.table: Wording = wording(code)
        self.quote, self.before, self.behind, self.low = map(folded, (said.quote, said.before, said.behind, value))
        self.last = CLAUSE.split(said.before)[-1]  # what stands before the quotation in the same clause
        self.wanted = claim(value, code)
        clauses = [each for each in CLAUSE.split(said.quote) if any(map(str.isalnum, each))]
        self.passage = max(clauses, key=lambda each: len(paired(self.wanted, self.claim(each))))
        self.here = folded(self.passage)
        self.clause, self.all = self.claim(self.passage), self.claim(said.quote)
        self.around = self.claim(said.sentence)
        self.shared = paired(self.wanted, self.clause)
        self.instructs = self.marks.has("instructs", self.low)  # the value is how to answer
        self.wishes = self.marks.has("wished", self.low)
        self.is_planned = self.wanted.tense == "future" or self.marks.has("planned", self.low)
        self.has_ended = (
            self.wanted.is_denied
            or self.wanted.tense in {"past", "perfect"}
            or self.marks.has("ended", value.lower())  # accents count: "trabajó"
        )
        self.is_authors = self.is_author(self.passage)
        self.is_first = self.is_author(said.quote) or self.marks.has("first", folded(_COUNTRY.sub(" ", said.quote)))

    def claim(self, text: str) -> Claim:
        """Reads a text in the language of the message."""
        return claim(text, self.table.code)

    def is_author(self, text: str) -> bool:
        """Tells whether the author does something. Accents count: "compré" is of the author, "compre" is not."""
        return self.marks.has("author", _COUNTRY.sub(" ", text).lower())

    def having(self, said: Claim, name: str) -> list[Term]:
        """Returns the terms of a claim that a table of words has."""
        roots = self.marks.roots[name]
        return [term for term in said.terms if term.root in roots]

    def notions(self, name: str) -> frozenset[str]:
        """Returns the notions of a table of words."""
        return frozenset().union(*(self.table.notions.get(each, frozenset()) for each in self.marks.roots[name]))

    def counts(self, text: str) -> int:
        """Returns the number of negations."""
        return sum(each in self.table.negations for each in _WORD.findall(self.marks.plainly(text)))

    @property
    def takes_for_granted(self) -> bool:
        """Tells whether it names something of the author's and no more, which holds whatever is asked: "my cat Pip"."""
        is_short = len(self.quote.split()) <= _NAMED_WORDS
        return is_short and self.all.leads_own and "?" not in self.quote

    @property
    def begins(self) -> bool:
        """Tells whether the clause is the beginning of the quotation."""
        return self.said.quote.startswith(self.passage)

    @property
    def goes_on(self) -> str:
        """Returns what stands behind the quotation in the same clause."""
        return "" if _MARK.match(self.behind) else CLAUSE.split(self.behind)[0]

    @property
    def is_verb_shared(self) -> bool:
        """Tells whether the clause has the first word of the value."""
        return any(one is self.wanted.terms[0] for one, _ in self.shared)


def spoken(text: str) -> list[str]:
    """Returns the words of a text, folded."""
    return [fold(each) for each in _WORD.findall(text)]


def paired(one: Claim, other: Claim) -> Paired:
    """Returns the terms of two claims that say the same, people left out."""
    endings = wording(one.language).endings
    return [
        (term, each)
        for term in one.terms
        for each in other.terms
        if "person" not in (term.kind, each.kind)
        and any(agreeing(term, each, how, endings) for how in ("root", "notion", "form"))
    ]


def people(said: Claim) -> list[Term]:
    """Returns the people that a claim has."""
    return [term for term in said.terms if term.kind == "person"]


def any_are_one(some: Iterable[Term], others: Iterable[Term]) -> bool:
    """Tells whether two groups have somebody in common."""
    there = list(others)
    return any(one.root == other.root or not one.notions.isdisjoint(other.notions) for one in some for other in there)
