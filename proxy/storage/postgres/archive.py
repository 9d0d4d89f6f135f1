"""The archive of turns in PostgreSQL.

What SQLite replaces (a row of a link, by one with a new number, without the links of its messages) is updated here: the
messages of a large turn stay where they are. Numbers come from the table's sequence, under the lock of the scope.

What is forgotten is gone from every row; when the server overwrites it in its files (VACUUM, the recycling of its log,
backups) is the server's affair.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Any

import msgspec

from proxy.storage.database import Database
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.desk import FORGETTING as DESK_FORGETTING
from proxy.storage.postgres.jobs import FORGETTING
from proxy.storage.postgres.names import ADD_SCOPES, SCOPE_ID, add_names
from proxy.storage.recollection import WIPE_REACHES, StoredShelf, links_of
from proxy.storage.stores.archive import TURN, Added, ArchiveStatements, DatabaseArchive, Rows

SHELF_SLICE = 2**18  # bytes of a shelf that the server reads at a time
NEXT = "nextval(pg_get_serial_sequence('archive', 'change'))"
# Takes the place of a link that was forgotten, and may come again.
ADD = f"""
    INSERT INTO archive (
        scope_id, link, parent, session_id, turn, at, dimensions, vectors, utterances, messages, lifted
    )
    SELECT scopes.id, %(link)s::bytea, %(parent)s::bytea, sessions.id, %(turn)s::bigint, %(at)s::float8,
        %(dimensions)s::bigint, %(vectors)s::bytea, %(utterances)s::text, %(messages)s::bytea, 0
    FROM scopes JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = %(session)s::text
    WHERE scopes.name = %(scope)s::text AND NOT coalesce(
        %(at)s::float8 <= scopes.wiped_at AND %(at)s::float8 > scopes.wiped_at - {WIPE_REACHES}, false
    )
    ON CONFLICT (scope_id, link) DO UPDATE SET
        change = excluded.change, parent = excluded.parent, session_id = excluded.session_id, turn = excluded.turn,
        at = excluded.at, dimensions = excluded.dimensions, vectors = excluded.vectors,
        utterances = excluded.utterances, messages = excluded.messages, forgotten_at = NULL
    WHERE archive.at IS NULL AND archive.lifted = 1
"""  # noqa: S608 (our own text)
ADD_VECTORS = f"""
    WITH
        bare AS MATERIALIZED (
            SELECT change FROM archive
            WHERE scope_id = {SCOPE_ID} AND link = %(link)s::bytea AND at IS NOT NULL AND dimensions IS NULL
        ),
        without AS (DELETE FROM archive_links WHERE change IN (SELECT change FROM bare))
    UPDATE archive SET change = {NEXT}, dimensions = %(dimensions)s::bigint, vectors = %(vectors)s::bytea
    FROM bare WHERE archive.change = bare.change
"""  # noqa: S608 (our own text)
ADD_LINKS = b"""
    INSERT INTO archive_links (link, change)
    SELECT told.message, archive.change
    FROM unnest(%s::text[], %s::bytea[], %s::bytea[]) AS told (scope, link, message)
    JOIN scopes ON scopes.name = told.scope
    JOIN archive ON archive.scope_id = scopes.id AND archive.link = told.link AND archive.at IS NOT NULL
    ON CONFLICT DO NOTHING
"""
# Keeps the parent of a turn that is refused: `PATH` goes on through it.
REFUSE = f"""
    INSERT INTO archive (scope_id, link, parent) VALUES ({SCOPE_ID}, %(link)s::bytea, %(parent)s::bytea)
    ON CONFLICT (scope_id, link) DO UPDATE SET parent = excluded.parent WHERE archive.parent IS NULL
"""  # noqa: S608 (our own text)
FORGET = b"""
    WITH
        told AS (
            SELECT scopes.id AS scope_id, each.link, each.at, each.place
            FROM unnest(%s::text[], %s::bytea[], %s::float8[]) WITH ORDINALITY AS each (scope, link, at, place)
            JOIN scopes ON scopes.name = each.scope
        ),
        found AS MATERIALIZED (
            SELECT DISTINCT ON (scope_id, link) scope_id, link, at, place
            FROM (
                SELECT scope_id, link, at, place FROM told
                UNION ALL
                SELECT archive.scope_id, archive.link, told.at, told.place
                FROM told
                JOIN archive_links ON archive_links.link = told.link
                JOIN archive ON archive.change = archive_links.change AND archive.scope_id = told.scope_id
            ) AS every
            ORDER BY scope_id, link, place
        ),
        without AS (
            DELETE FROM archive_links USING found JOIN archive USING (scope_id, link)
            WHERE archive_links.change = archive.change
        )
    INSERT INTO archive (scope_id, link, forgotten_at) SELECT scope_id, link, at FROM found ORDER BY place, link
    ON CONFLICT (scope_id, link) DO UPDATE SET
        change = excluded.change, forgotten_at = excluded.forgotten_at, lifted = 0, session_id = NULL, turn = NULL,
        at = NULL, dimensions = NULL, vectors = NULL, utterances = NULL, messages = NULL
    WHERE archive.at IS NOT NULL OR archive.lifted = 1
