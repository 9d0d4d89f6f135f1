"""Jobs of memory's model in a database, and what they have made. The statements are those of its kind."""

import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from proxy.storage.base import ScopeErased
from proxy.storage.database import LONG_SECONDS, Database, Store
from proxy.storage.erasures import base_of
from proxy.storage.pending import BEGUN, FACTS, JOBS, LEDGER, Apply, Kind
from proxy.storage.scoped_writes import ScopedWrites
from proxy.storage.stores import job_rows as rows
from proxy.storage.stores.job_changes import JobChanges
from proxy.storage.stores.job_rows import Dialect
from proxy.storage.transactions import carried_out
from proxy.types.curation import (
    Digest,
    DigestSpan,
    Finished,
    Job,
    JobKind,
    JobState,
    MemoryEvent,
    SpendLimits,
    StoredSummary,
)

T = TypeVar("T")

MOST_SUMMARIES = 500
_ALL = 2**62  # above every number of a row


@dataclass(frozen=True, slots=True)
class JobStatements:
    """The statements of jobs in one kind of database."""

    arm: Apply  # of the values of ARM
    dialect: Dialect


class DatabaseJobs(Store):
    """The `JobStore` of a database."""

    def __init__(self, database: Database, statements: JobStatements, clock: Callable[[], float] = time.time) -> None:
        super().__init__(database)
        self._statements = statements
        self._dialect = statements.dialect
        self._changes = JobChanges(statements.dialect)
        self._clock = clock
        self._writes = ScopedWrites(database.writer, JOBS)

    def arm(
        self, scope: str, kind: JobKind, subject: str, due_at: float, *, sooner: bool = False, anyway: bool = False
    ) -> None:
        values = {"scope": scope, "kind": kind, "subject": subject, "created_at": self._clock(), "due_at": due_at}
        self._writes.put(scope, self._statements.arm, {**values, "sooner": int(sooner), "anyway": int(anyway)})

    async def claim(self, owner: str, now: float, lease: float) -> Job | None:
        if not self.keeps:
            return None
        job, newest = await self._carried_out("", lambda connection: self._changes.claim(connection, owner, now, lease))
        BEGUN.set(newest)  # what this task writes for the job is refused once its scope was erased
        return job

    async def renew(self, job: int, owner: str, until: float) -> bool:
        return await self._changed(
            job, lambda connection, _: self._changes.renew(connection, job, owner, until), otherwise=False
        )

    async def reserve(self, job: int, owner: str, dollars: float, now: float, limits: SpendLimits) -> str:
        if (scope := await self._scope_of(job)) is None:
            return "owner"
        payer = base_of(scope)
        try:  # after what the ledger locks, where that is one lock of all
            return await self._carried_out(
                payer,
                lambda connection: self._changes.reserve(connection, job, owner, payer, dollars, now, limits),
                LEDGER,
            )
        except ScopeErased:
            return "owner"

    async def settle(self, job: int, dollars: float) -> None:
        await self._settled_by(job, lambda connection: self._changes.settle(connection, job, dollars))

    async def asked(
        self, job: int, owner: str, *, model: str, prompt: str, shown: bytes, read: Sequence[bytes]
    ) -> bool:
        told = {"model": model, "prompt": prompt, "shown": shown}
        links = tuple(dict.fromkeys(read))
        return await self._changed(
            job,
            lambda connection, scope: self._changes.asked(connection, job, owner, scope, told, links),
            otherwise=False,
        )

    async def answered(self, job: int, owner: str, answer: bytes, dollars: float) -> bool:
        if await self._scope_of(job) is None:
            await self._settled_by(
                job, lambda connection: self._changes.answered(connection, job, owner, answer, dollars)
            )
            return False
        return await self._changed(
            job,
            lambda connection, _: self._changes.answered(connection, job, owner, answer, dollars),
            otherwise=False,
        )

    async def finish(self, job: int, owner: str, finished: Finished, now: float) -> bool:
        return await self._changed(
            job,
            lambda connection, scope: self._changes.finish(connection, job, owner, scope, finished, now),
            JOBS if finished.summary is None else FACTS,  # other processes look for summaries as for facts
            otherwise=False,
        )

    async def put_off(
        self, job: int, owner: str, due_at: float, reason: str, *, give_up: bool = False, counts: bool = True
    ) -> None:
        def step(connection: Any, _: str) -> None:
            if give_up:
                self._changes.give_up(connection, job, owner, self._clock(), reason)
            else:
                self._changes.put_off(connection, job, owner, due_at, reason, counts=counts)

        await self._changed(job, step, otherwise=None)

    async def undone(self, job: int, fact_id: str) -> bool:
        return await self._changed(
            job, lambda connection, _: self._changes.undone(connection, job, fact_id), otherwise=False
        )

    async def was_read(self, scope: str, links: Sequence[bytes]) -> set[bytes]:
        if not links:
            return set()
        await self._writes.settled(scope)
        return await self._database.read(lambda connection: self._dialect.was_read(connection, scope, links))

    async def jobs(
        self, scope: str | None = None, *, before: int | None = None, limit: int = 50, states: Collection[str] = ()
    ) -> list[Job]:
        await self._writes.settled(scope)
        wanted = [state for state in get_args(JobState) if state in states]
        if states and not wanted:
            return []
        statement = rows.JOBS.format(
            whose="true" if scope is None else f"jobs.scope_id = {rows.SCOPE_ID}",
            states=f"state IN ({', '.join(map(repr, wanted))})" if wanted else "true",
        )
        values = {"scope": scope, "before": _ALL if before is None else before, "limit": max(0, limit)}
        return await self._jobs(statement, values)

    async def job(self, number: int) -> Job | None:
        await self._writes.settled()
        return next(iter(await self._jobs(rows.JOB, {"job": number})), None)

    async def events(self, scope: str, start: float, end: float) -> list[MemoryEvent]:
        return await self._rows(scope, rows.EVENTS, rows.event_of, {"start": start, "end": end})

    async def digests(self, scope: str, span: DigestSpan, start: float, end: float) -> list[Digest]:
        return await self._rows(scope, rows.DIGESTS, rows.digest_of, {"span": span, "start": start, "end": end})

    async def summaries(self, scope: str) -> list[StoredSummary]:
        newest = await self._rows(scope, rows.SUMMARIES, rows.summary_of, {"limit": MOST_SUMMARIES})
        return newest[::-1]

    async def spent(self, since: float, scope: str | None = None) -> float:
        statement, payer = (rows.SPENT, None) if scope is None else (rows.SPENT_BY, base_of(scope))
        (dollars,) = await self._rows(payer, statement, lambda row: float(row[0]), {"since": since})
        return dollars

    async def _carried_out(self, scope: str, step: Callable[[Any], T], kind: Kind = JOBS) -> T:
        await self._writes.erased(scope or None)  # a batch has its own order among stores
        return await carried_out(self._database.writer, step, kind=kind, scope=scope, store=self._writes)

    async def _changed(self, job: int, step: Callable[[Any, str], T], kind: Kind = JOBS, *, otherwise: T) -> T:
        """Runs a step with the scope of the job; `otherwise` if there is no such job, or its scope was erased."""
        if (scope := await self._scope_of(job)) is None:
            return otherwise
        try:
            return await self._carried_out(scope, lambda connection: step(connection, scope), kind)
        except ScopeErased:
            return otherwise

    async def _settled_by(self, job: int, step: Callable[[Any], object]) -> None:
        """Runs a step that settles what a job costs, be the job there or not."""
        if self.keeps:
            statement = self._dialect.said(rows.PAYER_OF)
            payers = await self._database.rows(statement, {"job": job}, lambda row: str(row[0]), LONG_SECONDS)
            with contextlib.suppress(ScopeErased):
                await self._carried_out(payers[0] if payers else "", step, LEDGER)

    async def _scope_of(self, job: int) -> str | None:
        statement = self._dialect.said(rows.SCOPE_OF)
        found = await self._database.rows(statement, {"job": job}, lambda row: str(row[0]), LONG_SECONDS)
        return next(iter(found), None)

    async def _jobs(self, statement: str, values: Mapping[str, Any]) -> list[Job]:
        def read(connection: Any) -> list[Job]:
            return rows.jobs_of(self._dialect, connection, self._dialect.run(connection, statement, values).fetchall())

        return await self._database.read(read, LONG_SECONDS)

    async def _rows(
        self, scope: str | None, statement: str, of: Callable[[Sequence[Any]], T], values: Mapping[str, Any]
    ) -> list[T]:
        await self._writes.settled(scope)
        return await self._database.rows(self._dialect.said(statement), {**values, "scope": scope}, of, LONG_SECONDS)
