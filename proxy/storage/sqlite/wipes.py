"""Wipes in SQLite: a scope's facts and turns are put aside for a while, in tables of their own that only `restore`
reads. At the end of that time rows are overwritten, not only unlinked."""

import functools
import itertools
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from proxy.storage.recollection import Wiped
from proxy.storage.scoped import Apply, ScopedWrites
from proxy.storage.shares import DELETIONS
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import COLUMNS, fact_of
from proxy.storage.sqlite.rows import ADD_SCOPE, SCOPE_ID
from proxy.types import Fact


def _own(statement: str) -> str:
    """Returns the statement with names of columns and the scope's condition filled in."""
    return statement.format(
        fact=", ".join(COLUMNS),
        turn="scope_id, link, parent, session_id, turn, at, dimensions, vectors, utterances, messages",
        scope=SCOPE_ID,
    )


# Statement by statement, in one transaction.
WIPE = tuple(
    map(
        _own,
        (
            """
            INSERT OR REPLACE INTO wiped_facts (until, scope_id, {fact})
            SELECT :until, scope_id, {fact} FROM facts WHERE scope_id = {scope} AND created_at <= :at ORDER BY number
            """,
            "DELETE FROM facts WHERE scope_id = {scope} AND created_at <= :at",
            """
            INSERT OR REPLACE INTO wiped_archive (until, {turn})
            SELECT :until, {turn} FROM archive WHERE scope_id = {scope} AND at <= :at ORDER BY change
            """,
            """
            INSERT OR REPLACE INTO wiped_links (scope_id, link, turn, until)
            SELECT scope_id, link, link, :until FROM archive WHERE scope_id = {scope} AND at <= :at
            UNION SELECT archive.scope_id, archive_links.link, archive.link, :until
            FROM archive CROSS JOIN archive_links USING (change)
            WHERE archive.scope_id = {scope} AND archive.at <= :at
            """,
            "DELETE FROM archive WHERE scope_id = {scope} AND at <= :at",
        ),
    )
)
# For each link of the request that asked for the wipe.
WIPE_LINK = _own("""
    INSERT OR REPLACE INTO wiped_links (scope_id, link, turn, until)
    SELECT id, :link, x'', :until FROM scopes WHERE name = :scope AND NOT EXISTS (
        SELECT 1 FROM archive AS known
        WHERE known.scope_id = scopes.id AND known.link = :link AND known.at IS NULL AND NOT known.lifted
    )
""")
# Makes the wiped links forgotten, and those of earlier wipes that were said anew since.
BURY = _own("""
    INSERT OR REPLACE INTO archive (scope_id, link, parent, forgotten_at)
    SELECT wiped_links.scope_id, wiped_links.link, max(coalesce(wiped_archive.parent, known.parent)), :at
    FROM wiped_links
    LEFT JOIN wiped_archive ON wiped_archive.scope_id = wiped_links.scope_id
        AND wiped_archive.link = wiped_links.link
    LEFT JOIN archive AS known ON known.scope_id = wiped_links.scope_id AND known.link = wiped_links.link
    WHERE wiped_links.scope_id = {scope} AND (wiped_links.until > :at OR wiped_links.until = :until)
        AND (known.change IS NULL OR (known.lifted AND known.at IS NULL))
    GROUP BY wiped_links.link
""")
RESTORE = tuple(
    map(
        _own,
        (
            """
            INSERT OR IGNORE INTO facts (scope_id, {fact})
            SELECT scope_id, {fact} FROM wiped_facts WHERE scope_id = {scope} AND until > :now AND until >= :since
            ORDER BY number
            """,
            """
            INSERT OR REPLACE INTO archive (scope_id, link, parent, lifted)
            SELECT scope_id, link, parent, 1 FROM archive
            WHERE scope_id = {scope} AND at IS NULL AND NOT lifted
                AND link IN (SELECT link FROM wiped_links WHERE scope_id = {scope} AND until > :now AND until >= :since)
            """,
            """
            INSERT OR REPLACE INTO archive ({turn}, lifted)
            SELECT {turn}, 1 FROM wiped_archive
            WHERE scope_id = {scope} AND until > :now AND until >= :since AND NOT EXISTS (
                SELECT 1 FROM archive AS known WHERE known.scope_id = wiped_archive.scope_id
                AND known.link = wiped_archive.link AND (known.at IS NOT NULL OR NOT known.lifted)
            )
            ORDER BY number
            """,
            """
            INSERT OR IGNORE INTO archive_links (link, change)
            SELECT wiped_links.link, archive.change
            FROM wiped_links CROSS JOIN archive ON archive.scope_id = wiped_links.scope_id
                AND archive.link = wiped_links.turn AND archive.at IS NOT NULL
            WHERE wiped_links.scope_id = {scope} AND wiped_links.link <> wiped_links.turn
                AND wiped_links.until > :now AND wiped_links.until >= :since
            """,
            "DELETE FROM wiped_facts WHERE scope_id = {scope} AND until >= :since",
            "DELETE FROM wiped_archive WHERE scope_id = {scope} AND until >= :since",
            "DELETE FROM wiped_links WHERE scope_id = {scope} AND until >= :since",
        ),
    )
)
EXPIRED = (
    "DELETE FROM wiped_facts WHERE until <= :now",
    "DELETE FROM wiped_archive WHERE until <= :now",
    "DELETE FROM wiped_links WHERE until <= :now",
)
FORGET = _own("DELETE FROM wiped_facts WHERE scope_id = {scope} AND id = :id")
SAID_IN = _own("SELECT turn FROM wiped_links WHERE scope_id = {scope} AND link = :link AND turn <> x''")
FORGET_TURN = (
    _own("DELETE FROM wiped_archive WHERE scope_id = {scope} AND link = :turn"),
    _own("""
    DELETE FROM wiped_links WHERE scope_id = {scope}
        AND link IN (SELECT link FROM wiped_links WHERE scope_id = {scope} AND turn = :turn)
    """),
)
FORGET_LINK = _own("DELETE FROM wiped_links WHERE scope_id = {scope} AND link = :link")
FACTS = _own("""
    SELECT until, {fact} FROM wiped_facts WHERE scope_id = {scope} AND until > :now AND until >= :since
    ORDER BY until, number
""")
# Of each scope the newest wipe.
WIPED = """
    SELECT name, facts, turns, max(until)
    FROM (
        SELECT scopes.name, sum(is_fact) AS facts, sum(NOT is_fact) AS turns, until
        FROM (
            SELECT scope_id, until, 1 AS is_fact FROM wiped_facts
            UNION ALL SELECT scope_id, until, 0 FROM wiped_archive
        ) CROSS JOIN scopes ON scopes.id = scope_id
        WHERE until > :now AND (:scope IS NULL OR scopes.name = :scope) AND scopes.name > :after
        GROUP BY scopes.name, until
    ) GROUP BY name ORDER BY name LIMIT :limit
"""
_ALL = -1  # as a LIMIT


