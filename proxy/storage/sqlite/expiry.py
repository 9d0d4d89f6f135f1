"""Expiry in an SQLite database: minutes are added to hours and days, expired rows deleted, free pages given back to the
disk. In memory, the oldest part of every table is deleted beyond a limit of size.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from proxy.config.storage import Keep
from proxy.storage.retention import BUCKETS, BYTES, CARDS, HOUR, LINKS, MOST_STEPS, ROWS, SWEEPS, Step, Work
from proxy.storage.sqlite import contents, wipes
from proxy.storage.sqlite.ledger import condense
from proxy.storage.stores.job_expiry import leaving
from proxy.storage.stores.ledger import MINUTE

PAGES = 64  # that a step gives back
SPARE_PAGES = 256  # free pages that stay in the file, since they are soon used again, or
SPARE_SHARE = 0.05  # of all pages, if that is more

# Rows are numbered as they are written, which is nearly the order of their times: so they need no index by time.
EXPIRED_ROWS = """
    DELETE FROM ledger
    WHERE id IN (SELECT id FROM ledger ORDER BY id LIMIT :limit) AND at <= :until
"""
EXPIRED_CARDS = """
    DELETE FROM session_sums
    WHERE session_id IN (SELECT session_id FROM session_sums WHERE last_at <= :until ORDER BY last_at LIMIT :limit)
"""
# Never a minute that its hour and its day do not have.
EXPIRED_BUCKETS = """
    DELETE FROM rollups WHERE (width, at, scope_id, model, upstream, source, plan, route) IN (
        SELECT width, at, scope_id, model, upstream, source, plan, route FROM rollups
        WHERE width = :width AND at <= min(:until, (SELECT condensed FROM rollup_progress)) - :width
        LIMIT :limit
    )
"""
# Links have no index by time either, which every request would pay for: they are looked through, part by part.
PART = """
    SELECT scope_id, link FROM links WHERE (scope_id, link) > (:scope, :link) ORDER BY scope_id, link
    LIMIT 1 OFFSET :limit
"""
EXPIRED_LINKS = "DELETE FROM links WHERE (scope_id, link) > (:scope, :link) AND at <= :until"
EXPIRED_LINKS_OF_PART = f"{EXPIRED_LINKS} AND (scope_id, link) <= (:last_scope, :last_link)"

# --- the limit of size in memory: a step deletes one of SHARE rows of each table -------------------------------------

SHARE = 64  # a step deletes one of so many rows
# Rows each of facts, forgotten links and wipes: nothing could restore them, so they leave by number, not by size.
MOST_KEPT = 100_000


def _oldest(table: str, key: str, age: str, rest: str = "") -> str:
    """Returns the statement that deletes the oldest of a table's rows. Ids grow as rows are written."""
    return f"""
        DELETE FROM {table} WHERE ({key}) IN (
            SELECT {key} FROM {table} WHERE {age} IS NOT NULL ORDER BY {age}
            LIMIT (SELECT (count(*) + {SHARE - 1}) / {SHARE} FROM {table})
        ) {rest}
    """  # noqa: S608 (our own names)


_OLDEST = (
    _oldest("ledger", "id", "id"),
    _oldest("session_sums", "session_id", "last_at"),
    _oldest("archive", "change", "at"),
    _oldest("path_states", "id", "at"),
    _oldest("reuse_log", "id", "id"),
    _oldest("jobs", "id", "nullif(done_at, 0)"),
    _oldest("job_links", "scope_id, link, job", "nullif(at, 0)"),
    _oldest("events", "number", "at"),
    _oldest("summaries", "number", "at"),
    _oldest("quality", "number", "at"),
    _oldest("desk_lines", "change", "at"),
    _oldest("desk_events", "id", "at"),
    _oldest("desk_older", "scope_id, name, version", "at"),
)
_OLDEST_CONTENTS = _oldest("contents", "id", "id", "RETURNING size")
# The row with the highest number of all is never deleted, see reuse.py.
_OLDEST_REUSE = f"""
    DELETE FROM reuse_entries WHERE change IN (
        SELECT change FROM reuse_entries ORDER BY change LIMIT (SELECT count(*) / {SHARE} FROM reuse_entries)
    )
"""  # noqa: S608 (same)
# Of links, those of the oldest 1/SHARE of the time.
_OLDEST_LINKS = f"DELETE FROM links WHERE at <= (SELECT min(at) + (max(at) - min(at)) / {SHARE} FROM links)"  # noqa: S608 (same)
# Names that nothing refers to any more. Links, which have no index by session either, are looked through last.
_SESSIONS = f"""
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

_FACTS = "DELETE FROM facts WHERE number IN (SELECT number FROM facts ORDER BY number DESC LIMIT -1 OFFSET :most)"
_FORGOTTEN = """
    DELETE FROM archive WHERE change IN (
        SELECT change FROM archive WHERE at IS NULL ORDER BY change DESC LIMIT -1 OFFSET :most
    )
