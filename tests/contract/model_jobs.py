"""Jobs in their plainest form, of extraction alone: each message is a turn of its own. Stores are compared with it."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proxy.storage.jobs import DAY, SHARE_DAYS
from proxy.types.curation import SpendLimits

UNDER_WAY = ("running", "answered")


@dataclass(eq=False)
class ModelJob:
    scope: str
    subject: str
    due: float
    state: str = "waiting"
    owner: str = ""
    lease: float = 0.0
    held: float = 0.0
    attempts: int = 0
    read: tuple[bytes, ...] = ()
    answer: bytes = b""
    stale: bool = False  # something that it may have read was forgotten since it was claimed
    made: int = 0  # events of it that are left
    calls: list[tuple[str, float, float]] = field(default_factory=list)  # by whom, when, dollars

    def is_run_by(self, owner: str) -> bool:
        return self.state in UNDER_WAY and self.owner == owner


class ModelJobs:
    def __init__(self) -> None:
        self.jobs: list[ModelJob] = []
        self.gone: list[ModelJob] = []  # what they have cost stays
        self.read: set[tuple[str, bytes]] = set()
        self.forgotten: set[tuple[str, bytes]] = set()

    def arm(self, scope: str, subject: str, due: float, *, sooner: bool) -> None:
        if (job := self._waiting(scope, subject)) is None:
            self.jobs.append(ModelJob(scope, subject, due))
        elif not (sooner and job.due < due):
            job.due = max(due, job.held)

    def claim(self, owner: str, now: float, lease: float) -> ModelJob | None:
        found = [job for job in self.jobs if self._is_due(job, now)]
        if not found:
            return None
        job = min(found, key=lambda each: each.due)  # of one time the first
        job.state = "answered" if job.state == "answered" else "running"
        job.owner, job.lease, job.stale = owner, now + lease, False
        job.attempts += 1
        return job

    def renew(self, job: ModelJob, owner: str, until: float) -> bool:
        if job.is_run_by(owner):
            job.lease = until
        return job.is_run_by(owner)

    def reserve(self, job: ModelJob, owner: str, dollars: float, now: float, limits: SpendLimits) -> str:
        if not job.is_run_by(owner):
            return "owner"
        today = now // DAY
        if sum(each for _, at, each in self._calls() if at // DAY == today) + dollars > limits.per_day:
            return "per_day"
        excess = 0.0
        for day in range(int(today) - SHARE_DAYS + 1, int(today) + 1):
            spent = sum(each for _, at, each in self._calls(job.scope) if at // DAY == day)
            excess += max(0.0, spent + dollars * (day == today) - limits.allowance)
        if excess > limits.share:
            return "share"
        job.calls.append((owner, now, dollars))
        return ""

    def asked(self, job: ModelJob, owner: str, read: Sequence[bytes]) -> bool:
        if not job.is_run_by(owner) or any((job.scope, link) in self.forgotten for link in read):
            return False
        job.state, job.read, job.answer, job.stale = "running", tuple(dict.fromkeys(read)), b"", False
        return True

    def answered(self, job: ModelJob, owner: str, answer: bytes, dollars: float) -> bool:
        own = [place for place, call in enumerate(job.calls) if call[0] == owner]
        if own:
            job.calls[own[-1]] = (owner, job.calls[own[-1]][1], dollars)
        if not self._is_still(job, owner):
            return False
        job.state, job.answer = "answered", answer
        return True

    def finish(self, job: ModelJob, owner: str) -> bool:
        if not self._is_still(job, owner):
            return False
        job.state, job.answer, job.made, job.lease = "done", b"", 1, 0.0
        self.read |= {(job.scope, link) for link in job.read}
        return True

    def put_off(self, job: ModelJob, owner: str, due: float, *, give_up: bool) -> None:
        if not job.is_run_by(owner):
            return
        if give_up:
            job.state, job.answer, job.read, job.lease = "given-up", b"", (), 0.0
            return
        job.owner, job.lease, job.due, job.held = "", 0.0, due, due
        if job.state == "running":
            self._waits(job)

    def forget(self, scope: str, link: bytes) -> None:
        self.forgotten.add((scope, link))
        self.read.discard((scope, link))
        for job in [each for each in self.jobs if each.scope == scope]:
            is_told = link in job.read
            if is_told and job.state == "done":
                job.made = 0
            if job.state in UNDER_WAY and (is_told or not job.read):
                job.state, job.answer, job.read, job.stale = "running", b"", (), True
                if not job.owner:
                    self._waits(job)
            job.read = tuple(each for each in job.read if each != link)

    def wipe(self, scope: str, links: Sequence[bytes]) -> None:
        self.gone += [job for job in self.jobs if job.scope == scope]
        self.jobs = [job for job in self.jobs if job.scope != scope]
        self.read = {each for each in self.read if each[0] != scope}
        self.forgotten |= {(scope, link) for link in links}

    def spent(self, scope: str | None = None) -> float:
        return sum(dollars for *_, dollars in self._calls(scope))

    def _calls(self, scope: str | None = None) -> Iterator[tuple[str, float, float]]:
        wanted = (job for job in (*self.jobs, *self.gone) if scope in (None, job.scope))
        return itertools.chain.from_iterable(job.calls for job in wanted)

    def _waiting(self, scope: str, subject: str) -> ModelJob | None:
        found = (job for job in self.jobs if (job.scope, job.subject, job.state) == (scope, subject, "waiting"))
        return next(found, None)

    def _is_due(self, job: ModelJob, now: float) -> bool:
        others = [each for each in self.jobs if (each.scope, each.subject) == (job.scope, job.subject)]
        is_open = job.state in UNDER_WAY or (
            job.state == "waiting" and not any(each.state in UNDER_WAY for each in others)
        )
        return is_open and max(job.due, job.lease) <= now

    def _is_still(self, job: ModelJob, owner: str) -> bool:
        if not job.is_run_by(owner):
            return False
        if job.stale:
            self._waits(job)
            return False
        return True

    def _waits(self, job: ModelJob) -> None:
        if (armed := self._waiting(job.scope, job.subject)) is not None:
            self.jobs.remove(armed)
            job.due = max(job.due, armed.due)
        job.state, job.owner, job.lease, job.read, job.answer, job.stale = "waiting", "", 0.0, (), b"", False
