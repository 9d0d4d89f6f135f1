"""Facts of a scope that are valid at one moment, in the form in which questions are compared with them all at once.

Made from those of the request before: what was learnt, changed or grew old since is taken out and put in, the rest
stays. A question then finds the facts that share a word with it without looking at the others.
"""

import math
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from proxy.memory import kinds
from proxy.memory.ageing import Decay, status
from proxy.memory.facts import later, sayable
from proxy.memory.predictions import KINDS
from proxy.types.memory import Fact

ONE_LINE = 400  # characters of a rendered fact
_BRACKETS = str.maketrans("<>", "\u2039\u203a")
_LATER_SHOWN = 80  # characters of the quotation of a later fact

Key = tuple[str, str]  # domain and key of a fact


@dataclass(frozen=True, slots=True)
class Table:
    """The facts that are not superseded, a row each; and the rows of those that were, until others take them."""

    facts: tuple[Fact | None, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)  # by a fact's id
    holding: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # rows by term, and by "in" and a domain
    kinds: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, len(KINDS))))  # of each row
    may: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))  # a question may need it
    free: tuple[int, ...] = ()  # rows without a fact

    def holders(self, terms: frozenset[str]) -> list[Fact]:
        """Returns the facts that have all of these terms, at least one."""
        rows = set.intersection(*(set(self.holding.get(term, ())) for term in terms))
        return [fact for row in rows if (fact := self.facts[row]) is not None]

    def shared(self, terms: Iterable[str]) -> npt.NDArray[np.intp]:
        """Returns the number of these terms that each row has."""
        found = [row for term in terms for row in self.holding.get(term, ())]
        return np.bincount(np.array(found, np.intp), minlength=len(self.facts))

    def among(self, domain: str) -> npt.NDArray[np.intp]:
        """Returns 1 for each row whose fact is of this domain, else 0."""
        return self.shared((f"in {domain}",))

    def changed(self, gone: Iterable[str], new: Iterable[Fact], may: Mapping[str, bool]) -> "Table":
        """Returns the table without the facts with the ids `gone` and with `new` ones, which replace those of the same
        id; `may`: by id, for which a question may need it from now on, or no longer."""
        facts, rows, holding = list(self.facts), dict(self.rows), dict(self.holding)
        free, entered, added = list(self.free), dict[int, Fact](), dict[str, list[int]]()
        for name in gone:
            if (row := rows.pop(name, None)) is not None:
                for term in _terms(facts[row]):
                    if others := tuple([at for at in holding.pop(term) if at != row]):
                        holding[term] = others
                facts[row] = None
                free.append(row)
        for fact in new:
            if (row := rows.get(fact.id)) is None:
                row = rows[fact.id] = free.pop() if free else len(facts)
                entered[row] = fact
                for term in _terms(fact):
                    added.setdefault(term, []).append(row)
            facts[row : row + 1] = [fact]
        holding |= {term: (*holding.get(term, ()), *those) for term, those in added.items()}
        more = len(facts) - len(self.facts)
        shares = np.concatenate([self.kinds, np.zeros((more, len(KINDS)))]) if entered else self.kinds
        for row, fact in entered.items():
            shares[row] = kinds.shares(fact.value)
        flags = np.concatenate([self.may, np.zeros(more, np.bool_)])
        flags[[*free, *entered]] = False
        told = [name for name in may if name in rows]
        flags[[rows[name] for name in told]] = [may[name] for name in told]
        return Table(tuple(facts), rows, holding, shares, flags, tuple(free))


def _terms(fact: Fact | None) -> tuple[str, ...]:
    assert fact is not None
    return (*sayable(fact), f"in {fact.domain}")  # no term has a space


@dataclass(frozen=True, slots=True)
class Current:
    """The facts of a scope that are valid at one moment."""

    decay: Decay
    facts: tuple[Fact, ...] = ()  # all facts of the scope
    known: Mapping[str, Fact] = field(default_factory=dict)  # the same by id
    pinned: Mapping[str, Fact] = field(default_factory=dict)  # by id: those valid for every answer
    standing: tuple[Fact, ...] = ()  # the same, one per key, the last confirmed first; marked
    others: Mapping[Key, tuple[Fact, ...]] = field(default_factory=dict)  # a question may need the first of each key
    table: Table = field(default_factory=Table)
    ended: Mapping[str, Fact] = field(default_factory=dict)  # by a fact's id: the newest one that may have ended it
    since: float = math.inf  # seconds since the epoch
    until: float = -math.inf  # the same: when the first fact changes its status

    def marked(self, fact: Fact) -> Fact:
        """Returns `fact` with a mark of what may have ended it."""
        return marked(fact, self.ended.get(fact.id))

    def line(self, fact: Fact) -> str:
        """Returns the rendered line of `fact` with this mark."""
        later = self.ended.get(fact.id)
        return _line(fact.domain, fact.value) if later is None else _marked_line(fact.domain, fact.value, later.value)


