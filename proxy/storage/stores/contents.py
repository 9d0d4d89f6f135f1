"""Bodies of requests and answers in a database, which are kept for a while. The statements are those of its kind."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import msgspec

from proxy.storage.database import LONG_SECONDS, Database, Store
from proxy.storage.pending import CONTENTS, PAGE_BYTES, Apply
from proxy.storage.scoped_writes import ScopedWrites
from proxy.storage.stores.whose import Whose, whose
from proxy.types import Contents

COLUMNS = tuple(field.name for field in fields(Contents))
MOST_GONE = 4 * 2**20  # bytes that a batch deletes, beyond what it adds


@dataclass(frozen=True, slots=True)
class ContentLimits:
    """Limits of what is kept of contents."""

    seconds: float = 7 * 86_400.0  # that an entry is kept; 0: for ever
    bytes: int = 256 * 2**20  # of all entries; beyond them the oldest are deleted
    entry_bytes: int = 2 * 2**20  # of one entry; a larger one is not kept

    def since(self, now: float) -> float:
        """Returns the time before which entries have expired at `now`."""
        return now - self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class ContentStatements:
    """The statements of contents in one kind of database. Those that select give COLUMNS of entries after `since`."""

    put: Apply  # of pairs: Contents, and the most bytes of all
    forget: Apply  # of scopes
    get: str  # by `scope` and `request_id`
    # Of requests in `wanted`, JSON, or in the lists `scopes` and `requests`: COLUMNS with empty `sent` and `fates`.
    several: str
    recent: Mapping[Whose, str]  # by `scope` and `session`, newest first, `limit` entries


class DatabaseContents(Store):
    """The `ContentStore` of a database."""

    def __init__(
        self,
        database: Database,
        statements: ContentStatements,
        limits: ContentLimits | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(database)
        self._statements = statements
        self._limits = limits or ContentLimits()
        self._clock = clock
        self._writes = ScopedWrites(database.writer, CONTENTS)

    def put(self, contents: Contents) -> None:
        if self.keeps and contents.size <= self._limits.entry_bytes:
            rows = 1 + contents.size // PAGE_BYTES
            self._writes.put(contents.scope, self._statements.put, (contents, self._limits.bytes), rows)

    async def get(self, scope: str, request_id: str) -> Contents | None:
        values = {"scope": scope, "request_id": request_id}
        return next(iter(await self._read(self._statements.get, values)), None)

    async def several(self, requests: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Contents]:
        wanted = list(requests)
        for scope in {scope for scope, _ in wanted}:
            await self._writes.settled(scope)
        values = {
            "wanted": msgspec.json.encode(wanted).decode(),
            "scopes": [scope for scope, _ in wanted],
            "requests": [request_id for _, request_id in wanted],
            "since": self._limits.since(self._clock()),
        }
        found = await self._database.rows(self._statements.several, values, entry_of, LONG_SECONDS)
        return {(each.scope, each.request_id): each for each in found}

    async def recent(self, limit: int, *, scope: str | None = None, session: str | None = None) -> Sequence[Contents]:
        values = {"scope": scope, "session": session, "limit": max(0, limit)}
        return (await self._read(self._statements.recent[whose(scope, session)], values))[::-1]

    def forget(self, scope: str) -> None:
        self._writes.delete(scope, self._statements.forget, scope)

    async def _read(self, statement: str, values: Mapping[str, Any]) -> list[Contents]:
        await self._writes.settled(values["scope"])
        values = {**values, "since": self._limits.since(self._clock())}
        return await self._database.rows(statement, values, entry_of, LONG_SECONDS)


def row_of(contents: Contents) -> Sequence[Any]:
    """Returns scope, session, request id, time, size, headers (JSON), and the four bodies of an entry."""
    headers = msgspec.json.encode(contents.headers).decode()
    named = (contents.scope, contents.session, contents.request_id, contents.at, contents.size, headers)
    return (*named, contents.body, contents.sent, contents.fates, contents.answer)


def entry_of(row: Sequence[Any]) -> Contents:
    """Returns the entry of a row of `COLUMNS`."""
    values = dict(zip(COLUMNS, row, strict=True))
    return Contents(**values | {"headers": msgspec.json.decode(row[-1], type=dict[str, str])})
