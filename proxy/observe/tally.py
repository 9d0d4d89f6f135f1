"""Events of requests, added up per series and told to Prometheus' client when somebody looks: the client takes four
calls and a lock for each, and a request has thirty."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric
from prometheus_client.registry import Collector

_Labels: TypeAlias = tuple[str, ...]


class Tally(Collector):
    """The events since the last look, of any thread. It stands first in its registry, so every look finds them
    counted."""

    def __init__(self, registry: CollectorRegistry, of: Callable[..., Any]) -> None:
        """`of`: returns the series of a metric with given labels."""
        self._of = of
        self._lock = Lock()
        self._sums: dict[tuple[Counter | Gauge, _Labels], float] = {}
        self._seen: dict[tuple[Histogram, _Labels], list[float]] = {}  # observations per bucket, and their sum
        registry.register(self)

    def add(self, metric: Counter | Gauge, amount: float, *labels: str) -> None:
        """Adds to the counter or gauge with these labels."""
        series = (metric, labels)
        with self._lock:
            self._sums[series] = self._sums.get(series, 0.0) + amount

    def observe(self, metric: Histogram, value: float, *labels: str) -> None:
        """Adds an observation to the histogram with these labels."""
        series, bounds = (metric, labels), metric._upper_bounds  # noqa: SLF001 (as in `tell`)
        with self._lock:
            seen = self._seen.get(series)
            if seen is None:
                seen = self._seen[series] = [0.0] * (len(bounds) + 1)
            seen[bisect_left(bounds, value)] += 1
            seen[-1] += value

    def tell(self) -> None:
        """Tells the client what has been added up."""
        with self._lock:
            sums, seen, self._sums, self._seen = self._sums, self._seen, {}, {}
        for (metric, labels), amount in sums.items():
            (self._of(metric, *labels) if labels else metric).inc(amount)
        for (histogram, labels), (*counts, total) in seen.items():
            # The client has no way to observe several values at once.
            series = self._of(histogram, *labels) if labels else histogram
            series._sum.inc(total)  # noqa: SLF001 (as said above)
            for bucket, count in zip(series._buckets, counts, strict=True):  # noqa: SLF001 (same)
                if count:
                    bucket.inc(count)

    def collect(self) -> Iterable[Metric]:
        """Tells what has been added up, before the registry looks at the metrics themselves."""
        self.tell()
        return ()
