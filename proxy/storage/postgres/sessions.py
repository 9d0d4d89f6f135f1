"""Links of conversations in PostgreSQL."""

from collections.abc import Sequence

from proxy.storage.database import Database
from proxy.storage.pending import Key, Link
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.names import SCOPE_ID, add_names
from proxy.storage.stores.sessions import DatabaseSessions, Passage, SessionStatements

FIRST = 64  # of a chain's newest links are looked for: of a conversation that goes on, one of them is known

# `Link.merged` in SQL, as in SQLite. A row may come once in a statement: see `_merge`.
MERGE_LINKS = b"""
    INSERT INTO links (scope_id, link, session_id, at, went_on)
    SELECT scopes.id, told.link, sessions.id, told.at, told.went_on
    FROM unnest(%s::text[], %s::bytea[], %s::text[], %s::float8[], %s::bigint[])
        AS told (scope, link, session, at, went_on)
    JOIN scopes ON scopes.name = told.scope
    JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = told.session
    ON CONFLICT (scope_id, link) DO UPDATE SET
        other_session_id = CASE
            WHEN excluded.session_id = links.session_id THEN links.other_session_id
            WHEN excluded.at > links.at THEN links.session_id
            WHEN links.other_at IS NULL OR excluded.at > links.other_at THEN excluded.session_id
            ELSE links.other_session_id END,
        other_at = CASE
            WHEN excluded.session_id = links.session_id THEN links.other_at
            WHEN excluded.at > links.at THEN links.at
            WHEN links.other_at IS NULL OR excluded.at > links.other_at THEN excluded.at
            ELSE links.other_at END,
        session_id = CASE WHEN excluded.at > links.at THEN excluded.session_id ELSE links.session_id END,
        at = greatest(links.at, excluded.at),
        went_on = greatest(links.went_on, excluded.went_on)
"""
GO_ON = b"""
    UPDATE links SET went_on = 1
    FROM unnest(%s::text[], %s::bytea[]) AS told (scope, link) JOIN scopes ON scopes.name = told.scope
    WHERE links.scope_id = scopes.id AND links.link = told.link
"""
# It walks from the newest link back, and stops at the first that is known.
LONGEST_PREFIX = f"""
    SELECT newest.length, found.went_on, lead.name, found.at, other.name, found.other_at
    FROM generate_series(%(length)s::int, 1, -1) WITH ORDINALITY AS newest (length, place)
    CROSS JOIN LATERAL (
        SELECT * FROM links
        WHERE scope_id = {SCOPE_ID}
            AND link = substr(%(chain)s::bytea, (newest.length - 1) * %(width)s::int + 1, %(width)s::int)
        OFFSET 0
    ) AS found
    JOIN sessions AS lead ON lead.id = found.session_id
    LEFT JOIN sessions AS other ON other.id = found.other_session_id
    ORDER BY newest.place LIMIT 1
""".encode()  # noqa: S608 (our own text)


def _merge(connection: Connection, passages: Sequence[Passage]) -> None:
    links: dict[Key, Link] = {}
    went_on: set[Key] = set()
    for _, _, _, changes in passages:
        for key, link in changes:
            if link.sessions:
                links[key] = links[key].merged(link) if key in links else link
            else:
                went_on.add(key)
    with connection.pipeline():
        add_names(connection, ((scope, session) for scope, session, _, _ in passages))
        # The newest session of each link, then the one before it.
        for place in range(max((len(link.sessions) for link in links.values()), default=0)):
            told = [(key, link) for key, link in links.items() if place < len(link.sessions)]
            rows = [(*key, *link.sessions[place], link.went_on) for key, link in told]
            connection.execute(MERGE_LINKS, [list(column) for column in zip(*rows, strict=True)])
        if went_on:
            connection.execute(GO_ON, [list(column) for column in zip(*went_on, strict=True)])


def _longest_prefix(connection: Connection, scope: str, chain: Sequence[bytes]) -> tuple[int, Link]:
    for start, end in ((max(0, len(chain) - FIRST), len(chain)), (0, len(chain) - FIRST)):
        if start < end:
            part = chain[start:end]
            values = {"scope": scope, "length": len(part), "chain": b"".join(part), "width": len(part[0])}
            if (row := connection.execute(LONGEST_PREFIX, values).fetchone()) is not None:
                length, went_on, lead, at, other, other_at = row
                sessions = ((lead, at),) if other is None else ((lead, at), (other, other_at))
                return start + length, Link(sessions, bool(went_on))
    return 0, Link()


STATEMENTS = SessionStatements(_merge, _longest_prefix)


class PostgresSessions(DatabaseSessions):
    """The index of links in PostgreSQL. `max_recent`: links in memory."""

    def __init__(self, database: Database, max_recent: int = 50_000) -> None:
        super().__init__(database, STATEMENTS, max_recent)
