"""Expiry in a PostgreSQL database: minutes are added to hours and days, expired rows deleted. Of all
processes one at a time does it: the others find nothing to do. A step waits for no row that a batch of somebody else
holds: the next step finds it. Free pages are the server's business (autovacuum).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from proxy.config.storage import Keep
from proxy.storage.postgres import wipes
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.contents import remove_expired
from proxy.storage.postgres.jobs import said
from proxy.storage.postgres.ledger import condense
from proxy.storage.postgres.migrating import RETENTION_LOCK, try_lock
from proxy.storage.retention import BUCKETS, BYTES, CARDS, HOUR, LINKS, MOST_STEPS, ROWS, SWEEPS, Step, Work
from proxy.storage.stores.job_expiry import leaving
from proxy.storage.stores.ledger import MINUTE

# Rows are numbered as they are written, which is nearly the order of their times: so they need no index by time.
EXPIRED_ROWS = b"""
    DELETE FROM ledger WHERE id IN (
        SELECT id FROM (SELECT id, at FROM ledger ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED) AS first
        WHERE at <= %(until)s
    )
"""
EXPIRED_CARDS = b"""
    DELETE FROM session_sums WHERE session_id IN (
        SELECT session_id FROM session_sums WHERE last_at <= %(until)s ORDER BY last_at LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    )
"""
# Never a minute that its hour and its day do not have.
EXPIRED_BUCKETS = b"""
    DELETE FROM rollups WHERE (width, at, scope_id, model, upstream, source, plan, route) IN (
        SELECT width, at, scope_id, model, upstream, source, plan, route FROM rollups
        WHERE width = %(width)s
            AND at <= least(%(until)s::float8, (SELECT condensed FROM rollup_progress)) - %(width)s
        ORDER BY at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    )
"""
# Links have no index by time either, which every request would pay for: they are looked through, part by part.
PART = b"""
    SELECT scope_id, link FROM links WHERE (scope_id, link) > (%(scope)s, %(link)s::bytea) ORDER BY scope_id, link
    LIMIT 1 OFFSET %(limit)s
"""
EXPIRED_LINKS = b"""
    DELETE FROM links WHERE (scope_id, link) IN (
        SELECT scope_id, link FROM links
        WHERE (scope_id, link) > (%(scope)s, %(link)s::bytea) AND at <= %(until)s
            AND (%(last_scope)s::bigint IS NULL OR (scope_id, link) <= (%(last_scope)s, %(last_link)s::bytea))
        FOR UPDATE SKIP LOCKED
    )
"""


@dataclass(slots=True)
class PostgresExpiry:
    """The steps of one database, as the configuration wants them."""

    keep: Keep
    keeps_contents: bool
    turns: float  # seconds that one is kept
    links: int = LINKS  # that a step looks through
    tapes: float = 0.0  # seconds that a line of a tape is kept; 0: for ever
    _swept: tuple[int, bytes] = (0, b"")  # scope and link up to which the links were looked through

    def work(self, now: float) -> Iterator[Work]:
        """Yields the work of one run, in its order."""
        for each in self._work(now):
            yield Work(each.kind, partial(_alone, each.step), each.most)

    def _work(self, now: float) -> Iterator[Work]:
        keep = self.keep
        yield Work("wiped", partial(wipes.remove_expired, until=now), 1)
        yield Work("condensed", partial(condense, until=now - MINUTE), MOST_STEPS)
        if keep.requests:
            until = now - keep.requests
            yield Work("requests", _deleting(EXPIRED_ROWS, until=until, limit=ROWS), MOST_STEPS)
            yield Work("sessions", _deleting(EXPIRED_CARDS, until=until, limit=CARDS), MOST_STEPS)
        for each in leaving(now, keep.requests, self.turns, self.tapes, keep.quality):
            statement = each.deleting(skips=True)
            step = _deleting(said(statement).encode(), until=each.until, limit=ROWS)
            yield Work(each.table, step, MOST_STEPS)
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

    def _sweep(self, connection: Connection, until: float) -> int:
        scope, link = self._swept
        part = {"scope": scope, "link": link, "limit": self.links - 1, "until": until}
        last = connection.execute(PART, part).fetchone()
        self._swept = last or (0, b"")
        last_scope, last_link = last or (None, None)
        return connection.execute(EXPIRED_LINKS, {**part, "last_scope": last_scope, "last_link": last_link}).rowcount


def _alone(step: Step, connection: Connection) -> int:
    """Takes a step if no other process is at it until the transaction ends."""
    return step(connection) if try_lock(connection, RETENTION_LOCK) else 0


def _deleting(statement: bytes, **values: float) -> Step:
    return lambda connection: int(connection.execute(statement, values).rowcount)