"""
LIFT = f"""
    UPDATE archive SET change = moved.change, lifted = 1, forgotten_at = NULL
    FROM (
        SELECT found.change AS old, {NEXT} AS change
        FROM (
            SELECT archive.change, min(told.place) AS place
            FROM unnest(%s::text[], %s::bytea[]) WITH ORDINALITY AS told (scope, link, place)
            JOIN scopes ON scopes.name = told.scope
            JOIN archive ON archive.scope_id = scopes.id AND archive.link = told.link
            WHERE archive.at IS NULL AND archive.lifted = 0
            GROUP BY archive.change ORDER BY place
        ) AS found
    ) AS moved
    WHERE archive.change = moved.old
""".encode()  # noqa: S608 (our own text)
# Of whatever scope, and so without those that another process is just writing.
DROP_SHELVES = b"DELETE FROM shelves USING scopes WHERE scopes.id = scope_id AND scopes.name = ANY(%s::text[])"
KEEP_SHELF = b"""
    INSERT INTO shelves (scope_id, upto, oldest, shelf)
    SELECT scopes.id, %(upto)s::bigint, %(oldest)s::float8, %(shelf)b::bytea FROM scopes
    WHERE scopes.name = %(scope)s AND NOT EXISTS (
        SELECT 1 FROM archive WHERE scope_id = scopes.id AND change > %(upto)s::bigint AND at IS NULL AND lifted = 0
    )
    ON CONFLICT (scope_id) DO UPDATE SET upto = excluded.upto, oldest = excluded.oldest, shelf = excluded.shelf
    WHERE excluded.upto >= shelves.upto
"""
# In slices: as one value the server would copy it twice, into memory that it has to ask for first.
SHELF = f"""
    SELECT upto, oldest, place, substring(shelf FROM place FOR {SHELF_SLICE})
    FROM shelves, generate_series(1, octet_length(shelf), {SHELF_SLICE}) AS place
    WHERE scope_id = {SCOPE_ID} AND oldest > %(since)s::float8
""".encode()  # noqa: S608 (our own text)
PRUNE = b"""
    DELETE FROM archive WHERE change IN (
        SELECT change FROM archive WHERE at <= %s::float8 ORDER BY at LIMIT %s::bigint FOR UPDATE SKIP LOCKED
    )
"""
# Those of some links that are known, each with 1 if it was forgotten.
FIND = b"""
    SELECT told.place::int - 1, (archive.at IS NULL)::int
    FROM unnest(%s::text[], %s::bytea[]) WITH ORDINALITY AS told (scope, link, place)
    JOIN scopes ON scopes.name = told.scope
    JOIN archive ON archive.scope_id = scopes.id AND archive.link = told.link
    WHERE archive.at IS NOT NULL OR archive.lifted = 0
"""
FORGOTTEN_AT = f"""
    SELECT link, coalesce(forgotten_at, 0) FROM archive
    WHERE scope_id = {SCOPE_ID} AND link = ANY(%(links)s::bytea[]) AND at IS NULL AND lifted = 0
""".encode()  # noqa: S608 (our own text)
# Bounds of rows, not of columns: in the order of numbers alone, the planner may walk through those of all scopes.
CHANGES = f"""
    SELECT archive.change, archive.lifted, archive.dimensions, archive.vectors, {TURN}
    FROM archive LEFT JOIN sessions ON sessions.id = archive.session_id
    WHERE (archive.scope_id, archive.change) > ({SCOPE_ID}, %(after)s::bigint)
        AND (archive.scope_id, archive.change) <= ({SCOPE_ID}, {2**63 - 1})
        AND (archive.at IS NULL OR archive.at > %(since)s::float8)
    ORDER BY archive.scope_id, archive.change LIMIT %(limit)s::bigint
""".encode()  # noqa: S608 (our own text)
PATH = f"""
    WITH RECURSIVE path (turns, change, parent) AS (
        SELECT (at IS NOT NULL)::int, change, parent FROM archive
        WHERE scope_id = {SCOPE_ID} AND link = %(link)s::bytea
        UNION
        SELECT turns + (archive.at IS NOT NULL)::int, archive.change, archive.parent
        FROM path JOIN archive ON archive.scope_id = {SCOPE_ID} AND archive.link = path.parent
        WHERE turns < %(limit)s::bigint
    )
    SELECT {TURN} FROM path JOIN archive USING (change) JOIN sessions ON sessions.id = archive.session_id
    WHERE path.turns <= %(limit)s::bigint ORDER BY path.turns DESC
"""  # noqa: S608 (our own text)
SAID = f"""
    SELECT {TURN} FROM archive JOIN sessions ON sessions.id = archive.session_id
    WHERE archive.at IS NOT NULL AND archive.change IN (
        SELECT change FROM archive WHERE scope_id = {SCOPE_ID} AND link = ANY(%(links)s::bytea[])
        UNION
        SELECT archive.change FROM archive_links JOIN archive USING (change)
        WHERE archive_links.link = ANY(%(links)s::bytea[]) AND archive.scope_id = {SCOPE_ID}
    )
