"""Facts in PostgreSQL."""

from collections.abc import Mapping, Sequence

from proxy.storage.database import Database
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.desk import FORGETTING as DESK_FORGETTING
from proxy.storage.postgres.jobs import FORGETTING
from proxy.storage.postgres.names import ADD_SCOPES, SCOPE_ID
from proxy.storage.recollection import WIPE_REACHES
from proxy.storage.stores.facts import COLUMNS, DatabaseFacts, FactRow, FactStatements, links_of

TYPES = {
    "turn": "::bigint",
    "pinned": "::bigint",
    **dict.fromkeys(("created_at", "last_confirmed_at", "superseded_at"), "::float8"),
}
_VALUES = (f"%({name})s{TYPES.get(name, '::text')}" for name in COLUMNS)
PUT = f"""
    INSERT INTO facts (scope_id, {", ".join(COLUMNS)})
    SELECT scopes.id, told.* FROM (VALUES ({", ".join(_VALUES)})) AS told
    JOIN scopes ON name = %(scope)s AND NOT coalesce(
        %(created_at)s::float8 <= wiped_at AND %(created_at)s::float8 > wiped_at - {WIPE_REACHES}, false
    )
    ON CONFLICT (id, scope_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in COLUMNS)}
"""  # noqa: S608 (our own column names)
LINKS = f"SELECT id, value, links FROM facts WHERE id = ANY(%(ids)s::text[]) AND scope_id = {SCOPE_ID}"  # noqa: S608 (same)
FORGET = f"DELETE FROM facts WHERE id = %(id)s AND scope_id = {SCOPE_ID}"  # noqa: S608 (same)


def _put(connection: Connection, puts: Sequence[Sequence[FactRow]]) -> None:
    rows = [row for each in puts for row in each]
    connection.execute(ADD_SCOPES, (sorted({row["scope"] for row in rows}),))
    with connection.cursor() as cursor:
        cursor.executemany(PUT.encode(), rows)


def _forget(connection: Connection, forgotten: Sequence[Sequence[Mapping[str, str]]]) -> None:
    for each in forgotten:
        scope = each[0]["scope"]
        found = connection.execute(LINKS.encode(), {"scope": scope, "ids": [row["id"] for row in each]}).fetchall()
        links = links_of([links for *_, links in found])
        FORGETTING.facts(connection, scope, links)
        DESK_FORGETTING.facts(connection, scope, [(fact, value) for fact, value, _ in found], links)
    with connection.cursor() as cursor:
        cursor.executemany(FORGET.encode(), [row for each in forgotten for row in each])


STATEMENTS = FactStatements(
    put=_put,
    forget=_forget,
    all=f"""
        SELECT {", ".join(COLUMNS)} FROM facts WHERE scope_id = {SCOPE_ID} ORDER BY created_at, number
    """,  # noqa: S608 (our own column names)
    find=f"""
        SELECT scopes.name, {", ".join(f"facts.{name}" for name in COLUMNS)}
        FROM facts JOIN scopes ON scopes.id = scope_id WHERE facts.id = %(id)s LIMIT 1
    """,  # noqa: S608 (our own column names)
    scopes="""
        SELECT name FROM scopes WHERE EXISTS (SELECT 1 FROM facts WHERE scope_id = scopes.id) ORDER BY name COLLATE "C"
    """,
)


class PostgresFacts(DatabaseFacts):
    """Facts in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
