"""Facts and an archive in their plainest form: everything is kept, everything is searched. Stores are compared with
it."""

import itertools
import operator
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from proxy.storage.base import PAGE
from proxy.storage.pending import Key
from proxy.storage.recollection import ArchiveChanges, StoredShelf, links_of
from proxy.storage.vectors import packed_rows, unpacked_rows
from proxy.types import ArchivedTurn, Fact, Vector


class ModelFacts:
    keeps = True

    def __init__(self) -> None:
        self._facts: dict[str, dict[str, Fact]] = {}

    def put(self, scope: str, facts: Sequence[Fact]) -> None:
        self._facts.setdefault(scope, {}).update((fact.id, fact) for fact in facts)

    def forget(self, scope: str, ids: Sequence[str]) -> None:
        for fact_id in ids:
            self._facts.get(scope, {}).pop(fact_id, None)

    def take_out(self, scope: str, until: float) -> list[Fact]:
        """Facts that are as old as that, which are here no longer."""
        found = [fact for fact in self._facts.get(scope, {}).values() if fact.created_at <= until]
        self.forget(scope, [fact.id for fact in found])
        return found

    def put_back(self, scope: str, facts: Sequence[Fact]) -> None:
        """As they were taken out, if they have not come again."""
        here = self._facts.get(scope, {})
        self.put(scope, [fact for fact in facts if fact.id not in here])

    async def all(self, scope: str) -> list[Fact]:
        return sorted(self._facts.get(scope, {}).values(), key=operator.attrgetter("created_at"))

    async def find(self, fact_id: str) -> tuple[str, Fact] | None:
        return next(((scope, facts[fact_id]) for scope, facts in self._facts.items() if fact_id in facts), None)

    async def scopes(self) -> list[str]:
        return sorted(scope for scope, facts in self._facts.items() if facts)

    async def flush(self) -> None: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Row:
    change: int
    turn: ArchivedTurn
    vectors: tuple[int, bytes] | None


@dataclass(frozen=True, slots=True)
class _Gone:
    change: int
    parent: bytes | None  # None: it was forgotten before it came, or it is a message's link
    at: float  # when it was forgotten
    lifted: bool = False  # it was forgotten once, and may come again


