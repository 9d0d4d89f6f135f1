"""States of conversations in PostgreSQL."""

from collections.abc import Sequence

from proxy.storage.database import Database
from proxy.storage.pending import Key
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.names import SCOPE_ID, add_names
from proxy.storage.recollection import STATE_SECONDS, STATES_PER_SESSION
from proxy.storage.stores.states import PRUNED, DatabaseStates, State, StateStatements

FIRST = 64  # links that are looked for before all others

# One that is replaced gets a new number: of one time, the one that was put last is the newest.
PUT_STATES = b"""
    INSERT INTO path_states (scope_id, session_id, at, link, state)
    SELECT scopes.id, sessions.id, told.at, told.link, told.state
    FROM unnest(%s::text[], %s::text[], %s::float8[], %s::bytea[], %s::bytea[]) WITH ORDINALITY
        AS told (scope, session, at, link, state, place)
    JOIN scopes ON scopes.name = told.scope
    JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = told.session
    ORDER BY told.place
    ON CONFLICT (scope_id, link) DO UPDATE
    SET id = excluded.id, session_id = excluded.session_id, at = excluded.at, state = excluded.state
"""
KEEP_NEWEST = b"""
    DELETE FROM path_states WHERE id IN (
        SELECT id FROM (
            SELECT path_states.id, row_number() OVER (
                PARTITION BY path_states.session_id ORDER BY path_states.at DESC, path_states.id DESC
            ) AS place
            FROM (
                SELECT DISTINCT sessions.id
                FROM unnest(%s::text[], %s::text[]) AS told (scope, session)
                JOIN scopes ON scopes.name = told.scope
                JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = told.session
            ) AS touched
            JOIN path_states ON path_states.session_id = touched.id
        ) AS states WHERE place > %s::bigint
    )
"""
# Of whatever scope, and so without those that another process is just writing.
PRUNE_STATES = b"""
    DELETE FROM path_states WHERE id IN (
        SELECT id FROM path_states WHERE at <= %s::float8 ORDER BY at LIMIT %s::bigint FOR UPDATE SKIP LOCKED
    )
"""
FORGET_STATES = b"""
    DELETE FROM path_states USING scopes WHERE scopes.id = path_states.scope_id AND scopes.name = ANY(%s::text[])
"""
# It stops at the first link that has a state.
GET_STATE = f"""
    SELECT each.place::int, found.state
    FROM generate_series(0, %(count)s::int - 1) WITH ORDINALITY AS each (place, number)
    CROSS JOIN LATERAL (
        SELECT state FROM path_states
        WHERE scope_id = {SCOPE_ID}
            AND link = substr(%(links)s::bytea, each.place * %(width)s::int + 1, %(width)s::int)
        OFFSET 0
    ) AS found
    ORDER BY each.number LIMIT 1
""".encode()  # noqa: S608 (our own text)


def _put(connection: Connection, states: Sequence[State]) -> None:
    newest: dict[Key, State] = {}
    for each in states:
        newest.pop((each.scope, each.link), None)
        newest[each.scope, each.link] = each
    rows = [(each.scope, each.session, each.at, each.link, each.state) for each in newest.values()]
    scopes, sessions, *rest = (list(column) for column in zip(*rows, strict=True))
    with connection.pipeline():
        add_names(connection, zip(scopes, sessions, strict=True))
        connection.execute(PUT_STATES, (scopes, sessions, *rest))
        connection.execute(KEEP_NEWEST, (scopes, sessions, STATES_PER_SESSION))
        connection.execute(PRUNE_STATES, (max(each.at for each in states) - STATE_SECONDS, PRUNED))


def _forget(connection: Connection, scopes: Sequence[str]) -> None:
    connection.execute(FORGET_STATES, (list(scopes),))


def _get(connection: Connection, scope: str, links: Sequence[bytes]) -> tuple[int, bytes] | None:
    for start, end in ((0, min(FIRST, len(links))), (FIRST, len(links))):
        if start < end:
            part = links[start:end]
            values = {"scope": scope, "links": b"".join(part), "count": len(part), "width": len(part[0])}
            if (row := connection.execute(GET_STATE, values).fetchone()) is not None:
                place, state = row
                return start + place, state
    return None


STATEMENTS = StateStatements(_put, _forget, _get)


class PostgresStates(DatabaseStates):
    """States of conversations in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
