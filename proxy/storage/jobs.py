"""Protocol of the store of memory with a model's help: its jobs, what they cost, and what came of them (events,
digests, summaries). Scopes, times, writes and errors are as in base.py.

Every method that changes a job is one transaction, of whichever of the processes that share a database calls it: a
job has one owner at a time, an answer is carried out once, and no limit of money is passed by two calls at once. They
return when that is durable, and raise StorageError if it is not: only `arm` is queued.

What is forgotten leaves here in the same transaction as it leaves the archive: events, summaries and answers of jobs
that have read a forgotten message, the texts in the lines of all jobs of the scope, and all its digests. A wipe of a
scope takes everything but what was spent.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from proxy.storage.base import Queued
from proxy.types.curation import (
    Digest,
    DigestSpan,
    Finished,
    Job,
    JobKind,
    MemoryEvent,
    SpendLimits,
    StoredSummary,
)

DAY = 86_400.0
SHARE_DAYS = 30  # whose spending `SpendLimits.share` limits


class JobStore(Queued, Protocol):
    """The jobs of all scopes, and what they have made."""

    @property
    def keeps(self) -> bool:
        """False if the store keeps nothing: there is no memory with a model's help then."""

    def arm(
        self, scope: str, kind: JobKind, subject: str, due_at: float, *, sooner: bool = False, anyway: bool = False
    ) -> None:
        """Queues that a job waits until `due_at`. If one of this scope, kind and subject waits already, it is moved
        there; with `sooner` only to an earlier time; but to none before the time that it was put off to, unless
        `anyway`."""

    async def claim(self, owner: str, now: float, lease: float) -> Job | None:
        """Takes the job that is due longest, for `lease` seconds: a waiting one ("running" from now on), or one whose
        owner has not been heard of ("answered" stays so). Counts an attempt. None if none is due. Of one scope, kind
        and subject one job at a time is under way. What the task that calls it writes from now on is refused once its
        scope was erased, until it claims again (`erasures.py`)."""

    async def renew(self, job: int, owner: str, until: float) -> bool:
        """Holds the job for longer. False if it has another owner by now."""

    async def reserve(self, job: int, owner: str, dollars: float, now: float, limits: SpendLimits) -> str:
        """Sets aside what a call of the job may cost at most. Returns "", or the limit that forbids it: "per_day",
        "share", or "owner" if the job has another owner. Spending counts for the end user of the scope (`base_of`).
        The excess of each of the last 30 days over `allowance`, added up, may not be more than `share`."""

    async def settle(self, job: int, dollars: float) -> None:
        """Corrects what was set aside last for the job to what the call has cost."""

    async def asked(
        self, job: int, owner: str, *, model: str, prompt: str, shown: bytes, read: Sequence[bytes]
    ) -> bool:
        """Records what the model is about to be shown. False if the job has another owner, or one of the messages was
        forgotten."""

    async def answered(self, job: int, owner: str, answer: bytes, dollars: float) -> bool:
        """Keeps the answer, and settles its cost. False if the job has another owner, or a message that the model was
        shown was forgotten meanwhile: then only the cost is kept, and the job waits again."""

    async def finish(self, job: int, owner: str, finished: Finished, now: float) -> bool:
        """Ends the job, and writes what came of it; its answer is deleted. False if it has another owner, or something
        it has read was forgotten: then nothing is written, and the job waits again."""

    async def put_off(
        self, job: int, owner: str, due_at: float, reason: str, *, give_up: bool = False, counts: bool = True
    ) -> None:
        """Lets the job wait again until `due_at`, or gives it up. An answer that it has stays, unless it is given up.
        Unless it `counts`, what was begun was no attempt: there was no money for it, or nobody to ask.
        One that was armed meanwhile becomes one with a job that waits, at the later time."""

    async def undone(self, job: int, fact_id: str) -> bool:
        """Records that what the job made of this fact was undone. False if it made nothing of it."""

    async def was_read(self, scope: str, links: Sequence[bytes]) -> set[bytes]:
        """Returns those among `links` that a job of the scope has read to its end."""

    async def jobs(
        self, scope: str | None = None, *, before: int | None = None, limit: int = 50, states: Collection[str] = ()
    ) -> list[Job]:
        """Returns jobs, the newest first, of all scopes where `scope` is None, with numbers below `before`."""

    async def job(self, number: int) -> Job | None:
        """Returns a job, of whatever scope: for administration."""

    async def events(self, scope: str, start: float, end: float) -> list[MemoryEvent]:
        """Returns the events within [start, end), oldest first."""

    async def digests(self, scope: str, span: DigestSpan, start: float, end: float) -> list[Digest]:
        """Returns the digests of a span that begin within [start, end), oldest first."""

    async def summaries(self, scope: str) -> list[StoredSummary]:
        """Returns the model's summaries of the scope, oldest first, at most 500: the newest."""

    async def spent(self, since: float, scope: str | None = None) -> float:
        """Returns what calls since then have cost or may cost, of all where `scope` is None, else of its end user."""


LOOKED_THROUGH = 1_000  # jobs of a scope, for the one that made a fact: the newest
_PAGE = 200


async def done_lately(store: JobStore, scope: str, most: int = LOOKED_THROUGH) -> list[Job]:
    """Returns the newest jobs of a scope that are done, at most `most` and a page, newest first."""
    found: list[Job] = []
    before = None
    while len(found) < most:
        read = await store.jobs(scope, before=before, limit=_PAGE, states=("done",))
        found += read
        if len(read) < _PAGE:
            break
        before = read[-1].id
    return found
