"""SQLite's steps of retention: minutes are added to hours and days, expired rows deleted, free pages given back to the
disk. In memory, the oldest rows are deleted beyond a limit (`memory_limit.py`).

Each step takes a few milliseconds and does what it finds to do: several processes may work on one file.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from proxy.config.model import Keep
from proxy.storage.retention import Step, Work
from proxy.storage.sqlite import memory_limit, wipes
from proxy.storage.sqlite.contents import remove_expired
from proxy.storage.sqlite.rollups import MINUTE, condense

MOST_STEPS = 250  # of one kind in a run; more is left to the next

# Most that a step takes: rows, conversations, buckets, pages, bytes of contents, links that are looked through.
ROWS, CARDS, BUCKETS, PAGES, BYTES, LINKS = 250, 250, 500, 64, 2**19, 1_000
SWEEPS = 20  # steps through the links in a run
SPARE_PAGES = 256  # free pages that stay in the file, since they are soon used again, or
SPARE_SHARE = 0.05  # of all pages, if that is more

HOUR = 3_600

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
    DELETE FROM rollups WHERE (width, at, scope_id, model, upstream, source, plan) IN (
        SELECT width, at, scope_id, model, upstream, source, plan FROM rollups
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


@dataclass(slots=True)
class Expiry:
    """The steps of one database, as the configuration wants them."""

    keep: Keep
    keeps_contents: bool
    most_bytes: int | None = None  # of all pages in use; None: as much as the disk holds
    links: int = LINKS  # that a step looks through
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
        if keep.contents or not self.keeps_contents:
            until = now - keep.contents if self.keeps_contents else float("inf")
            yield Work("contents", partial(remove_expired, until=until, limit=BYTES), MOST_STEPS)
        for kind, seconds, width in (("minutes", keep.minutes, MINUTE), ("hours", keep.hours, HOUR)):
            if seconds:
                expired = _deleting(EXPIRED_BUCKETS, until=now - seconds, width=width, limit=BUCKETS)
                yield Work(kind, expired, MOST_STEPS)
        if keep.links:
            for _ in range(SWEEPS):
                yield Work("links", partial(self._sweep, until=now - keep.links), 1)
        if self.most_bytes is not None:
            yield Work("oldest", partial(memory_limit.keep_within, most_bytes=self.most_bytes), MOST_STEPS)
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
    free = _free(connection)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    unneeded = free - max(SPARE_PAGES, int(pages * SPARE_SHARE))
    if unneeded <= 0:
        return 0
    for _ in range(min(PAGES, unneeded)):
        connection.execute("PRAGMA incremental_vacuum(1)")  # of more pages Python would take the first step only
    return free - _free(connection)


def _free(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


def _deleting(statement: str, **values: float) -> Step:
    return lambda connection: connection.execute(statement, values).rowcount
