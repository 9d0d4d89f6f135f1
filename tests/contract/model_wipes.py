"""All that a scope remembered, put aside for a while, in its plainest form."""

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.storage.recollection import Wiped, links_of
from proxy.types import ArchivedTurn, Fact
from tests.contract.model import ModelArchive, ModelFacts


@dataclass(frozen=True, slots=True)
class _Aside:
    """One wipe's."""

    until: float
    facts: Sequence[Fact]
    turns: Sequence[tuple[ArchivedTurn, tuple[int, bytes] | None]]
    links: Sequence[bytes]  # that it made forgotten

    def but_for(self, other: "_Aside") -> "_Aside":
        """What is not aside with `other` as well."""
        names, links = {fact.id for fact in other.facts}, {turn.link for turn, _ in other.turns}
        return _Aside(
            self.until,
            [fact for fact in self.facts if fact.id not in names],
            [each for each in self.turns if each[0].link not in links],
            [link for link in self.links if link not in set(other.links)],
        )

    def without(self, facts: Sequence[Fact]) -> "_Aside":
        names, links = {fact.id for fact in facts}, {link for fact in facts for link in fact.links}
        turns = [each for each in self.turns if links.isdisjoint(links_of(each[0]))]
        gone = links | {link for each in self.turns if each not in turns for link in links_of(each[0])}
        kept = [fact for fact in self.facts if fact.id not in names]
        return _Aside(self.until, kept, turns, [link for link in self.links if link not in gone])


class ModelWipes:
    def __init__(self, facts: ModelFacts, archive: ModelArchive) -> None:
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
            made = _Aside(until, facts, turns, links)
            # What was learnt again since an earlier wipe is aside once.
            earlier_ones = [each.but_for(made) for each in self._aside.get(scope, ())]
            self._aside[scope] = [*earlier_ones, made]

    def restore(self, scope: str, now: float, since: float = 0.0) -> None:
        self.prune(now)
        every = self._aside.pop(scope, [])
        if older := [each for each in every if each.until < since]:
            self._aside[scope] = older
        for aside in every:
            if aside.until < since:
                continue
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

    async def facts(self, scope: str, now: float, since: float = 0.0) -> list[list[Fact]]:
        self.prune(now)
        return [list(each.facts) for each in self._aside.get(scope, ()) if each.until >= since]

    async def wiped(
        self, now: float, scope: str | None = None, *, after: str = "", limit: int | None = None
    ) -> list[Wiped]:
        self.prune(now)
        found = [
            _told(name, aside)
            for name, aside in sorted(self._aside.items())
            if scope in (None, name) and name > after and any(each.facts or each.turns for each in aside)
        ]
        return found[:limit]

    async def settled(self, scope: str) -> None: ...
    async def flush(self) -> None: ...
    async def close(self) -> None: ...


def _told(scope: str, aside: Sequence[_Aside]) -> Wiped:
    until = max(each.until for each in aside if each.facts or each.turns)
    newest = [each for each in aside if each.until == until]
    facts = {fact.id for each in newest for fact in each.facts}
    return Wiped(scope, len(facts), sum(len(each.turns) for each in newest), until)
