"""States of conversations in a database. Queued ones are in memory as well: the next request must already see them."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.storage.database import Database, Store
from proxy.storage.pending import STATES, Apply, Key, Write
from proxy.storage.scoped_writes import ScopedWrites

PRUNED = 200  # expired states that one batch deletes, at most


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """One state as it is queued."""

    scope: str
    session: str
    link: bytes
    at: float
    state: bytes


@dataclass(frozen=True, slots=True)
class StateStatements:
    """The statements of states in one kind of database."""

    put: Apply  # of States: they replace earlier ones, the newest few of a session stay, a few that are too old leave
    forget: Apply  # of scopes
    # Gets the connection, a scope and links. Returns place and state of the first link that has one.
    get: Callable[[Any, str, Sequence[bytes]], tuple[int, bytes] | None]


class DatabaseStates(Store):
    """The `StateStore` of a database."""

    def __init__(self, database: Database, statements: StateStatements) -> None:
        super().__init__(database)
        self._statements = statements
        self._queued: dict[Key, State] = {}
        self._writes = ScopedWrites(database.writer, STATES)

    def put(self, scope: str, session: str, link: bytes, at: float, state: bytes) -> None:
        queued = State(scope, session, link, at, state)
        settled = functools.partial(self._settle, queued)
        write = Write(1, self._statements.put, queued, settled, kind=STATES, scope=scope, store=self._writes)
        if self._database.writer.put(write):
            self._queued[scope, link] = queued

    def forget(self, scope: str) -> None:
        for key in [key for key in self._queued if key[0] == scope]:
            del self._queued[key]
        self._writes.delete(scope, self._statements.forget, scope)

    async def get(self, scope: str, links: Sequence[bytes]) -> tuple[bytes, bytes] | None:
        await self._writes.erased(scope)
        queued = None
        for place, link in enumerate(links):
            if (waiting := self._queued.get((scope, link))) is not None:
                links, queued = links[:place], (link, waiting.state)
                break
        if not links:
            return queued
        stored = await self._database.read(lambda connection: self._statements.get(connection, scope, links))
        return queued if stored is None else (links[stored[0]], stored[1])

    def _settle(self, written: State) -> None:
        if self._queued.get((written.scope, written.link)) is written:
            del self._queued[written.scope, written.link]
