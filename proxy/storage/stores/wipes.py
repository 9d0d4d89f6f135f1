"""Wipes in a database: a scope's facts and turns are put aside for a while, in tables of their own that only `restore`
reads."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from proxy.storage.database import Database, Store
from proxy.storage.pending import DELETIONS, Apply
from proxy.storage.recollection import Wiped
from proxy.storage.scoped_writes import ScopedWrites
from proxy.storage.stores.facts import fact_of
from proxy.types import Fact

_ALL = 2**62  # as a LIMIT


@dataclass(frozen=True, slots=True)
class WipeStatements:
    """The statements of wipes in one kind of database."""

    wipe: Apply  # of pairs of {"scope", "at", "until"} and links
    restore: Apply  # of {"scope", "now", "since"}
    forget: Apply  # of pairs of a scope and facts
    prune: Apply  # of times
    facts: str  # selects `until` and the columns of a fact by `scope`, `now` and `since`, in the order of both
    wiped: str  # selects the fields of Wiped by `now`, `scope` (or NULL), `after` and `limit`


class DatabaseWipes(Store):
    """The `WipeStore` of a database."""

    def __init__(self, database: Database, statements: WipeStatements) -> None:
        super().__init__(database)
        self._statements = statements
        writes = ScopedWrites(database.writer, DELETIONS)
        # Other stores write these tables too: their writes from before are wiped, those from after are not.
        self._put = functools.partial(writes.delete, in_order=True)
        self.settled = writes.settled

    def wipe(self, scope: str, links: Sequence[bytes], *, at: float, until: float) -> None:
        self._put(scope, self._statements.wipe, ({"scope": scope, "at": at, "until": until}, tuple(links)))

    def restore(self, scope: str, now: float, since: float = 0.0) -> None:
        self._put(scope, self._statements.restore, {"scope": scope, "now": now, "since": since})

    def forget(self, scope: str, facts: Sequence[Fact]) -> None:
        if facts:
            self._put(scope, self._statements.forget, (scope, tuple(facts)))

    def prune(self, now: float) -> None:
        self._put("", self._statements.prune, now)

    async def facts(self, scope: str, now: float, since: float = 0.0) -> list[list[Fact]]:
        await self.settled(scope)
        values = {"scope": scope, "now": now, "since": since}
        found = await self._database.rows(self._statements.facts, values, lambda row: (row[0], fact_of(row[1:])))
        return [[fact for _, fact in wipe] for _, wipe in itertools.groupby(found, key=itemgetter(0))]

    async def wiped(
        self, now: float, scope: str | None = None, *, after: str = "", limit: int | None = None
    ) -> list[Wiped]:
        await self.settled(scope)
        values = {"now": now, "scope": scope, "after": after, "limit": _ALL if limit is None else limit}
        return await self._database.rows(self._statements.wiped, values, lambda row: Wiped(*row))
