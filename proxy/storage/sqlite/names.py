"""SQL of names of scopes and sessions, which the stores have in common: rows begin with them, and are found by them;
and statements over many rows at once.

Python's sqlite3 releases the GIL at every step of a statement, and in a busy server getting it back costs more than the
step: so the stores write the rows of a batch with one statement, where they can.
"""

import functools
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proxy.storage.stores.whose import OWNERS, SCOPES_OF_TENANT, Whose

SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"
# Names come as one JSON array, `[scope, session, …]` a row: a statement a batch, see `Write`. `NAMED`: each of these
# rows, with its scope and its session.
ADD_SCOPES = """
    INSERT INTO scopes (name) SELECT DISTINCT json_extract(value, '$[0]') FROM json_each(:rows) WHERE true
    ON CONFLICT DO NOTHING
"""
ADD_SESSIONS = """
    INSERT INTO sessions (scope_id, name)
    SELECT DISTINCT scopes.id, json_extract(value, '$[1]')
    FROM json_each(:rows) CROSS JOIN scopes ON scopes.name = json_extract(value, '$[0]') WHERE true
    ON CONFLICT DO NOTHING
"""
NAMED = """
    FROM json_each(:rows) AS each
    CROSS JOIN scopes ON scopes.name = json_extract(each.value, '$[0]')
    CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = json_extract(each.value, '$[1]')
"""
ADD_SCOPE = "INSERT INTO scopes (name) VALUES (?) ON CONFLICT DO NOTHING"


TENANT_IDS = SCOPES_OF_TENANT.format(":scope")


def rows_of(table: str) -> Mapping[Whose, str]:
    """Returns the conditions of a table's rows, by whose they are: `:scope`, `:session`."""
    return {
        "everybody": "true",
        "scope": f"{table}.scope_id = {SCOPE_ID}",
        "session": f"""{table}.session_id IN (
            WITH RECURSIVE {OWNERS}
            SELECT sessions.id FROM owners CROSS JOIN sessions ON sessions.scope_id = owners.id
            WHERE sessions.name = :session
        )""",  # noqa: S608 (our own names)
        "scope's session": f"""{table}.session_id = (
            SELECT id FROM sessions WHERE scope_id = {SCOPE_ID} AND name = :session
        )""",  # noqa: S608 (our own names)
        # Not by an index: the newest of all are walked through, until there are enough.
        "tenant": f"+{table}.scope_id IN ({TENANT_IDS})",
        "tenant's session": f"""{table}.session_id IN (
            SELECT id FROM sessions WHERE scope_id IN ({TENANT_IDS}) AND name = :session
        )""",  # noqa: S608 (our own names)
    }


# Rows that one statement takes, tried in this order. A step of a statement gives up the interpreter, and the writer's
# thread has to wait for it after every one.
_ROWS = (64, 8, 1)


def put_rows(connection: sqlite3.Connection, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    """Runs a statement over many rows, in their order: they are the table `{rows}` in it."""
    done = 0
    for size in _ROWS:
        while len(rows) - done >= size:
            values = [value for row in rows[done : done + size] for value in row]
            connection.execute(_over(statement, len(rows[0]), size), values)
            done += size


@functools.cache  # a few statements, of three sizes each
def _over(statement: str, columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return statement.format(rows=f"VALUES {', '.join([row] * rows)}")


def add_names(connection: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> bytes:
    """Adds the scopes and sessions that rows begin with, as far as they are new. Returns the rows as JSON."""
    encoded = msgspec.json.encode(rows)
    connection.execute(ADD_SCOPES, {"rows": encoded})
    connection.execute(ADD_SESSIONS, {"rows": encoded})
    return encoded
