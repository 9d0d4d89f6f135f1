"""Facts that go to another place or come from one: as lines of JSON, merged with those that are known there, under
other ids where theirs are taken.

Pure, as facts.py is: takes the facts that are known, returns the rows to write.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace

import msgspec

from proxy.memory.alike import Told
from proxy.memory.edits import digest, holds
from proxy.types import Fact, fact_source

FACT_ID = r"f-[0-9a-f]{16}"

MOST_TURNS = 2**31
LATEST = 253_402_300_799  # seconds since the epoch: the end of the year 9999
_NAMES = frozenset(field.name for field in fields(Fact))


def merge(known: Iterable[Fact], incoming: Iterable[Fact]) -> tuple[Fact, ...]:
    """Merges the facts `incoming` into `known`; returns the rows to write. For a fact in both, the later confirmation
    wins, and so does that it was superseded or deleted, unless it was confirmed after that: it came back. Per domain
    and key the last confirmed value stays current, and of two values that say the same in other words the last
    confirmed one. Merging twice changes nothing."""
    before = {fact.id: fact for fact in known}
    after = dict(before)
    for fact in incoming:
        mine = after.get(fact.id)
        after[fact.id] = fact if mine is None else _both(mine, fact)
    touched = [fact for fact in after.values() if before.get(fact.id) != fact and fact.superseded_by is None]
    current = _by_key(after.values())
    for name in {(fact.domain, fact.key): None for fact in touched}:
        rivals = current[name]
        stays = max(rivals, key=lambda fact: (fact.last_confirmed_at, fact.created_at, fact.id))
        for fact in rivals:
            if fact is not stays:
                after[fact.id] = replace(fact, superseded_by=stays.id, superseded_at=stays.last_confirmed_at)
    after |= _one_of_each(after, touched)
    return tuple(fact for fact in after.values() if before.get(fact.id) != fact)


def _one_of_each(facts: Mapping[str, Fact], touched: Iterable[Fact]) -> dict[str, Fact]:
    """Returns the facts that end because another that holds says the same, `touched` or not, as history of that."""
    after = dict(facts)
    told = Told(after.values())
    for fact in sorted(touched, key=lambda each: (each.last_confirmed_at, each.created_at, each.id)):
        if not holds(after[fact.id]):
            continue
        rivals = (each for each in told.near(fact.domain, fact.value) if each.id != fact.id)
        other = next((each for each in rivals if holds(after[each.id]) and told.is_one(each, fact.value)), None)
        if other is not None:
            goes, stays = sorted((after[fact.id], after[other.id]), key=_standing)
            at = max(goes.last_confirmed_at, stays.last_confirmed_at)
            after[goes.id] = replace(goes, superseded_by=stays.id, superseded_at=at)
    return {name: fact for name, fact in after.items() if fact != facts[name]}


def _standing(fact: Fact) -> tuple[bool, float, float, str]:
    """Returns by what one of two facts that say the same stays: the user's own words before a model's, then the later
    confirmed."""
    return fact.source != "auto", fact.last_confirmed_at, fact.created_at, fact.id


def renamed(facts: Iterable[Fact], taken: Collection[str], scope: str) -> tuple[Fact, ...]:
    """Replaces the ids in `taken`, which belong to another scope, and the references to them. Deterministic for a
    scope."""
    names = {name: digest(scope, name) for name in taken}
    return tuple(
        replace(
            fact,
            id=names.get(fact.id, fact.id),
            superseded_by=fact.superseded_by and names.get(fact.superseded_by, fact.superseded_by),
            doubted_by=fact.doubted_by and names.get(fact.doubted_by, fact.doubted_by),
        )
        for fact in facts
    )


class Malformed(ValueError):
    """A line is not a valid fact; the message gives its number and the reason."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")


def dumped(facts: Iterable[Fact]) -> bytes:
    """Serialises facts as JSON lines, UTF-8."""
    return b"".join(msgspec.json.encode(fact) + b"\n" for fact in facts)


def loaded(data: bytes) -> tuple[Fact, ...]:
    """Parses JSON lines into facts; empty lines are skipped. Raises Malformed at the first invalid one."""
    lines = enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1)
    return tuple(fact_in(number, line) for number, line in lines if line.strip())


def fact_in(number: int, line: bytes) -> Fact:
    """Parses a line into a fact. `number`: its own, for the error. Raises Malformed."""
    try:
        values = msgspec.json.decode(line)
        if isinstance(values, dict) and isinstance(values.get("source"), str):
            values["source"] = fact_source(values["source"])
        fact = msgspec.convert(values, Fact)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(number, str(error)) from None
    if unknown := sorted(values.keys() - _NAMES):
        raise Malformed(number, f"a fact has no {', '.join(unknown)[:100]}")
    named = (fact.id, fact.superseded_by, fact.doubted_by)
    if not all(name is None or re.fullmatch(FACT_ID, name) for name in named):
        raise Malformed(number, 'the id of a fact is "f-" and 16 hex digits')
    if not (fact.value.strip() and fact.key.strip() and fact.domain.strip()):
        raise Malformed(number, "domain, key and value must not be empty")
    times = (fact.created_at, fact.last_confirmed_at, fact.superseded_at)
    if not 0 <= fact.turn <= MOST_TURNS or not all(0 <= at <= LATEST for at in times):
        raise Malformed(number, "a turn is a number from 0, a time in seconds since the epoch")
    return fact


def _by_key(facts: Iterable[Fact]) -> Mapping[tuple[str, str], list[Fact]]:
    """Returns the facts that hold, by domain and key."""
    found: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in filter(holds, facts):
        found[fact.domain, fact.key].append(fact)
    return found


def _both(mine: Fact, theirs: Fact) -> Fact:
    ended = _ended_of(mine, theirs)
    return replace(
        mine,
        last_confirmed_at=max(mine.last_confirmed_at, theirs.last_confirmed_at),
        superseded_by=ended.superseded_by if ended else None,
        superseded_at=ended.superseded_at if ended else 0.0,
        doubted_by=max(mine, theirs, key=lambda fact: fact.last_confirmed_at).doubted_by,
    )


def _ended_of(mine: Fact, theirs: Fact) -> Fact | None:
    """Returns the one of two states of a fact in which it has ended, None if it holds."""
    if mine.superseded_by is not None and theirs.superseded_by is not None:
        return max(mine, theirs, key=lambda fact: (fact.superseded_at, not fact.is_deleted))
    ended, other = (theirs, mine) if mine.superseded_by is None else (mine, theirs)
    is_over = ended.superseded_by is not None and other.last_confirmed_at <= ended.superseded_at
    return ended if is_over else None