"""
# Documents are a person's, and a desk gives the numbers of its lines.
_BY_NUMBER = tuple(
    f"DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} ORDER BY {age} DESC LIMIT -1 OFFSET :most)"  # noqa: S608 (our own names)
    for table, key, age in (("desk_documents", "scope_id, name", "at"), ("desks", "id", "last_at"))
)
# The number of rows that wipes have put aside, and the end of the first of these wipes.
_ASIDE = """
    SELECT count(*), min(until) FROM (
        SELECT until FROM wiped_facts UNION ALL SELECT until FROM wiped_archive UNION ALL SELECT until FROM wiped_links
        UNION ALL SELECT until FROM wiped_desk_lines UNION ALL SELECT until FROM wiped_desk_events
        UNION ALL SELECT until FROM wiped_desk_documents
    )
"""


@dataclass(slots=True)
class Expiry:
    """The steps of one database, as the configuration wants them."""

    keep: Keep
    keeps_contents: bool
    turns: float  # seconds that one is kept
    most_bytes: int | None = None  # of all pages in use; None: as much as the disk holds
    links: int = LINKS  # that a step looks through
    tapes: float = 0.0  # seconds that a line of a tape is kept; 0: for ever
    _swept: tuple[int, bytes] = (0, b"")  # scope and link up to which the links were looked through

    def work(self, now: float) -> Iterator[Work]:
        """Yields the work of one run, in its order."""
        keep = self.keep
        yield Work("wiped", partial(wipes.remove_expired, until=now), 1)
        yield Work("condensed", partial(condense, until=now - MINUTE), MOST_STEPS)
        if keep.requests:
            until = now - keep.requests
            yield Work("requests", _deleting(EXPIRED_ROWS, until=until, limit=ROWS), MOST_STEPS)
            yield Work("sessions", _deleting(EXPIRED_CARDS, until=until, limit=CARDS), MOST_STEPS)
        for each in leaving(now, keep.requests, self.turns, self.tapes, keep.quality):
            yield Work(each.table, _deleting(each.deleting(), until=each.until, limit=ROWS), MOST_STEPS)
        if keep.contents or not self.keeps_contents:
            until = now - keep.contents if self.keeps_contents else float("inf")
            yield Work("contents", partial(contents.remove_expired, until=until, limit=BYTES), MOST_STEPS)
        for kind, seconds, width in (("minutes", keep.minutes, MINUTE), ("hours", keep.hours, HOUR)):
            if seconds:
                expired = _deleting(EXPIRED_BUCKETS, until=now - seconds, width=width, limit=BUCKETS)
                yield Work(kind, expired, MOST_STEPS)
        if keep.links:
            for _ in range(SWEEPS):
                yield Work("links", partial(self._sweep, until=now - keep.links), 1)
        if self.most_bytes is not None:
            yield Work("oldest", partial(keep_within, most_bytes=self.most_bytes), MOST_STEPS)
        if keep.vacuum:
            yield Work("pages", give_back, MOST_STEPS)
        # SQLite's log is emptied last: deleted rows stand in it, and it is never longer than since then.
        yield Work("log", lambda _: 0, 1, erases=True)

    def _sweep(self, connection: sqlite3.Connection, until: float) -> int:
        scope, link = self._swept
        part = {"scope": scope, "link": link, "limit": self.links - 1, "until": until}
        last = connection.execute(PART, part).fetchone()
        self._swept = last or (0, b"")
        if last is None:
            return connection.execute(EXPIRED_LINKS, part).rowcount
        values = {**part, "last_scope": last[0], "last_link": last[1]}
        return connection.execute(EXPIRED_LINKS_OF_PART, values).rowcount


def give_back(connection: sqlite3.Connection) -> int:
    """Gives free pages of the file back to the disk, and returns how many. None (0) from a file that was made without
    incremental vacuum: see `doctor`."""
    free = _pragma(connection, "freelist_count")
    unneeded = free - max(SPARE_PAGES, int(_pragma(connection, "page_count") * SPARE_SHARE))
    if unneeded <= 0:
        return 0
    for _ in range(min(PAGES, unneeded)):
        connection.execute("PRAGMA incremental_vacuum(1)")  # of more pages Python would take the first step only
    return free - _pragma(connection, "freelist_count")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _deleting(statement: str, **values: float) -> Step:
    return lambda connection: connection.execute(statement, values).rowcount


def keep_within(connection: sqlite3.Connection, most_bytes: int, most_kept: int = MOST_KEPT) -> int:
    """Takes one step if the pages in use take more than `most_bytes`, and deletes rows beyond `most_kept` where that is
    the limit. Returns how many rows were deleted."""
    gone = sum(
        connection.execute(statement, {"most": most_kept}).rowcount for statement in (_FACTS, _FORGOTTEN, *_BY_NUMBER)
    )
    aside, first = connection.execute(_ASIDE).fetchone()
    if aside > most_kept:
        gone += wipes.remove_expired(connection, first)
    used = _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    if used * _pragma(connection, "page_size") > most_bytes:
        sizes = connection.execute(_OLDEST_CONTENTS).fetchall()
        contents.resize(connection, -sum(size for (size,) in sizes))
        gone += len(sizes) + sum(
            connection.execute(each).rowcount for each in (*_OLDEST, _OLDEST_REUSE, _OLDEST_LINKS, _SESSIONS)
        )
    return gone
