"""The background job that lets a database forget, every few minutes: minutes are added to hours and days, expired rows
deleted, free pages given back to the disk. In memory, the oldest part of every table is deleted beyond a limit of size.

All of it goes through the one writer, between its batches, in steps of a few milliseconds, so that nothing waits for
long. Of several processes with one file one is elected for a run. A step does what it finds to do: one that is ended
loses nothing.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from proxy.config.model import Keep
from proxy.storage.base import StorageError
from proxy.storage.election import Alone, Election
from proxy.storage.pending import DELETIONS, Write
from proxy.storage.sqlite import accounts, wipes
from proxy.storage.sqlite.ledger import condense
from proxy.storage.stores.ledger import MINUTE
from proxy.storage.write_queue import WriteQueue
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

OnFailure = Callable[[str, str], object]  # is called with the part that failed, and the kind of error
Step = Callable[[Any], int]  # gets the connection, returns how much it did; 0: there is no more


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work of a run, in steps."""

    kind: str  # as the log names it
    step: Step
    most: int  # steps in a run
    erases: bool = False  # logs of the database are emptied after a step


@dataclass(frozen=True, slots=True)
class Pace:
    """The times of runs and steps, in seconds."""

    first_after: float = 10.0  # from the start to the first run
    every: float = 600.0  # from the end of a run to the next
    pause: float = 0.02  # between two steps: the writer has others to serve


IN_MEMORY = Pace(every=10.0)  # there a run keeps the limit of size


@dataclass(slots=True, eq=False)
class Retention:
    """The job of one database."""

    writer: WriteQueue
    work: Callable[[float], Iterable[Work]]  # returns what a run at a time (Unix seconds) has to do
    tasks: Tasks
    on_failure: OnFailure = field(kw_only=True)
    clock: Callable[[], float] = time.time
    pace: Pace = Pace()
    election: Election = Alone()  # noqa: RUF009 (it has no state)
    _timer: asyncio.TimerHandle | None = None
    _stopped: bool = False

    def start(self) -> None:
        """Schedules the first run; each schedules the next."""
        self._again(self.pace.first_after, self.pace.first_after)

    def stop(self) -> None:
        """Ends the job after the step that is under way."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    async def run(self) -> dict[str, int]:
        """Runs all the work once. Returns how much was done, by kind."""
        done: dict[str, int] = {}
        for work in self.work(self.clock()):
            if self._stopped or self.writer.failing is not None:  # the next run finds the same to do
                break
            try:
                done[work.kind] = done.get(work.kind, 0) + await self._repeated(work)
            except Exception as error:  # noqa: BLE001 (no request needs any of it, and the next run tries again)
                self.on_failure("retention", type(error).__name__)
                log.warning("retention failed", extra={"kind": work.kind, "why": str(error)})
        if any(done.values()):
            log.info("retention", extra={"done": {kind: count for kind, count in done.items() if count}})
        return done

    def _again(self, seconds: float, unless: float) -> None:
        """Schedules a run after `seconds`, unless another process has made one within the last `unless` seconds."""
        if not self._stopped:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._begin, unless)

    def _begin(self, unless: float) -> None:
        self.tasks.spawn(self._run_and_again(unless), name="retention")

    async def _run_and_again(self, unless: float) -> None:
        try:
            async with self.election.turn("retention", unless) as is_mine:
                if is_mine:
                    await self.run()
        finally:
            self._again(self.pace.every, self.pace.every / 2)  # not all: no two timers agree

    async def _repeated(self, work: Work) -> int:
        total = 0
        for _ in range(work.most):
            if self._stopped:
                break
            did = await self._take(work)
            total += did
            if did == 0:
                break
            await asyncio.sleep(self.pace.pause)
        return total

    async def _take(self, work: Work) -> int:
        did: list[int] = []

        def step(connection: Any, _: Sequence[None]) -> None:
            did.append(work.step(connection))

        if self.writer.put(Write(1, step, erases=work.erases, kind=DELETIONS, scope="")):
            await self.writer.flush()
        if not did:
            raise StorageError(self.writer.failing or "a step was dropped")
        return did[-1]


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

# --- the limit of size in memory: a step deletes one of SHARE rows of each table -------------------------------------

SHARE = 64  # a step deletes one of so many rows
# Rows each of facts, forgotten links and wipes: nothing could restore them, so they leave by number, not by size.
MOST_KEPT = 100_000


def _oldest(table: str, key: str, age: str, rest: str = "") -> str:
    """Returns the statement that deletes the oldest of a table's rows. Ids grow as rows are written."""
    return f"""
        DELETE FROM {table} WHERE {key} IN (
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
# The number of rows that wipes have put aside, and the end of the first of these wipes.
_ASIDE = """
    SELECT count(*), min(until) FROM (
        SELECT until FROM wiped_facts UNION ALL SELECT until FROM wiped_archive UNION ALL SELECT until FROM wiped_links
    )
"""


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
            yield Work("contents", partial(accounts.remove_expired, until=until, limit=BYTES), MOST_STEPS)
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
    gone = sum(connection.execute(statement, {"most": most_kept}).rowcount for statement in (_FACTS, _FORGOTTEN))
    aside, first = connection.execute(_ASIDE).fetchone()
    if aside > most_kept:
        gone += wipes.remove_expired(connection, first)
    used = _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    if used * _pragma(connection, "page_size") > most_bytes:
        sizes = connection.execute(_OLDEST_CONTENTS).fetchall()
        accounts.resize(connection, -sum(size for (size,) in sizes))
        gone += len(sizes) + sum(
            connection.execute(each).rowcount for each in (*_OLDEST, _OLDEST_REUSE, _OLDEST_LINKS, _SESSIONS)
        )
    return gone
