"""Consolidation: facts that may be one, or contradict each other, and what a model says of them.

Which facts are compared is decided here, by their keys and values; no pair of them is asked about twice as long as both
stay as they are. What the model proposes is carried out only if both texts bear it out: facts are one if they state the
same, a fact has ended if a newer one says so, and is doubted where that is not certain. Merged and ended facts stay as
history; each line can be undone.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from rapidfuzz import fuzz

from proxy.curation.answers import Operation, clean, read
from proxy.curation.asking import Shown, shown_of, version_of
from proxy.curation.carrying import Carried, Changes, Source, base_key, cut, is_a_persons, key_of
from proxy.curation.evidence import RefusedError, tells_end
from proxy.curation.operations import LONGEST_VALUE, SHOWN, domain_of
from proxy.language.values import normal
from proxy.memory.credentials import has_credential
from proxy.memory.ending import ended_by
from proxy.memory.facts import free_key, sayable
from proxy.memory.likeness import ComparedValues
from proxy.memory.same_fact import nominated, same_fact
from proxy.types import SELF_CORRECTION, Fact, Statement
from proxy.types.curation import Job, OutcomeLine

FEW = 100  # facts: each is compared with each; of more only those that share a word or a key
OF_ONE_WORD = 40  # facts that share a word, and are compared for it; it says little if more do
NEAR_KEYS = 80.0  # least similarity of two keys, 0 to 100
MOST_GROUPS, MOST_OF_GROUP = 12, 6


# --- candidates ------------------------------------------------------------------------------------------------------


def candidates(facts: Sequence[Fact], cosine: Callable[[str, str], float | None]) -> list[tuple[Fact, ...]]:
    """Returns groups of facts that hold and may be one or contradict each other. `cosine`: of two values, None if it is
    not known. Facts of persons alone make no group: a model may not change them."""
    holding = sorted(
        (fact for fact in facts if fact.superseded_by is None and fact.domain != SELF_CORRECTION),
        key=lambda fact: fact.id,
    )
    alike = [
        (one.id, other.id)
        for one, other in _pairs(holding)
        if not (is_a_persons(one) and is_a_persons(other)) and _may_be_one(one, other, cosine)
    ]
    by_id = {fact.id: fact for fact in holding}
    return [tuple(by_id[name] for name in group) for group in _joined(alike)]


def fresh(groups: Iterable[Sequence[Fact]], shown: Iterable[bytes]) -> list[tuple[Fact, ...]]:
    """Returns the groups that no earlier question had, with all of their facts as they are now. `shown`: of the jobs
    that are done, as in `Job.shown`."""
    asked: list[frozenset[tuple[str, str]]] = []
    for before in map(shown_of, shown):
        asked += (frozenset(before.facts[name] for name in group if name in before.facts) for group in before.groups)
    return [
        tuple(group)
        for group in groups
        if not any(asked_of.issuperset((fact.id, version_of(fact)) for fact in group) for asked_of in asked)
    ]


def _pairs(facts: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
    if len(facts) <= FEW:
        yield from combinations(facts, 2)
        return
    sharing: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        for word in sayable(fact) | {f"{fact.domain}/{base_key(fact.key)}"}:
            sharing[word].append(fact)
    seen: set[tuple[str, str]] = set()
    for word in sorted(sharing):
        for one, other in combinations(sharing[word] if len(sharing[word]) <= OF_ONE_WORD else (), 2):
            if (one.id, other.id) not in seen:
                seen.add((one.id, other.id))
                yield one, other


def _may_be_one(one: Fact, other: Fact, cosine: Callable[[str, str], float | None]) -> bool:
    if one.domain == other.domain and fuzz.ratio(base_key(one.key), base_key(other.key)) > NEAR_KEYS:
        return True
    return nominated(one.value, other.value, cosine(one.value, other.value))


def _joined(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Joins pairs into groups without a common member. A group that is full takes no more."""
    group_of: dict[str, list[str]] = {}
    groups: list[list[str]] = []
    for one, other in pairs:
        mine, theirs = group_of.get(one), group_of.get(other)
        if mine is None and theirs is None:
            mine = []
            groups.append(mine)
        elif mine is not None and theirs is not None:
            continue
        group = mine if mine is not None else theirs
        assert group is not None
        for name in (one, other):
            if name not in group_of and len(group) < MOST_OF_GROUP:
                group.append(name)
                group_of[name] = group
    return groups


