"""The worker of memory's model: takes jobs that are due and works on them, one at a time. Nothing waits for it.

A job is a row. Whatever ends its owner, the next one goes on from there. Failures put a job off, longer each time,
until it is given up with a reason; where there is no money left today, it waits for tomorrow's, and where the model's
upstream is out, for its return: until what it is about has expired.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import time
from typing import Literal, TypeAlias

from proxy.curation.arming import Arming
from proxy.curation.doing import Doing
from proxy.curation.spending import Failed, Left, Unaffordable, Unanswerable
from proxy.storage.jobs import DAY, JobStore
from proxy.tasks import Attempts, Tasks
from proxy.types.curation import Job

log = logging.getLogger(__name__)

POLL = 5.0  # seconds between two looks for jobs that are due
UNREAD = 30.0  # the same, where it could not be told whether any is
DEADLINE = 300.0  # seconds of one job, its call included
MOST_ATTEMPTS = 5
BACKOFF, GROWTH = 60.0, 4.0  # seconds after the first failure; how many times longer after each further one
OUT = 600.0  # seconds between two attempts while the upstream is out
GRACE = 3.0  # seconds that a call under way has to end when the process does

_OF_STORAGE = frozenset({"StorageError", "Unavailable", "Unfit", "DatabaseCorrupt"})  # errors

Result: TypeAlias = Literal["done", "nothing", "put-off", "unaffordable", "given-up", "left"]


@dataclass(eq=False)
class Curator:
    """The worker of one process. For the event loop."""

    arming: Arming
    doing: Doing
    jobs: JobStore
    tasks: Tasks
    on_failure: Callable[[str, str], None] = lambda _stage, _reason: None
    on_job: Callable[[str, Result], None] = lambda _kind, _result: None
    clock: Callable[[], float] = time
    _stopping: bool = False
    _again: bool = False  # something has become due since the last look
    _timer: asyncio.TimerHandle | None = None
    _running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to take jobs."""
        self.arming.on_due = self._look
        self._look()

    def stop(self) -> None:
        """Takes no further job. The one under way has a moment to end; if it does not, another process goes on."""
        self._stopping = True
        if self._timer is not None:
            self._timer.cancel()
        if self._running is not None:
            asyncio.get_running_loop().call_later(GRACE, self._running.cancel)

    async def close(self) -> None:
        """Ends at once what is still under way."""
        self.stop()
        if (running := self._running) is not None:
            running.cancel()
            await asyncio.wait({running})

    def _look(self) -> None:
        """Looks for jobs that are due, now."""
        if self._timer is not None:
            self._timer.cancel()
        self._again = True
        if self._running is None and not self._stopping:
            self._running = self.tasks.spawn(self._work_off(), name="memory's model")

    async def _work_off(self) -> None:
        pause = POLL
        try:
            while self._again and not self._stopping:
                attempts = Attempts(self.on_failure)
                self._again = False
                worked = await attempts.run("memory", self.work(), fallback=False, deadline=2 * DEADLINE)
                self._again = self._again or worked
                if attempts.failed:
                    pause = UNREAD
                    break
        finally:
            self._running = None
            if not self._stopping:
                self._timer = asyncio.get_running_loop().call_later(pause, self._look)

    async def work(self) -> bool:
        """Takes a job that is due and works on it; False if none is. Raises StorageError if nobody can tell."""
        job = await self.jobs.claim(self.doing.caller.owner, self.clock(), self.doing.caller.lease)
        if job is None:
            return False
        attempts = Attempts(self.on_failure)
        result = await attempts.run("memory", self._worked_on(job), fallback=None, deadline=DEADLINE)
        if result is None:
            why = "storage" if attempts.failed["memory"] in _OF_STORAGE else "failed"
            result = await self._failed(job, why)
        self.on_job(job.kind, result)
        return True

    async def _worked_on(self, job: Job) -> Result:
        if job.attempts > MOST_ATTEMPTS:  # its owners have died of it
            return await self._failed(job, job.reason or "broken off")
        try:
            return "done" if await self.doing.do(job) else "nothing"
        except Unaffordable as short:
            await self._wait(job, (self.clock() // DAY + 1) * DAY, short.limit)
            return "unaffordable"
        except Unanswerable:
            await self._wait(job, self.clock() + OUT, "unreachable")
            return "put-off"
        except Left:
            await self.jobs.put_off(job.id, self.doing.caller.owner, self.clock() + BACKOFF, "changed")
            return "left"
        except Failed as failed:
            return await self._failed(job, failed.reason)

    async def _wait(self, job: Job, until: float, reason: str) -> None:
        await self.jobs.put_off(job.id, self.doing.caller.owner, until, reason, counts=False)

    async def _failed(self, job: Job, reason: str) -> Result:
        """Puts a job off, or gives it up."""
        attempts, now = job.attempts, self.clock()
        is_last = attempts >= MOST_ATTEMPTS
        due_at = now + BACKOFF * GROWTH ** (min(attempts, MOST_ATTEMPTS) - 1)
        await self.jobs.put_off(job.id, self.doing.caller.owner, due_at, reason, give_up=is_last)
        log.warning(
            "a job of memory's model has failed",
            extra={"job": job.id, "kind": job.kind, "attempt": job.attempts, "why": reason, "given_up": is_last},
        )
        return "given-up" if is_last else "put-off"
