"""Similarity of a new statement to known facts by shared words, where their keys differ."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.text import fold
from proxy.language.words import terms
from proxy.types.memory import Fact, Statement

STILL_THE_SAME = 0.5
_SAME_SLOT = 0.35  # added for the same slot ("budget-…"); and for the same kind of quantity
_SAME_QUANTITY = 0.15
_OF_A_NAME = 2.0  # weight of a name, in other words' weights
_FEW = 2.0  # least total weight that a share is of: shorter statements say too little
_TABLES = union("likeness")
_REASON = expression(_TABLES, "[,.]? {reasons} ", re.IGNORECASE)
_CHANGING = frozenset(terms(_TABLES["changing"]))
_QUANTITIES = {kind: frozenset(terms(_TABLES[kind])) for kind in ("money", "date")}


def nearest(facts: Sequence[Fact], statement: Statement, *, at_least: float) -> Fact | None:
    """Returns the fact most similar to `statement`, if its score reaches `at_least`; rare shared words weigh more, and
    the newest of equals wins."""
    of = {fact.id: about(fact.value) for fact in facts}
    often = Counter(term for words in of.values() for term in words)
    new = about(statement.value)
    names = frozenset(term for name in details(statement.value) for term in terms(name))

    def weight(words: Iterable[str]) -> float:
        return sum((_OF_A_NAME if word in names else 1) / math.sqrt(often[word] or 1) for word in words)

    def score(fact: Fact) -> float:
        shared = new & of[fact.id]
        if not shared:
            return 0.0
        slot, _, rest = statement.key.partition("-")
        same_slot = bool(rest) and fact.key.partition("-")[0] == slot
        same_quantity = bool(quantities(fact.value) & quantities(statement.value))
        overlap = weight(shared) / max(min(weight(new), weight(of[fact.id])), _FEW)
        return overlap + _SAME_SLOT * same_slot + _SAME_QUANTITY * same_quantity

    best = max(facts, key=lambda fact: (score(fact), fact.created_at), default=None)
    return best if best is not None and score(best) >= at_least else None


def normal(value: str) -> str:
    """Normalises a value for comparison: words and numbers, folded, without marks."""
    return " ".join("".join(mark if mark.isalnum() else " " for mark in fold(value)).split())


def about(text: str) -> frozenset[str]:
    """Returns the terms of `text` without numbers, words of change, and its reason, which is about something else."""
    return frozenset(term for term in terms(_REASON.split(text, maxsplit=1)[0]) if not term[0].isdigit()) - _CHANGING


def details(text: str) -> frozenset[str]:
    """Returns the numbers, names and identifiers of `text`, folded."""
    return frozenset(
        fold(word.strip(".,;:!?()\"'"))
        for at, word in enumerate(text.split())
        if any(map(str.isdigit, word)) or (at and word[:1].isupper())
    )


def quantities(text: str) -> frozenset[str]:
    """Returns the kinds of quantities in `text`: "money", "date"."""
    said = frozenset(terms(text))
    found = {name for name, words in _QUANTITIES.items() if words & said and any(map(str.isdigit, text))}
    return frozenset(found | ({"money"} if any(mark in text for mark in "$€£") else set()))
