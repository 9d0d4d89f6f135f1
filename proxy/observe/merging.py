"""The metrics of several processes as one: a snapshot of each, and their sum. Pure, but for what it is given.

Counters and histograms are summed, those of processes that are gone included, so that none goes backwards. Gauges are
of processes that run, and combined by their rule: the catalogue's, or `SUM`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec
from prometheus_client import Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

Rule = Literal["sum", "max", "min"]
SUM: Rule = "sum"
Labels: TypeAlias = tuple[tuple[str, str], ...]


class Sample(msgspec.Struct, frozen=True, array_like=True):
    """One number of a metric."""

    name: str  # with the suffix that tells which: `_total`, `_bucket`, …
    labels: Labels
    value: float


class Family(msgspec.Struct, frozen=True, array_like=True):
    """A metric with all of its series."""

    name: str
    kind: str  # "counter", "gauge", "histogram"
    meaning: str
    samples: tuple[Sample, ...]


Snapshot: TypeAlias = tuple[Family, ...]

packed = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(Snapshot)


def unpacked(data: bytes) -> Snapshot | None:
    """Returns the snapshot that `packed` made into bytes; None if these are none, or cut short."""
    try:
        return _decoder.decode(data)
    except msgspec.DecodeError:
        return None


class Registry(Protocol):
    """A registry of metrics, as far as it is read."""

    def collect(self) -> Iterable[Metric]:
        """Yields the metrics."""


def snapshot(registry: Registry) -> Snapshot:
    """Returns what the metrics of a registry say now."""
    return tuple(
        Family(
            metric.name,
            metric.type,
            metric.documentation,
            tuple(Sample(each.name, tuple(each.labels.items()), each.value) for each in metric.samples),
        )
        for metric in registry.collect()
    )


def merged(
    live: Sequence[Snapshot], gone: Sequence[Snapshot] = (), rules: Mapping[str, Rule] | None = None
) -> Snapshot:
    """Returns the sum of these snapshots. `gone`: of processes that have ended, whose gauges say nothing any more.
    `rules`: of gauges, by their names."""
    rules = rules or {}
    heads: dict[str, Family] = {}
    values: dict[str, dict[tuple[str, Labels], float]] = {}
    for snapshots, is_live in ((live, True), (gone, False)):
        for family in (each for one in snapshots for each in one):
            if family.kind == "gauge" and not is_live:
                continue
            heads.setdefault(family.name, family)
            known = values.setdefault(family.name, {})
            rule = rules.get(family.name, SUM) if family.kind == "gauge" else SUM
            for each in family.samples:
                series = (each.name, each.labels)
                known[series] = _combined(rule, known[series], each.value) if series in known else each.value
    return tuple(
        msgspec.structs.replace(head, samples=tuple(Sample(*series, value) for series, value in values[name].items()))
        for name, head in heads.items()
    )


def _combined(rule: Rule, one: float, other: float) -> float:
    match rule:
        case "sum":
            return one + other
        case "max":
            return max(one, other)
        case "min":
            return min(one, other)


class _Told(Collector):
    """A snapshot as the library wants to be told of it."""

    def __init__(self, told: Snapshot) -> None:
        self._told = told

    def collect(self) -> Iterable[Metric]:
        for family in self._told:
            metric = Metric(family.name, family.meaning, family.kind)
            for each in family.samples:
                metric.add_sample(each.name, dict(each.labels), each.value)
            yield metric


def exposition(told: Snapshot) -> bytes:
    """Returns a snapshot in Prometheus' text format."""
    return generate_latest(_Told(told))
