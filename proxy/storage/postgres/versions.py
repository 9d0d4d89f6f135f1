"""Versions of scopes in PostgreSQL. Each batch counts its changes before anything else: so the batches of one scope
follow one another, and the numbers of its rows are in the order in which they become visible.
"""

from collections.abc import Mapping

from proxy.storage.base import PARTS, Part
from proxy.storage.postgres.connection import Connection
from proxy.storage.versions import COLUMNS, Numbers

_LISTED = ", ".join(COLUMNS)
_MORE = tuple(f"more_{part}" for part in PARTS)
_ADD = b"INSERT INTO scopes (name) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING"
# In the order of their names, as everybody locks them.
_COUNT = f"""
    WITH
        told (name, {", ".join(_MORE)}) AS (SELECT * FROM unnest(%s::text[], {", ".join(["%s::int[]"] * len(PARTS))})),
        locked AS MATERIALIZED (
            SELECT id, told.* FROM scopes JOIN told USING (name) ORDER BY name FOR NO KEY UPDATE OF scopes
        )
    UPDATE scopes SET {", ".join(f"{part}_changes = {part}_changes + more_{part}" for part in PARTS)}
    FROM locked WHERE scopes.id = locked.id AND {" + ".join(_MORE)} > 0
    RETURNING scopes.name, {_LISTED}
""".encode()  # noqa: S608 (our own column names)
READ = f"SELECT {_LISTED} FROM scopes WHERE name = %(scope)s"  # noqa: S608 (same)


def count(connection: Connection, parts: Mapping[str, frozenset[Part]]) -> dict[str, Numbers]:
    """Counts a change of these parts of scopes, and locks the scopes, which it adds, until the transaction ends.
    Returns the new versions of those that have changed."""
    if not parts:
        return {}
    names = sorted(parts)
    connection.execute(_ADD, (names,))
    more = [[int(part in parts[name]) for name in names] for part in PARTS]
    found = connection.execute(_COUNT, (names, *more)).fetchall()
    return {name: tuple(numbers) for name, *numbers in found}
