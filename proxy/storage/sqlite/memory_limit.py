"""The size limit of a database in memory: step by step the oldest part of every table is deleted."""

import sqlite3

from proxy.storage.sqlite.contents import resize
from proxy.storage.sqlite.wipes import remove_expired

SHARE = 64  # a step deletes one of so many rows
# Rows each of facts, forgotten links and wipes: nothing could restore them, so they leave by number, not by size.
MOST_KEPT = 100_000

# Table, its key, and the column of age: ids grow as rows are written.
_BY_AGE = (
    ("ledger", "id", "id"),
    ("session_sums", "session_id", "last_at"),
    ("archive", "change", "at"),
    ("path_states", "id", "at"),
    ("reuse_log", "id", "id"),
)
OLDEST = tuple(
    f"""
    DELETE FROM {table} WHERE {key} IN (
        SELECT {key} FROM {table} WHERE {age} IS NOT NULL ORDER BY {age}
        LIMIT (SELECT (count(*) + {SHARE - 1}) / {SHARE} FROM {table})
    )
    """  # noqa: S608 (our own names)
    for table, key, age in _BY_AGE
)
OLDEST_CONTENTS = f"""
    DELETE FROM contents WHERE id IN (
        SELECT id FROM contents ORDER BY id LIMIT (SELECT (count(*) + {SHARE - 1}) / {SHARE} FROM contents)
    )
    RETURNING size
"""  # noqa: S608 (same)
# The row with the highest number of all is never deleted, see reuse.py.
OLDEST_REUSE = f"""
    DELETE FROM reuse_entries WHERE change IN (
        SELECT change FROM reuse_entries ORDER BY change LIMIT (SELECT count(*) / {SHARE} FROM reuse_entries)
    )
"""  # noqa: S608 (same)
# Links have no index by time: those of the oldest 1/SHARE of the time.
OLDEST_LINKS = f"DELETE FROM links WHERE at <= (SELECT min(at) + (max(at) - min(at)) / {SHARE} FROM links)"  # noqa: S608 (same)
# Names that nothing refers to any more. Links, which have no index by session either, are looked through last.
SESSIONS = f"""
    DELETE FROM sessions WHERE id IN (
        WITH nameless (id) AS MATERIALIZED (
            SELECT id FROM sessions
            WHERE NOT EXISTS (SELECT 1 FROM session_sums WHERE session_id = sessions.id)
                AND NOT EXISTS (SELECT 1 FROM ledger WHERE session_id = sessions.id)
                AND NOT EXISTS (SELECT 1 FROM contents WHERE session_id = sessions.id)
                AND NOT EXISTS (SELECT 1 FROM archive WHERE session_id = sessions.id)
                AND NOT EXISTS (SELECT 1 FROM path_states WHERE session_id = sessions.id)
            ORDER BY id LIMIT (SELECT (count(*) + {SHARE - 1}) / {SHARE} FROM sessions)
        )
        SELECT id FROM nameless
        EXCEPT SELECT session_id FROM links WHERE session_id IN nameless
        EXCEPT SELECT other_session_id FROM links WHERE other_session_id IN nameless
        EXCEPT SELECT session_id FROM wiped_archive
    )
"""  # noqa: S608 (same)

FACTS = "DELETE FROM facts WHERE number IN (SELECT number FROM facts ORDER BY number DESC LIMIT -1 OFFSET :most)"
FORGOTTEN = """
    DELETE FROM archive WHERE change IN (
        SELECT change FROM archive WHERE at IS NULL ORDER BY change DESC LIMIT -1 OFFSET :most
    )
"""
# The number of rows that wipes have put aside, and the end of the first of these wipes.
ASIDE = """
    SELECT count(*), min(until) FROM (
        SELECT until FROM wiped_facts UNION ALL SELECT until FROM wiped_archive UNION ALL SELECT until FROM wiped_links
    )
"""


def keep_within(connection: sqlite3.Connection, most_bytes: int, most_kept: int = MOST_KEPT) -> int:
    """Takes one step if the pages in use take more than `most_bytes`, and deletes rows beyond `most_kept` where that is
    the limit. Returns how many rows were deleted."""
    gone = sum(connection.execute(statement, {"most": most_kept}).rowcount for statement in (FACTS, FORGOTTEN))
    aside, first = connection.execute(ASIDE).fetchone()
    if aside > most_kept:
        gone += remove_expired(connection, first)
    if _used(connection) > most_bytes:
        sizes = connection.execute(OLDEST_CONTENTS).fetchall()
        resize(connection, -sum(size for (size,) in sizes))
        gone += len(sizes) + sum(
            connection.execute(each).rowcount for each in (*OLDEST, OLDEST_REUSE, OLDEST_LINKS, SESSIONS)
        )
    return gone


def _used(connection: sqlite3.Connection) -> int:
    """Returns the bytes of the pages in use."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
