"""The route `/metrics`: all metrics, those of other workers too; the gauges among them that are read only then; and the
lag of the event loop, which is measured all the time."""

import asyncio
from collections import Counter
from collections.abc import Callable
from time import perf_counter, time

from proxy.admin.parts import Admin
from proxy.http.exchange import Call
from proxy.memory.ageing import decay, status
from proxy.observe.merging import Snapshot
from proxy.observe.metrics import BEAT
from proxy.observe.siblings import Siblings, Worker
from proxy.pipeline import Services
from proxy.types import Answer


class LagMeter:
    """Measures the lag of the event loop, since whatever holds it up holds up every request. Calls `beat` every
    `interval` seconds with the lag in seconds. A timer and no task: nobody waits for its end."""

    def __init__(self, beat: Callable[[float], None], interval: float) -> None:
        self._beat = beat
        self._interval = interval
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Sets the timer, on the running event loop."""
        self._due = perf_counter() + self._interval
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._look)

    def stop(self) -> None:
        """Ends the beats."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        late = max(0.0, perf_counter() - self._due)
        self.start()
        self._beat(late)


async def metrics(call: Call, admin: Admin) -> None:
    """Answers with all metrics, of all workers."""
    services = admin.services
    await admin.auth.admit_metrics(call.headers, call.client)
    if admin.siblings is None:
        await refresh(services)
        body = await asyncio.to_thread(services.metrics.exposition)
    else:
        body = await asyncio.to_thread(services.metrics.exposition_of, await admin.siblings.gather())
    await call.answer(Answer(200, (("content-type", services.metrics.content_type),), body))


def siblings_of(services: Services, worker: Worker | None) -> Siblings | None:
    """Returns the siblings of a worker, not opened; None for a process that serves alone."""
    if worker is None:
        return None

    async def look() -> Snapshot:
        await refresh(services)
        return await asyncio.to_thread(services.metrics.snapshot)

    return Siblings(worker.folder, worker.name, look)


async def refresh(services: Services) -> None:
    """Sets the metrics that describe the present state of the services."""
    told, storage, intent = services.metrics, services.storage, services.intent
    told.memory_pending.set(services.learner.pending)
    writer = storage.database.writer
    told.writer_queue.set(writer.depth)
    told.writer_lag.set(writer.lag)
    told.dropped(writer.dropped)
    told.storage_failing.set(bool(storage.troubles))
    if (shared := storage.database.shared) is not None:
        told.database(shared, time())
    told.tasks.set(len(services.tasks))
    told.reuse_entries.set(intent.partitions.entries)
    told.reuse_bytes.set(intent.partitions.bytes)
    told.reuse_stopped.set(services.shared.hit_rates.open_partitions(time()))
    for upstream in services.router.upstreams:
        told.of(told.breaker_open, upstream.name).set(upstream.breaker.state != "closed")
        for counted in (told.upstream_retries, told.upstream_fallbacks):
            told.of(counted, upstream.name)  # creates the series, at 0
    held = services.library.held()
    told.memory_scopes.set(held.scopes)
    told.memory_bytes.set(held.bytes)
    ageing, now = decay(services.config.memory), time()
    # Many scopes may have many facts.
    statuses = await asyncio.to_thread(lambda: Counter[str](status(fact, now, ageing) for fact in held.facts))
    told.holding(statuses)
    told.ready.set(storage.failing is None)
    await services.totals.refresh()


def watch(services: Services) -> LagMeter:
    """Starts a pulse that feeds the metrics; whoever serves stops it."""
    pulse = LagMeter(services.metrics.beat, BEAT)
    pulse.start()
    return pulse
