"""The limits of what memory's calls may cost, by what an end user has saved, and the calls within them.

A call is paid for before it is made: the most that it can cost is set aside in the job's row, corrected when it is
known. Where that never comes to be known (a call that hangs, a process that dies) it stays set aside, so no limit is
ever passed. What was asked is in the row before the question is on its way, and the answer before it is carried out: an
owner that dies leaves to the next one all that was paid for.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import time

from proxy.config.memory import MemoryModel as Settings
from proxy.curation.asking import Question
from proxy.curation.looking import session_of
from proxy.curation.model import MemoryModel, Reply
from proxy.storage.accounts import Accounts
from proxy.storage.base import StorageError
from proxy.storage.erasures import base_of
from proxy.storage.jobs import DAY, SHARE_DAYS, JobStore
from proxy.tasks import Tasks
from proxy.types.curation import Job, SpendLimits

LEASE = 120.0  # seconds that a job is held without a sign of life
RENEWED = 3  # times that it is renewed within that time


class Unaffordable(Exception):
    """A call would cost more than is left. `limit`: which limit forbids it."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class Failed(Exception):
    """A call that brought nothing. `reason`: why, of a bounded set."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Left(Exception):
    """The job has another owner by now, or something that it is about was forgotten."""


class Unanswerable(Exception):
    """The model's upstream is not there, or overloaded: nobody was asked, and nothing was paid."""


async def limits(accounts: Accounts, settings: Settings, scope: str, now: float) -> SpendLimits:
    """Returns the limits for a scope of memory. Raises StorageError."""
    days = await accounts.buckets(now - SHARE_DAYS * DAY, now, 86_400, base_of(scope))
    sums = [day.sums for day in days]
    saved = sum(each.saved_exact + each.saved_intent + each.saved_context - each.added_context for each in sums)
    return SpendLimits(settings.per_day, settings.allowance, settings.max_share * max(0.0, saved))


@dataclass(frozen=True, slots=True, eq=False)
class Caller:
    """Asks the model for one owner of jobs."""

    model: MemoryModel
    settings: Settings
    jobs: JobStore
    accounts: Accounts
    tasks: Tasks
    owner: str
    clock: Callable[[], float] = field(default=time)
    lease: float = LEASE

    async def reserve(self, job: Job, question: Question) -> None:
        """Sets aside what the question may cost. Raises Unaffordable, Left, StorageError."""
        now = self.clock()
        allowed = await limits(self.accounts, self.settings, job.scope, now)
        why = await self.jobs.reserve(job.id, self.owner, self.model.most(question.body), now, allowed)
        if why == "owner":
            raise Left
        if why:
            raise Unaffordable(why)

    async def ask(self, job: Job, question: Question, unreadable: Callable[[bytes], str]) -> Job:
        """Asks what was paid for; returns the job with its answer, which is in its row. `unreadable` returns why an
        answer is none, or "". Raises Failed, Unanswerable, Left, StorageError."""
        asked: Job = replace(job, model=self.model.name, prompt=question.prompt, shown=question.shown)
        asked = replace(asked, read=question.read)
        is_ours = await self.jobs.asked(
            job.id, self.owner, model=asked.model, prompt=asked.prompt, shown=asked.shown, read=asked.read
        )
        if not is_ours:
            if await self.holds(job):  # something was forgotten, and nothing was asked
                await self.jobs.settle(job.id, 0.0)
            raise Left
        reply = await self._reply(job, question.body)
        if reply is None:
            raise Failed("no answer")
        if reply.is_out:
            if await self.holds(job):
                await self.jobs.settle(job.id, 0.0)
            raise Unanswerable
        answer = reply.text.encode()
        if why := unreadable(answer):
            if await self.holds(job):
                await self.jobs.settle(job.id, reply.cost)
            raise Failed(why if answer else "no answer")
        if not await self.jobs.answered(job.id, self.owner, answer, reply.cost):
            raise Left
        return replace(asked, state="answered", answer=answer)

    async def holds(self, job: Job) -> bool:
        """Holds the job for longer; False if it has another owner."""
        return await self.jobs.renew(job.id, self.owner, self.clock() + self.lease)

    async def _reply(self, job: Job, body: bytes) -> Reply | None:
        """Returns the answer; the lease is renewed while it is waited for."""
        name = f"memory-{job.id}-{job.attempts}-{int(self.clock() * 1_000):x}"
        session = session_of(job) or f"memory: {job.kind}"
        asking = self.tasks.spawn(self.model.ask(job.scope, session, name, body), name="ask memory's model")
        held_until = self.clock() + self.lease
        try:
            while not asking.done():
                await asyncio.wait({asking}, timeout=self.lease / RENEWED)
                if asking.done():
                    break
                try:
                    is_held = await self.holds(job)
                    held_until = self.clock() + self.lease
                except StorageError:
                    is_held = self.clock() < held_until
                if not is_held:
                    raise Left
            reply: Reply | None = asking.result()
            return reply
        finally:
            asking.cancel()