# --- what the model says ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Done:
    fact: Fact
    before: tuple[Fact, ...] = ()
    reason: str = ""


def consolidated(job: Job, facts: Mapping[str, Fact], *, now: float) -> Carried:
    """Carries out the answer of a consolidation. `facts`: all of the scope, by id. Facts end at the time of the job,
    which is not later than `now`."""
    answer = read(job.answer)
    if isinstance(answer, str):
        return Carried(lines=(OutcomeLine("", "refused", answer),))
    shown, at = shown_of(job.shown), min(job.created_at, now)
    ended = {fact: (at,) for fact, _ in shown.facts.values()}
    changes = Changes(job, facts, len(answer.operations), ended)
    carrying = _Consolidation(shown, changes, at)
    lines = [carrying.line(number, operation) for number, operation in enumerate(answer.operations)]
    if answer.left_out:
        lines.append(OutcomeLine("", "refused", "too many"))
    return Carried(changes.rows(), tuple(lines))


class _Consolidation:
    def __init__(self, shown: Shown, changes: Changes, at: float) -> None:
        self._shown, self._changes, self._at = shown, changes, at

    def line(self, number: int, operation: Operation | None) -> OutcomeLine:
        """Carries out an operation, or refuses it; returns what came of it."""
        if operation is None:
            return OutcomeLine("", "refused", "malformed")
        key, value = key_of(operation.key or ""), cut(clean(operation.value), SHOWN)
        told = OutcomeLine(operation.op, "kept", "", domain_of(operation.domain), key, value)
        try:
            done = self._carried(number, operation)
        except RefusedError as refusal:
            if (made := self._changes.made_before(number)) is None:
                return replace(told, result="refused", reason=str(refusal))
            done = _Done(made, self._changes.again(number))
        kept = done.fact
        before = tuple(fact.id for fact in done.before)
        shown = cut(kept.value, SHOWN)
        return replace(
            told, reason=done.reason, domain=kept.domain, key=kept.key, value=shown, fact_id=kept.id, before=before
        )

    def _carried(self, number: int, operation: Operation) -> _Done:
        named = [*operation.targets, *([operation.by] if operation.op == "invalidate" and operation.by else [])]
        facts = [self._shown_fact(name) for name in named]
        if not any(set(named) <= set(group) for group in self._shown.groups):
            raise RefusedError("not compared")
        match operation.op, facts:
            case "merge", [_, _, *_]:
                return self._merged(number, operation, [self._unchanged(self._before(fact, facts)) for fact in facts])
            case "update", [fact]:
                return self._renamed(operation, fact)
            case "invalidate", [fact, by] if by.id != fact.id and len(operation.targets) == 1:
                return self._ended(fact, by)
            case _:
                raise RefusedError("malformed")

    def _shown_fact(self, name: str) -> Fact:
        if name not in self._shown.facts:
            raise RefusedError("unknown id")
        fact = self._changes.get(self._shown.facts[name][0])
        if fact is None:
            raise RefusedError("changed")
        return fact

    def _before(self, fact: Fact, facts: Sequence[Fact]) -> Fact:
        """Returns the fact as it was before this job merged it into another of them, if it did so before its process
        was killed."""
        is_merged = fact.superseded_at == self._at and fact.superseded_by in {each.id for each in facts} - {fact.id}
        return replace(fact, superseded_by=None, superseded_at=0.0) if is_merged else fact

    def _unchanged(self, fact: Fact) -> Fact:
        if (fact.id, version_of(fact)) not in self._shown.facts.values():
            raise RefusedError("changed")
        return fact

    def _merged(self, number: int, operation: Operation, facts: Sequence[Fact]) -> _Done:
        """Merges facts that all state one thing, into a person's, if there is one; into one that says it as the model
        does; else into a new one."""
        value = clean(operation.value)
        if not all(same_fact(one.value, other.value) for one, other in combinations(facts, 2)):
            raise RefusedError("not the same")
        own = [fact for fact in facts if is_a_persons(fact)]
        if len(own) == len(facts):
            raise RefusedError("explicit")
        as_said = [fact for fact in facts if normal(fact.value) == normal(value)]
        links = tuple(sorted({link for fact in facts for link in fact.links}))
        newest = max(facts, key=lambda fact: (fact.last_confirmed_at, fact.id))
        source = Source(newest.last_confirmed_at, newest.session, newest.turn, links)
        if self._changes.made_before(number) is None and (keepers := own or as_said):
            kept = self._changes.confirm(max(keepers, key=lambda fact: (fact.last_confirmed_at, fact.id)), source)
        else:
            if not value or len(value) > LONGEST_VALUE or not all(same_fact(value, fact.value) for fact in facts):
                raise RefusedError("not the same")
            if has_credential(value):
                raise RefusedError("credential")
            said = Statement(domain_of(operation.domain), key_of(operation.key or "") or newest.key, value, "medium")
            kept = self._changes.make(number, said, source, {fact.id for fact in facts})
        ended = [fact for fact in facts if fact.id != kept.id and not is_a_persons(fact)]
        for fact in ended:
            self._changes.supersede(fact, kept.id, self._at)
        return _Done(kept, tuple(ended), "known" if kept.id in {fact.id for fact in facts} else "")

    def _ended(self, fact: Fact, by: Fact) -> _Done:
        """Ends a model's fact by a newer one that says so; where the texts leave it open, it is doubted."""
        if fact.doubted_by == by.id:
            return _Done(by, (fact,), "doubted")
        if is_a_persons(self._unchanged(fact)):
            raise RefusedError("explicit")
        if self._unchanged(by).last_confirmed_at <= fact.last_confirmed_at:
            raise RefusedError("older")
        if reason := tells_end(by.value, fact):
            raise RefusedError(reason)
        values = ComparedValues()
        values.add((fact.value, by.value))
        if ended_by(values[by.value], [values[fact.value]], values)[0] == "ended":
            self._changes.supersede(fact, by.id, self._at)
            return _Done(by, (fact,), "known")
        if fact.doubted_by is not None:
            raise RefusedError("no end")
        self._changes.doubt(fact, by.id)
        return _Done(by, (fact,), "doubted")

    def _renamed(self, operation: Operation, fact: Fact) -> _Done:
        domain = domain_of(operation.domain) if operation.domain else fact.domain
        key = key_of(operation.key or "") or base_key(fact.key)
        if (domain, base_key(key)) == (fact.domain, base_key(fact.key)):
            return _Done(fact, reason="renamed")
        if is_a_persons(self._unchanged(fact)):
            raise RefusedError("explicit")
        if operation.value and not same_fact(clean(operation.value), fact.value):
            raise RefusedError("not the same")
        return _Done(self._changes.rename(fact, domain, key), reason="renamed")


