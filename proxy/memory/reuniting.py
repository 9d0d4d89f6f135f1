"""Groups of facts that were learnt apart, merged: those that a wipe had put aside, and those learnt since.

Pure, as facts.py is: takes the facts that are known, returns the rows to write.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from proxy.language.values import normal
from proxy.memory.facts import LINKS, RANKS, free_key, superseded, weighed
from proxy.memory.likeness import ComparedValues
from proxy.types.memory import Fact


def reunited(groups: Sequence[Sequence[Fact]]) -> tuple[Fact, ...]:
    """Merges groups of facts, those that a wipe had put aside and those learnt since, in the order in which they were
    last stated; returns the changed rows. No fact of one group was known when one of another was stated: a fact that a
    newer one of another group ends or repeats is superseded. Of facts with one id that of the last group counts, and
    the last group keeps its keys."""
    group_of = {fact.id: number for number, group in enumerate(groups) for fact in group}
    before = {fact.id: fact for group in groups for fact in group}
    after: dict[str, Fact] = {}
    values = ComparedValues()
    values.add(fact.value for fact in before.values())
    for fact in sorted(before.values(), key=lambda each: (each.last_confirmed_at, each.created_at, each.id)):
        after[fact.id] = fact
        if fact.superseded_by is None:
            number = group_of[fact.id]
            others = [
                each
                for each in after.values()
                if each.superseded_by is None and group_of[each.id] != number and not set(each.links) & set(fact.links)
            ]
            for row, origin in _stated(after, fact, others, values):
                after[row.id] = row
                group_of.setdefault(row.id, group_of[origin.id])
    after = _named_apart(after, {fact.id for fact in groups[-1]} if groups else set())
    return tuple(fact for fact in after.values() if before.get(fact.id) != fact)


def _stated(
    facts: Mapping[str, Fact], made: Fact, others: Sequence[Fact], values: ComparedValues
) -> list[tuple[Fact, Fact]]:
    """Returns the rows that change as `made` is stated after `others`, each with the fact that it comes from."""
    said = normal(made.value)
    same = [fact for fact in others if values[fact.value].normal == said]
    for fact in same:
        made = replace(
            made,
            confidence=max(made.confidence, fact.confidence, key=RANKS.index),
            pinned=made.pinned or fact.pinned,
            links=tuple(sorted({*made.links, *fact.links}))[:LINKS],
        )
    old, doubted = weighed(facts, made.value, [fact for fact in others if fact not in same], values)
    link = made.links[0] if made.links else b""
    rows = [(row, fact) for fact in old for row in superseded(fact, made, _since(made, fact), link, values)]
    rows += [
        (replace(fact, superseded_by=made.id, superseded_at=_since(made, fact), doubted_by=None), fact) for fact in same
    ]
    rows += [(replace(fact, doubted_by=made.id), fact) for fact in doubted]
    return [(made, made), *rows]


def _since(made: Fact, fact: Fact) -> float:
    """Returns the time at which `made` replaced `fact`: when it was first stated, if that was later."""
    return max(made.created_at, fact.last_confirmed_at)


def _named_apart(facts: Mapping[str, Fact], fixed: set[str]) -> dict[str, Fact]:
    """Gives each current fact a key that is unique in its domain; those in `fixed` keep theirs."""
    named = dict(facts)
    taken: dict[str, set[str]] = {}  # keys by domain
    current = (fact for fact in facts.values() if fact.superseded_by is None)
    for fact in sorted(current, key=lambda fact: fact.id not in fixed):
        keys = taken.setdefault(fact.domain, set())
        if fact.id not in fixed:
            named[fact.id] = replace(fact, key=free_key(fact.key, keys))
        keys.add(named[fact.id].key)
    return named
