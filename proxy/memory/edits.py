"""Facts in the hands of people: edited, merged from another place, exported as lines of JSON, shown.

Pure, as facts.py is: takes the facts that are known, returns the rows to write.
"""

import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from proxy.config.memory import Memory
from proxy.memory.alike import Told
from proxy.memory.current import cut
from proxy.memory.facts import Decay, fact_of, is_one_fact, next_status, status
from proxy.types import Confidence, Fact, FactSource, Json, Statement, fact_source

FACT_ID = r"f-[0-9a-f]{16}"

Value = Annotated[str, msgspec.Meta(max_length=2_000, pattern=r"\S")]
Name = Annotated[str, msgspec.Meta(max_length=128, pattern=r"\S")]

# In the order in which people read them; `status` depends on the time, so it is computed.
_SHOWN = ("id", "session", "turn", "domain", "key", "value", "confidence", "source")
_SHOWN_AFTER_STATUS = ("created_at", "last_confirmed_at", "superseded_by", "doubted_by", "pinned")

MOST_TURNS = 2**31
LATEST = 253_402_300_799  # seconds since the epoch: the end of the year 9999
_NAMES = frozenset(field.name for field in fields(Fact))
WIDEST = 72  # characters of a value
_TITLES = ("ID", "STATUS", "PINNED", "CONFIDENCE", "CONFIRMED", "DOMAIN", "KEY", "VALUE")


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
    told = None if same is not None or old else Told(filter(_holds, every))
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
    name = _digest(scope, domain, key, value, repr(now), *(fact.id for fact in old))
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


# --- from another place ----------------------------------------------------------------------------------------------


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
        if not _holds(after[fact.id]):
            continue
        rivals = (each for each in told.near(fact.domain, fact.value) if each.id != fact.id)
        other = next((each for each in rivals if _holds(after[each.id]) and told.is_one(each, fact.value)), None)
        if other is not None:
            goes, stays = sorted((after[fact.id], after[other.id]), key=_standing)
            at = max(goes.last_confirmed_at, stays.last_confirmed_at)
            after[goes.id] = replace(goes, superseded_by=stays.id, superseded_at=at)
    return {name: fact for name, fact in after.items() if fact != facts[name]}


def _standing(fact: Fact) -> tuple[bool, float, float, str]:
    """Returns by what one of two facts that say the same stays: the user's own words before a model's, then the later
    confirmed."""
    return fact.source != "auto", fact.last_confirmed_at, fact.created_at, fact.id


def _holds(fact: Fact) -> bool:
    return fact.superseded_by is None


def renamed(facts: Iterable[Fact], taken: Collection[str], scope: str) -> tuple[Fact, ...]:
    """Replaces the ids in `taken`, which belong to another scope, and the references to them. Deterministic for a
    scope."""
    names = {name: _digest(scope, name) for name in taken}
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


# --- for people ------------------------------------------------------------------------------------------------------


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


def table(facts: Iterable[Fact], now: float, ageing: Decay) -> str:
    """Renders facts as an aligned table, one line each, values cut to `WIDEST` characters."""
    rows = [_TITLES]
    for fact in facts:
        confirmed = time.strftime("%Y-%m-%d", time.gmtime(fact.last_confirmed_at))
        shown = status(fact, now, ageing), "yes" if fact.pinned else "", fact.confidence, confirmed
        rows.append((fact.id, *shown, plain(fact.domain), plain(fact.key), cut(plain(fact.value), WIDEST)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def plain(text: str) -> str:
    """Returns the text on one line without control characters: anybody may have written it, and a terminal obeys
    them."""
    return "".join(mark if mark.isprintable() else " " for mark in " ".join(text.split()))


def word(value: object) -> str:
    """Renders a value as one word or line of a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else plain(str(value))


def moment(at: float) -> str:
    """Renders a time, in seconds since the epoch, as date and time in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))


def count(number: int) -> str:
    """Renders a number of facts: "1 fact", "2 facts"."""
    return f"{number} fact" if number == 1 else f"{number} facts"


def _current(facts: Iterable[Fact], domain: str, key: str) -> list[Fact]:
    return [fact for fact in facts if fact.superseded_by is None and (fact.domain, fact.key) == (domain, key)]


def _by_key(facts: Iterable[Fact]) -> Mapping[tuple[str, str], list[Fact]]:
    """Returns the facts that hold, by domain and key."""
    found: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in filter(_holds, facts):
        found[fact.domain, fact.key].append(fact)
    return found


def _rows(before: Fact | None, now_is: Fact, displaced: Iterable[Fact], now: float) -> Edited:
    ended = (replace(fact, superseded_by=now_is.id, superseded_at=now) for fact in displaced)
    return Edited(now_is, (*(() if now_is == before else (now_is,)), *ended))


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


def _name(given: str) -> str:
    return "-".join(given.lower().split())


def _digest(*parts: str) -> str:
    return f"f-{blake2b(chr(0).join(parts).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
