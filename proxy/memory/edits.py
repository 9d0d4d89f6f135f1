"""Edits of facts by hand, and merging of facts from another place.

Pure, as facts.py is: takes the facts that are known, returns the rows to write.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from proxy.config.model import Memory
from proxy.memory.facts import Decay, next_status, status
from proxy.types import Confidence, Fact, Json

FACT_ID = r"f-[0-9a-f]{16}"

Value = Annotated[str, msgspec.Meta(max_length=2_000, pattern=r"\S")]
Name = Annotated[str, msgspec.Meta(max_length=128, pattern=r"\S")]

# In the order in which people read them; `status` depends on the time, so it is computed.
_SHOWN = ("id", "session", "turn", "domain", "key", "value", "confidence", "source")
_SHOWN_AFTER_STATUS = ("created_at", "last_confirmed_at", "superseded_by", "doubted_by", "pinned")


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


def add(facts: Iterable[Fact], draft: Draft, *, scope: str, now: float) -> Edited:
    """Adds a fact. A value that is known for this domain and key is confirmed; another value replaces the known one."""
    domain, key, value = _name(draft.domain), _name(draft.key), draft.value.strip()
    old = _current(facts, domain, key)
    same = next((fact for fact in old if fact.value == value), None)
    if same is not None:
        same_again = replace(same, confidence=draft.confidence, pinned=draft.pinned)
        return _rows(same, confirm(same_again, now), (fact for fact in old if fact is not same), now)
    # The facts it replaces are part of its id: changed and changed back makes a third fact.
    name = _digest(scope, domain, key, value, repr(now), *(fact.id for fact in old))
    new = fact_of(Statement(domain, key, value, draft.confidence, draft.pinned), name, now)
    return _rows(None, new, old, now)


def edit(facts: Iterable[Fact], fact: Fact, wanted: Edit, *, scope: str, now: float) -> Edited:
    """Changes a fact that is not superseded. Another value makes a new fact, which supersedes this one."""
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
    made = add(every, Draft(domain, key, value, confidence, pinned), scope=scope, now=now)
    if any(row.id == fact.id for row in made.rows):
        return made
    return Edited(made.fact, (*made.rows, replace(fact, superseded_by=made.fact.id, superseded_at=now)))


def confirm(fact: Fact, now: float) -> Fact:
    """Confirms a fact as of `now`, and clears its doubt."""
    return replace(fact, last_confirmed_at=max(fact.last_confirmed_at, now), doubted_by=None)


def history(facts: Iterable[Fact], fact: Fact) -> History:
    """Follows `superseded_by` from a fact in both directions."""
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


# --- from another place ----------------------------------------------------------------------------------------------


def merge(known: Iterable[Fact], incoming: Iterable[Fact]) -> tuple[Fact, ...]:
    """Merges the facts `incoming` into `known`; returns the rows to write. For a fact in both, the later confirmation
    wins, and so does that it was superseded. Per domain and key the last confirmed value stays current. Merging twice
    changes nothing."""
    before = {fact.id: fact for fact in known}
    after = dict(before)
    for fact in incoming:
        mine = after.get(fact.id)
        after[fact.id] = fact if mine is None else _both(mine, fact)
    touched = [fact for fact in after.values() if before.get(fact.id) != fact and fact.superseded_by is None]
    for domain, key in {(fact.domain, fact.key): None for fact in touched}:
        rivals = _current(after.values(), domain, key)
        stays = max(rivals, key=lambda fact: (fact.last_confirmed_at, fact.created_at, fact.id))
        for fact in rivals:
            if fact is not stays:
                after[fact.id] = replace(fact, superseded_by=stays.id, superseded_at=stays.last_confirmed_at)
    return tuple(fact for fact in after.values() if before.get(fact.id) != fact)


def renamed(facts: Iterable[Fact], taken: Collection[str], scope: str) -> tuple[Fact, ...]:
    """Replaces the ids in `taken`, which belong to another scope, and the references to them. Deterministic for a
    scope."""
    every = tuple(facts)
    names = {name: _digest(scope, name) for name in taken}
    return tuple(
        replace(
            fact,
            id=names.get(fact.id, fact.id),
            superseded_by=fact.superseded_by and names.get(fact.superseded_by, fact.superseded_by),
            doubted_by=fact.doubted_by and names.get(fact.doubted_by, fact.doubted_by),
        )
        for fact in every
    )


# --- rendering -------------------------------------------------------------------------------------------------------


def decay(settings: Memory) -> Decay:
    """Returns the ageing limits of the configuration."""
    return Decay(settings.unconfirmed_after, settings.stale_after, settings.drop_low_after)


def card(scope: str, fact: Fact, now: float, ageing: Decay) -> dict[str, Json]:
    """Returns a fact as JSON for the admin API: its fields, its status, and its next status."""
    values = asdict(fact)
    becomes = next_status(fact, now, ageing)
    return {
        "scope": scope,
        **{name: values[name] for name in _SHOWN},
        "status": status(fact, now, ageing),
        **{name: values[name] for name in _SHOWN_AFTER_STATUS},
        "becomes": becomes and {"status": becomes[0], "at": becomes[1]},
    }


def newest_first(facts: Iterable[Fact]) -> list[Fact]:
    """Sorts facts by creation time, newest first."""
    return sorted(facts, key=lambda fact: (-fact.created_at, fact.id))


# --- parts -----------------------------------------------------------------------------------------------------------


def _current(facts: Iterable[Fact], domain: str, key: str) -> list[Fact]:
    return [fact for fact in facts if fact.superseded_by is None and (fact.domain, fact.key) == (domain, key)]


def _rows(before: Fact | None, now_is: Fact, displaced: Iterable[Fact], now: float) -> Edited:
    ended = (replace(fact, superseded_by=now_is.id, superseded_at=now) for fact in displaced)
    return Edited(now_is, (*(() if now_is == before else (now_is,)), *ended))


def _both(mine: Fact, theirs: Fact) -> Fact:
    ended = mine if mine.superseded_by is not None else theirs
    return replace(
        mine,
        last_confirmed_at=max(mine.last_confirmed_at, theirs.last_confirmed_at),
        superseded_by=ended.superseded_by,
        superseded_at=ended.superseded_at,
        doubted_by=max(mine, theirs, key=lambda fact: fact.last_confirmed_at).doubted_by,
    )


def _name(given: str) -> str:
    return "-".join(given.lower().split())


def _digest(*parts: str) -> str:
    return f"f-{blake2b(chr(0).join(parts).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
