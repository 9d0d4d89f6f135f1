"""Old turns in this process, bounded; and how the vectors of a turn are kept (`packed_rows`)."""

import itertools
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxy.storage.base import PAGE
from proxy.storage.memory import Key
from proxy.storage.recollection import ArchiveChanges
from proxy.storage.reuse import packed, unpacked
from proxy.types import ArchivedTurn, Vector


def links_of(turn: ArchivedTurn) -> tuple[bytes, ...]:
    """All that a turn is forgotten by: its own link, and those of its messages."""
    return tuple(dict.fromkeys((turn.link, *(said.link for said in turn.utterances))))


def packed_rows(vectors: Vector | None) -> tuple[int, bytes] | None:
    """How many dimensions, and the rows one after another as float16."""
    return None if vectors is None else (vectors.shape[1], packed(vectors))


def unpacked_rows(stored: tuple[int, bytes] | None) -> Vector | None:
    return None if stored is None else unpacked(stored[1]).reshape(-1, stored[0])


@dataclass(frozen=True, slots=True)
class _Row:
    change: int
    turn: ArchivedTurn
    vectors: tuple[int, bytes] | None


@dataclass(frozen=True, slots=True)
class _Gone:
    change: int
    parent: bytes | None  # None: it was forgotten before it came, or it is a message's link


class MemoryArchive:
    """Keeps the `max_turns` turns that changed last, and the `max_gone` links that were forgotten last."""

    def __init__(self, ttl: float, max_turns: int = 10_000, max_gone: int = 100_000) -> None:
        self._ttl = ttl
        self._max_turns = max_turns
        self._max_gone = max_gone
        self._rows: OrderedDict[Key, _Row] = OrderedDict()  # in the order of their last change
        self._gone: dict[Key, _Gone] = {}  # the same
        self._changes = itertools.count(1)

    def add(self, scope: str, turn: ArchivedTurn, vectors: Vector | None) -> None:
        if any((scope, link) in self._gone for link in links_of(turn)):
            self._bury(scope, turn.link, turn.parent)
            return
        key = (scope, turn.link)
        known = self._rows.get(key)
        if known is not None and (vectors is None or known.vectors is not None):
            return
        kept = turn if known is None else known.turn
        self._rows[key] = _Row(next(self._changes), kept, packed_rows(vectors))
        self._rows.move_to_end(key)
        while len(self._rows) > self._max_turns:
            self._rows.popitem(last=False)

    def forget(self, scope: str, links: Sequence[bytes]) -> None:
        wanted = set(links)
        for turn in [row.turn for (owner, _), row in self._rows.items() if owner == scope]:
            if not wanted.isdisjoint(links_of(turn)):
                del self._rows[scope, turn.link]
                self._bury(scope, turn.link, turn.parent)
        for link in links:
            self._bury(scope, link, None)

    def prune(self, now: float) -> None:
        for key in [key for key, row in self._rows.items() if row.turn.at <= now - self._ttl]:
            del self._rows[key]

    async def turns(self, scope: str, after: int, now: float, limit: int = PAGE) -> ArchiveChanges:
        since = now - self._ttl
        rows = [row for row in self._since(scope, after) if row.turn.at > since][::-1]
        gone = [
            (grave.change, link)
            for (owner, link), grave in self._gone.items()
            if owner == scope and grave.change > after
        ]
        page = sorted([*(row.change for row in rows), *(change for change, _ in gone)])[:limit]
        upto = page[-1] if page else after
        return ArchiveChanges(
            tuple((row.turn, unpacked_rows(row.vectors)) for row in rows if row.change <= upto),
            tuple(link for change, link in gone if change <= upto),
            upto,
            more=len(page) == limit,
        )

    async def known(self, scope: str, links: Sequence[bytes]) -> set[bytes]:
        return {link for link in links if (scope, link) in self._rows}

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

    def of_session(self, scope: str, session: str) -> list[ArchivedTurn]:
        """Its turns, all branches, oldest first."""
        rows = (row for (owner, _), row in self._rows.items() if owner == scope and row.turn.session == session)
        return [row.turn for row in sorted(rows, key=lambda row: (row.turn.at, row.turn.number))]

    async def flush(self) -> None: ...
    async def close(self) -> None: ...

    def _bury(self, scope: str, link: bytes, parent: bytes | None) -> None:
        known = self._gone.get((scope, link))
        if known is None:
            self._gone[scope, link] = _Gone(next(self._changes), parent)
            if len(self._gone) > self._max_gone:
                del self._gone[next(iter(self._gone))]
        elif known.parent is None:
            self._gone[scope, link] = _Gone(known.change, parent)

    def _since(self, scope: str, after: int) -> Iterator[_Row]:
        """Of this scope, the newest first."""
        for (owner, _), row in reversed(self._rows.items()):
            if row.change <= after:
                return
            if owner == scope:
                yield row
