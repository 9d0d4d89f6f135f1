"""Statements as they are compared with others: their words, topics and letters, read once; the values of a scope's
facts, indexed by what they share; and similarity by shared words, of which rare ones weigh more."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.values import normal
from proxy.language.words import fold, terms
from proxy.memory.analysis import SINGLE, Analysis, analyse
from proxy.memory.predictions import ATTRIBUTES, topics
from proxy.memory.superseding import MOST_OF, is_said_instead
from proxy.types.memory import Fact, Statement

_GRAM = 4  # characters of an n-gram
_STILL_THE_SAME = 0.5  # least similarity of a statement and the fact that it says still holds
_SAME_SLOT = 0.35  # added for the same slot ("budget-…"); and for the same kind of quantity
_SAME_QUANTITY = 0.15
_OF_A_NAME = 2.0  # weight of a name, in other words' weights
_ROWS = 64  # values for which there is room at first
_FEW = 2.0  # least total weight that a share is of: shorter statements say too little
_TABLES = union("likeness")
_REASON = expression(_TABLES, "[,.]? {reasons} ", re.IGNORECASE)
# Topics whose probabilities tell whether a statement ends another.
_TELLING = "work family health residence money date project pet instruction device hobby diet"
_PLACES = tuple(map(ATTRIBUTES.index, _TELLING.split()))
TOPICS_TOLD, _told_of = len(_PLACES), itemgetter(*_PLACES)
_CHANGING = frozenset(terms(_TABLES["changing"]))
_QUANTITIES = {kind: frozenset(terms(_TABLES[kind])) for kind in ("money", "date")}


@dataclass(frozen=True, eq=False)  # no slots: `cached_property` keeps its values in `__dict__`
class Compared:
    """A statement with all that it is compared with others by."""

    text: str
    normal: str  # its words and numbers: those of one statement in two spellings are equal
    said: Analysis
    terms: frozenset[str]
    # The words of its frame, its slots of one value and its aspects: `is_said_instead` needs one that both have.
    things: frozenset[str]

    @cached_property
    def about(self) -> frozenset[str]:
        """Returns its terms without numbers, words of change and its reason."""
        return _about(self.text)

    @cached_property
    def topics(self) -> npt.NDArray[np.float64]:
        """Returns its topics as a unit vector. Takes longest of all."""
        return topics(self.text)

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Returns what of it alone tells whether it has ended, or ends another (`ending.pairs`)."""
        said, shares = self.said, self.topics.tolist()
        signals = len(self.text.split()), bool(said.holder), said.is_of_another, said.is_own
        return (*signals, said.changes, said.ends, said.orders, max(shares), *_told_of(shares))

    @cached_property
    def letters(self) -> frozenset[str]:
        """Returns its n-grams of letters."""
        said = self.text.lower()
        return frozenset(said[at : at + _GRAM] for at in range(len(said) - _GRAM + 1))


def compared(text: str) -> Compared:
    """Returns a statement as it is compared with others."""
    said = analyse(text)
    # No term has a space.
    things = (
        *said.frame,
        *(f"slot {slot}" for slot in said.slots & SINGLE),
        *(f"aspect {each}" for each in said.aspects),
    )
    return Compared(text, normal(text), said, frozenset(terms(text)), frozenset(things))


