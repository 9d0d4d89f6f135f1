"""Comparison of a newer statement with older ones: the rules by which it replaces one, and similarity by shared words.

Both must be about the same thing of the same holder, which the words show that differ: values may (numbers, dates,
names, a place), and words of change; if each has a word of its own besides, they are about two things ("the budget of
the trip", "the budget of the kitchen") and both stay. A negation ends what it denies, a verb like "sold" its object.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, groupby, pairwise
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.values import normal
from proxy.language.words import fold, terms
from proxy.memory.predictions import ATTRIBUTES, topics
from proxy.memory.signals import MANY, SINGLE, Analysis, analyse, terms_of
from proxy.types.memory import Fact, Statement

_MOST_OF = 0.5  # least share of the shorter one's words that both have, where each has words of its own
_SOME_OF = 1 / 3  # least share of the older one's words that the object of "sold" must have
_BETWEEN = re.compile(r"[,;.:]\s+(?:(?:and|y|e)\s)?|\s(?:and|y|e)\s")  # the pieces of a list
_LOOSE_END = re.compile(r"[\s,;.:]+(?:(?:and|y|e)\s*)?\Z|\s(?:and|y|e)\s*\Z")
# Slots of which another value replaces the known one, even without words of change.
ONE_VALUE = frozenset({"name", "nickname", "residence", "age", "birthday", "marital"})

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


def replaces(new: Analysis, old: Analysis) -> bool:
    """Tells whether `new` replaces `old`."""
    if not same_holder(new, old) or (new.scope and old.scope and new.scope.isdisjoint(old.scope)):
        return False
    if new.words == old.words and new.ends == old.ends:
        return False
    if _orders_otherwise(new, old) or _ends(new, old) or _takes_away(new, old):
        return True
    slots = new.slots & old.slots & SINGLE
    if "residence" in slots:
        return bool(new.values) and new.values.isdisjoint(old.values)
    if slots:
        return new.changes or (bool(slots & ONE_VALUE) and new.values != old.values)
    if not new.frame & old.frame:
        return new.changes and _is_of_same_role(new, old)
    return _is_of_same_subject(new, old)


def is_of_one_thing(new: Analysis, old: Analysis) -> bool:
    """Tells whether `new` concerns all that `old` says. It does not if `old` says more ("40 hens and 12 sheep on 3
    acres", and then "27 hens"), if `new` may be about somebody else, or if it adds to it ("I also …")."""
    is_added = new.adds and not new.changes
    if is_added or old.aspects - new.aspects or (new.people - old.names and not old.people):
        return False
    rest = old.values - new.values
    is_of_same_name = "number" in new.kinds & old.kinds and not new.names.isdisjoint(old.names)
    if old.kinds <= new.kinds:
        return len(rest) <= max(1, len(new.values - old.values)) + is_of_same_name
    return len(rest) <= 1 and (new.ends or new.replacing)


def is_of_other(new: Analysis, old: Analysis) -> bool:
    """Tells whether each statement names a thing of its own, so that both may hold: two ports, two clients, two
    trainings. A `new` that says that something is over may name its replacement."""
    if new.slots & old.slots & SINGLE or (new.replacing and _is_mostly_of(new, old)):
        return False
    if new.orders and old.orders:
        return bool(new.names - old.names and old.names - new.names)
    extra_new, extra_old = new.frame - old.frame, old.frame - new.frame
    return bool(extra_new and extra_old)


def _is_mostly_of(new: Analysis, old: Analysis) -> bool:
    """Tells whether `new` names the topic of `old`, or most of its words."""
    both = new.words & old.words
    return bool(both & old.names) or len(both) >= _MOST_OF * len(old.words)


def remainder(new: Analysis, value: str) -> str:
    """Returns the pieces of `value` that still hold after `new` has replaced a part of it ("I'm left-handed, I play
    bass and have a Jazzmaster": that was sold). Empty if the first piece is concerned, on which the others may
    depend."""
    pieces = _pieces(value)
    hit = _concerned(new, pieces)
    if hit[0] or not any(hit):
        return ""
    kept = [not is_hit and _stands_alone(new, said) for is_hit, (_, said) in zip(hit, pieces, strict=True)]
    runs = groupby(zip(kept, pieces, strict=True), key=lambda each: each[0])
    held = [_LOOSE_END.sub("", "".join(text for _, (text, _) in run)) for is_kept, run in runs if is_kept]
    return " \u2026 ".join(held) if held and len(analyse(held[0]).words) > 1 else ""


def says_more(new: Analysis, value: str) -> bool:
    """Tells whether a piece of `value` states something that `new` does not concern ("I run in Asics and I've entered
    the marathon", and then "I'm not running the marathon")."""
    pieces = _pieces(value)
    hits = zip(_concerned(new, pieces), pieces, strict=True)
    return len(pieces) > 1 and any(not is_hit and bool(said.words) for is_hit, (_, said) in hits)


def _pieces(value: str) -> list[tuple[str, Analysis]]:
    cuts = [0, *(found.end() for found in _BETWEEN.finditer(value)), len(value)]
    return [(value[start:end], analyse(value[start:end])) for start, end in pairwise(cuts)]


def _concerned(new: Analysis, pieces: Sequence[tuple[str, Analysis]]) -> list[bool]:
    """Tells of each piece whether `new` concerns it: shares words with it or, if several do, replaces it."""
    hit = [bool(new.words & said.words) for _, said in pieces]
    return [replaces(new, said) for _, said in pieces] if sum(hit) > 1 else hit


def _stands_alone(new: Analysis, said: Analysis) -> bool:
    """Tells whether a piece is understood without the one that was removed."""
    return bool(said.frame or said.names) or said.kinds.isdisjoint(new.kinds)


def returns_from(new: Analysis, before: Analysis, between: Analysis) -> bool:
    """Tells whether `new`, a return to what `before` said, ends what `between` said in the meantime."""
    if not new.returns or not between.changes or not same_holder(new, between):
        return False
    if not new.words & before.words or new.words & between.values:
        return False
    alike = between.frame & (before.frame | new.frame) or between.slots & (before.slots | new.slots)
    return bool(alike or between.kinds & new.kinds & before.kinds)


def goes_back(new: Analysis, before: Analysis, between: Analysis) -> bool:
    """Tells whether `new` repeats something that `before` said and `between` did not."""
    return not new.ends and not new.words.isdisjoint(before.words - between.words)


def is_said_instead(between: Analysis, before: Analysis) -> bool:
    """Tells whether `between` says of one thing what `before` says, but otherwise ("the logo is in green", "the logo is
    in blue"). Both may hold: only if the earlier one is stated once more, they are taken for alternatives."""
    if between.adds or not same_holder(between, before) or between.orders != before.orders:
        return False
    if between.scope and before.scope and between.scope.isdisjoint(before.scope):
        return False
    shared, least = between.frame & before.frame, min(len(between.frame), len(before.frame))
    is_of_one = bool(shared) and len(shared) >= _MOST_OF * least
    is_other = bool(before.words - between.words and between.words - before.words)
    return is_other and (is_of_one or bool(between.slots & before.slots & SINGLE or between.aspects & before.aspects))


def _orders_otherwise(new: Analysis, old: Analysis) -> bool:
    """Tells whether `new` is another instruction on an aspect of answers that `old` instructs."""
    return bool(new.aspects & old.aspects) and (
        (new.orders and old.orders) or (new.changes and "language" not in new.aspects)
    )


def _ends(new: Analysis, old: Analysis) -> bool:
    both = new.words & old.words
    if not new.ends or old.ends or not both:
        return False
    least = min(len(new.words), len(old.words))
    return len(both) >= _MOST_OF * least or bool(new.slots & old.slots & SINGLE or both & terms_of(old.names))


def _takes_away(new: Analysis, old: Analysis) -> bool:
    both = new.words & old.words
    if not new.replacing or old.replacing or not both:
        return False
    return bool(both & old.names) or len(both) >= _SOME_OF * len(old.words)


def _is_of_same_role(new: Analysis, old: Analysis) -> bool:
    """Tells whether two statements share their person and nothing else: "Anjali's moved hers to June", "My supervisor
    is Dr Lindqvist now"."""
    kinds, named = new.kinds & old.kinds, new.names & old.names
    if named and "number" in kinds and new.values != old.values and not new.holder and not old.holder:
        return True  # "We're switching to MariaDB 12"
    if named and (new.is_of_another or old.is_of_another):
        return bool(kinds - {"name"}) or bool(new.names - named and old.names - named)
    is_role = new.holder == old.holder and bool(new.holder) and not new.holder & MANY
    return is_role and "name" in kinds and len(new.frame - old.frame) <= 1 and len(old.frame - new.frame) <= 1


def _is_of_same_subject(new: Analysis, old: Analysis) -> bool:
    """Tells whether two statements with words of their frames in common are about one thing."""
    kinds, shared = new.kinds & old.kinds, new.frame & old.frame
    extra_new, extra_old = new.frame - old.frame, old.frame - new.frame
    if new.changes or old.ends:
        if not extra_new or not extra_old:
            return bool(kinds) or new.changes or not new.ends
        return len(shared) > 1 and len(shared) >= _MOST_OF * min(len(new.frame), len(old.frame))
    if extra_new or extra_old or not kinds:
        return False
    # Where a name differs and a number as well, the name says that it is about something else.
    other_name = new.names - old.names and old.names - new.names
    return not other_name or new.values - terms_of(new.names) == old.values - terms_of(old.names)


def same_holder(new: Analysis, old: Analysis) -> bool:
    """Tells whether two statements are about the same person: the user, a relative, somebody named."""
    if new.holder and old.holder:
        named = new.who and old.who and new.holder <= MANY
        return new.holder == old.holder and (not named or bool(new.who & old.who))
    is_named = bool(new.names & old.who or new.who & old.names)
    if new.holder or old.holder:
        return is_named or (new.is_of_another and old.is_of_another)
    return new.is_of_another == old.is_of_another or is_named


# --- similarity ------------------------------------------------------------------------------------------------------


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
        least = _MOST_OF * np.minimum(self._frames[: len(shared)], len(new.said.frame))
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
