"""Facts in SQLite, superseded ones included."""

import sqlite3
from collections.abc import Mapping, Sequence

from proxy.storage.database import Database
from proxy.storage.recollection import WIPE_REACHES
from proxy.storage.sqlite.desk import FORGETTING as DESK_FORGETTING
from proxy.storage.sqlite.jobs import FORGETTING
from proxy.storage.sqlite.names import ADD_SCOPE, SCOPE_ID
from proxy.storage.stores.facts import COLUMNS, DatabaseFacts, FactRow, FactStatements, links_of
from proxy.storage.stores.whose import owners_of

PUT = f"""
    INSERT INTO facts (scope_id, {", ".join(COLUMNS)})
    SELECT id, {", ".join(f":{name}" for name in COLUMNS)} FROM scopes
    WHERE name = :scope AND NOT coalesce(:created_at <= wiped_at AND :created_at > wiped_at - {WIPE_REACHES}, 0)
    ON CONFLICT (id, scope_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in COLUMNS)}
"""  # noqa: S608 (our own column names)
LINKS = f"SELECT id, value, links FROM facts WHERE id = :id AND scope_id = {SCOPE_ID}"  # noqa: S608 (same)
FORGET = f"DELETE FROM facts WHERE id = :id AND scope_id = {SCOPE_ID}"  # noqa: S608 (same)


def _put(connection: sqlite3.Connection, puts: Sequence[Sequence[FactRow]]) -> None:
    rows = [row for each in puts for row in each]
    connection.executemany(ADD_SCOPE, {(row["scope"],) for row in rows})
    connection.executemany(PUT, rows)


def _forget(connection: sqlite3.Connection, forgotten: Sequence[Sequence[Mapping[str, str]]]) -> None:
    for each in forgotten:
        found = [row for values in each if (row := connection.execute(LINKS, values).fetchone()) is not None]
        scope, links = each[0]["scope"], links_of([links for *_, links in found])
        FORGETTING.facts(connection, scope, links)
        DESK_FORGETTING.facts(connection, scope, [(fact, value) for fact, value, _ in found], links)
        connection.executemany(FORGET, each)


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
