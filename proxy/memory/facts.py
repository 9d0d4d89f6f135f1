"""What becomes of facts: learned, confirmed, superseded, grown old, forgotten, chosen for a prompt.

Pure: the facts that are known go in, the rows to write come out, by the clock of the request.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from proxy.memory.likeness import STILL_THE_SAME, details, nearest, normal
from proxy.memory.subject import Gist, gist, replaces, returns_from
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
    again: bool = False,
) -> FactChanges:
    """What a user message changes about `facts`, all of its scope. The same message again changes nothing, unless it is
    said `again`: as the newest of a conversation, where its words may have stood before. Then it holds as of now."""
    before = {fact.id: fact for fact in facts}
    after = dict(before)
    for statement in statements:
        if isinstance(statement, Statement):
            _learn_one(after, statement, _Turn(session, turn, link, now), again=again)
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


def _learn_one(facts: dict[str, Fact], statement: Statement, turn: _Turn, *, again: bool) -> None:
    said = normal(statement.value)
    same = [fact for fact in facts.values() if normal(fact.value) == said]
    if not again and any(turn.link in fact.links for fact in same):
        return
    current = [fact for fact in facts.values() if fact.superseded_by is None]
    holds = next((fact for fact in same if fact.superseded_by is None), None)
    if holds is not None:
        facts[holds.id] = _confirmed(holds, statement, turn)
        return
    if statement.stance == "keeps" and (kept := nearest(current, statement, at_least=STILL_THE_SAME)) is not None:
        facts[kept.id] = _confirmed(kept, statement, turn)
        if details(statement.value) <= details(kept.value):
            return
    new = gist(statement.value)
    old = [fact for fact in current if turn.link not in fact.links and replaces(new, gist(fact.value))]
    old += _in_between(facts.values(), new, turn, old)
    # What was said before and holds again is the same fact: its history goes on.
    back = max(same, key=lambda fact: fact.superseded_at, default=None)
    if back is not None:
        made = replace(_confirmed(back, statement, turn), superseded_by=None, superseded_at=0.0)
    else:
        made = _fact(_keyed(statement, current, old), turn)
    for fact in old:
        facts[fact.id] = replace(fact, superseded_by=made.id, superseded_at=turn.at)
    facts[made.id] = made


def _in_between(facts: Iterable[Fact], new: Gist, turn: _Turn, old: Sequence[Fact]) -> list[Fact]:
    """The newest fact that was said between an earlier one and its return ("I'm back at Halden")."""
    if not new.returns:
        return []
    ordered = sorted(facts, key=lambda fact: fact.created_at)
    found = [
        later
        for later in ordered
        if later.superseded_by is None
        and later not in old
        and turn.link not in later.links
        and any(
            earlier.created_at < later.created_at and returns_from(new, gist(earlier.value), gist(later.value))
            for earlier in ordered
        )
    ]
    return found[-1:]


def _keyed(statement: Statement, current: Sequence[Fact], old: Sequence[Fact]) -> Statement:
    """With the key of what it takes the place of; else with one that no current fact of its domain has."""
    if old:
        newest = max(old, key=lambda fact: fact.created_at)
        return replace(statement, domain=newest.domain, key=newest.key)
    taken = {fact.key for fact in current if fact.domain == statement.domain}
    names = (statement.key, *(f"{statement.key}-{at}" for at in range(2, len(taken) + 3)))
    return replace(statement, key=next(name for name in names if name not in taken))


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
    """The facts to remove, superseded ones as well: of the holder that the order names, those that have every content
    word of what shall be forgotten, or, if none has, most of them. Where no word agrees because the order is in another
    language, the one fact of the same attribute."""
    every = tuple(facts)
    if not forgetting.what.strip():
        return every
    for what in dict.fromkeys((forgetting.what, _REASON.split(forgetting.what, maxsplit=1)[0])):
        if found := _meant(every, what):
            return found
    return ()


def _meant(facts: Sequence[Fact], what: str) -> tuple[Fact, ...]:
    wanted = frozenset(terms(what)) - _OF_ORDERS
    about = gist(what)
    if not wanted:
        return ()
    theirs = [fact for fact in facts if _may_be_meant(about, gist(fact.value))]
    shared = {fact.id: len(wanted & _sayable(fact)) for fact in theirs}
    best = max(shared.values(), default=0)
    agree = [fact for fact in theirs if best and shared[fact.id] == best]
    if 2 * best > len(wanted) or any(about.names & gist(fact.value).names for fact in agree):
        return tuple(agree)
    if len(agree) == 1 and len(wanted) <= _FEW_WORDS:
        return tuple(agree)
    alike = [fact for fact in theirs if fact.superseded_by is None and _is_alike(about, gist(fact.value))]
    return tuple(alike) if len(alike) == 1 else ()


def _is_alike(about: Gist, said: Gist) -> bool:
    return bool(about.slots & said.slots or (about.aspects & said.aspects and said.orders))


_FEW_WORDS = 4  # of an order: one that agrees, and in one fact alone, will do
_REASON = re.compile(r"[,.;:]\s|\s(?:because|since|cos|porque|ya que|i don't|que no)\b", re.IGNORECASE)
_OF_ORDERS = frozenset(terms("rule thing part regla cosa parte dato fact name nombre anymore"))


def _may_be_meant(about: Gist, said: Gist) -> bool:
    """Whose fact shall be forgotten: of whom the order names; the user's own, if it says "I" or "my"."""
    if about.holder:
        return about.holder == said.holder or bool(about.names & said.names)
    return not about.is_own or not said.holder


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
