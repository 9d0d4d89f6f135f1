"""Facts in the hands of people: added, changed, confirmed, deleted, restored, and their history.

Pure, as facts.py is: takes the facts that are known, returns the rows to write.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from proxy.memory.alike import Told
from proxy.memory.facts import fact_of, is_one_fact
from proxy.types import Confidence, Fact, FactSource, Statement

Value = Annotated[str, msgspec.Meta(max_length=2_000, pattern=r"\S")]
Name = Annotated[str, msgspec.Meta(max_length=128, pattern=r"\S")]


class Draft(msgspec.Struct, frozen=True):
    """A fact to add. A key is lower case, its words joined by "-", as in extracted facts."""

    domain: Name
    key: Name
    value: Value
    confidence: Confidence = "high"
    pinned: bool = False


class Edit(msgspec.Struct, frozen=True):
    """The changes to a fact; unset fields keep their value."""

    domain: Name | UnsetType = UNSET
    key: Name | UnsetType = UNSET
    value: Value | UnsetType = UNSET
    confidence: Confidence | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    confirm: bool | UnsetType = UNSET  # only true: the fact still holds


@dataclass(frozen=True, slots=True)
class Edited:
    """The result of an edit."""

    fact: Fact  # after the edit
    rows: tuple[Fact, ...]  # to write, the fact included; none if nothing has changed


@dataclass(frozen=True, slots=True)
class History:
    """The facts before and after a fact in its chain of replacements, both oldest first."""

    before: tuple[Fact, ...]  # those that it superseded, and those that they superseded
    after: tuple[Fact, ...]  # the one that superseded it, and so on


def add(facts: Iterable[Fact], draft: Draft, *, scope: str, now: float, source: FactSource = "explicit") -> Edited:
    """Adds a fact. A value that is known for this domain and key is confirmed; another value replaces the known one.
    Where nothing is known for them, a fact under another key that says the same in other words is confirmed; one that
    a model had found is replaced, by what is said now."""
    every = tuple(facts)
    domain, key, value = _name(draft.domain), _name(draft.key), draft.value.strip()
    old = _current(every, domain, key)
    same = next((fact for fact in old if fact.value == value), None)
    told = None if same is not None or old else Told(filter(holds, every))
    near = () if told is None else told.near(domain, value)
    if (known := next((fact for fact in near if is_one_fact(fact.value, value)), None)) is not None:
        if known.source != "auto":
            same = known
        else:
            domain, key, old = known.domain, known.key, [known]
    if same is not None:
        same_again = replace(same, confidence=draft.confidence, pinned=draft.pinned)
        return _rows(same, confirm(same_again, now), (fact for fact in old if fact is not same), now)
    # The facts it replaces are part of its id: changed and changed back makes a third fact.
    name = digest(scope, domain, key, value, repr(now), *(fact.id for fact in old))
    new = fact_of(Statement(domain, key, value, draft.confidence, draft.pinned), name, now, source=source)
    return _rows(None, new, old, now)


def edit(
    facts: Iterable[Fact], fact: Fact, wanted: Edit, *, scope: str, now: float, source: FactSource = "explicit"
) -> Edited:
    """Changes a fact that is not superseded. Another value makes a new fact, with this `source`, which supersedes this
    one."""
    every = tuple(facts)
    domain = fact.domain if wanted.domain is UNSET else _name(wanted.domain)
    key = fact.key if wanted.key is UNSET else _name(wanted.key)
    value = fact.value if wanted.value is UNSET else wanted.value.strip()
    confidence = wanted.confidence or fact.confidence
    pinned = fact.pinned if wanted.pinned is UNSET else wanted.pinned
    if value == fact.value:
        changed = replace(fact, domain=domain, key=key, confidence=confidence, pinned=pinned)
        changed = confirm(changed, now) if wanted.confirm else changed
        return _rows(fact, changed, (each for each in _current(every, domain, key) if each.id != fact.id), now)
    made = add(every, Draft(domain, key, value, confidence, pinned), scope=scope, now=now, source=source)
    if any(row.id == fact.id for row in made.rows):
        return made
    return Edited(made.fact, (*made.rows, replace(fact, superseded_by=made.fact.id, superseded_at=now)))


def confirm(fact: Fact, now: float) -> Fact:
    """Confirms a fact as of `now`, and clears its doubt."""
    return replace(fact, last_confirmed_at=max(fact.last_confirmed_at, now), doubted_by=None)


def delete(fact: Fact, now: float) -> Fact:
    """Deletes a fact: it holds no longer, and stays as history that can be restored. One that does not hold any more is
    left as it is: what took its place says why."""
    if fact.superseded_by is not None:
        return fact
    return replace(fact, superseded_by=fact.id, superseded_at=now, doubted_by=None)


def restore(facts: Iterable[Fact], fact: Fact, now: float) -> Edited:
    """Makes a deleted or superseded fact hold again; it supersedes what holds now for its domain and key."""
    if fact.superseded_by is None:
        return Edited(fact, ())
    back = replace(confirm(fact, now), superseded_by=None, superseded_at=0.0)
    return _rows(fact, back, _current(facts, fact.domain, fact.key), now)


def history(facts: Iterable[Fact], fact: Fact) -> History:
    """Follows `superseded_by` from a fact in both directions; a deleted fact is its own end."""
    every = {each.id: each for each in facts}
    seen = {fact.id}
    before: list[Fact] = []
    newer = [fact.id]
    while newer:
        found = [each for each in every.values() if each.superseded_by in newer and each.id not in seen]
        before += found
        newer = [each.id for each in found]
        seen.update(newer)
    after: list[Fact] = []
    at = fact.superseded_by
    while at is not None and at in every and at not in seen:
        after.append(every[at])
        seen.add(at)
        at = every[at].superseded_by
    return History(tuple(reversed(before)), tuple(after))


def holds(fact: Fact) -> bool:
    """Tells whether a fact is neither superseded nor deleted."""
    return fact.superseded_by is None


def _current(facts: Iterable[Fact], domain: str, key: str) -> list[Fact]:
    return [fact for fact in facts if fact.superseded_by is None and (fact.domain, fact.key) == (domain, key)]


def _rows(before: Fact | None, now_is: Fact, displaced: Iterable[Fact], now: float) -> Edited:
    ended = (replace(fact, superseded_by=now_is.id, superseded_at=now) for fact in displaced)
    return Edited(now_is, (*(() if now_is == before else (now_is,)), *ended))


def _name(given: str) -> str:
    return "-".join(given.lower().split())


def digest(*parts: str) -> str:
    """Returns the id of a fact that people have made: "f-" and 16 hex digits."""
    return f"f-{blake2b(chr(0).join(parts).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
