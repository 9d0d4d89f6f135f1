"""The register of a process's metrics: each with its documentation, its labels, and the rule by which several workers'
values become one.

A metric whose labels can say only what is known before anything happens begins with all of its series, at 0: a series
that begins with its first event has a rate of 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from proxy.observe.labels import NONE, Labels
from proxy.observe.merging import Rule
from proxy.observe.tally import Tally

Metric = TypeVar("Metric", Counter, Gauge, Histogram)

MOST_INITIAL = 16  # series of a metric that begin at 0

disable_created_metrics()  # type: ignore[no-untyped-call]  # a time stamp for every series doubles their number


@dataclass(frozen=True, slots=True)
class Entry:
    """The documentation of a metric."""

    name: str  # as Prometheus sees it
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: Labels
    several: Rule  # how the values of several workers are combined


# How the library's own gauges of several workers are combined; others are summed.
OF_PROCESSES: Mapping[str, Rule] = MappingProxyType({"process_start_time_seconds": "min"})


class Register:
    """One registry per server, so that several can live in one process (tests do)."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.entries: list[Entry] = []
        self._children: dict[tuple[object, tuple[str, ...]], Any] = {}
        self.tally = Tally(self.registry, self.of)

    def of(self, metric: Metric, *labels: str) -> Metric:
        """Returns the series of `metric` with these labels. Cached: the library takes a lock and 2 µs to find one."""
        child: Metric | None = self._children.get((metric, labels))
        if child is None:
            child = self._children[metric, labels] = metric.labels(*labels)
        return child

    def drop(self, metric: Gauge, *labels: str) -> None:
        """Removes a series that is not told any more."""
        if self._children.pop((metric, labels), None) is not None:
            metric.remove(*labels)

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules by which gauges of several workers are combined, by their names."""
        return {**OF_PROCESSES, **{entry.name: entry.several for entry in self.entries if entry.kind == "gauge"}}

    def counter(self, name: str, meaning: str, labels: Labels = NONE) -> Counter:
        """Returns a new counter; Prometheus adds `_total` to its name."""
        metric = Counter(name, meaning, list(labels), registry=self.registry)
        return self._told(metric, Entry(f"{name}_total", "counter", meaning, labels, "sum"))

    def gauge(self, name: str, meaning: str, several: Rule, labels: Labels = NONE) -> Gauge:
        """Returns a new gauge. `several`: how the values of several workers are combined."""
        metric = Gauge(name, meaning, list(labels), registry=self.registry)
        return self._told(metric, Entry(name, "gauge", meaning, labels, several))

    def histogram(self, name: str, meaning: str, buckets: Sequence[float], labels: Labels = NONE) -> Histogram:
        """Returns a new histogram."""
        metric = Histogram(name, meaning, list(labels), registry=self.registry, buckets=buckets)
        return self._told(metric, Entry(name, "histogram", meaning, labels, "sum"))

    def _told(self, metric: Metric, entry: Entry) -> Metric:
        self.entries.append(entry)
        known = [values for values in entry.labels.values() if not isinstance(values, str)]
        if known and len(known) == len(entry.labels):
            series = list(product(*known))
            for values in series if len(series) <= MOST_INITIAL else ():
                self.of(metric, *values)
        return metric
