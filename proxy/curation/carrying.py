"""Facts as a job changes them. Carrying out an answer twice is the same as once: the ids of the facts that it makes are
hashes of the job, its answer and the operation's number, its times are those of what the user said, and it is judged
each time against the facts as they were before the job has changed any.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b

from proxy.curation.answers import UNREADABLE
from proxy.language.words import fold, terms
from proxy.memory.facts import LINKS, fact_of, free_key, sayable
from proxy.memory.same_fact import nominated, same_fact
from proxy.types import SELF_CORRECTION, Fact, Statement, Summary
from proxy.types.curation import Job, MemoryEvent, OutcomeLine

FEW = 100  # facts: all are compared; of more only those that share a word
_SAME_BEGINNING = 5  # letters that forms of one word share
_SHORT_NAME = 4  # letters of a name that stands for a longer one


@dataclass(frozen=True, slots=True)
class Carried:
    """The result of an answer."""

    facts: tuple[Fact, ...] = ()  # rows to write
    lines: tuple[OutcomeLine, ...] = ()
    events: tuple[MemoryEvent, ...] = ()
    summary: Summary | None = None
    slug: str = ""

    @property
    def unread(self) -> str:
        """The reason why nothing of the answer could be read; "" if it could be."""
        return next((line.reason for line in self.lines if line.reason in UNREADABLE), "")


@dataclass(frozen=True, slots=True)
class Source:
    """The message that a change rests on, and when it was said."""

    at: float
    session: str = ""
    turn: int = 0
    links: tuple[bytes, ...] = ()


def code_of(job: Job, kind: str, number: int) -> str:
    """Returns 16 hex digits that name element `number` of the job's answer. Another answer of the same job, which is
    asked anew after something was forgotten, has other names."""
    name = "\0".join((job.scope, str(job.id), kind, str(number), blake2b(job.answer, digest_size=8).hexdigest()))
    return blake2b(name.encode("utf-8", "replace"), digest_size=8).hexdigest()


class Changes:
    """The facts of a scope, and what a job makes of them."""

    def __init__(
        self, job: Job, facts: Mapping[str, Fact], operations: int, ended: Mapping[str, Collection[float]]
    ) -> None:
        """`operations`: how many there are. `ended`: by id, facts that one of them may end, with the times that this
        may have: those that ended then were ended by this job, before."""
        self._now = facts
        self._names = [f"f-{code_of(job, 'fact', number)}" for number in range(operations)]
        own = frozenset(self._names)
        self._before = {
            name: _as_before(fact, own, ended.get(name, ())) for name, fact in facts.items() if name not in own
        }
        self._after = dict(self._before)

    def __getitem__(self, name: str) -> Fact:
        return self._after[name]

    def get(self, name: str) -> Fact | None:
        """Returns a fact as it is now, the changes so far included; None if there is none of this id."""
        return self._after.get(name)

    def made_before(self, number: int) -> Fact | None:
        """Returns the fact that an operation made when the answer was carried out before; None if it did not."""
        return self._now.get(self._names[number])

    def again(self, number: int) -> tuple[Fact, ...]:
        """Leaves what an operation has done before as it is now; returns the facts that it ended, by id."""
        name = self._names[number]
        self._after[name] = self._now[name]
        touched = [fact for fact in self._now.values() if name in (fact.superseded_by, fact.doubted_by)]
        self._after.update((fact.id, fact) for fact in touched)
        ended = (fact for fact in touched if fact.superseded_by == name and fact.id != name)
        return tuple(sorted(ended, key=lambda fact: fact.id))

    def same(self, value: str, apart: Collection[str] = ()) -> Fact | None:
        """Returns the fact that holds and states this value, one of a person's before one of a model's; None if none
        does. `apart`: ids that do not count."""
        found = [
            fact
            for fact in self._alike(value)
            if fact.superseded_by is None and fact.id not in apart and is_same(value, fact.value)
        ]
        return min(found, key=lambda fact: (not is_a_persons(fact), -fact.last_confirmed_at, fact.id), default=None)

    def ended_since(self, value: str, at: float) -> bool:
        """Tells whether a fact with this value has ended at `at` or later."""
        ended = (fact for fact in self._alike(value) if fact.superseded_by is not None and fact.superseded_at >= at)
        return any(is_same(value, fact.value) for fact in ended)

    def make(self, number: int, said: Statement, source: Source, ending: Collection[str] = ()) -> Fact:
        """Makes the fact of an operation, with a key that is free in its domain but for the facts that it ends."""
        taken = {
            fact.key
            for fact in self._after.values()
            if fact.superseded_by is None and fact.domain == said.domain and fact.id not in ending
        }
        keyed = replace(said, key=free_key(said.key, taken))
        made = fact_of(keyed, self._names[number], source.at, session=source.session, turn=source.turn, source="auto")
        made = self.made_before(number) or replace(made, links=tuple(sorted(set(source.links)))[:LINKS])
        self._after[made.id] = made
        return made

    def confirm(self, fact: Fact, source: Source) -> Fact:
        """Confirms a fact by what the user said again."""
        links = (*fact.links, *(link for link in source.links if link not in fact.links))
        again = replace(
            self._after[fact.id],
            last_confirmed_at=max(fact.last_confirmed_at, source.at),
            links=tuple(sorted(links)) if len(links) <= LINKS else fact.links,
        )
        self._after[fact.id] = again
        return again

    def supersede(self, fact: Fact, by: str, at: float) -> None:
        """Ends a fact: `by` takes its place; its own id, if nothing does."""
        self._after[fact.id] = replace(self._after[fact.id], superseded_by=by, superseded_at=at)

    def doubt(self, fact: Fact, by: str) -> None:
        """Records that `by` may have ended a fact; one that is doubted already stays so."""
        if self._after[fact.id].doubted_by is None:
            self._after[fact.id] = replace(self._after[fact.id], doubted_by=by)

    def rename(self, fact: Fact, domain: str, key: str) -> Fact:
        """Gives a fact another domain or key."""
        others = (each for each in self._after.values() if each.superseded_by is None and each.id != fact.id)
        taken = {each.key for each in others if each.domain == domain}
        renamed = replace(self._after[fact.id], domain=domain, key=free_key(key, taken))
        self._after[fact.id] = renamed
        return renamed

    def rows(self) -> tuple[Fact, ...]:
        """Returns the rows to write. What the job has made before is left as it is now: it may have been changed."""
        done = self._now.keys() & self._names
        changed = [fact for name, fact in self._after.items() if fact != self._before.get(name)]
        return tuple(fact for fact in changed if fact.id not in done and fact != self._now.get(fact.id))

    def _alike(self, value: str) -> Iterable[Fact]:
        facts = [fact for fact in self._after.values() if fact.domain != SELF_CORRECTION]
        if len(facts) <= FEW:
            return facts
        words = frozenset(terms(value))
        return [fact for fact in facts if words & sayable(fact)]


def _as_before(fact: Fact, own: frozenset[str], ended: Collection[float]) -> Fact:
    """Returns a fact without what the job has done to it."""
    if fact.superseded_by is not None and (fact.superseded_by in own or fact.superseded_at in ended):
        fact = replace(fact, superseded_by=None, superseded_at=0.0)
    return replace(fact, doubted_by=None) if fact.doubted_by in own else fact


def is_a_persons(fact: Fact) -> bool:
    """Tells whether a person has stated or kept a fact: a model never ends it."""
    return fact.source != "auto" or fact.pinned


def is_same(one: str, other: str) -> bool:
    """Tells whether two values state one fact."""
    return nominated(one, other) and same_fact(one, other)


def mentions(text: str, fact: Fact) -> bool:
    """Tells whether a text may be about a fact: they share a word, in whatever form, or a name, in short."""
    if sayable(fact).intersection(terms(text)):
        return True
    theirs = _words(fact.value)
    return any(
        _begin_alike(word, other, _SHORT_NAME if word[:1].isupper() and other[:1].isupper() else _SAME_BEGINNING)
        for word in _words(text)
        for other in theirs
    )


def _words(text: str) -> list[str]:
    marks = "".join(mark if mark.isalnum() else " " for mark in text)
    return [word for word in marks.split() if len(word) >= _SHORT_NAME and terms(word)]


def _begin_alike(one: str, other: str, least: int) -> bool:
    """Tells whether two words share their beginning: a name is the beginning of the other."""
    one, other = fold(one), fold(other)
    if least == _SHORT_NAME:
        return one.startswith(other) or other.startswith(one)
    return one[:least] == other[:least] and min(len(one), len(other)) >= least


def key_of(text: str) -> str:
    """Returns a key: lower case, its words joined by "-"; "" if there is none."""
    return "-".join("".join(mark if mark.isalnum() else " " for mark in text.lower()).split())[:64].strip("-")


def base_key(key: str) -> str:
    """Returns a key without the number that tells it from others of its name."""
    base, _, number = key.rpartition("-")
    return base if base and number.isdecimal() else key


def cut(text: str, most: int) -> str:
    """Returns the text, at most `most` characters of it."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
