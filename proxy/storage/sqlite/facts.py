"""Facts in SQLite, superseded ones included; and wipes: a scope's facts and turns are put aside for a while, in tables
of their own that only `restore` reads. At the end of that time rows are overwritten, not only unlinked."""

import functools
import itertools
import sqlite3
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from proxy.storage.database import Database, Store
from proxy.storage.pending import DELETIONS
from proxy.storage.recollection import Wiped
from proxy.storage.sqlite.database import ADD_SCOPE, SCOPE_ID, owners_of
from proxy.storage.stores.facts import COLUMNS, DatabaseFacts, FactRow, FactStatements, fact_of
from proxy.storage.write_queue import ScopedWrites
from proxy.types import Fact

PUT = f"""
    INSERT INTO facts (scope_id, {", ".join(COLUMNS)}) VALUES ({SCOPE_ID}, {", ".join(f":{name}" for name in COLUMNS)})
    ON CONFLICT (id, scope_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in COLUMNS)}
"""  # noqa: S608 (our own column names)
FORGET = f"DELETE FROM facts WHERE id = :id AND scope_id = {SCOPE_ID}"  # noqa: S608 (same)


def _put(connection: sqlite3.Connection, puts: Sequence[Sequence[FactRow]]) -> None:
    rows = [row for each in puts for row in each]
    connection.executemany(ADD_SCOPE, {(row["scope"],) for row in rows})
    connection.executemany(PUT, rows)


def _forget(connection: sqlite3.Connection, forgotten: Sequence[Sequence[Mapping[str, str]]]) -> None:
    connection.executemany(FORGET, [row for each in forgotten for row in each])


STATEMENTS = FactStatements(
    put=_put,
    forget=_forget,
    all=f"""
        SELECT {", ".join(COLUMNS)} FROM facts WHERE scope_id = {SCOPE_ID} ORDER BY created_at, number
    """,  # noqa: S608 (our own column names)
    find=f"""
        SELECT scopes.name, {", ".join(f"facts.{name}" for name in COLUMNS)}
        FROM facts JOIN scopes ON scopes.id = scope_id WHERE facts.id = :id LIMIT 1
    """,  # noqa: S608 (our own column names)
    scopes=f"""
        WITH RECURSIVE {owners_of("facts")}
        SELECT scopes.name FROM owners CROSS JOIN scopes USING (id) ORDER BY scopes.name
    """,  # noqa: S608 (our own text)
)


class SqliteFacts(DatabaseFacts):
    """Facts in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)


_TABLES = ("wiped_facts", "wiped_archive", "wiped_links")


def _own(*statements: str) -> tuple[str, ...]:
    """Returns statements with names of columns and the conditions of their rows filled in."""
    own = f"scope_id = {SCOPE_ID}"
    parts = {
        "fact": ", ".join(COLUMNS),
        "turn": "scope_id, link, parent, session_id, turn, at, dimensions, vectors, utterances, messages",
        "scope": SCOPE_ID,
        "own": own,
        "restorable": f"{own} AND until > :now AND until >= :since",
    }
    return tuple(each.format_map(parts) for each in statements)


# Statement by statement, in one transaction.
WIPE = _own(
    """
    INSERT OR REPLACE INTO wiped_facts (until, scope_id, {fact})
    SELECT :until, scope_id, {fact} FROM facts WHERE {own} AND created_at <= :at ORDER BY number
    """,
    "DELETE FROM facts WHERE {own} AND created_at <= :at",
    """
    INSERT OR REPLACE INTO wiped_archive (until, {turn})
    SELECT :until, {turn} FROM archive WHERE {own} AND at <= :at ORDER BY change
    """,
    """
    INSERT OR REPLACE INTO wiped_links (scope_id, link, turn, until)
    SELECT scope_id, link, link, :until FROM archive WHERE {own} AND at <= :at
    UNION SELECT archive.scope_id, archive_links.link, archive.link, :until
    FROM archive CROSS JOIN archive_links USING (change)
    WHERE archive.scope_id = {scope} AND archive.at <= :at
    """,
    "DELETE FROM archive WHERE {own} AND at <= :at",
)
# For each link of the request that asked for the wipe.
(WIPE_LINK,) = _own("""
    INSERT OR REPLACE INTO wiped_links (scope_id, link, turn, until)
    SELECT id, :link, x'', :until FROM scopes WHERE name = :scope AND NOT EXISTS (
        SELECT 1 FROM archive AS known
        WHERE known.scope_id = scopes.id AND known.link = :link AND known.at IS NULL AND NOT known.lifted
    )
