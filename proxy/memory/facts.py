"""The life of facts: learned, confirmed, superseded.

Pure: takes the facts that are known, returns the rows to write, by the clock of the request.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, count

from proxy.language.values import normal
from proxy.language.words import terms
from proxy.memory.ending import ended_by, in_between, is_left, left_again
from proxy.memory.likeness import ComparedValues, details, nearest
from proxy.memory.same_fact import nominated, same_fact, states_something, writes_alike
from proxy.memory.superseding import remainder
from proxy.types.memory import SELF_CORRECTION, Fact, FactSource, Statement

LINKS = 32  # source messages that a fact keeps; more of them prove nothing more
_COMPARED = 32  # facts with which a statement is compared word by word
RANKS = ("low", "medium", "high")


def learn(
    facts: Iterable[Fact],
    statements: Iterable[Statement],
    *,
    session: str,
    turn: int,
    link: bytes,
    now: float,
    again: bool = False,
    values: ComparedValues | None = None,
) -> tuple[Fact, ...]:
    """Applies the statements of a user message to `facts`, all facts of its scope; returns the new and changed ones.
    The same message (`link`) changes nothing when it is read twice, unless `again`: the user says it anew, and it is
    valid from now on. `values`: those of `facts`, as far as they were read before."""
    before = {fact.id: fact for fact in facts}
    after = _Known(before)
    values = ComparedValues() if values is None else values
    values.add(fact.value for fact in before.values())
    for statement in statements:
        _learn_one(after, statement, _Turn(session, turn, link, now), values, again=again)
    return tuple(after[name] for name in after.written if after[name] != before.get(name))


class _Known(dict[str, Fact]):
    """Facts by id, and the ids of those that were written."""

    def __init__(self, facts: Mapping[str, Fact]) -> None:
        super().__init__(facts)
        self.written: dict[str, None] = {}  # in their order

    def __setitem__(self, name: str, fact: Fact) -> None:
        super().__setitem__(name, fact)
        self.written[name] = None


@dataclass(frozen=True, slots=True)
class _Turn:
    session: str
    number: int
    link: bytes
    at: float


def _learn_one(
    facts: dict[str, Fact], statement: Statement, turn: _Turn, values: ComparedValues, *, again: bool
) -> None:
    said = values.same(normal(statement.value))
    same = [fact for fact in facts.values() if fact.value in said] if said else []
    if not again and any(turn.link in fact.links for fact in same):
        return
    current = [fact for fact in facts.values() if fact.superseded_by is None]
    holds = next((fact for fact in same if fact.superseded_by is None), None)
    if holds is not None:
        _say_again(facts, holds, statement, turn, values)
        return
    if (known := _said_otherwise(current, statement.value, values)) is not None:
        if again or turn.link not in known.links:
            _say_in_other_words(facts, known, statement, turn, values)
        return
    if statement.stance == "keeps" and (kept := nearest(current, statement, values)) is not None:
        _say_again(facts, kept, statement, turn, values)
        if details(statement.value) <= details(kept.value):
            return
    _state(facts, statement, turn, values, current=current, same=same)


def _state(
    facts: dict[str, Fact],
    statement: Statement,
    turn: _Turn,
    values: ComparedValues,
    *,
    current: Sequence[Fact],
    same: Sequence[Fact],
) -> None:
    """Adds what no current fact says, and ends what it ends. `same`: the facts that said it once."""
    earlier = [fact for fact in current if turn.link not in fact.links]
    old, doubted = weighed(facts, statement.value, earlier, values)
    # A value that was stated before and holds again is the same fact, with its history.
    back = max(same, key=lambda fact: fact.superseded_at, default=None)
    if back is not None:
        made = replace(_confirmed(back, statement, turn), superseded_by=None, superseded_at=0.0, doubted_by=None)
        if back.is_deleted:  # nothing took its place, but something may have taken its key
            ended = {fact.id for fact in old}
            taken = {fact.key for fact in current if fact.domain == made.domain and fact.id not in ended}
            made = replace(made, key=free_key(made.key, taken))
    else:
        new = _keyed(statement, current, old)
        name = fact_id(new.domain, new.key, new.value, turn.link)
        made = fact_of(new, name, turn.at, session=turn.session, turn=turn.number, link=turn.link)
    for fact in old:
        for row in superseded(fact, made, turn.at, turn.link, values):
            facts[row.id] = row
    for fact in doubted:
        facts[fact.id] = replace(fact, doubted_by=made.id)
    facts[made.id] = made


def _said_otherwise(current: Sequence[Fact], value: str, values: ComparedValues) -> Fact | None:
    """Returns the current fact that `value` states in other words, None if there is none. Only facts that share a word
    with it are compared, those that share most first."""
    new = values[value]
    near = values.sharing(new.said.words) - {value}
    told = [fact for fact in current if fact.value in near and fact.domain != SELF_CORRECTION]
    told.sort(key=lambda fact: (-len(values[fact.value].terms & new.terms), -fact.last_confirmed_at, fact.id))
    return next((fact for fact in told[:_COMPARED] if is_one_fact(fact.value, value)), None)


def is_one_fact(known: str, value: str) -> bool:
    """Tells whether a known value and a new one are one fact, so that the new one need not be kept beside it."""
    if not (states_something(value) and nominated(known, value) and same_fact(known, value)):
        return False
    return writes_alike(known, value)


def _say_in_other_words(
    facts: dict[str, Fact], known: Fact, statement: Statement, turn: _Turn, values: ComparedValues
) -> None:
    """Confirms a fact that is stated in other words. One that a model had found gives way to the user's own words, and
    stays as history."""
    if known.source != "auto":
        _say_again(facts, known, statement, turn, values)
        return
    said = replace(statement, domain=known.domain, key=known.key)
    name = fact_id(said.domain, said.key, said.value, turn.link)
    made = fact_of(said, name, turn.at, session=turn.session, turn=turn.number, link=turn.link)
    links = tuple(sorted({*known.links, turn.link}))[:LINKS]
    facts[known.id] = replace(known, superseded_by=made.id, superseded_at=turn.at, doubted_by=None)
    facts[made.id] = replace(made, links=links, pinned=made.pinned or known.pinned)


def weighed(
    facts: Mapping[str, Fact], value: str, before: Sequence[Fact], values: ComparedValues
) -> tuple[list[Fact], list[Fact]]:
    """Classifies `before`, current facts stated earlier, against the new `value`: returns those that it ends, and those
    that it may have ended. `facts`: all facts of the scope by id, superseded ones too."""
    new = values[value]
    verdicts = ended_by(new, [values[fact.value] for fact in before], values)
    old = [before[at] for at, verdict in sorted(verdicts.items()) if verdict == "ended"]
    ended = {fact.id for fact in old}
    old += in_between(facts.values(), new, [fact for fact in before if fact.id not in ended], values)
    ended |= {fact.id for fact in old}
    # A fact that is doubted already stays so.
    holding = {fact.id for fact in before}
    plain = [fact for fact in before if fact.doubted_by not in holding and later(fact, facts) is None]
    left = left_again(facts.values(), new, plain, values)
    doubted = {before[at].id for at, verdict in verdicts.items() if verdict == "doubted"} | left
    return old, [fact for fact in plain if fact.id in doubted and fact.id not in ended] if doubted else []


def superseded(fact: Fact, made: Fact, at: float, link: bytes, values: ComparedValues) -> Iterator[Fact]:
    """Yields the rows of `fact` after `made`, stated by the message `link`, has replaced it: the superseded fact, and a
    new fact for the part that still holds."""
    yield replace(fact, superseded_by=made.id, superseded_at=at, doubted_by=None)
    new = values[made.value]
    if left := remainder(new.said, fact.value):
        doubted_by = made.id if 1 in ended_by(new, [values[fact.value], values[left]], values) else None
        yield replace(fact, id=fact_id(fact.domain, fact.key, left, link), value=left, doubted_by=doubted_by)


def _say_again(facts: dict[str, Fact], fact: Fact, statement: Statement, turn: _Turn, values: ComparedValues) -> None:
    """Confirms a fact that is stated again; a fact that may have ended it may itself have ended."""
    doubting = later(fact, facts)
    facts[fact.id] = replace(_confirmed(fact, statement, turn), doubted_by=None)
    if turn.link in fact.links:
        return
    if doubting is not None:
        facts[doubting.id] = replace(doubting, doubted_by=fact.id)
    said, new = values[fact.value].said, values[statement.value].said
    for each in list(facts.values()):
        if not fact.last_confirmed_at < each.created_at < turn.at or each.superseded_by is not None:
            continue
        if is_left(new, said, values[each.value].said) and later(each, facts) is None:
            facts[each.id] = replace(each, doubted_by=fact.id)


def later(fact: Fact, facts: Mapping[str, Fact]) -> Fact | None:
    """Returns the current fact that may have ended `fact`, or that replaced the one that may have; None if none."""
    at = fact.doubted_by
    if at is None:
        return None
    seen = {fact.id}
    while at is not None and at in facts and at not in seen:
        if facts[at].superseded_by is None:
            return facts[at]
        seen.add(at)
        at = facts[at].superseded_by
    return None


def _keyed(statement: Statement, current: Sequence[Fact], old: Sequence[Fact]) -> Statement:
    """Returns the statement with the key of the fact it replaces, else with a key that is free in its domain. What the
    user states is never an agent's correction of itself, even if it replaces one."""
    if own := [fact for fact in old if fact.domain != SELF_CORRECTION]:
        newest = max(own, key=lambda fact: fact.created_at)
        return replace(statement, domain=newest.domain, key=newest.key)
    return replace(
        statement, key=free_key(statement.key, {fact.key for fact in current if fact.domain == statement.domain})
    )