# --- undone ----------------------------------------------------------------------------------------------------------


def undone(facts: Mapping[str, Fact], line: OutcomeLine, now: float) -> tuple[Fact, ...]:
    """Returns the rows that undo a line that was kept: the facts that it ended hold again, with keys that are free,
    those that it doubted are not doubted any more, and the fact that it made is deleted. None if what it made does not
    hold any more: what came later rests on it."""
    kept = facts.get(line.fact_id)
    if line.result != "kept" or kept is None or (kept.superseded_by is not None and not kept.is_deleted):
        return ()
    is_made = not line.reason and line.fact_id not in line.before
    after: dict[str, Fact] = {}
    if is_made and not kept.is_deleted:
        after[kept.id] = replace(kept, superseded_by=kept.id, superseded_at=now, doubted_by=None)
    concerned = [facts[name] for name in line.before if name in facts]
    if is_made:
        concerned += (fact for fact in facts.values() if fact.doubted_by == kept.id and fact.id not in line.before)
    for fact in concerned:
        if fact.superseded_by == kept.id:
            holding = (each for each in {**facts, **after}.values() if each.superseded_by is None)
            key = free_key(fact.key, {each.key for each in holding if each.domain == fact.domain})
            after[fact.id] = replace(fact, key=key, superseded_by=None, superseded_at=0.0, doubted_by=None)
        elif fact.superseded_by is None and fact.doubted_by == kept.id:
            after[fact.id] = replace(fact, doubted_by=None)
    return tuple(after.values())
