"""What becomes of facts: learned, confirmed, superseded, grown old, forgotten, chosen for a prompt.

Pure: the facts that are known go in, the rows to write come out, by the clock of the request.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from proxy.memory.likeness import SAME_THING, STILL_THE_SAME, details, nearest, normal
from proxy.memory.terms import terms
from proxy.types.memory import Fact, FactStatus, Forgetting, Statement

DAY = 86_400.0
LINKS = 32  # messages that a fact names as its sources; what is said more often has proved its point
ONE_LINE = 400  # characters of a rendered fact

_COVERED = 0.8  # share of a fact's terms that say it


@dataclass(frozen=True, slots=True)
class Decay:
    """Seconds without confirmation. The defaults are those of the architecture note, section 1.1."""

    unconfirmed_after: float = 90 * DAY  # after that: only by retrieval, unless confidence is high
    stale_after: float = 180 * DAY  # after that: never
    drop_low_after: float = 30 * DAY  # after that: never, if confidence is low


@dataclass(frozen=True, slots=True)
class FactChanges:
    """Whole rows to write, in any order."""

    new: tuple[Fact, ...] = ()
    confirmed: tuple[Fact, ...] = ()
    superseded: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """What the newest question is about."""

    terms: frozenset[str]
    domain: str = ""  # of facts; "" if none is recognised
    cosines: Mapping[str, float] | None = None  # with the question, by the id of the fact
    said: tuple[str, ...] = ()  # texts of the last turns, which need no fact to say it again


# --- learning ------------------------------------------------------------------------------------------------------


def learn(
    facts: Iterable[Fact],
    statements: Iterable[Statement | Forgetting],
    *,
    session: str,
    turn: int,
    link: bytes,
    now: float,
) -> FactChanges:
    """What a user message changes about `facts`, all of its scope. The same message again changes nothing."""
    before = {fact.id: fact for fact in facts}
    after = dict(before)
    for statement in statements:
        if isinstance(statement, Statement):
            _learn_one(after, statement, _Turn(session, turn, link, now))
    changed = [fact for fact in after.values() if before.get(fact.id) != fact]
    return FactChanges(
        new=tuple(fact for fact in changed if fact.id not in before),
        confirmed=tuple(fact for fact in changed if fact.id in before and fact.superseded_by is None),
        superseded=tuple(fact for fact in changed if fact.id in before and fact.superseded_by is not None),
    )


@dataclass(frozen=True, slots=True)
class _Turn:
    session: str
    number: int
    link: bytes
    at: float


def _learn_one(facts: dict[str, Fact], statement: Statement, turn: _Turn) -> None:
    said = normal(statement.value)
    if any(turn.link in fact.links and normal(fact.value) == said for fact in facts.values()):
        return
    current = [fact for fact in facts.values() if fact.superseded_by is None]
    same = next((fact for fact in current if normal(fact.value) == said), None)
    if same is None and statement.stance == "keeps":
        same = nearest(current, statement, at_least=STILL_THE_SAME)
        if same is not None and not details(statement.value) <= details(same.value):
            facts[same.id] = _confirmed(same, statement, turn)
            same = None
            statement = replace(statement, key=_free_key(statement.key, current))
    if same is not None:
        facts[same.id] = _confirmed(same, statement, turn)
        return
    old = [fact for fact in current if fact.key == statement.key and fact.domain == statement.domain]
    if not old and statement.stance == "changes":
        changed = nearest(current, statement, at_least=SAME_THING)
        if changed is not None:
            old = [changed]
            statement = replace(statement, domain=changed.domain, key=changed.key)
    new = _fact(statement, turn)
    for fact in old:
        facts[fact.id] = replace(fact, superseded_by=new.id, superseded_at=turn.at)
    facts[new.id] = new


def _fact(statement: Statement, turn: _Turn) -> Fact:
    told = "\0".join((statement.domain, statement.key, normal(statement.value)))
    name = blake2b(told.encode() + b"\0" + turn.link, digest_size=8).hexdigest()
    return Fact(
        id=f"f-{name}",
        domain=statement.domain,
        key=statement.key,
        value=statement.value,
        confidence=statement.confidence,
        source="explicit",
        session=turn.session,
        turn=turn.number,
        created_at=turn.at,
        last_confirmed_at=turn.at,
        pinned=statement.pinned,
        links=(turn.link,),
    )


def _confirmed(fact: Fact, statement: Statement, turn: _Turn) -> Fact:
    if turn.link in fact.links:
        return fact
    rank = ("low", "medium", "high")
    return replace(
        fact,
        last_confirmed_at=max(fact.last_confirmed_at, turn.at),
        confidence=max(fact.confidence, statement.confidence, key=rank.index),
        pinned=fact.pinned or statement.pinned,
        links=tuple(sorted({*fact.links, turn.link})) if len(fact.links) < LINKS else fact.links,
    )


def _free_key(key: str, facts: Sequence[Fact]) -> str:
    taken = {fact.key for fact in facts}
    return next(name for name in (key, *(f"{key}-{at}" for at in range(2, len(facts) + 3))) if name not in taken)


# --- ageing and forgetting -----------------------------------------------------------------------------------------


def status(fact: Fact, now: float, decay: Decay) -> FactStatus:
    """What may become of a fact at `now`. Exactly at a limit it is not yet over it."""
    if fact.superseded_by is not None:
        return "superseded"
    age = now - fact.last_confirmed_at
    if age > decay.stale_after or (fact.confidence == "low" and age > decay.drop_low_after):
        return "stale"
    if age > decay.unconfirmed_after and fact.confidence != "high":
        return "retrieval-only"
    return "active"


def next_status(fact: Fact, now: float, decay: Decay) -> tuple[FactStatus, float] | None:
    """What it becomes if nobody confirms it, and the second by which it has; None if it stays what it is."""
    is_now = status(fact, now, decay)
    limits = sorted({decay.unconfirmed_after, decay.drop_low_after, decay.stale_after})
    changes = ((status(fact, at, decay), at) for limit in limits if (at := fact.last_confirmed_at + limit + 1) > now)
    return next((change for change in changes if change[0] != is_now), None)


def forgotten(facts: Iterable[Fact], forgetting: Forgetting) -> tuple[Fact, ...]:
    """The facts to remove, superseded ones as well: those that have every content word of what shall be forgotten,
    or, if none has, most of them."""
    every = tuple(facts)
    wanted = frozenset(terms(forgetting.what))
    if not forgetting.what.strip():
        return every
    if not wanted:
        return ()
    shared = {fact.id: len(wanted & _sayable(fact)) for fact in every}
    best = max(shared.values(), default=0)
    if 2 * best <= len(wanted):
        return ()
    return tuple(fact for fact in every if shared[fact.id] == best)


def _sayable(fact: Fact) -> frozenset[str]:
    return frozenset(terms(f"{fact.value} {fact.key.replace('-', ' ')}"))


# --- what a prompt gets --------------------------------------------------------------------------------------------


def standing(facts: Iterable[Fact], now: float, decay: Decay) -> tuple[Fact, ...]:
    """Instructions and preferences that hold for every answer: active, one of a key, the last confirmed first."""
    return _one_of_each(fact for fact in facts if fact.pinned and status(fact, now, decay) == "active")


def relevant(
    facts: Iterable[Fact], need: Need, now: float, decay: Decay, *, tokens: int, count: Callable[[str], int]
) -> tuple[Fact, ...]:
    """The facts that are not standing and that the question needs, the most relevant first, within `tokens` as `count`
    counts their lines. Facts that were not confirmed for long come up here alone."""
    may = ("active", "retrieval-only")
    rest = _one_of_each(
        fact
        for fact in facts
        if status(fact, now, decay) in may and not (fact.pinned and status(fact, now, decay) == "active")
    )
    said = frozenset(term for text in need.said for term in terms(text))
    scored = [(relevance(fact, need), fact) for fact in rest if not _is_said(fact, said)]
    chosen: list[Fact] = []
    for score, fact in sorted(scored, key=lambda pair: (-pair[0], -pair[1].last_confirmed_at, pair[1].id)):
        line = count(render((fact,)))
        if score >= _RELEVANT and line <= tokens:
            chosen.append(fact)
            tokens -= line
    return tuple(chosen)


_RELEVANT = 0.25
_OF_VECTORS = 0.7  # dense-heavy: what the cosine weighs, the rest is shared words
_OF_DOMAIN = 0.05


def relevance(fact: Fact, need: Need) -> float:
    """0 to about 1: by meaning where vectors are at hand, by shared words, and a little by domain."""
    shared = need.terms & _sayable(fact)
    by_words = min(1.0, len(shared) / max(1.0, math.sqrt(len(need.terms)))) if shared else 0.0
    same_domain = _OF_DOMAIN if need.domain and need.domain == fact.domain else 0.0
    cosine = None if need.cosines is None else need.cosines.get(fact.id)
    if cosine is None:
        return by_words + same_domain
    return _OF_VECTORS * max(cosine, 0.0) + (1 - _OF_VECTORS) * by_words + same_domain


def _is_said(fact: Fact, said: frozenset[str]) -> bool:
    words = frozenset(terms(fact.value))
    numbers = frozenset(word for word in words if word[0].isdigit())
    return bool(words) and numbers <= said and len(words & said) >= _COVERED * len(words)


def _one_of_each(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    newest_first = sorted(facts, key=lambda fact: (-fact.last_confirmed_at, -fact.created_at, fact.id))
    kept: dict[tuple[str, str], Fact] = {}
    for fact in newest_first:
        kept.setdefault((fact.domain, fact.key), fact)
    return tuple(kept.values())


def render(facts: Iterable[Fact]) -> str:
    """The lines of a `<memory>` block: a fact each."""
    return "\n".join(f"- [{fact.domain}] {_line(fact.value)}" for fact in facts)


def _line(value: str) -> str:
    """On one line, and nothing in it can end the block."""
    line = " ".join(value.split()).replace("<", "\u2039").replace(">", "\u203a")
    return line if len(line) <= ONE_LINE else f"{line[: ONE_LINE - 1]}…"