def current(facts: Iterable[Fact], now: float, decay: Decay, before: Current | None = None) -> Current:
    """Returns the facts that are valid at `now`. `before`, the result for an earlier request, is returned again if
    neither the facts nor any status has changed."""
    every = tuple(facts)
    if before is None or before.decay != decay:
        before = Current(decay)
    is_as_old = before.since <= now < before.until
    if is_as_old and before.facts == every:
        # Read from storage anew they are equal, and from then on the same.
        return before if before.facts is every else replace(before, facts=every)
    known = {fact.id: fact for fact in every}
    newer: dict[str, Fact] = {
        fact.id: after
        for fact in known.values()
        if fact.doubted_by is not None and (after := later(fact, known)) is not None
    }
    ended = _newest_of_each(newer)
    same = before.known if is_as_old else {}
    changed = {name: fact for name, fact in known.items() if same.get(name) is not fact}
    # Whether a fact stands may depend on what may have ended it.
    changed |= {name: known[name] for name in newer.keys() | before.ended if name in known and known[name].pinned}
    pinned = {name: fact for name, fact in before.pinned.items() if name in known and name not in changed}
    placed: dict[Key, list[Fact]] = {}
    for fact in changed.values():
        # What may have been ended by something that is no instruction waits for a question.
        is_now, after = status(fact, now, decay), newer.get(fact.id)
        if fact.pinned and is_now == "active" and (after is None or after.pinned):
            pinned[fact.id] = fact
        elif is_now in ("active", "retrieval-only"):
            placed.setdefault((fact.domain, fact.key), []).append(fact)
    gone = before.known.keys() - known.keys()
    left = [before.known[name] for name in (*gone, *changed) if name in before.known]
    others, may = _placed(before.others, left, placed)
    is_same = pinned == before.pinned and newer.keys().isdisjoint(pinned) and pinned.keys().isdisjoint(before.ended)
    limits = (decay.unconfirmed_after, decay.stale_after, decay.drop_low_after)
    ends = (
        fact.last_confirmed_at + limit for fact in changed.values() if fact.superseded_by is None for limit in limits
    )
    return Current(
        decay=decay,
        facts=every,
        known=known,
        pinned=pinned,
        standing=before.standing
        if is_same
        else tuple(marked(fact, ended.get(fact.id)) for fact in _one_of_each(pinned.values())),
        others=others,
        table=before.table.changed(
            [fact.id for fact in left if not _is_told(fact, known.get(fact.id))],
            [fact for fact in changed.values() if fact.superseded_by is None],
            may,
        ),
        ended=ended,
        since=now,
        until=min((end for end in ends if end >= now), default=math.inf)
        if not is_as_old
        else min((before.until, *(end for end in ends if end >= now))),
    )


def _placed(
    before: Mapping[Key, tuple[Fact, ...]], left: Iterable[Fact], new: Mapping[Key, list[Fact]]
) -> tuple[dict[Key, tuple[Fact, ...]], dict[str, bool]]:
    """Returns the facts of each key without those that `left` and with `new` ones, the newest first; and by id, for
    which that changed it, whether it is the first of its key."""
    placed = dict(before)
    gone = {fact.id for fact in left}
    may: dict[str, bool] = dict.fromkeys(gone, False)
    for key in {(fact.domain, fact.key) for fact in left} | new.keys():
        found = [fact for fact in placed.pop(key, ()) if fact.id not in gone]
        if found := sorted([*found, *new.get(key, ())], key=_newest_first):
            placed[key] = tuple(found)
            may |= {fact.id: fact is found[0] for fact in found}
    return placed, may


def _is_told(fact: Fact, now: Fact | None) -> bool:
    """True if `fact` still says the same under the same key, and nothing replaced it."""
    return (
        now is not None
        and now.superseded_by is None
        and (now.domain, now.key, now.value) == (fact.domain, fact.key, fact.value)
    )


def marked(fact: Fact, later: Fact | None) -> Fact:
    """Returns `fact` with a mark in its value that quotes the `later` fact, which may have ended it."""
    return fact if later is None else replace(fact, value=_with_mark(fact.value, later.value))


def _with_mark(value: str, later: str) -> str:
    mark = f' (later: "{cut(" ".join(later.split()), _LATER_SHOWN)}")'
    return cut(value, ONE_LINE - len(mark)) + mark


def cut(text: str, most: int) -> str:
    """Returns `text` cut to `most` characters; the last one is an ellipsis if something was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def _newest_of_each(newer: dict[str, Fact]) -> dict[str, Fact]:
    """Maps each fact to the end of its chain of facts that may have ended it. What was learnt last is looked at first,
    since chains lead there."""
    ended: dict[str, Fact] = {}
    for name, after in reversed(newer.items()):
        last = ended.get(after.id, after)
        ended[name] = last if last.id not in newer else _newest(name, newer)
    return ended


def _newest(name: str, newer: Mapping[str, Fact]) -> Fact:
    """Follows the chain of facts that may have ended the fact with the id `name`; returns the last one."""
    found = newer[name]
    seen = {name, found.id}
    while (after := newer.get(found.id)) is not None and after.id not in seen:
        seen.add(after.id)
        found = after
    return found


def _newest_first(fact: Fact) -> tuple[float, float, str]:
    return (-fact.last_confirmed_at, -fact.created_at, fact.id)


def _one_of_each(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    kept: dict[Key, Fact] = {}
    for fact in sorted(facts, key=_newest_first):
        kept.setdefault((fact.domain, fact.key), fact)
    return tuple(kept.values())


def render(facts: Iterable[Fact]) -> str:
    """Renders facts as lines of a `<memory>` block, one a fact, with nothing in it that could close the block."""
    return "\n".join([_line(fact.domain, fact.value) for fact in facts])


@lru_cache(4_096)
def _line(domain: str, value: str) -> str:
    return f"- [{domain}] {cut(' '.join(value.split()).translate(_BRACKETS), ONE_LINE)}"


@lru_cache(4_096)
def _marked_line(domain: str, value: str, later: str) -> str:
    return _line(domain, _with_mark(value, later))


def read_new(facts: Iterable[Fact], before: Current | None) -> Generator[None, None, None]:
    """The same for the facts that were learnt since the valid ones were last looked up."""
    known = before.known if before is not None else {}
    return kinds.read([fact.value for fact in tuple(facts) if fact.id not in known])
