"""The owner of the rows that a list has: a scope, a session, both, or all; and the scopes that have rows in a table."""

from typing import Literal

Whose = Literal["everybody", "scope", "session", "scope's session"]


def whose(scope: str | None, session: str | None) -> Whose:
    """Returns whose rows are asked for: of a scope, a session, both, or of all (None)."""
    if session is None:
        return "everybody" if scope is None else "scope"
    return "session" if scope is None else "scope's session"


def owners_of(table: str) -> str:
    """Returns the SQL of `owners`, the ids of the scopes that have rows in a table: from one scope to the next, however
    many rows each has."""
    return f"""
        owners (id) AS (
            SELECT min(scope_id) FROM {table}
            UNION ALL
            SELECT (SELECT min(scope_id) FROM {table} WHERE scope_id > owners.id)
            FROM owners WHERE owners.id IS NOT NULL
        )
    """  # noqa: S608 (our own names)


OWNERS = owners_of("session_sums")  # the scopes that have conversations