""")
# Makes the wiped links forgotten, and those of earlier wipes that were said anew since.
(BURY,) = _own("""
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
RESTORE = _own(
    """
    INSERT OR IGNORE INTO facts (scope_id, {fact})
    SELECT scope_id, {fact} FROM wiped_facts WHERE {restorable} ORDER BY number
    """,
    """
    INSERT OR REPLACE INTO archive (scope_id, link, parent, lifted)
    SELECT scope_id, link, parent, 1 FROM archive
    WHERE {own} AND at IS NULL AND NOT lifted AND link IN (SELECT link FROM wiped_links WHERE {restorable})
    """,
    """
    INSERT OR REPLACE INTO archive ({turn}, lifted)
    SELECT {turn}, 1 FROM wiped_archive
    WHERE {restorable} AND NOT EXISTS (
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
    *(f"DELETE FROM {table} WHERE {{own}} AND until >= :since" for table in _TABLES),  # noqa: S608 (our own names)
)
EXPIRED = tuple(f"DELETE FROM {table} WHERE until <= :now" for table in _TABLES)  # noqa: S608 (our own names)
# A fact, and the turns that said it.
FORGET_WIPED, SAID_IN, FORGET_TURN, FORGET_TURN_LINKS, FORGET_LINK = _own(
    "DELETE FROM wiped_facts WHERE {own} AND id = :id",
    "SELECT turn FROM wiped_links WHERE {own} AND link = :link AND turn <> x''",
    "DELETE FROM wiped_archive WHERE {own} AND link = :turn",
    """
    DELETE FROM wiped_links WHERE {own} AND link IN (SELECT link FROM wiped_links WHERE {own} AND turn = :turn)
    """,
    "DELETE FROM wiped_links WHERE {own} AND link = :link",
)
(WIPED_FACTS,) = _own("""
    SELECT until, {fact} FROM wiped_facts WHERE {restorable} ORDER BY until, number
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


class SqliteWipes(Store):
    """Wipes in SQLite: their rows are in tables of their own."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        writes = ScopedWrites(database.writer, DELETIONS)
        # Other stores write these tables too: their writes from before are wiped, those from after are not.
        self._put = functools.partial(writes.delete, in_order=True)
        self.settled = writes.settled

    def wipe(self, scope: str, links: Sequence[bytes], *, at: float, until: float) -> None:
        self._put(scope, _wipe, ({"scope": scope, "at": at, "until": until}, tuple(links)))

    def restore(self, scope: str, now: float, since: float = 0.0) -> None:
        self._put(scope, _restore, {"scope": scope, "now": now, "since": since})

    def forget(self, scope: str, facts: Sequence[Fact]) -> None:
        if facts:
            self._put(scope, _forget_wiped, (scope, tuple(facts)))

    def prune(self, now: float) -> None:
        self._put("", _prune, now)

    async def facts(self, scope: str, now: float, since: float = 0.0) -> list[list[Fact]]:
        await self.settled(scope)
        values = {"scope": scope, "now": now, "since": since}
        found = await self._database.rows(WIPED_FACTS, values, lambda row: (row[0], fact_of(row[1:])))
        return [[fact for _, fact in wipe] for _, wipe in itertools.groupby(found, key=itemgetter(0))]

    async def wiped(
        self, now: float, scope: str | None = None, *, after: str = "", limit: int | None = None
    ) -> list[Wiped]:
        await self.settled(scope)
        values = {"now": now, "scope": scope, "after": after, "limit": _ALL if limit is None else limit}
        return await self._database.rows(WIPED, values, lambda row: Wiped(*row))


def remove_expired(connection: sqlite3.Connection, until: float) -> int:
    """Deletes the wipes that end by `until`. Returns how many rows were deleted."""
    return sum(connection.execute(statement, {"now": until}).rowcount for statement in EXPIRED)


def _wipe(connection: sqlite3.Connection, wipes: Sequence[tuple[Mapping[str, Any], Sequence[bytes]]]) -> None:
    for values, links in wipes:
        connection.execute(ADD_SCOPE, (values["scope"],))
        for statement in WIPE:
            connection.execute(statement, values)
        connection.executemany(WIPE_LINK, [{**values, "link": link} for link in links])
        connection.execute(BURY, values)
        if values["until"] <= values["at"]:
            remove_expired(connection, values["until"])


def _restore(connection: sqlite3.Connection, restored: Sequence[Mapping[str, Any]]) -> None:
    for values in restored:
        for statement in RESTORE:
            connection.execute(statement, values)


def _forget_wiped(connection: sqlite3.Connection, forgotten: Sequence[tuple[str, Sequence[Fact]]]) -> None:
    for scope, facts in forgotten:
        for fact in facts:
            connection.execute(FORGET_WIPED, {"scope": scope, "id": fact.id})
            for link in fact.links:
                values = {"scope": scope, "link": link}
                for (turn,) in connection.execute(SAID_IN, values).fetchall():
                    connection.execute(FORGET_TURN, {"scope": scope, "turn": turn})
                    connection.execute(FORGET_TURN_LINKS, {"scope": scope, "turn": turn})
                connection.execute(FORGET_LINK, values)


def _prune(connection: sqlite3.Connection, times: Sequence[float]) -> None:
    remove_expired(connection, max(times))
