"""The archive of turns in SQLite. Readers follow changes by their number; of a forgotten turn the link stays."""

import itertools
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from proxy.storage.database import Database
from proxy.storage.recollection import WIPE_REACHES, StoredShelf, links_of
from proxy.storage.sqlite.desk import FORGETTING as DESK_FORGETTING
from proxy.storage.sqlite.jobs import FORGETTING
from proxy.storage.sqlite.names import ADD_SCOPE, SCOPE_ID, add_names
from proxy.storage.stores.archive import TURN, Added, ArchiveStatements, DatabaseArchive, Rows

# Replaces the row of a link that was forgotten, and may come again.
ADD = f"""
    INSERT OR REPLACE INTO archive (
        scope_id, link, parent, session_id, turn, at, dimensions, vectors, utterances, messages, lifted
    )
    SELECT scopes.id, :link, :parent, sessions.id, :turn, :at, :dimensions, :vectors, :utterances, :messages,
        known.change IS NOT NULL
    FROM scopes CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = :session
    LEFT JOIN archive AS known ON known.scope_id = scopes.id AND known.link = :link
    WHERE scopes.name = :scope AND (known.change IS NULL OR (known.at IS NULL AND known.lifted))
        AND NOT coalesce(:at <= scopes.wiped_at AND :at > scopes.wiped_at - {WIPE_REACHES}, 0)
"""  # noqa: S608 (our own text)
ADD_VECTORS = f"""
    INSERT OR REPLACE INTO archive (
        scope_id, link, parent, session_id, turn, at, dimensions, vectors, utterances, messages, lifted
    )
    SELECT scope_id, link, parent, session_id, turn, at, :dimensions, :vectors, utterances, messages, lifted
    FROM archive WHERE scope_id = {SCOPE_ID} AND link = :link AND at IS NOT NULL AND dimensions IS NULL
"""  # noqa: S608 (our own text)
ADD_LINK = f"""
    INSERT INTO archive_links (link, change)
    SELECT :message, change FROM archive WHERE scope_id = {SCOPE_ID} AND link = :link AND at IS NOT NULL
    ON CONFLICT DO NOTHING
"""  # noqa: S608 (our own text)
# Keeps the parent of a turn that is refused: `PATH` goes on through it.
REFUSE = f"""
    INSERT INTO archive (scope_id, link, parent) VALUES ({SCOPE_ID}, :link, :parent)
    ON CONFLICT (scope_id, link) DO UPDATE SET parent = excluded.parent WHERE parent IS NULL
"""  # noqa: S608 (our own text)
FORGET = f"""
    INSERT OR REPLACE INTO archive (scope_id, link, parent, forgotten_at)
    SELECT scopes.id, found.link, known.parent, :at
    FROM scopes
    CROSS JOIN (
        SELECT :link AS link
        UNION
        SELECT archive.link FROM archive_links CROSS JOIN archive USING (change)
        WHERE archive_links.link = :link AND archive.scope_id = {SCOPE_ID}
    ) AS found
    LEFT JOIN archive AS known ON known.scope_id = scopes.id AND known.link = found.link
    WHERE scopes.name = :scope AND (known.change IS NULL OR known.at IS NOT NULL OR known.lifted)
"""  # noqa: S608 (our own text)
LIFT = f"""
    INSERT OR REPLACE INTO archive (scope_id, link, parent, lifted)
    SELECT scope_id, link, parent, 1 FROM archive
    WHERE scope_id = {SCOPE_ID} AND link = :link AND at IS NULL AND NOT lifted
"""  # noqa: S608 (our own text)
FORGOTTEN_AT = f"""
    SELECT coalesce(forgotten_at, 0) FROM archive
    WHERE scope_id = {SCOPE_ID} AND link = :link AND at IS NULL AND NOT lifted
"""  # noqa: S608 (our own text)
DROP_SHELF = "DELETE FROM shelves WHERE scope_id = (SELECT id FROM scopes WHERE name = ?)"
KEEP_SHELF = """
    INSERT INTO shelves (scope_id, upto, oldest, shelf)
    SELECT scopes.id, :upto, :oldest, :shelf FROM scopes
    WHERE scopes.name = :scope AND NOT EXISTS (
        SELECT 1 FROM archive WHERE scope_id = scopes.id AND change > :upto AND at IS NULL AND NOT lifted
    )
    ON CONFLICT (scope_id) DO UPDATE SET upto = excluded.upto, oldest = excluded.oldest, shelf = excluded.shelf
    WHERE excluded.upto >= shelves.upto
"""
SHELF = f"SELECT upto, oldest, scope_id FROM shelves WHERE scope_id = {SCOPE_ID} AND oldest > :since"  # noqa: S608 (our own text)
PRUNE = "DELETE FROM archive WHERE change IN (SELECT change FROM archive WHERE at <= ? ORDER BY at LIMIT ?)"
# Those of some links that are known, each with 1 if it was forgotten. Links are one blob; JSON has their places in it.
FIND = """
    SELECT each.key, archive.at IS NULL
    FROM json_each(:rows) AS each
    CROSS JOIN scopes ON scopes.name = json_extract(each.value, '$[0]')
    CROSS JOIN archive ON archive.scope_id = scopes.id
        AND archive.link = substr(:links, json_extract(each.value, '$[1]'), json_extract(each.value, '$[2]'))
    WHERE archive.at IS NOT NULL OR NOT archive.lifted
"""

