"""The owner of the rows that a list has: a scope, a tenant with all its scopes, a session, both, or all; and the scopes
that have rows in a table."""

from typing import Literal

Whose = Literal["everybody", "scope", "session", "scope's session", "tenant", "tenant's session"]
# Of the scopes of a tenant, by the expression that an index of theirs has; `{}`: the tenant.
SCOPES_OF_TENANT = "SELECT id FROM scopes WHERE substr(name, 1, 33) = {} || '/'"


def whose(scope: str | None, session: str | None) -> Whose:
    """Returns whose rows are asked for: of a scope, a session, both, or of all (None). A scope without a slash is a
    tenant: all scopes of it are meant."""
    if scope is not None and is_tenant(scope):
        return "tenant" if session is None else "tenant's session"
    if session is None:
        return "everybody" if scope is None else "scope"
    return "session" if scope is None else "scope's session"


def is_tenant(scope: str) -> bool:
    """Tells a tenant, with all its scopes, from a scope."""
    return "/" not in scope


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
