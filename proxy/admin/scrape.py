"""The route `/metrics`: sets the gauges that are read only then, and measures the lag of the event loop."""

import asyncio
from collections import Counter
from collections.abc import Callable
from time import perf_counter, time

from proxy.admin.parts import Admin
from proxy.http.exchange import Call
from proxy.memory.facts import Decay, status
from proxy.observe.metrics import BEAT
from proxy.pipeline.parts import Services
from proxy.types import Answer

REFRESHED = 4  # beats between two refreshes of a process that shares its metrics with others


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
    """Answers with all metrics."""
    services = admin.services
    await admin.auth.admit_metrics(call.headers, call.client)
    await refresh(services)
    body = await asyncio.to_thread(services.metrics.exposition)
    await call.answer(Answer(200, (("content-type", services.metrics.content_type),), body))


async def refresh(services: Services) -> None:
    """Sets the metrics that describe the present state of the services."""
    told, storage, intent = services.metrics, services.storage, services.intent
    told.memory_pending.set(services.learner.pending)
    told.writer_queue.set(storage.queued)
    told.writer_lag.set(storage.lag)
    told.dropped(storage.dropped)
    told.storage_failing.set(bool(storage.troubles))
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
    memory, now = services.config.memory, time()
    decay = Decay(memory.unconfirmed_after, memory.stale_after, memory.drop_low_after)
    # Many scopes may have many facts.
    statuses = await asyncio.to_thread(lambda: Counter[str](status(fact, now, decay) for fact in held.facts))
    told.holding(statuses)


def watch(services: Services) -> LagMeter:
    """Starts a pulse that feeds the metrics; whoever serves stops it."""
    beats = 0

    def beat(late: float) -> None:
        nonlocal beats
        beats += 1
        services.metrics.beat(late)
        if services.metrics.is_shared and beats % REFRESHED == 0:
            services.tasks.spawn(refresh(services), name="refresh metrics")

    pulse = LagMeter(beat, BEAT)
    pulse.start()
    return pulse
