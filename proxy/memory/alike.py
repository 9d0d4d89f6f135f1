"""Facts of a scope by the words that they may be mentioned with: the nearest ones to a value, and whether one of those
says the same.

Of thousands of facts, hundreds share a word with each other one. So they are counted as arrays, and two values are read
as a whole (`is_one_fact`, some hundred microseconds) only where no cheap reason speaks against it: a reason that would
be one in whatever language both are read.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from proxy.language.words import terms
from proxy.memory.agreeing import sounding
from proxy.memory.claim_terms import Term
from proxy.memory.claims import Claim, claim
from proxy.memory.facts import is_one_fact, sayable
from proxy.memory.same_fact import counts, is_article, states_something, tenses_agree, words_of
from proxy.types import SELF_CORRECTION, Fact
from proxy.types.memory import Language

COMPARED = 32  # facts with which a value is compared word by word
_LANGUAGES: tuple[Language, ...] = get_args(Language)
_SHORT = 4  # letters of a word of which three are enough to be a form of another
_ALONE = frozenset({"number", "operator"})  # kinds of terms that have no forms


class Told:
    """The facts that are told of a scope."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        every = {fact.id: fact for fact in facts if fact.domain != SELF_CORRECTION}
        # Of facts that share as much the last confirmed comes first.
        self._facts = sorted(every.values(), key=lambda fact: (-fact.last_confirmed_at, fact.id))
        self._read: dict[str, _Read] = {}  # by value

    def near(self, domain: str, value: str) -> list[Fact]:
        """Returns the facts under any key that share a word with `value` and say something else, letter by letter:
        those that share most first, no more than are worth a comparison."""
        found = [self._with[term] for term in frozenset(terms(value)) if term in self._with]
        if domain == SELF_CORRECTION or not found:
            return []
        shared = np.bincount(np.concatenate(found), minlength=len(self._facts))
        shared[self._saying.get(value, [])] = 0
        most = min(COMPARED, int(np.count_nonzero(shared)))
        order = shared * len(self._facts) - np.arange(len(self._facts))  # no two are alike
        best = np.argpartition(-order, most - 1)[:most] if 0 < most < len(order) else np.flatnonzero(shared)
        return [self._facts[place] for place in best[np.argsort(-order[best])]]

    def is_one(self, known: Fact, value: str) -> bool:
        """Tells whether a fact and a value are one, as `is_one_fact` does."""
        one, other = self._of(known.value), self._of(value)
        return other.states_something and _may_be_one(one, other) and is_one_fact(known.value, value)

    def _of(self, value: str) -> "_Read":
        read = self._read.get(value)
        if read is None:
            read = self._read[value] = _Read(value)
        return read

    @cached_property
    def _with(self) -> dict[str, npt.NDArray[np.int64]]:
        """The places of facts, by term."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, fact in enumerate(self._facts):
            for term in sayable(fact):
                places[term].append(place)
        return {term: np.array(each, np.int64) for term, each in places.items()}

    @cached_property
    def _saying(self) -> dict[str, list[int]]:
        """The places of facts, by value."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, fact in enumerate(self._facts):
            places[fact.value].append(place)
        return places


# --- cheap reasons against it -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Marks:
    """The parts of a claim that another one must agree with."""

    is_denied: bool
    tense: str
    wanted: tuple[frozenset[str], ...]  # of each term that may not be left over: the other one has one of these
    offered: frozenset[str]
    names: frozenset[str]


class _Read:
    """A value, as it is compared with many."""

    def __init__(self, value: str) -> None:
        self._value = value
        self._marks: dict[Language, _Marks] = {}

    @cached_property
    def states_something(self) -> bool:
        return states_something(self._value)

    @cached_property
    def words(self) -> frozenset[str]:
        return words_of(self._value)

    def marks(self, language: Language) -> _Marks:
        """Returns what it has in a language."""
        marks = self._marks.get(language)
        if marks is None:
            marks = self._marks[language] = _marks(claim(self._value, language))
        return marks


def _may_be_one(one: _Read, other: _Read) -> bool:
    """Returns False only if `is_one_fact` does, too. In which language it reads them is not asked: that costs more."""
    return (
        any(_agree(one.marks(each), other.marks(each)) for each in _LANGUAGES)
        and any(one.marks(each).names <= other.words for each in _LANGUAGES)
        and any(other.marks(each).names <= one.words for each in _LANGUAGES)
    )


def _agree(one: _Marks, other: _Marks) -> bool:
    return (
        one.is_denied == other.is_denied
        and tenses_agree(one.tense, other.tense)
        and not any(map(other.offered.isdisjoint, one.wanted))
        and not any(map(one.offered.isdisjoint, other.wanted))
    )


def _marks(said: Claim) -> _Marks:
    wanted = tuple(frozenset(_keys(term, "wanted")) for term in said.terms if not _may_be_left_over(term))
    offered = frozenset(key for term in said.terms for key in _keys(term, "offered"))
    return _Marks(said.is_denied, said.tense, wanted, offered, said.names)


def _may_be_left_over(term: Term) -> bool:
    return term.kind in {"name", "doing", "light"} or is_article(term) or counts(term)


def _keys(term: Term, side: Literal["wanted", "offered"]) -> Iterator[str]:
    """Yields what two terms that agree (`agreeing`) share: a key that one wants and the other offers."""
    said = term.said
    yield from (f"said {said}", f"root {term.root}")
    if term.kind == "number":
        return
    yield from (f"notion {each}" for each in term.notions)
    if term.kind in _ALONE:
        return
    yield f"sound {sounding(said).removesuffix('s')}"
    yield from _beginnings(said, side)
    if side == "offered":
        yield f"letters {said[:1]}{said[-1:]}{len(said)}"
    else:  # misspelt it has a letter less or more
        yield from (f"letters {said[:1]}{said[-1:]}{len(said) + more}" for more in (-1, 0, 1))


def _beginnings(said: str, side: Literal["wanted", "offered"]) -> Sequence[str]:
    """Returns the beginnings that a form of a word has: four letters, three where one of both is short."""
    is_long = len(said) > _SHORT
    short, long = f"short {said[:3]}", f"long {said[:3]}"
    if side == "offered":
        return [long if is_long else short, *([f"four {said[:4]}"] if is_long else [])]
    return [short, f"four {said[:4]}" if is_long else long]
