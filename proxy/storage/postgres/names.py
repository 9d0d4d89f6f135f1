"""Names of scopes and sessions in PostgreSQL: how rows are found by them, and how many batches at once add them, in one
order, by few statements."""

from collections.abc import Iterable

from proxy.storage.postgres.connection import Connection

SCOPE_ID = "(SELECT id FROM scopes WHERE name = %(scope)s)"
# Names are sorted, here and wherever rows are locked.
ADD_SCOPES = b"INSERT INTO scopes (name) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING"
_ADD_SESSIONS = b"""
    INSERT INTO sessions (scope_id, name)
    SELECT scopes.id, told.name FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS told (scope, name, place)
    JOIN scopes ON scopes.name = told.scope ORDER BY told.place
    ON CONFLICT DO NOTHING
"""


def add_names(connection: Connection, names: Iterable[tuple[str, str]]) -> None:
    """Adds scopes with their sessions, as far as they are new. Whoever adds a name waits for a transaction that has
    added it and has not ended: all do it in the order of names, so that no two wait for each other."""
    ordered = sorted(set(names))
    scopes, sessions = [scope for scope, _ in ordered], [session for _, session in ordered]
    with connection.pipeline():
        connection.execute(ADD_SCOPES, (sorted(set(scopes)),))
        connection.execute(_ADD_SESSIONS, (scopes, sessions))
