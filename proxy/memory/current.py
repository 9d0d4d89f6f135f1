"""A scope's facts as they hold now, put in order once for all requests until one of them changes or grows old."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.memory.facts import Decay, later, status
from proxy.types.memory import Fact

ONE_LINE = 400  # characters of a rendered fact
_LATER_SHOWN = 80  # characters of what may have ended a fact, beside it


@dataclass(frozen=True, slots=True)
class Current:
    facts: tuple[Fact, ...]  # all of them
    ids: frozenset[str]
    decay: Decay
    standing: tuple[Fact, ...]  # that hold for every answer, one of a key, the last confirmed first; as they are told
    others: tuple[Fact, ...]  # that a question may need, in the same order; as they were said
    ended: Mapping[str, Fact]  # by a fact's id: what may have ended it, the newest of several
    since: float
    until: float  # when the first of them grows old

    def is_of(self, facts: Sequence[Fact], now: float, decay: Decay) -> bool:
        return self.since <= now < self.until and self.decay == decay and self.facts == facts

    def told(self, fact: Fact) -> Fact:
        """With what may have ended it beside what it says."""
        return told(fact, self.ended.get(fact.id))


def current(facts: Iterable[Fact], now: float, decay: Decay, before: Current | None = None) -> Current:
    """`before`: what was found for an earlier request, which is all that is looked at if the facts are the same."""
    every = tuple(facts)
    if before is not None and before.is_of(every, now, decay):
        # Read from storage anew they are equal, and from then on the same.
        return before if before.facts is every else replace(before, facts=every)
    known = {fact.id: fact for fact in every}
    newer = {fact.id: after for fact in known.values() if (after := later(fact, known)) is not None}
    may: list[Fact] = []
    stand: list[Fact] = []
    for fact in known.values():
        # What may have been ended by something that is no instruction waits for a question.
        after = newer.get(fact.id)
        is_now = status(fact, now, decay)
        if fact.pinned and is_now == "active" and (after is None or after.pinned):
            stand.append(fact)
        elif is_now in ("active", "retrieval-only"):
            may.append(fact)
    ended = {name: _newest(name, newer) for name in newer}
    limits = (decay.unconfirmed_after, decay.stale_after, decay.drop_low_after)
    ends = (fact.last_confirmed_at + limit for fact in every if fact.superseded_by is None for limit in limits)
    return Current(
        facts=every,
        ids=frozenset(known),
        decay=decay,
        standing=tuple(told(fact, ended.get(fact.id)) for fact in _one_of_each(stand)),
        others=_one_of_each(may),
        ended=ended,
        since=now,
        until=min((end for end in ends if end >= now), default=math.inf),
    )


def told(fact: Fact, later: Fact | None) -> Fact:
    """`fact`, with what may have ended it beside what it says."""
    if later is None:
        return fact
    mark = f' (later: "{cut(" ".join(later.value.split()), _LATER_SHOWN)}")'
    return replace(fact, value=cut(fact.value, ONE_LINE - len(mark)) + mark)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def _newest(name: str, newer: Mapping[str, Fact]) -> Fact:
    """Of those that may have ended one another, the first of which may have ended the fact `name`."""
    found = newer[name]
    seen = {name, found.id}
    while (after := newer.get(found.id)) is not None and after.id not in seen:
        seen.add(after.id)
        found = after
    return found


def _one_of_each(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    newest_first = sorted(facts, key=lambda fact: (-fact.last_confirmed_at, -fact.created_at, fact.id))
    kept: dict[tuple[str, str], Fact] = {}
    for fact in newest_first:
        kept.setdefault((fact.domain, fact.key), fact)
    return tuple(kept.values())
