"""Versions of scopes in PostgreSQL. Each batch counts its changes before anything else: so the batches of one scope
follow one another, and the numbers of its rows are in the order in which they become visible.
"""

from collections.abc import Mapping

from proxy.storage.base import PARTS, Part
from proxy.storage.erasures import ERASED_BITS
from proxy.storage.postgres.connection import Connection
from proxy.storage.versions import COLUMNS, Numbers

_MORE = tuple(f"more_{part}" for part in PARTS)
_ADD = b"INSERT INTO scopes (name) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING"


def _since_erased(named: str) -> str:
    """Returns the SQL of versions: what is written after an erasure has higher ones than all that was before."""
    mark = f"sha256(convert_to(split_part({named}.name, '~', 1), 'UTF8'))"
    erased = f"coalesce((SELECT erased.id FROM erased WHERE erased.scope = {mark}), 0) * {2**ERASED_BITS}"  # noqa: S608 (same)
    return ", ".join(f"coalesce(scopes.{column}, 0) + {erased}" for column in COLUMNS)


# In the order of their names, as everybody locks them.
_COUNT = f"""
    WITH
        told (name, {", ".join(_MORE)}) AS (SELECT * FROM unnest(%s::text[], {", ".join(["%s::int[]"] * len(PARTS))})),
        locked AS MATERIALIZED (
            SELECT id, told.* FROM scopes JOIN told USING (name) ORDER BY name FOR NO KEY UPDATE OF scopes
        )
    UPDATE scopes SET {", ".join(f"{part}_changes = {part}_changes + more_{part}" for part in PARTS)}
    FROM locked WHERE scopes.id = locked.id AND {" + ".join(_MORE)} > 0
    RETURNING scopes.name, {_since_erased("scopes")}
""".encode()  # noqa: S608 (our own column names)
# And the number of the newest erasure of all.
READ = f"""
    SELECT {_since_erased("asked")}, (SELECT coalesce(max(id), 0) FROM erased)
    FROM (SELECT %(scope)s::text AS name) AS asked LEFT JOIN scopes USING (name)
"""  # noqa: S608 (same)


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