class ModelArchive:
    def __init__(self, ttl: float) -> None:
        self._ttl = ttl
        self._rows: OrderedDict[Key, _Row] = OrderedDict()  # in the order of their last change
        self._gone: dict[Key, _Gone] = {}  # the same
        self._changes = itertools.count(1)

    def add(self, scope: str, turn: ArchivedTurn, vectors: Vector | None) -> None:
        if any(self._is_gone(scope, link) for link in links_of(turn)):
            known_grave = self._gone.get((scope, turn.link))
            if known_grave is None or not known_grave.lifted:  # what may come again still may: without the others
                self._bury(scope, turn.link, turn.parent, 0.0)
            return
        key = (scope, turn.link)
        known = self._rows.get(key)
        if known is not None and (vectors is None or known.vectors is not None):
            return
        kept = turn if known is None else known.turn
        self._rows[key] = _Row(next(self._changes), kept, packed_rows(vectors))
        self._rows.move_to_end(key)

    def forget(self, scope: str, links: Sequence[bytes], at: float | None = None) -> None:
        wanted, at = set(links), time.time() if at is None else at
        for turn in [row.turn for (owner, _), row in self._rows.items() if owner == scope]:
            if not wanted.isdisjoint(links_of(turn)):
                del self._rows[scope, turn.link]
                self._bury(scope, turn.link, turn.parent, at)
        for link in links:
            self._bury(scope, link, None, at)

    def lift(self, scope: str, links: Sequence[bytes]) -> None:
        for link in links:
            if self._is_gone(scope, link):
                grave = self._gone.pop((scope, link))
                self._gone[scope, link] = replace(grave, change=next(self._changes), lifted=True)

    async def forgotten_at(self, scope: str, links: Sequence[bytes]) -> dict[bytes, float]:
        return {link: self._gone[scope, link].at for link in links if self._is_gone(scope, link)}

    def take_out(self, scope: str, until: float) -> list[tuple[ArchivedTurn, tuple[int, bytes] | None]]:
        """Turns that are as old as that, which are here no longer, with their vectors; oldest change first."""
        found = [(key, row) for key, row in self._rows.items() if key[0] == scope and row.turn.at <= until]
        for key, _ in found:
            del self._rows[key]
        return [(row.turn, row.vectors) for _, row in found]

    def forgotten(self, scope: str, links: Sequence[bytes]) -> set[bytes]:
        """Those of these links that are."""
        return {link for link in links if self._is_gone(scope, link)}

    def lifted(self, scope: str, links: Sequence[bytes]) -> list[bytes]:
        """Those that were forgotten once, and of which nothing has come again."""
        graves = ((link, self._gone.get((scope, link))) for link in links if (scope, link) not in self._rows)
        return [link for link, grave in graves if grave is not None and grave.lifted]

    def bury(
        self,
        scope: str,
        turns: Sequence[tuple[ArchivedTurn, tuple[int, bytes] | None]],
        links: Sequence[bytes],
        at: float,
    ) -> None:
        """These links of theirs and of others are forgotten."""
        parents = {turn.link: turn.parent for turn, _ in turns}
        for link in links:
            self._bury(scope, link, parents.get(link), at)

    def put_back(self, scope: str, turn: ArchivedTurn, vectors: tuple[int, bytes] | None) -> None:
        """As it was taken out, if it has not come again."""
        if (scope, turn.link) not in self._rows:
            self._rows[scope, turn.link] = _Row(next(self._changes), turn, vectors)

    def prune(self, now: float) -> None:
        for key in [key for key, row in self._rows.items() if row.turn.at <= now - self._ttl]:
            del self._rows[key]

    async def changes(self, scope: str, after: int, now: float, limit: int = PAGE) -> ArchiveChanges:
        since = now - self._ttl
        rows = [row for row in self._since(scope, after) if row.turn.at > since][::-1]
        gone = [
            (grave.change, link, grave.lifted)
            for (owner, link), grave in self._gone.items()
            if owner == scope and grave.change > after
        ]
        page = sorted([*(row.change for row in rows), *(change for change, *_ in gone)])[:limit]
        upto = page[-1] if page else after
        return ArchiveChanges(
            tuple((row.turn, unpacked_rows(row.vectors)) for row in rows if row.change <= upto),
            tuple(link for change, link, lifted in gone if change <= upto and not lifted),
            tuple(link for change, link, lifted in gone if change <= upto and lifted),
            upto,
            more=len(page) == limit,
        )

    async def known(self, scope: str, links: Sequence[bytes]) -> set[bytes]:
        return {link for link in links if (scope, link) in self._rows}

    async def containing(self, scope: str, links: Sequence[bytes]) -> list[ArchivedTurn]:
        wanted = set(links)
        rows = (row.turn for (owner, _), row in self._rows.items() if owner == scope)
        return sorted((turn for turn in rows if not wanted.isdisjoint(links_of(turn))), key=lambda turn: turn.at)

    async def path(self, scope: str, link: bytes, limit: int) -> list[ArchivedTurn]:
        found: list[ArchivedTurn] = []
        at: bytes | None = link
        while at is not None and len(found) < limit:
            if (row := self._rows.get((scope, at))) is not None:
                found.append(row.turn)
                at = row.turn.parent
            else:
                grave = self._gone.get((scope, at))
                at = grave.parent if grave else None
        return found[::-1]

    async def latest(self, scope: str, session: str) -> ArchivedTurn | None:
        rows = (row for (owner, _), row in self._rows.items() if owner == scope and row.turn.session == session)
        newest = max(rows, key=lambda row: (row.turn.at, row.turn.number, row.change), default=None)
        return None if newest is None else newest.turn

    @property
    def ttl(self) -> float:
        raise NotImplementedError

    keeps = True

    async def shelf(self, scope: str, now: float) -> StoredShelf | None:
        raise NotImplementedError  # a copy of the rest

    def keep_shelf(self, scope: str, shelf: StoredShelf) -> None:
        raise NotImplementedError

    async def flush(self) -> None: ...
    async def close(self) -> None: ...

    def _is_gone(self, scope: str, link: bytes) -> bool:
        grave = self._gone.get((scope, link))
        return grave is not None and not grave.lifted

    def _bury(self, scope: str, link: bytes, parent: bytes | None, at: float) -> None:
        known = self._gone.get((scope, link))
        if known is None or known.lifted:
            if parent is None and known is not None:
                parent = known.parent
            self._gone.pop((scope, link), None)
            self._gone[scope, link] = _Gone(next(self._changes), parent, at)
        elif known.parent is None:
            self._gone[scope, link] = replace(known, parent=parent)

    def _since(self, scope: str, after: int) -> Iterator[_Row]:
        """Of this scope, the newest first."""
        for (owner, _), row in reversed(self._rows.items()):
            if row.change <= after:
                return
            if owner == scope:
                yield row
