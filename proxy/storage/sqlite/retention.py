"""In the background: adds minutes to their hours and days, lets go of what was kept long enough, gives the disk back
what has become free. Where all is in memory, the oldest leaves when it takes too much of that.

All of it is done in small steps through the one writer, between its batches, so that nothing waits for long. A step
does what it finds to do: several processes may work at the same file, and one that is ended loses nothing.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from proxy.config.model import Keep
from proxy.storage.base import StorageError
from proxy.storage.sqlite import memory_limit, wipes
from proxy.storage.sqlite.contents import remove_expired
from proxy.storage.sqlite.rollups import MINUTE, condense
from proxy.storage.sqlite.shares import DELETIONS
from proxy.storage.sqlite.writer import Write, Writer
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

MOST_STEPS = 250  # of one kind in a run; more is left to the next

# What a step takes at most, so that the longest of them takes a few milliseconds.
ROWS, CARDS, BUCKETS, PAGES, BYTES = 250, 250, 500, 64, 2**19
SWEEPS = 20  # steps through the links in a run
SPARE_PAGES = 256  # free ones that are soon used again, and a part of the file beside them
SPARE_SHARE = 0.05

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

OnFailure = Callable[[str, str], object]  # is told what failed, and the kind of error
Step = Callable[[sqlite3.Connection], int]  # how much it did; 0: there is no more


@dataclass(frozen=True, slots=True)
class Pace:
    first_after: float = 10.0  # seconds after the start
    every: float = 600.0  # seconds from the end of a run to the next
    pause: float = 0.02  # seconds between two steps: the writer has others to serve
    links: int = 1_000  # that are looked through in a step


IN_MEMORY = Pace(every=10.0)  # what is too much would be there as long


@dataclass(slots=True, eq=False)
class _Taken:
    """A step that is queued, and what it did; None if it was dropped."""

    step: Step
    did: int | None = None


class Retention:
    def __init__(
        self,
        writer: Writer,
        keep: Keep,
        tasks: Tasks,
        *,
        keeps_contents: bool,
        on_failure: OnFailure,
        clock: Callable[[], float] = time.time,
        pace: Pace | None = None,
        most_bytes: int | None = None,
    ) -> None:
        self._writer = writer
        self._keep = keep
        self._tasks = tasks
        self._keeps_contents = keeps_contents
        self._on_failure = on_failure
        self._clock = clock
        self._pace = pace or Pace()
        self._most_bytes = most_bytes  # of everything; None: as much as the disk holds
        self._swept: tuple[int, bytes] = (0, b"")  # how far the links were looked through
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def start(self) -> None:
        """From now on it runs by itself."""
        self._again(self._pace.first_after)

    def stop(self) -> None:
        """It ends after the step that it is at."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    async def run(self) -> dict[str, int]:
        """Once through everything. What was done, by kind."""
        done: dict[str, int] = {}
        for kind, step, most in self._steps(self._clock()):
            if self._stopped or self._writer.failing is not None:  # the next run finds the same to do
                break
            try:
                done[kind] = done.get(kind, 0) + await self._repeated(step, most)
            except Exception as error:  # noqa: BLE001 (no request needs any of it, and the next run tries again)
                self._on_failure("retention", type(error).__name__)
                log.warning("retention failed", extra={"kind": kind, "why": str(error)})
        if any(done.values()):
            log.info("retention", extra={"done": {kind: count for kind, count in done.items() if count}})
        return done

    def _again(self, seconds: float) -> None:
        if not self._stopped:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)

    def _begin(self) -> None:
        self._tasks.spawn(self._run_and_again(), name="retention")

    async def _run_and_again(self) -> None:
        try:
            await self.run()
        finally:
            self._again(self._pace.every)

    def _steps(self, now: float) -> Iterator[tuple[str, Step, int]]:
        """What there is to do: what it is called, one step of it, and how many of these a run takes at most."""
        keep = self._keep
        yield "wiped", partial(wipes.remove_expired, until=now), 1
        yield "condensed", partial(condense, until=now - MINUTE), MOST_STEPS
        if keep.requests:
            until = now - keep.requests
            yield "requests", _deleting(EXPIRED_ROWS, until=until, limit=ROWS), MOST_STEPS
            yield "sessions", _deleting(EXPIRED_CARDS, until=until, limit=CARDS), MOST_STEPS
        if keep.contents or not self._keeps_contents:
            until = now - keep.contents if self._keeps_contents else float("inf")
            yield "contents", partial(remove_expired, until=until, limit=BYTES), MOST_STEPS
        for kind, seconds, width in (("minutes", keep.minutes, MINUTE), ("hours", keep.hours, HOUR)):
            if seconds:
                yield kind, _deleting(EXPIRED_BUCKETS, until=now - seconds, width=width, limit=BUCKETS), MOST_STEPS
        if keep.links:
            for _ in range(SWEEPS):
                yield "links", partial(self._sweep, until=now - keep.links), 1
        if self._most_bytes is not None:
            yield "oldest", partial(memory_limit.keep_within, most_bytes=self._most_bytes), MOST_STEPS
        if keep.vacuum:
            yield "pages", give_back, MOST_STEPS
        yield "log", _nothing, 1

    async def _repeated(self, step: Step, most: int) -> int:
        total = 0
        for _ in range(most):
            if self._stopped:
                break
            did = await self._take(step)
            total += did
            if did == 0:
                break
            await asyncio.sleep(self._pace.pause)
        return total

    async def _take(self, step: Step) -> int:
        # SQLite's log is emptied last: what was deleted stands in it, and it is never longer than since then.
        taken = _Taken(step)
        if self._writer.put(Write(1, _apply, taken, erases=step is _nothing, kind=DELETIONS, scope="")):
            await self._writer.flush()
        if taken.did is None:
            raise StorageError(self._writer.failing or "a step was dropped")
        return taken.did

    def _sweep(self, connection: sqlite3.Connection, until: float) -> int:
        scope, link = self._swept
        part = {"scope": scope, "link": link, "limit": self._pace.links - 1, "until": until}
        last = connection.execute(PART, part).fetchone()
        self._swept = last or (0, b"")
        if last is None:
            return connection.execute(EXPIRED_LINKS, part).rowcount
        values = {**part, "last_scope": last[0], "last_link": last[1]}
        return connection.execute(EXPIRED_LINKS_OF_PART, values).rowcount


def give_back(connection: sqlite3.Connection) -> int:
    """Pages of the file that the disk has back. None if the file was made without being able to: see `doctor`."""
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


def _nothing(_: sqlite3.Connection) -> int:
    return 0


def _apply(connection: sqlite3.Connection, steps: Sequence[_Taken]) -> None:
    for taken in steps:
        taken.did = taken.step(connection)
