"""All that a scope remembered, put aside for a while, in this process."""

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.storage.archive import MemoryArchive, links_of
from proxy.storage.facts import MemoryFacts
from proxy.storage.recollection import Wiped
from proxy.types import ArchivedTurn, Fact


@dataclass(frozen=True, slots=True)
class _Aside:
    """One wipe's."""

    until: float
    facts: Sequence[Fact]
    turns: Sequence[tuple[ArchivedTurn, tuple[int, bytes] | None]]
    links: Sequence[bytes]  # that it made forgotten

    def without(self, facts: Sequence[Fact]) -> "_Aside":
        names, links = {fact.id for fact in facts}, {link for fact in facts for link in fact.links}
        turns = [each for each in self.turns if links.isdisjoint(links_of(each[0]))]
        gone = links | {link for each in self.turns if each not in turns for link in links_of(each[0])}
        kept = [fact for fact in self.facts if fact.id not in names]
        return _Aside(self.until, kept, turns, [link for link in self.links if link not in gone])


class MemoryWipes:
    """`facts`, `archive`: None where none are kept."""

    def __init__(self, facts: MemoryFacts | None, archive: MemoryArchive | None) -> None:
        self._facts = facts
        self._archive = archive
        self._aside: dict[str, list[_Aside]] = {}

    def wipe(self, scope: str, links: Sequence[bytes], *, at: float, until: float) -> None:
        facts = self._facts.take_out(scope, at) if self._facts else []
        turns = self._archive.take_out(scope, at) if self._archive else []
        if self._archive:
            ours = dict.fromkeys((*(link for turn, _ in turns for link in links_of(turn)), *links))
            before = self._archive.forgotten(scope, tuple(ours))
            links = [link for link in ours if link not in before]
            earlier = [link for each in self._aside.get(scope, ()) if each.until > at for link in each.links]
            self._archive.bury(scope, turns, (*links, *self._archive.lifted(scope, earlier)), at)
        if until > at and (facts or turns or links):
            self._aside.setdefault(scope, []).append(_Aside(until, facts, turns, links))

    def restore(self, scope: str, now: float) -> None:
        self.prune(now)
        for aside in self._aside.pop(scope, []):
            if self._facts:
                self._facts.put_back(scope, aside.facts)
            if self._archive:
                self._archive.lift(scope, aside.links)
                for turn, vectors in aside.turns:
                    self._archive.put_back(scope, turn, vectors)

    def forget(self, scope: str, facts: Sequence[Fact]) -> None:
        if scope in self._aside:
            self._aside[scope] = [each.without(facts) for each in self._aside[scope]]

    def prune(self, now: float) -> None:
        kept = {scope: [each for each in aside if each.until > now] for scope, aside in self._aside.items()}
        self._aside = {scope: aside for scope, aside in kept.items() if aside}

    async def facts(self, scope: str, now: float) -> list[Fact]:
        self.prune(now)
        return list({fact.id: fact for each in self._aside.get(scope, ()) for fact in each.facts}.values())

    async def wiped(self, now: float, scope: str | None = None) -> list[Wiped]:
        self.prune(now)
        return [
            Wiped(name, len(await self.facts(name, now)), sum(len(each.turns) for each in aside), aside[0].until)
            for name, aside in sorted(self._aside.items())
            if scope in (None, name) and any(each.facts or each.turns for each in aside)
        ]

    async def flush(self) -> None: ...
    async def close(self) -> None: ...
