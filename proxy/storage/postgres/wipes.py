"""Wipes in PostgreSQL. At the end of their time rows are deleted; when the server overwrites them in its files is the
server's affair, as with whatever is forgotten (`archive.py`)."""

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.storage.database import Database
from proxy.storage.postgres.archive import NEXT
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.desk import FORGETTING as DESK_FORGETTING
from proxy.storage.postgres.jobs import FORGETTING
from proxy.storage.postgres.names import ADD_SCOPES, SCOPE_ID
from proxy.storage.stores.facts import COLUMNS
from proxy.storage.stores.wipes import DatabaseWipes, WipeStatements
from proxy.types import Fact

# The tables, and the columns that tell a row from all others.
_TABLES = {"wiped_facts": "number", "wiped_archive": "number", "wiped_links": "scope_id, link, turn"}
_DESK_TABLES = dict.fromkeys(("wiped_desk_lines", "wiped_desk_events", "wiped_desk_documents"), "number")
_TURN = ("parent", "session_id", "turn", "at", "dimensions", "vectors", "utterances", "messages")


def _own(*statements: str) -> tuple[bytes, ...]:
    """Returns statements with names of columns and the conditions of their rows filled in."""
    own, since = f"scope_id = {SCOPE_ID}", "until >= %(since)s::float8"
    parts = {
        "fact": ", ".join(COLUMNS),
        "new_fact": ", ".join(f"{name} = excluded.{name}" for name in COLUMNS),
        "turn": ", ".join(("scope_id", "link", *_TURN)),
        "new_turn": ", ".join(f"{name} = excluded.{name}" for name in _TURN),
        "scope": SCOPE_ID,
        "own": own,
        "before": f"{own} AND at <= %(at)s::float8",
        "until": "%(until)s::float8",
        "since": since,
        "restorable": f"{own} AND until > %(now)s::float8 AND {since}",
        "next": NEXT,
    }
    return tuple(each.format_map(parts).encode() for each in statements)