class ComparedValues(dict[str, Compared]):
    """The values of a scope's facts as they are compared, by value; one that is asked for is added. Each is compared
    with those that share a thing with it when it comes, and indexed: a new statement is compared with those near it."""

    def __init__(self) -> None:
        super().__init__()
        self._row: dict[str, int] = {}  # of each value
        self._values: list[str] = []  # by row
        self._free: list[int] = []  # rows of values that are gone
        self._with: defaultdict[object, int] = defaultdict(int)  # by sign: the rows that have it, a bit each
        self._frames = np.zeros(_ROWS, np.intp)  # by row: words of the frame
        self._topics = np.zeros((_ROWS, len(ATTRIBUTES)))  # by row
        self._unread: list[str] = []  # values whose topics are not in their row yet
        self._same: defaultdict[str, set[str]] = defaultdict(set)  # by normal form
        self._instead: defaultdict[str, set[str]] = defaultdict(set)

    def __missing__(self, value: str) -> Compared:
        self[value] = found = compared(value)
        if not self._free:
            self._free.append(len(self._values))
            self._values.append(value)
        row = self._free.pop()
        self._values[row] = value
        if row == len(self._frames):
            self._frames = np.concatenate([self._frames, np.zeros_like(self._frames)])
            self._topics = np.concatenate([self._topics, np.zeros_like(self._topics)])
        self._row[value], self._frames[row] = row, len(found.said.frame)
        self._unread.append(value)
        for other in self._nearly(found):
            said = self[other].said
            if is_said_instead(found.said, said):
                self._instead[value].add(other)
            if is_said_instead(said, found.said):
                self._instead[other].add(value)
        for sign in _signs(found):
            self._with[sign] |= 1 << row
        self._same[found.normal].add(value)
        return found

    def add(self, values: Iterable[str]) -> None:
        """Reads those of `values` that are not known: what is looked for in the index must be in it."""
        for value in set(values) - self.keys():
            _ = self[value]

    def alternatives(self, value: str) -> AbstractSet[str]:
        """Returns the values instead of which `value` may have been stated."""
        return self._instead.get(value) or frozenset()

    def same(self, said: str) -> AbstractSet[str]:
        """Returns the values with this normal form."""
        return self._same.get(said) or frozenset()

    def sharing(self, words: Iterable[str]) -> AbstractSet[str]:
        """Returns the values of which an analysis has one of these words."""
        return self._named(self._counts(f"word {word}" for word in words) > 0)

    def concerned(self, new: Compared) -> AbstractSet[str]:
        """Returns the values that `new` may replace or deny: no other has a thing that the rules ask for."""
        said = new.said
        signs: Iterable[object] = _signs(new)
        if not (said.changes or said.ends or said.replacing):
            signs = chain(new.things - said.frame, [said.frame], (f"ended {word}" for word in said.frame))
        return self._named(self._counts(signs) > 0)

    def likeness(self, new: Compared, older: Sequence[Compared]) -> npt.NDArray[np.float64]:
        """Returns the similarity of `new` with each of `older`, which are values of the scope: by topics, and the
        number of terms that both have."""
        while self._unread:
            if (value := self._unread.pop()) in self:
                self._topics[self._row[value]] = self[value].topics
        like = cosines(self._topics, new.topics)
        shared = self._counts(f"term {term}" for term in new.terms)
        like[: len(shared)] += shared
        return like.take([self._row[old.text] for old in older])

    def _counts(self, signs: Iterable[object]) -> npt.NDArray[np.intp]:
        """Returns how many of `signs` the value of each row has."""
        size = (len(self._values) + 7) // 8
        raw = b"".join(rows.to_bytes(size, "little") for sign in signs if (rows := self._with.get(sign)))
        bits = np.unpackbits(np.frombuffer(raw, np.uint8).reshape(-1, size or 1), axis=1, bitorder="little")
        found: npt.NDArray[np.intp] = bits.sum(axis=0, dtype=np.intp)
        return found

    def _named(self, is_meant: npt.NDArray[np.bool_]) -> AbstractSet[str]:
        """Returns the values of the rows that are meant."""
        return {self._values[row] for row in np.flatnonzero(is_meant).tolist()}

    def _nearly(self, new: Compared) -> AbstractSet[str]:
        """Returns the values of which `is_said_instead` may hold: they share a slot, an aspect or most of a frame."""
        shared = self._counts(new.said.frame)
        least = MOST_OF * np.minimum(self._frames[: len(shared)], len(new.said.frame))
        is_near = (shared > 0) & (shared >= least) | (self._counts(new.things - new.said.frame) > 0)
        return self._named(is_near)

    def refreshed(self, values: AbstractSet[str]) -> Iterator[None]:
        """Removes all but these values and reads those that are new, one a step: each takes a millisecond or two."""
        for gone in self.keys() - values:
            self._remove(gone)
        for value in values - self.keys():
            yield
            _ = self[value].topics  # which takes longest

    def _remove(self, gone: str) -> None:
        said, row = self.pop(gone), self._row.pop(gone)
        self._free.append(row)
        self._values[row] = ""
        for sign in _signs(said):
            self._with[sign] ^= 1 << row
            if not self._with[sign]:
                del self._with[sign]
        self._same[said.normal].discard(gone)
        self._instead.pop(gone, None)
        for others in self._instead.values():
            others.discard(gone)


def _signs(one: Compared) -> set[object]:
    """Returns what a statement is found by: its things, its frame, and its names, holders, words and terms."""
    said = one.said
    kinds = {"name": said.names, "holder": said.holder, "word": said.words, "term": one.terms}
    kinds["ended"] = said.frame if said.ends else frozenset()
    return {*one.things, said.frame, *(f"{kind} {each}" for kind, found in kinds.items() for each in found)}


def cosines(rows: npt.NDArray[np.float64], unit: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns the product of each row with a vector, to the last digit the same as one by one: that of a matrix and a
    vector is not."""
    found: npt.NDArray[np.float64] = np.matmul(rows[:, None, :], unit[:, None])[:, 0, 0]
    return found


def nearest(facts: Sequence[Fact], statement: Statement, values: ComparedValues) -> Fact | None:
    """Returns the fact most similar to `statement` by shared words, if it is similar enough; rare words weigh more, and
    the newest of equals wins."""
    of = {fact.id: values[fact.value].about for fact in facts}
    often = Counter(term for words in of.values() for term in words)
    new = _about(statement.value)
    names = frozenset(term for name in details(statement.value) for term in terms(name))

    def weight(words: Iterable[str]) -> float:
        return sum((_OF_A_NAME if word in names else 1) / math.sqrt(often[word] or 1) for word in words)

    def score(fact: Fact) -> float:
        shared = new & of[fact.id]
        if not shared:
            return 0.0
        slot, _, rest = statement.key.partition("-")
        same_slot = bool(rest) and fact.key.partition("-")[0] == slot
        same_quantity = bool(_quantities(fact.value) & _quantities(statement.value))
        overlap = weight(shared) / max(min(weight(new), weight(of[fact.id])), _FEW)
        return overlap + _SAME_SLOT * same_slot + _SAME_QUANTITY * same_quantity

    best = max(facts, key=lambda fact: (score(fact), fact.created_at), default=None)
    return best if best is not None and score(best) >= _STILL_THE_SAME else None


@lru_cache(8_192)
def _about(text: str) -> frozenset[str]:
    """Returns the terms of `text` without numbers, words of change, and its reason, which is about something else."""
    return frozenset(term for term in terms(_REASON.split(text, maxsplit=1)[0]) if not term[0].isdigit()) - _CHANGING


def details(text: str) -> frozenset[str]:
    """Returns the numbers, names and identifiers of `text`, folded."""
    return frozenset(
        fold(word.strip(".,;:!?()\"'"))
        for at, word in enumerate(text.split())
        if any(map(str.isdigit, word)) or (at and word[:1].isupper())
    )


def _quantities(text: str) -> frozenset[str]:
    """Returns the kinds of quantities in `text`: "money", "date"."""
    said = frozenset(terms(text))
    found = {name for name, words in _QUANTITIES.items() if words & said and any(map(str.isdigit, text))}
    return frozenset(found | ({"money"} if any(mark in text for mark in "$€£") else set()))