@dataclass(frozen=True, slots=True)
class _Wipe:
    scope: str
    links: Sequence[bytes]
    at: float
    until: float


@dataclass(frozen=True, slots=True)
class _Restore:
    scope: str
    now: float
    since: float


@dataclass(frozen=True, slots=True)
class _Forget:
    scope: str
    facts: Sequence[Fact]


@dataclass(frozen=True, slots=True)
class _Prune:
    now: float


class SqliteWipes:
    """Wipes in SQLite: their rows are in tables of their own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writes = ScopedWrites(database.writer, DELETIONS, _apply)

    def wipe(self, scope: str, links: Sequence[bytes], *, at: float, until: float) -> None:
        self._put(scope, _Wipe(scope, tuple(links), at, until))

    def restore(self, scope: str, now: float, since: float = 0.0) -> None:
        self._put(scope, _Restore(scope, now, since))

    def forget(self, scope: str, facts: Sequence[Fact]) -> None:
        if facts:
            self._put(scope, _Forget(scope, tuple(facts)))

    def prune(self, now: float) -> None:
        self._put("", _Prune(now))

    async def facts(self, scope: str, now: float, since: float = 0.0) -> list[list[Fact]]:
        await self._writes.settled(scope)
        return await self._database.read(functools.partial(_facts, {"scope": scope, "now": now, "since": since}))

    async def wiped(
        self, now: float, scope: str | None = None, *, after: str = "", limit: int | None = None
    ) -> list[Wiped]:
        await self._writes.settled(scope)
        values = {"now": now, "scope": scope, "after": after, "limit": _ALL if limit is None else limit}
        rows = await self._database.read(lambda connection: connection.execute(WIPED, values).fetchall())
        return list(itertools.starmap(Wiped, rows))

    async def settled(self, scope: str) -> None:
        await self._writes.settled(scope)

    async def flush(self) -> None:
        await self._writes.flush()

    async def close(self) -> None:
        await self.flush()

    def _put(self, scope: str, what: object) -> None:
        # Other stores write these tables too: their writes from before are wiped, those from after are not.
        self._writes.delete(scope, what, in_order=True)


def remove_expired(connection: sqlite3.Connection, until: float) -> int:
    """Deletes the wipes that end by `until`. Returns how many rows were deleted."""
    return sum(connection.execute(statement, {"now": until}).rowcount for statement in EXPIRED)


def _apply(connection: sqlite3.Connection, changes: Sequence[_Wipe | _Restore | _Forget | _Prune]) -> None:
    for change in changes:
        APPLY[type(change)](connection, [change])


def _wipe(connection: sqlite3.Connection, changes: Sequence[_Wipe]) -> None:
    for change in changes:
        values = {"scope": change.scope, "at": change.at, "until": change.until}
        connection.execute(ADD_SCOPE, (change.scope,))
        _each(connection, WIPE, values)
        connection.executemany(WIPE_LINK, [{**values, "link": link} for link in change.links])
        connection.execute(BURY, values)
        if change.until <= change.at:
            remove_expired(connection, change.until)


def _restore(connection: sqlite3.Connection, changes: Sequence[_Restore]) -> None:
    for change in changes:
        _each(connection, RESTORE, {"scope": change.scope, "now": change.now, "since": change.since})


def _forget(connection: sqlite3.Connection, changes: Sequence[_Forget]) -> None:
    for change in changes:
        for fact in change.facts:
            connection.execute(FORGET, {"scope": change.scope, "id": fact.id})
            for link in fact.links:
                said_in = connection.execute(SAID_IN, {"scope": change.scope, "link": link}).fetchall()
                for (turn,) in said_in:
                    _each(connection, FORGET_TURN, {"scope": change.scope, "turn": turn})
                connection.execute(FORGET_LINK, {"scope": change.scope, "link": link})


def _prune(connection: sqlite3.Connection, changes: Sequence[_Prune]) -> None:
    for change in changes:
        remove_expired(connection, change.now)


APPLY: Mapping[type, Apply] = {_Wipe: _wipe, _Restore: _restore, _Forget: _forget, _Prune: _prune}


def _each(connection: sqlite3.Connection, statements: Sequence[str], values: Mapping[str, Any]) -> None:
    for statement in statements:
        connection.execute(statement, values)


def _facts(values: Mapping[str, Any], connection: sqlite3.Connection) -> list[list[Fact]]:
    by_wipe = itertools.groupby(connection.execute(FACTS, values), key=itemgetter(0))
    return [[fact_of(row[1:]) for row in rows] for _, rows in by_wipe]