# Statement by statement, in one transaction: what SQLite replaces gets a new number.
WIPE = _own(
    "UPDATE scopes SET wiped_at = greatest(wiped_at, %(at)s::float8) WHERE id = {scope}",
    "DELETE FROM shelves WHERE {own}",
    """
    INSERT INTO wiped_facts (until, scope_id, {fact})
    SELECT {until}, scope_id, {fact} FROM facts WHERE {own} AND created_at <= %(at)s::float8 ORDER BY number
    ON CONFLICT (scope_id, id) DO UPDATE SET number = excluded.number, until = excluded.until, {new_fact}
    """,
    "DELETE FROM facts WHERE {own} AND created_at <= %(at)s::float8",
    """
    INSERT INTO wiped_archive (until, {turn})
    SELECT {until}, {turn} FROM archive WHERE {before} ORDER BY change
    ON CONFLICT (scope_id, link) DO UPDATE SET number = excluded.number, until = excluded.until, {new_turn}
    """,
    """
    INSERT INTO wiped_links (scope_id, link, turn, until)
    SELECT scope_id, link, link, {until} FROM archive WHERE {before}
    UNION SELECT archive.scope_id, archive_links.link, archive.link, {until}
    FROM archive JOIN archive_links USING (change) WHERE {before}
    ON CONFLICT (scope_id, link, turn) DO UPDATE SET until = excluded.until
    """,
    "DELETE FROM archive WHERE {before}",
    # The links of the request that asked for the wipe.
    """
    INSERT INTO wiped_links (scope_id, link, turn, until)
    SELECT DISTINCT scopes.id, told.link, ''::bytea, {until}
    FROM scopes CROSS JOIN unnest(%(links)s::bytea[]) AS told (link)
    WHERE scopes.name = %(scope)s AND NOT EXISTS (
        SELECT 1 FROM archive AS known
        WHERE known.scope_id = scopes.id AND known.link = told.link AND known.at IS NULL AND known.lifted = 0
    )
    ON CONFLICT (scope_id, link, turn) DO UPDATE SET until = excluded.until
    """,
    # Makes the wiped links forgotten, and those of earlier wipes that were said anew since.
    """
    INSERT INTO archive (scope_id, link, parent, forgotten_at)
    SELECT DISTINCT wiped_links.scope_id, wiped_links.link, coalesce(wiped_archive.parent, known.parent),
        %(at)s::float8
    FROM wiped_links
    LEFT JOIN wiped_archive ON wiped_archive.scope_id = wiped_links.scope_id
        AND wiped_archive.link = wiped_links.link
    LEFT JOIN archive AS known ON known.scope_id = wiped_links.scope_id AND known.link = wiped_links.link
    WHERE wiped_links.scope_id = {scope} AND (wiped_links.until > %(at)s::float8 OR wiped_links.until = {until})
        AND (known.change IS NULL OR (known.lifted = 1 AND known.at IS NULL))
    ON CONFLICT (scope_id, link) DO UPDATE
    SET change = excluded.change, parent = excluded.parent, forgotten_at = excluded.forgotten_at, lifted = 0
    """,
)
RESTORE = _own(
    "UPDATE scopes SET wiped_at = 0 WHERE id = {scope}",
    """
    INSERT INTO facts (scope_id, {fact})
    SELECT scope_id, {fact} FROM wiped_facts WHERE {restorable} ORDER BY number
    ON CONFLICT DO NOTHING
    """,
    """
    UPDATE archive SET change = {next}, lifted = 1, forgotten_at = NULL
    WHERE {own} AND at IS NULL AND lifted = 0 AND link IN (SELECT link FROM wiped_links WHERE {restorable})
    """,
    """
    INSERT INTO archive ({turn}, lifted)
    SELECT {turn}, 1 FROM wiped_archive WHERE {restorable} ORDER BY number
    ON CONFLICT (scope_id, link) DO UPDATE SET change = excluded.change, forgotten_at = NULL, {new_turn}
    WHERE archive.at IS NULL AND archive.lifted = 1
    """,
    """
    INSERT INTO archive_links (link, change)
    SELECT wiped_links.link, archive.change
    FROM wiped_links JOIN archive ON archive.scope_id = wiped_links.scope_id
        AND archive.link = wiped_links.turn AND archive.at IS NOT NULL
    WHERE wiped_links.scope_id = {scope} AND wiped_links.link <> wiped_links.turn
        AND wiped_links.until > %(now)s::float8 AND wiped_links.{since}
    ON CONFLICT DO NOTHING
    """,
    *(f"DELETE FROM {table} WHERE {{own}} AND {{since}}" for table in _TABLES),  # noqa: S608 (our own names)
)
# Of whatever scope, and so without those that another process is just writing.
EXPIRED = tuple(
    f"""
    DELETE FROM {table} WHERE ({key}) IN (
        SELECT {key} FROM {table} WHERE until <= %s::float8 ORDER BY {key} FOR UPDATE SKIP LOCKED
    )
    """.encode()  # noqa: S608 (our own names)
    for table, key in (_TABLES | _DESK_TABLES).items()
)
FORGET_WIPED, *FORGET_SAID = _own(
    "DELETE FROM wiped_facts WHERE {own} AND id = ANY(%(ids)s::text[])",
    # A link of a fact: the turns that said it, the links of these, and it.
    """
    DELETE FROM wiped_archive WHERE {own} AND link IN (
        SELECT turn FROM wiped_links WHERE {own} AND link = %(link)s::bytea AND turn <> ''::bytea
    )
    """,
    """
    DELETE FROM wiped_links WHERE {own} AND (link = %(link)s::bytea OR link IN (
        SELECT link FROM wiped_links WHERE {own} AND turn IN (
            SELECT turn FROM wiped_links WHERE {own} AND link = %(link)s::bytea AND turn <> ''::bytea
        )
    ))
    """,
)
WIPED_FACTS = _own("SELECT until, {fact} FROM wiped_facts WHERE {restorable} ORDER BY until, number")[0].decode()
# Of each scope the newest wipe.
WIPED = """
    SELECT DISTINCT ON (scopes.name COLLATE "C") scopes.name, sum(is_fact)::bigint, sum(1 - is_fact)::bigint, until
    FROM (
        SELECT scope_id, until, 1 AS is_fact FROM wiped_facts
        UNION ALL SELECT scope_id, until, 0 FROM wiped_archive
    ) AS rows JOIN scopes ON scopes.id = scope_id
    WHERE until > %(now)s::float8 AND (%(scope)s::text IS NULL OR scopes.name = %(scope)s::text)
        AND scopes.name COLLATE "C" > %(after)s::text
    GROUP BY scopes.name, until
    ORDER BY scopes.name COLLATE "C", until DESC LIMIT %(limit)s::bigint
"""


def remove_expired(connection: Connection, until: float) -> int:
    """Deletes the wipes that end by `until`. Returns how many rows were deleted."""
    return sum(connection.execute(statement, (until,)).rowcount for statement in EXPIRED)


def _wipe(connection: Connection, wipes: Sequence[tuple[Mapping[str, Any], Sequence[bytes]]]) -> None:
    for values, links in wipes:
        FORGETTING.everything(connection, values["scope"])
        DESK_FORGETTING.wipe(connection, values["scope"], values["at"], values["until"])
        with connection.pipeline():
            connection.execute(ADD_SCOPES, ([values["scope"]],))
            for statement in WIPE:
                connection.execute(statement, {**values, "links": list(links)})
        if values["until"] <= values["at"]:
            remove_expired(connection, values["until"])


def _restore(connection: Connection, restored: Sequence[Mapping[str, Any]]) -> None:
    for values in restored:
        with connection.pipeline():
            for statement in RESTORE:
                connection.execute(statement, values)
        DESK_FORGETTING.restore(connection, values["scope"], values["now"], values["since"])


def _forget(connection: Connection, forgotten: Sequence[tuple[str, Sequence[Fact]]]) -> None:
    for scope, facts in forgotten:
        DESK_FORGETTING.aside(connection, scope, facts)
        with connection.pipeline():
            connection.execute(FORGET_WIPED, {"scope": scope, "ids": [fact.id for fact in facts]})
            for link in dict.fromkeys(link for fact in facts for link in fact.links):
                for statement in FORGET_SAID:
                    connection.execute(statement, {"scope": scope, "link": link})


def _prune(connection: Connection, times: Sequence[float]) -> None:
    remove_expired(connection, max(times))


STATEMENTS = WipeStatements(_wipe, _restore, _forget, _prune, facts=WIPED_FACTS, wiped=WIPED)


class PostgresWipes(DatabaseWipes):
    """Wipes in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