CHANGES = f"""
    SELECT archive.change, archive.lifted, archive.dimensions, archive.vectors, {TURN}
    FROM archive LEFT JOIN sessions ON sessions.id = archive.session_id
    WHERE archive.scope_id = {SCOPE_ID} AND archive.change > :after AND (archive.at IS NULL OR archive.at > :since)
    ORDER BY archive.change LIMIT :limit
"""  # noqa: S608 (our own text)
PATH = f"""
    WITH RECURSIVE
        scope (id) AS (SELECT {SCOPE_ID}),
        path (turns, change, parent) AS (
            SELECT at IS NOT NULL, change, parent FROM archive WHERE scope_id = (SELECT id FROM scope) AND link = :link
            UNION
            SELECT turns + (archive.at IS NOT NULL), archive.change, archive.parent
            FROM path CROSS JOIN archive ON archive.scope_id = (SELECT id FROM scope) AND archive.link = path.parent
            WHERE turns < :limit
        )
    SELECT {TURN} FROM path CROSS JOIN archive USING (change) CROSS JOIN sessions ON sessions.id = archive.session_id
    WHERE path.turns <= :limit ORDER BY path.turns DESC
"""  # noqa: S608 (our own text)
SAID = f"""
    SELECT DISTINCT {TURN} FROM (
        SELECT change FROM archive WHERE scope_id = {SCOPE_ID} AND link = :link
        UNION SELECT change FROM archive_links WHERE link = :link
    ) CROSS JOIN archive USING (change) CROSS JOIN sessions ON sessions.id = archive.session_id
    WHERE archive.scope_id = {SCOPE_ID} AND archive.at IS NOT NULL
"""  # noqa: S608 (our own text)
LATEST = f"""
    SELECT {TURN} FROM sessions CROSS JOIN archive ON archive.session_id = sessions.id
    WHERE sessions.scope_id = {SCOPE_ID} AND sessions.name = :session
    ORDER BY archive.at DESC, archive.turn DESC, archive.change DESC LIMIT 1
"""  # noqa: S608 (our own text)


def _add(connection: sqlite3.Connection, added: Sequence[Added]) -> None:
    add_names(connection, [(each.scope, each.turn.session) for each in added])
    owned = [(place, (each.scope, link)) for place, each in enumerate(added) for link in links_of(each.turn)]
    found = _find(connection, [key for _, key in owned])
    refused = {owned[number][0] for number, is_gone in found if is_gone}
    connection.executemany(REFUSE, [_owner(added[place]) for place in refused])
    taken = [each for place, each in enumerate(added) if place not in refused]
    rows = [_row(each) for each in taken]
    for row in rows:  # one by one: readers see changes in the order in which they were made
        connection.execute(ADD, row)
        if row["vectors"] is not None:
            connection.execute(ADD_VECTORS, row)
    links = [{**_owner(each), "message": link} for each in taken for link in links_of(each.turn)[1:]]
    connection.executemany(ADD_LINK, links)


