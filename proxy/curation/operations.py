"""The operations of an extraction, against the facts as they are now: what is carried out, what is refused and why.

Each operation stands alone. It rests on a quotation that has to state its value, and on facts that are as the model saw
them. What a person has stated or kept is never ended by a model: a newer message may put a value beside it, and doubt
it. An update of a fact that it is not about is an addition: the fact stays.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.curation import telling
from proxy.curation.answers import Answer, Operation, clean, read
from proxy.curation.asking import Shown, shown_of, version_of
from proxy.curation.carrying import Carried, Changes, base_key, cut, is_a_persons, is_same, key_of, mentions
from proxy.curation.evidence import Evidence, RefusedError, evidence, stated, tells_end
from proxy.curation.retracting import OrdersSince, is_retracted
from proxy.language.words import terms
from proxy.memory.analysis import analyse
from proxy.memory.commands import mark
from proxy.memory.credentials import has_credential
from proxy.memory.facts import fact_of, sayable
from proxy.types import SELF_CORRECTION, ArchivedTurn, Fact, Statement
from proxy.types.curation import Job, OutcomeLine

LONGEST_VALUE = 300  # characters; the model is asked for twenty words
SHOWN = 300  # characters of a text in a line
_LEAST_ENDING = 3  # words of a quotation that is kept as the end of what a person said
_COVERED = 0.5  # least share of a fact's words that the value of a merge says
_ANY = "personal"  # domain of a fact that the model gives none


@dataclass(frozen=True, slots=True)
class _Done:
    """The result of an operation."""

    fact: Fact  # that it made or changed
    before: tuple[Fact, ...] = ()  # that it ended
    reason: str = ""  # "known": the fact was known, and is confirmed


def extracted(
    job: Job,
    turns: Sequence[ArchivedTurn],
    facts: Mapping[str, Fact],
    *,
    forgotten: Callable[[bytes], bool],
    now: float,
    orders: OrdersSince = lambda _at, _number: (),
) -> Carried:
    """Carries out the answer of an extraction. `turns`: those that the model was shown, as far as they are in the
    archive. `facts`: all of the scope, by id. `forgotten`: tells whether a link, or the mark of a value, is. `orders`:
    to forget, given since a turn. Times are those of the turns; none is later than `now`."""
    answer = read(job.answer)
    if isinstance(answer, str):
        return Carried(lines=(OutcomeLine("", "refused", answer),))
    shown = shown_of(job.shown)
    by_link = {turn.link.hex(): turn for turn in turns}
    numbered = {
        number: replace(turn, at=min(turn.at, now))
        for number, link in enumerate(shown.turns, 1)
        if (turn := by_link.get(link)) is not None
    }
    carrying = _Extraction(job, answer, shown, numbered, facts, forgotten, orders)
    lines = [carrying.line(number, operation) for number, operation in enumerate(answer.operations)]
    events, told = telling.events(job, answer.events, numbered, forgotten)
    summary, slug = telling.summary(answer.summary, numbered), telling.slug(answer.slug)
    lines += told
    if answer.summary is not None:
        lines.append(_line("summary", summary.topic if summary else ""))
    if answer.slug:
        lines.append(_line("slug", slug))
    if answer.left_out:
        lines.append(OutcomeLine("", "refused", "too many"))
    return Carried(carrying.changes.rows(), tuple(lines), tuple(events), summary, slug)


def _line(op: str, value: str) -> OutcomeLine:
    return OutcomeLine(op, "kept", value=value) if value else OutcomeLine(op, "refused", "malformed")


class _Extraction:
    """An answer that is being carried out."""

    def __init__(
        self,
        job: Job,
        answer: Answer,
        shown: Shown,
        turns: Mapping[int, ArchivedTurn],
        facts: Mapping[str, Fact],
        forgotten: Callable[[bytes], bool],
        orders: OrdersSince,
    ) -> None:
        self._shown, self._turns, self._forgotten, self._orders = shown, turns, forgotten, orders
        ended: dict[str, set[float]] = defaultdict(set)
        for each in answer.operations:
            if each is not None and (turn := turns.get(each.turn or 0)) is not None:
                for name in each.targets:
                    ended[shown.facts.get(name, ("", ""))[0]].add(turn.at)
        self.changes = Changes(job, facts, len(answer.operations), ended)

    def line(self, number: int, operation: Operation | None) -> OutcomeLine:
        """Carries out an operation, or refuses it; returns what came of it."""
        if operation is None:
            return OutcomeLine("", "refused", "malformed")
        turn = self._turns.get(operation.turn or 0)
        said = next((each.link for each in turn.utterances if each.role == "user"), b"") if turn else b""
        told = OutcomeLine(
            operation.op,
            "kept",
            domain=domain_of(operation.domain),
            key=key_of(operation.key or ""),
            value=cut(clean(operation.value), SHOWN),
            quote=cut(clean(operation.quote), SHOWN),
            turn=turn.number if turn else 0,
            link=said,
        )
        try:
            done = self._carried(number, operation)
        except RefusedError as refusal:
            if (made := self.changes.made_before(number)) is None:
                return replace(told, result="refused", reason=str(refusal))
            done = _Done(made, self.changes.again(number))  # it was right when it was carried out first
        return replace(
            told,
            reason=done.reason,
            domain=done.fact.domain,
            key=done.fact.key,
            value=cut(done.fact.value, SHOWN),
            fact_id=done.fact.id,
            before=tuple(fact.id for fact in done.before),
        )

    def _carried(self, number: int, operation: Operation) -> _Done:
        found = evidence(self._turns, operation.turn, operation.quote, self._forgotten)
        match operation.op:
            case "add":
                return self._settled(number, operation, self._value(operation, found), found)
            case "invalidate":
                return self._invalidated(number, operation, found)
            case "update" | "merge":
                targets = [self._target(name, found) for name in operation.targets]
                if not targets:
                    raise RefusedError("unknown id")
                if len(targets) > 1:
                    return self._merged(number, operation, targets, found)
                return self._updated(number, operation, targets[0], found)

    # --- operations --------------------------------------------------------------------------------------------------

    def _updated(self, number: int, operation: Operation, fact: Fact, found: Evidence) -> _Done:
        value = self._value(operation, found)
        if is_same(value, fact.value):
            return _Done(self.changes.confirm(fact, found.source), reason="known")
        concerned = [fact] if self._is_about(operation, value, fact) else []
        return self._settled(number, operation, value, found, concerned)

    def _merged(self, number: int, operation: Operation, facts: Sequence[Fact], found: Evidence) -> _Done:
        concerned = [fact for fact in facts if _says(clean(operation.value), fact)]
        stated = frozenset(terms(found.quote)).union(*map(sayable, concerned))
        is_theirs = any(mentions(found.quote, fact) for fact in concerned)
        is_supported = is_theirs and stated.issuperset(terms(clean(operation.value)))
        value = self._value(operation, found, is_supported=is_supported)
        return self._settled(number, operation, value, found, concerned)

    def _invalidated(self, number: int, operation: Operation, found: Evidence) -> _Done:
        if not operation.targets:
            raise RefusedError("unknown id")
        fact = self._target(operation.targets[0], found)
        if reason := tells_end(found.quote, fact):
            raise RefusedError(reason)
        if not is_a_persons(fact):
            self.changes.supersede(fact, fact.id, found.source.at)
            return _Done(self.changes[fact.id], (fact,))
        if len(found.quote.split()) < _LEAST_ENDING or len(found.quote) > LONGEST_VALUE:
            raise RefusedError("explicit")
        if has_credential(found.quote):
            raise RefusedError("credential")
        named = Operation(operation.op, key=fact.key, domain=fact.domain)
        return self._settled(number, named, found.quote, found, [fact])

    def _settled(
        self, number: int, operation: Operation, value: str, found: Evidence, concerned: Sequence[Fact] = ()
    ) -> _Done:
        """Keeps a value: as a fact that states it already, else as a new one. Of the facts concerned it ends a model's,
        and doubts a person's, unless the value is known beside that."""
        ending = [fact for fact in concerned if not is_a_persons(fact)]
        is_made = self.changes.made_before(number) is not None
        known = None if is_made else self.changes.same(value, {fact.id for fact in ending})
        if known is not None:
            made = self.changes.confirm(known, found.source)
        else:
            key = key_of(operation.key or "") or (concerned[0].key if concerned else "note")
            said = Statement(domain_of(operation.domain), key, value, "medium")
            made = self.changes.make(number, said, found.source, {fact.id for fact in ending})
        for fact in concerned:
            if fact in ending:
                self.changes.supersede(fact, made.id, found.source.at)
            elif known is None:
                self.changes.doubt(fact, made.id)
        return _Done(made, tuple(ending), "known" if known is not None else "")

    # --- what they rest on -------------------------------------------------------------------------------------------

    def _target(self, name: str, found: Evidence) -> Fact:
        """Returns a fact that may be changed by what was quoted."""
        if name not in self._shown.facts:
            raise RefusedError("unknown id")
        known, version = self._shown.facts[name]
        fact = self.changes.get(known)
        if fact is None or version_of(fact) != version:
            raise RefusedError("changed")
        if is_a_persons(fact) and (found.source.at <= fact.last_confirmed_at or found.link in fact.links):
            raise RefusedError("explicit")
        if found.source.at < fact.last_confirmed_at:
            raise RefusedError("older")
        return fact

    def _value(self, operation: Operation, found: Evidence, *, is_supported: bool = False) -> str:
        value = clean(operation.value)
        if not terms(value):
            raise RefusedError("malformed")
        if len(value) > LONGEST_VALUE:
            raise RefusedError("too long")
        if has_credential(value):
            raise RefusedError("credential")
        if not is_supported:
            value = stated(value, found)
        if self._forgotten(mark(value)) or self._is_retracted(operation, value, found):
            raise RefusedError("forgotten")
        if self.changes.ended_since(value, found.source.at):
            raise RefusedError("ended since")
        return value

    def _is_retracted(self, operation: Operation, value: str, found: Evidence) -> bool:
        """Tells whether the user has ordered since to forget it."""
        if not (orders := self._orders(found.source.at, found.source.turn)):
            return False
        said = Statement(domain_of(operation.domain), key_of(operation.key or ""), value, "medium")
        return is_retracted(fact_of(said, "", found.source.at), orders)

    def _is_about(self, operation: Operation, value: str, fact: Fact) -> bool:
        """Tells whether an operation means the fact that it names: by its key, which is not that of another one that
        the model was shown, or by its words."""
        key = base_key(key_of(operation.key or ""))
        if key == base_key(fact.key):
            return True
        shown = (self.changes.get(known) for known, _ in self._shown.facts.values())
        if any(key == base_key(other.key) for other in shown if other is not None):
            return False
        return mentions(value, fact)


def domain_of(text: str | None) -> str:
    """Returns a domain: one word of lower case letters. The domain of an agent's corrections is none for facts."""
    domain = key_of(clean(text))
    return domain if domain and domain != key_of(SELF_CORRECTION) else _ANY


def _says(value: str, fact: Fact) -> bool:
    """Tells whether the value of a merge says what a fact says."""
    if is_same(value, fact.value):
        return True
    words = frozenset(terms(fact.value))
    covered = len(words.intersection(terms(value))) >= _COVERED * len(words)
    return bool(words) and covered and analyse(value).ends == analyse(fact.value).ends
