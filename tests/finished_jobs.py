"""Jobs of memory's model that are done, as its worker leaves them in a store."""

from collections.abc import Sequence
from time import time
from typing import Protocol

from proxy.storage.jobs import DAY, JobStore
from proxy.types.curation import (
    Digest,
    DigestSpan,
    Finished,
    JobKind,
    MemoryEvent,
    OutcomeLine,
    SpendLimits,
    StoredSummary,
)
from proxy.types.memory import Summary

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


async def made(store: JobStore, number: int, at: float, span: DigestSpan = "hour") -> int:
    """Leaves one of everything that a job makes, of that time; returns the number of the job."""
    store.arm("a/", "extract", f"s-{number}", at)
    await store.flush()
    job = await store.claim(OWNER, at, 60)
    assert job is not None
    link = number.to_bytes(16, "big")
    assert await store.reserve(job.id, OWNER, 0.001, at, LIMITS) == ""
    assert await store.asked(job.id, OWNER, model="small", prompt="extract.en 3f2a91c0", shown=b"{}", read=[link])
    event = MemoryEvent(f"e-{number}", at, "s", 1, "moved", link)
    summary = StoredSummary(link, "s", at, Summary("moving", (), "", (), (), 1, 2))
    digest = Digest(span, at, "moved", by_model=False)
    kept = OutcomeLine("add", "kept", value="has moved")
    assert await store.finish(job.id, OWNER, Finished((kept,), (event,), digest, summary), at)
    return job.id


class Retaining(Protocol):
    """A run of what lets go, which keeps turns for 50 days, on the 100th day of a test."""

    async def run(self, *, requests: str) -> dict[str, int]:
        """Lets go once; returns how much, by kind."""


async def leave_in_time(job: Retaining, store: JobStore) -> None:
    """Asserts what leaves, and what stays, of jobs that ended 51, 41, 31 and 11 days ago."""
    now = 1_700_006_400.0 + 100 * DAY
    ages = {number: number * DAY for number in (51, 41, 31, 11)}
    numbers = [await made(store, number, now - age, "day" if number == 31 else "hour") for number, age in ages.items()]
    store.arm("a/", "extract", "old, and waiting", now - 90 * DAY)
    await job.run(requests="20d")
    assert [each.subject for each in await store.jobs()] == ["old, and waiting", "s-11"]
    assert [each.at for each in await store.digests("a/", "hour", 0, now)] == [now - 11 * DAY]
    assert [each.at for each in await store.digests("a/", "day", 0, now)] == [now - 31 * DAY]
    recent = [now - age for age in ages.values()][1:]
    assert [each.at for each in await store.events("a/", 0, now)] == recent
    assert [each.at for each in await store.summaries("a/")] == recent
    links = {number: number.to_bytes(16, "big") for number in ages}
    assert await store.was_read("a/", list(links.values())) == {links[number] for number in (41, 31, 11)}
    assert await store.spent(0) == 0.002
    assert await store.job(numbers[-1]) is not None