def _forget(connection: sqlite3.Connection, forgotten: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    connection.executemany(ADD_SCOPE, {(each[0]["scope"],) for each in forgotten})
    for each in forgotten:
        scope, links = each[0]["scope"], [row["link"] for row in each]
        FORGETTING.messages(connection, scope, links)
        DESK_FORGETTING.messages(connection, scope, links)
        connection.executemany(FORGET, each)
    connection.executemany(DROP_SHELF, {(each[0]["scope"],) for each in forgotten})


def _lift(connection: sqlite3.Connection, lifted: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    connection.executemany(LIFT, [row for each in lifted for row in each])


def _prune(connection: sqlite3.Connection, pruned: Sequence[tuple[float, int]]) -> None:
    connection.executemany(PRUNE, pruned)
    connection.executemany("DELETE FROM shelves WHERE oldest <= ?", [(until,) for until, _ in pruned])


def _keep_shelf(connection: sqlite3.Connection, shelves: Sequence[tuple[str, StoredShelf]]) -> None:
    connection.executemany(KEEP_SHELF, [{"scope": scope, **asdict(shelf)} for scope, shelf in shelves])


def _shelf(connection: sqlite3.Connection, scope: str, since: float) -> StoredShelf | None:
    row = connection.execute(SHELF, {"scope": scope, "since": since}).fetchone()
    if row is None:
        return None
    upto, oldest, number = row  # one that is replaced meanwhile begins earlier, and is read on from there
    with connection.blobopen("shelves", "shelf", number, readonly=True) as blob:  # twice as fast as a column
        return StoredShelf(upto, oldest, blob.read())


def _find(connection: sqlite3.Connection, keys: Sequence[tuple[str, bytes]]) -> list[tuple[int, int]]:
    """Returns the places in `keys` of links that are in the archive, each with 1 if it was forgotten."""
    ends = list(itertools.accumulate((len(link) for _, link in keys), initial=1))
    rows = [(scope, start, len(link)) for (scope, link), start in zip(keys, ends, strict=False)]
    values = {"rows": msgspec.json.encode(rows), "links": b"".join(link for _, link in keys)}
    return connection.execute(FIND, values).fetchall()


def _known(connection: sqlite3.Connection, scope: str, links: Sequence[bytes]) -> list[bytes]:
    found = _find(connection, [(scope, link) for link in links])
    return [links[place] for place, is_gone in found if not is_gone]


def _forgotten_at(connection: sqlite3.Connection, scope: str, links: Sequence[bytes]) -> dict[bytes, float]:
    rows = {link: connection.execute(FORGOTTEN_AT, {"scope": scope, "link": link}).fetchone() for link in links}
    return {link: row[0] for link, row in rows.items() if row is not None}


def _changes(connection: sqlite3.Connection, values: Mapping[str, Any]) -> Rows:
    return connection.execute(CHANGES, values).fetchall()


def _containing(connection: sqlite3.Connection, scope: str, links: Sequence[bytes]) -> Rows:
    return [row for link in links for row in connection.execute(SAID, {"scope": scope, "link": link})]


def _owner(added: Added) -> dict[str, Any]:
    """Returns the values that name the turn's row."""
    return {"scope": added.scope, "link": added.turn.link, "parent": added.turn.parent}


def _row(added: Added) -> dict[str, Any]:
    dimensions, vectors = added.vectors or (None, None)
    return {
        **_owner(added),
        "session": added.turn.session,
        "turn": added.turn.number,
        "at": added.turn.at,
        "dimensions": dimensions,
        "vectors": vectors,
        "utterances": msgspec.json.encode(added.turn.utterances).decode(),
        "messages": added.turn.messages,
    }


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


class SqliteArchive(DatabaseArchive):
    """The archive in SQLite. `ttl`: seconds that a turn is kept."""

    def __init__(self, database: Database, ttl: float) -> None:
        super().__init__(database, STATEMENTS, ttl)
