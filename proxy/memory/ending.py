"""Models of whether a newer statement ends an older one, or may have ended it, trained on people's changes of mind.

"They've moved me up front, I'm the striker now" ends "I play in goal" without a word in common. Two models, both in
`ending.npz`, made by `tests/bench/ending_train.py`: the probability that a statement reports a change at all (a
logistic regression over its hashed words), and the probability that it ends a given older one (boosted trees over the
features that `superseding` and `clauses` give of the two, and how much better it fits that one than all others).
Nothing is random or downloaded. What was stated between a fact and the return to it ends by rule.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, compress
from pathlib import Path
from typing import Literal

import numpy as np

from proxy.linear import LinearModel, feature, hashed, load_models, sigmoid
from proxy.memory.analysis import Analysis, analyse
from proxy.memory.ending_features import pairs
from proxy.memory.likeness import Compared, ComparedValues
from proxy.memory.superseding import (
    ONE_VALUE,
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
from proxy.memory.trees import Trees
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

Verdict = Literal["ended", "doubted", "holds"]


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


def _likest(new: Compared, older: Sequence[Compared], values: ComparedValues) -> list[int]:
    """Returns the indices of the `COMPARED` most similar older statements, ascending."""
    if len(older) <= COMPARED:
        return list(range(len(older)))
    return sorted(np.argsort(-values.likeness(new, older), kind="stable")[:COMPARED].tolist())


@lru_cache(1)
def _trees() -> Trees:
    with np.load(FILE) as arrays:
        nodes = {name: arrays[name] for name in ("feature", "threshold", "left", "right", "value")}
        return Trees.of(nodes, float(arrays["base"]))


@lru_cache(1)
def _change() -> LinearModel:
    return load_models(FILE, "change")[0]
