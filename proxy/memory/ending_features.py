"""The features of two statements by which the model of endings tells whether the newer one ends the older: what their
words signal, what they share, and how much more alike they are than any others."""

from collections.abc import Sequence
from itertools import repeat

import numpy as np

from proxy.memory.analysis import SINGLE
from proxy.memory.likeness import TOPICS_TOLD, Compared, cosines
from proxy.memory.superseding import replaces, same_holder
from proxy.memory.trees import Floats

_NEVER_BEFORE = 0.0  # similarity of the second best where there is none


def pairs(new: Compared, older: Sequence[Compared], changes: float, rated: Sequence[bool] | None = None) -> Floats:
    """Returns the features of `new` with each of `older`, or with those of them that are `rated`, one row each.
    `changes`: the probability that `new` reports a change."""
    # Similarities by topics, words and letters; and by how much each is more than that to any other of `older`.
    by_topics = cosines(np.array([old.topics for old in older]), new.topics).tolist()
    likes = [
        (near, len(new.terms & old.terms), _likeness(new, old)) for near, old in zip(by_topics, older, strict=True)
    ]
    leads = zip(*map(_leads, zip(*likes, strict=True)), strict=True)
    found = [
        each
        for each, is_rated in zip(zip(older, likes, leads, strict=True), rated or repeat(True), strict=False)
        if is_rated
    ]
    rows = np.empty((len(found), len(_COLUMNS)))
    first, rest = new.numbers[:_BEFORE_SIGNALS], new.numbers[_BEFORE_SIGNALS:]
    rows[:, _OF_NEW] = (changes, *first, new.said.replacing, new.said.returns, *rest)
    rows[:, _OF_OLD] = np.reshape([old.numbers for old, _, _ in found], (-1, len(_OF_OLD)))
    rows[:, _OF_BOTH] = np.reshape([(*_pair(new, old, *like), *lead) for old, like, lead in found], (-1, len(_OF_BOTH)))
    return rows


# The features of two statements: "n", of the new one alone; "o", of the older one; "b", of both.
_COLUMNS = (
    "nbbbbbbbbbno"  # whether it replaces it, and words
    "bbnononobbbb"  # holders and names
    "bbbbbbbbbbbb"  # values and slots
    "nnnonono"  # what their words signal
    f"bno{'n' * TOPICS_TOLD}{'o' * TOPICS_TOLD}bbb"  # topics; by how much they are more alike than any others
)
_OF_NEW, _OF_OLD, _OF_BOTH = ([at for at, of in enumerate(_COLUMNS) if of == whose] for whose in "nob")
_BEFORE_SIGNALS = 4  # of `Compared.numbers`


def _leads(like: Sequence[float]) -> list[float]:
    """Returns of each number by how much it is more than the largest of the others."""
    second, largest = sorted((_NEVER_BEFORE, *like) if len(like) == 1 else like)[-2:]
    return [each - (second if each == largest else largest) for each in like]


def _pair(one: Compared, other: Compared, by_topics: float, both: int, by_letters: float) -> tuple[float, ...]:
    new, old = one.said, other.said
    shared, frame_new, frame_old = len(new.frame & old.frame), len(new.frame), len(old.frame)
    kinds, slots, values = new.kinds & old.kinds, new.slots & old.slots, len(new.values & old.values)
    names = len(new.names & old.names)
    return (
        replaces(new, old),
        # words
        shared,
        frame_new - shared,
        frame_old - shared,
        len(new.words & old.words),
        both,
        shared / max(1, min(frame_new, frame_old)),
        both / max(1, len(other.terms)),
        by_letters,
        # holders and names
        same_holder(new, old),
        not new.holder.isdisjoint(old.holder),
        not new.who.isdisjoint(old.who),
        names,
        names < len(new.names) and names < len(old.names),
        not (old.names.isdisjoint(new.words) and new.names.isdisjoint(old.words)),
        # values and slots
        values,
        not values and bool(new.values) and bool(old.values),
        len(kinds),
        "number" in kinds,
        "date" in kinds,
        "money" in kinds,
        "name" in kinds,
        "time" in kinds,
        len(slots),
        len(slots & SINGLE),
        len(new.aspects & old.aspects),
        not new.scope.isdisjoint(old.scope),
        # topics
        by_topics,
    )


def _likeness(one: Compared, other: Compared) -> float:
    """Returns the share of the shorter text's letter n-grams that both texts have."""
    return len(one.letters & other.letters) / max(1, min(len(one.letters), len(other.letters)))