def free_key(key: str, taken: Collection[str]) -> str:
    """Returns `key`, with a number behind it if it is taken."""
    return next(name for name in chain([key], (f"{key}-{at}" for at in count(2))) if name not in taken)


def fact_of(
    said: Statement,
    name: str,
    at: float,
    *,
    session: str = "",
    turn: int = 0,
    link: bytes = b"",
    source: FactSource = "explicit",
) -> Fact:
    """Returns the fact that a statement makes at `at`, with the id `name`."""
    links = (link,) if link else ()
    kept = said.domain, said.key, said.value, said.confidence
    return Fact(
        name, *kept, source, session, turn, created_at=at, last_confirmed_at=at, pinned=said.pinned, links=links
    )


def fact_id(domain: str, key: str, value: str, link: bytes) -> str:
    """Returns the id of a fact: "f-" and 16 hex digits of a digest of its content and its message."""
    content = "\0".join((domain, key, normal(value)))
    return f"f-{blake2b(content.encode() + bytes(1) + link, digest_size=8).hexdigest()}"


def _confirmed(fact: Fact, statement: Statement, turn: _Turn) -> Fact:
    if turn.link in fact.links:
        return fact
    return replace(
        fact,
        source="explicit" if fact.source == "auto" else fact.source,  # now the user has said it
        last_confirmed_at=max(fact.last_confirmed_at, turn.at),
        confidence=max(fact.confidence, statement.confidence, key=RANKS.index),
        pinned=fact.pinned or statement.pinned,
        links=tuple(sorted({*fact.links, turn.link})) if len(fact.links) < LINKS else fact.links,
    )


def sayable(fact: Fact) -> frozenset[str]:
    """Returns the terms of a fact's value and key, by which a question may mention it."""
    return _sayable(fact.value, fact.key)


@lru_cache(4_096)
def _sayable(value: str, key: str) -> frozenset[str]:
    return frozenset(terms(f"{value} {key.replace('-', ' ')}"))
