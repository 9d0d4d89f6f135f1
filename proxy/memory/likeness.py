"""Which known fact a new statement is about, when the two have no key in common."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.terms import terms
from proxy.language.text import fold
from proxy.memory.facts import LINKS, superseded, weighed
from proxy.types.memory import Fact, Statement

# How much of what a change says must be about an older fact for the change to be of that one.
SAME_THING = 0.3
STILL_THE_SAME = 0.5
_SAME_SLOT = 0.35  # what one subject is worth of it ("budget-…"), and the same kind of number
_SAME_QUANTITY = 0.15
_OF_A_NAME = 2.0  # times as much as another word
_FEW = 2.0  # words: what has fewer says too little to share a part of them
_TABLES = union("likeness")
_REASON = expression(_TABLES, "[,.]? {reasons} ", re.IGNORECASE)
_CHANGING = frozenset(terms(_TABLES["changing"]))
_QUANTITIES = {kind: frozenset(terms(_TABLES[kind])) for kind in ("money", "date")}


def nearest(facts: Sequence[Fact], statement: Statement, *, at_least: float) -> Fact | None:
    """The fact that `statement` is about, by the words that both have: rare ones count more. The newest of equals."""
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
    """What makes two values one: words and numbers, whatever the case, accents and marks."""
    return " ".join("".join(mark if mark.isalnum() else " " for mark in fold(value)).split())


def about(text: str) -> frozenset[str]:
    """The terms of `text` that are no numbers, nor in a reason: that is about something else."""
    return frozenset(term for term in terms(_REASON.split(text, maxsplit=1)[0]) if not term[0].isdigit()) - _CHANGING


def details(text: str) -> frozenset[str]:
    """What makes `text` concrete: its numbers, names and identifiers."""
    return frozenset(
        fold(word.strip(".,;:!?()\"'"))
        for at, word in enumerate(text.split())
        if any(map(str.isdigit, word)) or (at and word[:1].isupper())
    )


def quantities(text: str) -> frozenset[str]:
    """What kinds of number `text` has: "money", "date"."""
    said = frozenset(terms(text))
    found = {name for name, words in _QUANTITIES.items() if words & said and any(map(str.isdigit, text))}
    return frozenset(found | ({"money"} if any(mark in text for mark in "$€£") else set()))


_RANK = ("low", "medium", "high")


def reunited(groups: Sequence[Sequence[Fact]]) -> tuple[Fact, ...]:
    """The rows that have changed once all are put together in the order in which they were last said: what a newer fact
    of another group ends becomes its history, and what it repeats as well. Of facts with one id that of the last group
    counts. The last group keeps its keys."""
    group_of = {fact.id: number for number, group in enumerate(groups) for fact in group}
    before = {fact.id: fact for group in groups for fact in group}
    after: dict[str, Fact] = {}
    for fact in sorted(before.values(), key=lambda each: (each.last_confirmed_at, each.created_at, each.id)):
        after[fact.id] = fact
        if fact.superseded_by is None:
            number = group_of[fact.id]
            others = [
                each
                for each in after.values()
                if each.superseded_by is None and group_of[each.id] != number and not set(each.links) & set(fact.links)
            ]
            for row, origin in _stated(after, fact, others):
                after[row.id] = row
                group_of.setdefault(row.id, group_of[origin.id])
    after = _named_apart(after, {fact.id for fact in groups[-1]} if groups else set())
    return tuple(fact for fact in after.values() if before.get(fact.id) != fact)


def _stated(facts: Mapping[str, Fact], made: Fact, others: Sequence[Fact]) -> list[tuple[Fact, Fact]]:
    """The rows that change as `made` is stated after `others`, each with the fact that it comes from."""
    same = [fact for fact in others if normal(fact.value) == normal(made.value)]
    for fact in same:
        made = replace(
            made,
            confidence=max(made.confidence, fact.confidence, key=_RANK.index),
            pinned=made.pinned or fact.pinned,
            links=tuple(sorted({*made.links, *fact.links}))[:LINKS],
        )
    old, doubted = weighed(facts, made.value, [fact for fact in others if fact not in same])
    link = made.links[0] if made.links else b""
    rows = [(row, fact) for fact in old for row in superseded(fact, made, _since(made, fact), link)]
    rows += [
        (replace(fact, superseded_by=made.id, superseded_at=_since(made, fact), doubted_by=None), fact) for fact in same
    ]
    rows += [(replace(fact, doubted_by=made.id), fact) for fact in doubted]
    return [(made, made), *rows]


def _since(made: Fact, fact: Fact) -> float:
    """When `made` took the place of `fact`: when it was first said, if that was after."""
    return max(made.created_at, fact.last_confirmed_at)


def _named_apart(facts: Mapping[str, Fact], fixed: set[str]) -> dict[str, Fact]:
    """No two current facts of a domain have one key: `fixed` keep theirs."""
    current = [fact for fact in facts.values() if fact.superseded_by is None]
    taken = {(fact.domain, fact.key) for fact in current if fact.id in fixed}
    named = dict(facts)
    for fact in current:
        if fact.id in fixed:
            continue
        names = (fact.key, *(f"{fact.key}-{at}" for at in range(2, len(taken) + 3)))
        key = next(name for name in names if (fact.domain, name) not in taken)
        taken.add((fact.domain, key))
        named[fact.id] = replace(fact, key=key)
    return named