""".encode()  # noqa: S608 (our own text)
LATEST = f"""
    SELECT {TURN} FROM sessions JOIN archive ON archive.session_id = sessions.id
    WHERE sessions.scope_id = {SCOPE_ID} AND sessions.name = %(session)s
    ORDER BY archive.at DESC, archive.turn DESC, archive.change DESC LIMIT 1
"""  # noqa: S608 (our own text)


def _add(connection: Connection, added: Sequence[Added]) -> None:
    add_names(connection, ((each.scope, each.turn.session) for each in added))
    owned = [(place, each.scope, link) for place, each in enumerate(added) for link in links_of(each.turn)]
    found = connection.execute(FIND, ([scope for _, scope, _ in owned], [link for *_, link in owned])).fetchall()
    refused = {owned[number][0] for number, is_gone in found if is_gone}
    taken = [each for place, each in enumerate(added) if place not in refused]
    with connection.pipeline():
        for place in sorted(refused):
            each = added[place]
            connection.execute(
                REFUSE.encode(), {"scope": each.scope, "link": each.turn.link, "parent": each.turn.parent}
            )
        for each in taken:  # one by one: readers see changes in the order in which they were made
            values = _values(each)
            connection.execute(ADD.encode(), values)
            if each.vectors is not None:
                connection.execute(ADD_VECTORS.encode(), values)
        links = [(each.scope, each.turn.link, link) for each in taken for link in links_of(each.turn)[1:]]
        if links:
            connection.execute(ADD_LINKS, [list(column) for column in zip(*links, strict=True)])


def _values(added: Added) -> dict[str, Any]:
    dimensions, vectors = added.vectors or (None, None)
    return {
        "scope": added.scope,
        "link": added.turn.link,
        "parent": added.turn.parent,
        "session": added.turn.session,
        "turn": added.turn.number,
        "at": added.turn.at,
        "dimensions": dimensions,
        "vectors": vectors,
        "utterances": msgspec.json.encode(added.turn.utterances).decode(),
        "messages": added.turn.messages,
    }


def _forget(connection: Connection, forgotten: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    for each in forgotten:
        scope, links = each[0]["scope"], [row["link"] for row in each]
        FORGETTING.messages(connection, scope, links)
        DESK_FORGETTING.messages(connection, scope, links)
    rows = [row for each in forgotten for row in each]
    with connection.pipeline():
        connection.execute(ADD_SCOPES, (sorted({row["scope"] for row in rows}),))
        connection.execute(FORGET, [[row[name] for row in rows] for name in ("scope", "link", "at")])
        connection.execute(DROP_SHELVES, (sorted({row["scope"] for row in rows}),))


def _lift(connection: Connection, lifted: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    rows = [row for each in lifted for row in each]
    connection.execute(LIFT, [[row[name] for row in rows] for name in ("scope", "link")])


def _prune(connection: Connection, pruned: Sequence[tuple[float, int]]) -> None:
    for until, most in pruned:
        connection.execute(PRUNE, (until, most))
        connection.execute(b"DELETE FROM shelves WHERE oldest <= %s::float8", (until,))


def _keep_shelf(connection: Connection, shelves: Sequence[tuple[str, StoredShelf]]) -> None:
    for scope, shelf in shelves:
        connection.execute(KEEP_SHELF, {"scope": scope, **asdict(shelf)})


def _shelf(connection: Connection, scope: str, since: float) -> StoredShelf | None:
    # As binary: as text it would be twice as long.
    rows = connection.execute(SHELF, {"scope": scope, "since": since}, binary=True).fetchall()
    rows.sort(key=itemgetter(2))
    return StoredShelf(rows[0][0], rows[0][1], b"".join(row[3] for row in rows)) if rows else None


def _changes(connection: Connection, values: Mapping[str, Any]) -> Rows:
    return list(connection.execute(CHANGES, values))


def _known(connection: Connection, scope: str, links: Sequence[bytes]) -> list[bytes]:
    found = connection.execute(FIND, ([scope] * len(links), list(links)))
    return [links[place] for place, is_gone in found if not is_gone]


def _forgotten_at(connection: Connection, scope: str, links: Sequence[bytes]) -> dict[bytes, float]:
    return dict(connection.execute(FORGOTTEN_AT, {"scope": scope, "links": list(links)}).fetchall())


def _containing(connection: Connection, scope: str, links: Sequence[bytes]) -> Rows:
    return list(connection.execute(SAID, {"scope": scope, "links": list(links)}))


STATEMENTS = ArchiveStatements(
    _add,
    _forget,
    _lift,
    _prune,
    _keep_shelf,
    _changes,
    _known,
    _forgotten_at,
    _containing,
    path=PATH,
    latest=LATEST,
    shelf=_shelf,
)


class PostgresArchive(DatabaseArchive):
    """The archive in PostgreSQL. `ttl`: seconds that a turn is kept."""

    def __init__(self, database: Database, ttl: float) -> None:
        super().__init__(database, STATEMENTS, ttl)
