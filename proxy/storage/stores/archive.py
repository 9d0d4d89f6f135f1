"""The archive of turns in a database. Readers follow changes by their number; of a forgotten turn the link stays."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.storage.base import PAGE
from proxy.storage.database import Database, Store
from proxy.storage.pending import PAGE_BYTES, SHELVES, TURNS, Apply
from proxy.storage.recollection import ArchiveChanges, StoredShelf
from proxy.storage.scoped_writes import ScopedWrites
from proxy.storage.vectors import packed_rows, unpacked_rows
from proxy.types import ArchivedTurn, Utterance, Vector

SHELF_SECONDS = 1.0  # that the reading of a shelf may take, tens of megabytes: a request waits for less
PRUNED = 500  # expired turns that one `prune` deletes
# The columns of a turn, as `turn_of` takes them.
TURN = "archive.link, archive.parent, sessions.name, archive.turn, archive.at, archive.messages, archive.utterances"

Rows = list[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Added:
    """A turn as it is queued, with its vectors as `packed_rows` gives them."""

    scope: str
    turn: ArchivedTurn
    vectors: tuple[int, bytes] | None


@dataclass(frozen=True, slots=True)
class ArchiveStatements:
    """The statements of the archive in one kind of database. Queries get the connection, a scope and links."""

    add: Apply  # of Added
    forget: Apply  # of sequences of {"scope", "link", "at"}
    lift: Apply  # of sequences of {"scope", "link"}
    prune: Apply  # of times, each with the most rows that leave; shelves with older turns leave, too
    keep_shelf: (
        Apply  # of StoredShelf, each with its scope: unless something was forgotten since, or a newer one is there
    )
    changes: Callable[[Any, Mapping[str, Any]], Rows]  # gets scope, after, since and limit; rows: see `_changes`
    known: Callable[[Any, str, Sequence[bytes]], list[bytes]]
    forgotten_at: Callable[[Any, str, Sequence[bytes]], dict[bytes, float]]
    containing: Callable[[Any, str, Sequence[bytes]], Rows]  # returns rows of TURN
    path: str  # selects TURN by `scope`, `link` and `limit`
    latest: str  # selects TURN by `scope` and `session`
    shelf: Callable[[Any, str, float], StoredShelf | None]  # gets the connection, the scope, and since when turns count


class DatabaseArchive(Store):
    """The `Archive` of a database. `ttl`: seconds that a turn is kept."""

    def __init__(self, database: Database, statements: ArchiveStatements, ttl: float) -> None:
        super().__init__(database)
        self._statements = statements
        self.ttl = ttl
        self._writes = ScopedWrites(database.writer, TURNS)

    def add(self, scope: str, turn: ArchivedTurn, vectors: Vector | None) -> None:
        if self.keeps:
            rows = 1 + len(turn.messages) // PAGE_BYTES
            self._writes.put(scope, self._statements.add, Added(scope, turn, packed_rows(vectors)), rows)

    def forget(self, scope: str, links: Sequence[bytes], at: float | None = None) -> None:
        if links:
            values = {"scope": scope, "at": time.time() if at is None else at}
            self._writes.delete(
                scope, self._statements.forget, [{**values, "link": link} for link in links], len(links)
            )

    def lift(self, scope: str, links: Sequence[bytes]) -> None:
        if links:
            self._writes.put(
                scope, self._statements.lift, [{"scope": scope, "link": link} for link in links], len(links)
            )

    def prune(self, now: float) -> None:
        self._writes.delete("", self._statements.prune, (now - self.ttl, PRUNED), erases=False)

    async def changes(self, scope: str, after: int, now: float, limit: int = PAGE) -> ArchiveChanges:
        await self._writes.erased(scope)
        values = {"scope": scope, "after": after, "since": now - self.ttl, "limit": limit}
        return await self._database.read(
            lambda connection: _changes(self._statements.changes(connection, values), values)
        )

    async def known(self, scope: str, links: Sequence[bytes]) -> set[bytes]:
        await self._writes.settled(scope)
        return set(await self._database.read(lambda connection: self._statements.known(connection, scope, links)))

    async def forgotten_at(self, scope: str, links: Sequence[bytes]) -> dict[bytes, float]:
        await self._writes.settled(scope)
        return await self._database.read(lambda connection: self._statements.forgotten_at(connection, scope, links))

    async def containing(self, scope: str, links: Sequence[bytes]) -> list[ArchivedTurn]:
        if not links:
            return []
        await self._writes.settled(scope)
        found = await self._database.read(
            lambda connection: list(map(turn_of, self._statements.containing(connection, scope, links)))
        )
        return sorted({turn.link: turn for turn in found}.values(), key=lambda turn: turn.at)

    async def path(self, scope: str, link: bytes, limit: int) -> list[ArchivedTurn]:
        await self._writes.settled(scope)
        values = {"scope": scope, "link": link, "limit": limit}
        return await self._database.rows(self._statements.path, values, turn_of)

    async def latest(self, scope: str, session: str) -> ArchivedTurn | None:
        await self._writes.settled(scope)
        return await self._database.row(self._statements.latest, {"scope": scope, "session": session}, turn_of)

    async def shelf(self, scope: str, now: float) -> StoredShelf | None:
        await self._writes.erased(scope)
        return await self._database.read(
            lambda connection: self._statements.shelf(connection, scope, now - self.ttl), SHELF_SECONDS
        )

    def keep_shelf(self, scope: str, shelf: StoredShelf) -> None:
        if self.keeps:
            rows = 1 + len(shelf.shelf) // PAGE_BYTES
            self._writes.put(scope, self._statements.keep_shelf, (scope, shelf), rows, kind=SHELVES)


def _changes(rows: Rows, asked: Mapping[str, Any]) -> ArchiveChanges:
    """Returns the changes of rows of change, lifted, dimensions, vectors and TURN."""
    entries: list[tuple[ArchivedTurn, Vector | None]] = []
    gone: list[bytes] = []
    back: list[bytes] = []
    for _, lifted, dimensions, vectors, link, *rest in rows:
        if lifted:
            back.append(link)
        elif rest[-1] is None:
            gone.append(link)
        if rest[-1] is not None:
            stored = None if dimensions is None else (dimensions, vectors)
            entries.append((turn_of((link, *rest)), unpacked_rows(stored)))
    upto = rows[-1][0] if rows else asked["after"]
    return ArchiveChanges(tuple(entries), tuple(gone), tuple(back), upto, more=len(rows) == asked["limit"])


def turn_of(row: Sequence[Any]) -> ArchivedTurn:
    """Returns the turn of a row of TURN."""
    link, parent, session, number, at, messages, utterances = row
    said = msgspec.json.decode(utterances, type=tuple[Utterance, ...])
    return ArchivedTurn(link, parent, session, number, at, messages, said)
