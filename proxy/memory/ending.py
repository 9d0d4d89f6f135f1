"""Models of whether a newer statement ends an older one, or may have ended it, trained on people's changes of mind.

"They've moved me up front, I'm the striker now" ends "I play in goal" without a word in common. Two models, both in
`ending.npz`, made by `tests/bench/ending_train.py`: the probability that a statement reports a change at all (a
logistic regression over its hashed words), and the probability that it ends a given older one (boosted trees over the
features that `superseding` and `clauses` give of the two, and how much better it fits that one than all others).
Nothing is random or downloaded. What was stated between a fact and the return to it ends by rule.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, compress, repeat
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from proxy.linear import LinearModel, feature, hashed, load_models, sigmoid
from proxy.memory.signals import SINGLE, Analysis, analyse
from proxy.memory.superseding import (
    ONE_VALUE,
    TOPICS_TOLD,
    Compared,
    ComparedValues,
    cosines,
    goes_back,
    is_of_one_thing,
    is_of_other,
    is_said_instead,
    remainder,
    replaces,
    returns_from,
    same_holder,
    says_more,
)
from proxy.memory.tokens import letters, tokens, word_pairs, word_triples, words
from proxy.types.memory import Fact

FILE = Path(__file__).with_name("ending.npz")
CHANGE = 2**16  # buckets of hashed features
# Least probability that a statement ends an older one for it to be superseded where the rules say so (else it is only
# doubted), and where the new one denies something that both mention.
ENDS_BY_RULE, ENDS_BY_DENIAL = 0.3, 0.35
# Least probability for a doubt where no rule applies: with words of change; without (two similar statements are mostly
# about two things); and for two holders, or an instruction and a statement.
MAY_END, MAY_END_UNTOLD, MAY_END_OF_ANOTHER = 0.07, 0.1, 0.25
MAY_TELL_OF_CHANGE, MOST_DOUBTED = 0.15, 2
OF_LIKELIEST = 0.5  # least share of the largest probability for a doubt: mostly one thing changes
# Least cosine of the topics for a doubt, unless both share a word, a name or a slot; and the probability from which any
# topics may differ ("bike got nicked", "I cycle to work"). Like those above chosen on the development conversations by
# cross-validation over authors, for the fewest ended facts that stay undoubted, with a false doubt on less than one in
# twenty facts that hold.
ALIKE, MAY_END_ANY = 0.4, 0.4
COMPARED = 48  # older statements that are compared in full, the most similar ones
_NEVER_BEFORE = 0.0  # similarity of the second best where there is none

_ALL = 255  # a set of all leaves of a tree

Verdict = Literal["ended", "doubted", "holds"]
Floats = npt.NDArray[np.float64]


def ended_by(new: Compared, older: Sequence[Compared], values: ComparedValues) -> dict[int, Verdict]:
    """Returns, by its index, each older statement of a user that `new` has ended or may have ended; all others hold.
    `values`: all of them, and perhaps more."""
    if not older:
        return {}
    changes, concerned = change(new.text), values.concerned(new)
    may_doubt = changes > MAY_TELL_OF_CHANGE
    places = _likest(new, older, values) if concerned or may_doubt else []
    told = _told(new, {at: older[at] for at in places if older[at].text in concerned})
    rated = [may_doubt or at in told for at in places]
    if not any(rated):
        return {}
    scores = _trees().scores(pairs(new, [older[at] for at in places], changes, rated)).tolist()
    likely = {at: sigmoid(score) for at, score in zip(compress(places, rated), scores, strict=True)}
    least = OF_LIKELIEST * max(likely.values())
    near = [at for at in sorted(likely, key=lambda at: -likely[at]) if likely[at] >= least]
    may = [at for at in near if may_doubt and _is_doubted(likely[at], new, older[at])]
    found: dict[int, Verdict] = dict.fromkeys(may[:MOST_DOUBTED], "doubted")
    for at, share in likely.items():
        if at in told and share > told[at]:
            found[at] = _by_rule(share, new, older[at])
    return found


def _told(new: Compared, older: Mapping[int, Compared]) -> dict[int, float]:
    """Returns, by the index of each older statement that the words of the new one concern, the probability above which
    they do: where it replaces one, and where it denies something that both mention."""
    found = {}
    said = new.said
    for at, old in older.items():
        if replaces(said, old.said):
            found[at] = 0.0
        elif said.ends and not old.said.ends and new.terms & old.terms and same_holder(said, old.said):
            found[at] = ENDS_BY_DENIAL
    return found


def _by_rule(likely: float, new: Compared, old: Compared) -> Verdict:
    """Returns "ended" if all of the older statement is concerned, or if the part that is not can be cut out; else
    "doubted"."""
    is_of_one_value = bool(new.said.slots & old.said.slots & ONE_VALUE)
    if is_of_other(new.said, old.said) or (likely <= ENDS_BY_RULE and not is_of_one_value):
        return "doubted"
    is_whole = is_of_one_thing(new.said, old.said) and not says_more(new.said, old.text)
    return "ended" if is_whole or remainder(new.said, old.text) else "doubted"


def _is_doubted(likely: float, new: Compared, old: Compared) -> bool:
    """Tells whether the older statement may have ended though no rule says so."""
    said = new.said
    is_of_same = same_holder(said, old.said) and said.orders == old.said.orders
    tells_of_change = said.changes or said.ends or said.replacing or said.returns
    least = MAY_END if tells_of_change else MAY_END_UNTOLD
    if likely <= (least if is_of_same else MAY_END_OF_ANOTHER):
        return False
    return likely >= MAY_END_ANY or are_alike(new, old)


def are_alike(new: Compared, old: Compared) -> bool:
    """Tells whether two statements are about the same thing or about things of one kind."""
    if new.said.names & old.said.names or new.said.slots & old.said.slots or new.terms & old.terms:
        return True
    return float(new.topics @ old.topics) >= ALIKE


def change(text: str) -> float:
    """Returns the probability that `text` reports a change, 0 to 1."""
    return sigmoid(float(_change().scores(change_vector(text))[0]))


def change_vector(text: str) -> dict[int, float]:
    """Returns the hashed features of a statement for the model of changes: bucket to weight."""
    said, about = tokens(text), analyse(text)
    runs = words("w=", said) + word_pairs(said) + word_triples(said)
    found = [feature(name) for name in ("changes", "ends", "replacing", "returns", "orders") if getattr(about, name)]
    return hashed(((runs, 1.0), (letters(said).tolist(), 0.7), (found, 1.0)), CHANGE)


# --- returns ----------------------------------------------------------------------------------------------------------


def is_left(new: Analysis, before: Analysis, between: Analysis) -> bool:
    """Tells whether `new` returns to what `before` said, instead of which `between` was stated."""
    return goes_back(new, before, between) and is_said_instead(between, before)


def left_again(facts: Iterable[Fact], new: Compared, between: Sequence[Fact], values: ComparedValues) -> frozenset[str]:
    """Returns the ids of those of `between` that were stated instead of an earlier fact to which `new` returns."""
    if new.said.ends:
        return frozenset()
    # Earlier facts that share a word with `new`: when their values were stated first, and what ended or doubts them.
    near, names = values.sharing(new.said.words), {fact.id for fact in between}
    instead = near & set(chain.from_iterable(values.alternatives(fact.value) for fact in between))
    stated: dict[str, float] = {}
    replaced: defaultdict[str | None, list[str]] = defaultdict(list)
    for fact in facts if between and near else ():
        if fact.superseded_by in names and fact.value in near:
            replaced[fact.superseded_by].append(fact.value)
        if fact.doubted_by in names and fact.value in near:
            replaced[fact.doubted_by].append(fact.value)
        if fact.value in instead:
            stated[fact.value] = min(fact.created_at, stated.get(fact.value, fact.created_at))

    def is_of_one(fact: Fact) -> bool:
        said = values[fact.value].said
        return any(goes_back(new.said, values[before].said, said) for before in replaced.get(fact.id, ())) or any(
            stated[before] < fact.created_at and goes_back(new.said, values[before].said, said)
            for before in stated.keys() & values.alternatives(fact.value)
        )

    return frozenset(fact.id for fact in between if is_of_one(fact)) if replaced or stated else frozenset()


def in_between(facts: Iterable[Fact], new: Compared, before: Sequence[Fact], values: ComparedValues) -> list[Fact]:
    """Returns the newest fact of `before` stated between an earlier one and the return to it ("I'm back at Halden")."""
    if not new.said.returns:
        return []
    known = {fact.id: fact for fact in before}
    ordered = sorted(facts, key=lambda fact: fact.created_at)
    earlier = [fact for fact in ordered if not new.said.words.isdisjoint(values[fact.value].said.words)]
    for each in reversed(ordered):
        if known.get(each.id) != each:
            continue
        between = values[each.value].said
        # The conditions of `returns_from` on these two alone.
        if between.changes and same_holder(new.said, between) and new.said.words.isdisjoint(between.values):
            then = (values[fact.value].said for fact in earlier if fact.created_at < each.created_at)
            if any(returns_from(new.said, said, between) for said in then):
                return [each]
    return []


# --- two statements --------------------------------------------------------------------------------------------------


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


def _likest(new: Compared, older: Sequence[Compared], values: ComparedValues) -> list[int]:
    """Returns the indices of the `COMPARED` most similar older statements, ascending."""
    if len(older) <= COMPARED:
        return list(range(len(older)))
    return sorted(np.argsort(-values.likeness(new, older), kind="stable")[:COMPARED].tolist())


# --- the models ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trees:
    """Boosted binary trees of at most 8 leaves, read without a walk from node to node: an inner node whose threshold is
    exceeded excludes the leaves on its left, and a row reaches the first leaf that is not excluded (Lucchese et al.,
    "QuickScorer", SIGIR 2015)."""

    feature: npt.NDArray[np.intp]  # (questions,): many trees ask the same
    threshold: Floats  # the same
    question: npt.NDArray[np.intp]  # (inner nodes of a tree * trees,), those of the roots first
    holds: npt.NDArray[np.uint8]  # the same: the leaves that are not on its left, a bit each
    value: Floats  # (trees * 256,): of the first leaf of every set of leaves
    base: float

    @classmethod
    def of(cls, nodes: Mapping[str, npt.NDArray[Any]], base: float) -> "Trees":
        """Makes trees of arrays of trees by nodes, `feature`, `threshold`, `left`, `right` and `value`: an inner node
        leads to the left where its feature is at most its threshold; a leaf leads to itself."""
        count, size = nodes["left"].shape
        holds = np.full((count, size), _ALL, np.uint8)
        value = np.zeros((count, _ALL + 1))
        firsts = [(each & -each).bit_length() - 1 for each in range(1, _ALL + 1)]
        for tree in range(count):
            left, right = nodes["left"][tree].tolist(), nodes["right"][tree].tolist()
            ordered = _leaves(left, right, 0)
            place = {leaf: 1 << at for at, leaf in enumerate(ordered)}
            for node in _leaves(left, right, 0, inner=True):
                holds[tree, node] = _ALL - sum(place[leaf] for leaf in _leaves(left, right, left[node]))
            says = nodes["value"][tree, ordered]
            value[tree, 1:] = says[np.minimum(firsts, len(ordered) - 1)]
        # Every tree has room for as many inner nodes as the largest needs.
        order = np.argsort(holds == _ALL, axis=1, kind="stable")[:, : max(1, int((holds != _ALL).sum(axis=1).max()))]
        asked = [np.take_along_axis(nodes[name], order, axis=1).T.ravel() for name in ("feature", "threshold")]
        questions, question = np.unique(np.stack(asked), axis=1, return_inverse=True)
        held = np.take_along_axis(holds, order, axis=1).T.ravel()
        return cls(questions[0].astype(np.intp), questions[1], question.ravel(), held, value.ravel(), base)

    def scores(self, rows: Floats) -> Floats:
        """Returns the log odds of each row."""
        goes_left = np.where(rows.take(self.feature, axis=1) <= self.threshold, np.uint8(_ALL), np.uint8(0))
        count = len(self.value) // (_ALL + 1)
        left_over = (goes_left.take(self.question, axis=1) | self.holds).reshape(len(rows), -1, count)
        starts = np.arange(count) * (_ALL + 1)
        # Summed up tree by tree: the last digits depend on it.
        found: Floats = self.base + self.value.take((np.bitwise_and.reduce(left_over, axis=1) + starts).T).sum(axis=0)
        return found


def _leaves(left: Sequence[int], right: Sequence[int], node: int, *, inner: bool = False) -> list[int]:
    """Returns the leaves below a node from left to right, or its inner nodes."""
    if left[node] == node:
        return [] if inner else [node]
    below = [each for side in (left, right) for each in _leaves(left, right, side[node], inner=inner)]
    return [node, *below] if inner else below


@lru_cache(1)
def _trees() -> Trees:
    with np.load(FILE) as arrays:
        nodes = {name: arrays[name] for name in ("feature", "threshold", "left", "right", "value")}
        return Trees.of(nodes, float(arrays["base"]))


@lru_cache(1)
def _change() -> LinearModel:
    return load_models(FILE, "change")[0]
