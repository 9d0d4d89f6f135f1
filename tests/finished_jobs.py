"""Jobs of memory's model that are done, as its worker leaves them in a store."""

from collections.abc import Sequence
from time import time

from proxy.storage.jobs import JobStore
from proxy.types.curation import Digest, Finished, JobKind, MemoryEvent, OutcomeLine, SpendLimits

OWNER = "a worker"
LIMITS = SpendLimits(per_day=10, allowance=10, share=10)


async def finished(
    store: JobStore,
    scope: str,
    subject: str,
    *lines: OutcomeLine,
    kind: JobKind = "extract",
    cost: float = 0.001,
    events: Sequence[MemoryEvent] = (),
    digest: Digest | None = None,
) -> int:
    """Carries a job through all its states, where no other one is due; returns its number."""
    now = time()
    store.arm(scope, kind, subject, now - 1)
    await store.flush()
    job = await store.claim(OWNER, now, 60)
    assert job is not None
    assert (job.scope, job.subject) == (scope, subject)
    assert await store.reserve(job.id, OWNER, cost, now, LIMITS) == ""
    assert await store.asked(job.id, OWNER, model="small", prompt="extract.en 3f2a91c0", shown=b"{}", read=[])
    assert await store.answered(job.id, OWNER, b"{}", cost)
    assert await store.finish(job.id, OWNER, Finished(lines, tuple(events), digest), now)
    return job.id
