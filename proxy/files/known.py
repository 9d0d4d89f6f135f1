"""The facts of a person while what they did to their MEMORY.md is applied: found by the codes of lines, added, changed,
moved, deleted and brought back. Pure: what has changed is told, and written elsewhere.
"""

from dataclasses import dataclass, field, replace
from hashlib import blake2b

from proxy.files.document import APART, Bullet, domain_of, one_line
from proxy.files.names import SHORT, long_code
from proxy.language.words import terms
from proxy.memory.facts import is_one_fact, sayable
from proxy.types import SELF_CORRECTION, Confidence, Fact, FactSource

SOURCE: FactSource = "file"
_SURE: Confidence = "high"
_COMPARED = 32  # facts with which a new line is compared word by word


@dataclass(frozen=True, slots=True)
class Said:
    """A new line, as memory takes it."""

    domain: str
    key: str
    pinned: bool = False


@dataclass(slots=True)
class KnownFacts:
    """The facts of a scope while a person's changes are applied to them."""

    by_id: dict[str, Fact]
    scope: str
    now: float
    written: dict[str, Fact] = field(default_factory=dict)
    keys: dict[str, set[str]] = field(default_factory=dict)  # of the facts that hold, by domain
    by_code: dict[str, list[str]] = field(default_factory=dict)  # ids by short code

    def __post_init__(self) -> None:
        for fact in self.by_id.values():
            self.by_code.setdefault(long_code(fact.id)[:SHORT], []).append(fact.id)
            if fact.superseded_by is None:
                self.keys.setdefault(fact.domain, set()).add(fact.key)

    def meant(self, code: str) -> list[str]:
        """Returns the ids that a code may mean."""
        found = self.by_code.get(code[:SHORT], [])
        return found if len(code) == SHORT else [name for name in found if long_code(name) == code]

    def of(self, bullet: Bullet) -> str | None:
        """Returns the id of the fact that a line's code means: of several, one that says the same, else the oldest."""
        code = bullet.code
        if code is None or not (names := self.by_code.get(code[:SHORT])):
            return None
        if len(names) > 1:
            names = self.meant(code)
            same = [name for name in names if one_line(self.by_id[name].value) == bullet.text]
            return min(same or names, key=lambda name: self.by_id[name].created_at, default=None)
        return names[0] if len(code) == SHORT or long_code(names[0]) == code else None

    def now_of(self, name: str) -> Fact | None:
        """Returns the fact that holds in the place of this one; None if there is none, or it is in no file."""
        fact = self.by_id.get(name)
        seen: set[str] = set()
        while fact is not None and fact.superseded_by is not None and fact.id not in seen:
            seen.add(fact.id)
            fact = self.by_id.get(fact.superseded_by)
        if fact is None or fact.superseded_by is not None or domain_of(fact.domain) in APART:
            return None
        return fact

    def changed(self) -> tuple[Fact, ...]:
        """Returns the facts that are new or have changed, in the order of the changes."""
        return tuple(self.written.values())

    def _put(self, fact: Fact) -> None:
        self.by_id[fact.id] = self.written[fact.id] = fact

    def add(self, text: str, said: Said) -> Fact:
        """Adds the fact of a new line, under a key that is free in its domain. What a model had found and the line says
        in the user's own words gives way to it."""
        key = self._free(said.domain, said.key)
        name = self._name(said.domain, key, text)
        fact = Fact(name, said.domain, key, text, _SURE, SOURCE, "", 0, self.now, self.now, pinned=said.pinned)
        self._put(fact)
        for found in self._found_by_model(text):
            self._put(replace(found, superseded_by=name, superseded_at=self.now, doubted_by=None))
        return fact

    def _found_by_model(self, text: str) -> list[Fact]:
        """Returns the facts that a model had found and that `text` says in other words."""
        found = (fact for fact in self.by_id.values() if fact.source == "auto" and fact.superseded_by is None)
        said = frozenset(terms(text))
        near = [fact for fact in found if not said.isdisjoint(sayable(fact)) and fact.domain != SELF_CORRECTION]
        near.sort(key=lambda fact: (-len(said & sayable(fact)), fact.id))
        return [fact for fact in near[:_COMPARED] if is_one_fact(fact.value, text)]

    def change(self, old: Fact, text: str) -> Fact:
        """Replaces a fact by one with another text, and returns that."""
        new = replace(
            old,
            id=self._name(old.id, text),
            value=text,
            source=SOURCE,
            session="",
            turn=0,
            created_at=self.now,
            last_confirmed_at=self.now,
            doubted_by=None,
            links=(),
        )
        self._put(new)
        self._put(replace(old, superseded_by=new.id, superseded_at=self.now, doubted_by=None))
        return new

    def move(self, fact: Fact, domain: str) -> None:
        """Gives a fact another domain."""
        self.keys.get(fact.domain, set()).discard(fact.key)
        self._put(replace(fact, domain=domain, key=self._free(domain, fact.key)))

    def delete(self, fact: Fact) -> None:
        """Deletes a fact softly: it is history."""
        self._put(replace(fact, superseded_by=fact.id, superseded_at=self.now))

    def bring_back(self, name: str) -> Fact:
        """Makes a deleted or superseded fact hold again."""
        fact = self.by_id[name]
        held = replace(
            fact,
            key=self._free(fact.domain, fact.key),
            superseded_by=None,
            superseded_at=0.0,
            doubted_by=None,
            last_confirmed_at=max(fact.last_confirmed_at, self.now),
        )
        self._put(held)
        return held

    def _free(self, domain: str, key: str) -> str:
        taken, number, name = self.keys.setdefault(domain, set()), 1, key
        while name in taken:
            number += 1
            name = f"{key}-{number}"
        taken.add(name)
        return name

    def _name(self, *parts: str) -> str:
        said = "\0".join((self.scope, "file", *parts, repr(self.now))).encode("utf-8", "replace")
        return f"f-{blake2b(said, digest_size=8).hexdigest()}"
