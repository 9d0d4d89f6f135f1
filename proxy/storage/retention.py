"""The background job that lets a database forget, every few minutes: what it has to do, step by step, and when.

All of it goes through the one writer, between its batches, in steps of a few milliseconds, so that nothing waits for
long. Of several processes with one database one is elected for a run. A step does what it finds to do: one that is
ended loses nothing.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from proxy.storage.election import Alone, Election
from proxy.storage.transactions import carried_out
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
            did = await carried_out(self.writer, work.step, erases=work.erases)
            total += did
            if did == 0:
                break
            await asyncio.sleep(self.pace.pause)
        return total


MOST_STEPS = 250  # of one kind in a run; more is left to the next
# Most that a step takes: rows, conversations, buckets, bytes of contents, links that are looked through.
ROWS, CARDS, BUCKETS, BYTES, LINKS = 250, 250, 500, 2**19, 1_000
SWEEPS = 20  # steps through the links in a run

HOUR = 3_600
