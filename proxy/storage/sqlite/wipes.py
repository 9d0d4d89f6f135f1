"""Wipes in SQLite: a scope's facts and turns are put aside for a while, in tables of their own that only `restore`
reads. At the end of that time rows are overwritten, not only unlinked."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from proxy.storage.database import Database
from proxy.storage.sqlite.desk import FORGETTING as DESK_FORGETTING
from proxy.storage.sqlite.jobs import FORGETTING
from proxy.storage.sqlite.names import ADD_SCOPE, SCOPE_ID
from proxy.storage.stores.facts import COLUMNS
from proxy.storage.stores.wipes import DatabaseWipes, WipeStatements
from proxy.types import Fact

_TABLES = ("wiped_facts", "wiped_archive", "wiped_links")
_DESK_TABLES = ("wiped_desk_lines", "wiped_desk_events", "wiped_desk_documents")


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
    "UPDATE scopes SET wiped_at = max(wiped_at, :at) WHERE id = {scope}",
    "DELETE FROM shelves WHERE {own}",
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
    "UPDATE scopes SET wiped_at = 0 WHERE id = {scope}",
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
EXPIRED = tuple(f"DELETE FROM {table} WHERE until <= :now" for table in (*_TABLES, *_DESK_TABLES))  # noqa: S608 (our own names)
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


def remove_expired(connection: sqlite3.Connection, until: float) -> int:
    """Deletes the wipes that end by `until`. Returns how many rows were deleted."""
    return sum(connection.execute(statement, {"now": until}).rowcount for statement in EXPIRED)


def _wipe(connection: sqlite3.Connection, wipes: Sequence[tuple[Mapping[str, Any], Sequence[bytes]]]) -> None:
    for values, links in wipes:
        connection.execute(ADD_SCOPE, (values["scope"],))
        FORGETTING.everything(connection, values["scope"])
        DESK_FORGETTING.wipe(connection, values["scope"], values["at"], values["until"])
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
        DESK_FORGETTING.restore(connection, values["scope"], values["now"], values["since"])


def _forget_wiped(connection: sqlite3.Connection, forgotten: Sequence[tuple[str, Sequence[Fact]]]) -> None:
    for scope, facts in forgotten:
        DESK_FORGETTING.aside(connection, scope, facts)
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


STATEMENTS = WipeStatements(_wipe, _restore, _forget_wiped, _prune, facts=WIPED_FACTS, wiped=WIPED)


class SqliteWipes(DatabaseWipes):
    """Wipes in SQLite."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
