"""What was measured, as Markdown for people and as JSON for whoever compares two runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median, quantiles

import msgspec

from tests.bench.load import Outcome, StreamsOutcome
from tests.bench.processes import Status

# What the proxy must reach, beside the floors of its rows.
ADDED = ((50, 3.0), (99, 12.0))  # percentile, ms
PEER = (("untouched, history known", "LiteLLM", 20.0), ("everything on, English", "LiteLLM, long", 4.0))
STREAMS_RSS = 250.0  # MB
GROWTH = 0.05  # of the RSS after the first fifth of the soak
FILES = 10  # that may be open when the soak ends and were not at its first look: SQLite's readers come when needed

STREAMED = "200 text/event-stream upstream "  # and then the plan: one that failed open reached its client, too


class Row(msgspec.Struct, frozen=True):
    """One way to the answer, measured once a round. `direct` and `floor` name the rows it is compared with."""

    name: str
    expected: str  # in the label of every answer
    direct: str
    floor: str
    most: float | None = None  # floors
    aim: float | None = None
    outcomes: list[Outcome] = []

    @property
    def cpu(self) -> list[float]:
        """µs per request."""
        return [outcome.cpu / outcome.fast * 1e6 for outcome in self.outcomes]

    @property
    def switches(self) -> list[float]:
        """How often other threads than the main one went to sleep, per request."""
        return [outcome.switches / outcome.fast for outcome in self.outcomes]

    @property
    def rate(self) -> list[float]:
        """Requests per second."""
        return [outcome.fast / outcome.seconds for outcome in self.outcomes]

    def latency(self, percent: int) -> list[float]:
        """ms, at the fixed rate."""
        return [quantiles(o.paced, n=100, method="inclusive")[percent - 1] * 1e3 for o in self.outcomes]

    @property
    def answers(self) -> Counter[str]:
        return sum((Counter(outcome.answers) for outcome in self.outcomes), Counter())


class Soak(msgspec.Struct, frozen=True):
    requests: list[int]  # how many had been answered at each look
    looks: list[Status]
    answers: dict[str, int]


class Report(msgspec.Struct, frozen=True):
    conditions: dict[str, str]
    rows: list[Row]
    transports: dict[str, list[float]]  # CPU µs per request, of each round
    streams: StreamsOutcome | None
    soak: Soak | None


def markdown(report: Report) -> str:
    parts = [f"{name}: {value}  " for name, value in report.conditions.items()]
    parts += ["", *_rows_table(report.rows)]
    if report.transports:
        parts += ["", "The step to the upstream alone", "", *_transports_table(report.transports)]
    if report.soak:
        parts += ["", "Over many requests", "", *_soak_table(report.soak)]
    parts += ["", *_table(("target", "measured", ""), _verdicts(report))]
    if unexpected := [f"- {where}: {n} of `{label}`" for where, label, n in _unexpected(report)]:
        parts += ["", "Answers that were not what the row is about (they are in its numbers):", "", *unexpected]
    return "\n".join(parts)


def _rows_table(rows: Sequence[Row]) -> list[str]:
    by_name = {row.name: row for row in rows}
    lines = []
    for row in rows:
        direct, floor = by_name[row.direct], by_name[row.floor]
        added = [_added(row, direct, percent) for percent in (50, 99)]
        own = row is direct
        lines.append(
            (
                row.name,
                "" if own else _spread(row.cpu, 0),
                "" if own else _spread(_floors(row, floor), 1),
                "" if own else _spread(row.switches, 1),
                _spread(row.rate, 0),
                *(
                    _spread(row.latency(p), 2) if own else f"+{_spread(a, 2)}"
                    for p, a in zip((50, 99), added, strict=True)
                ),
            )
        )
    return _table(("", "CPU µs/request", "floors", "switches", "requests/s", "p50 ms", "p99 ms"), lines)


def _floors(row: Row, floor: Row) -> list[float]:
    return [mine / base for mine, base in zip(row.cpu, floor.cpu, strict=True)]


def _added(row: Row, direct: Row, percent: int) -> list[float]:
    return [mine - base for mine, base in zip(row.latency(percent), direct.latency(percent), strict=True)]


def _transports_table(transports: dict[str, list[float]]) -> list[str]:
    return _table(("", "CPU µs/request"), ((name, _spread(cpu, 0)) for name, cpu in transports.items()))


def _soak_table(soak: Soak) -> list[str]:
    looks = zip(soak.requests, soak.looks, strict=True)
    return _table(
        ("requests", "RSS MB", "threads", "open files", "sockets"),
        ((f"{n:,}", f"{s.rss_mb:.1f}", str(s.threads), str(s.files), str(s.sockets)) for n, s in looks),
    )


def _verdicts(report: Report) -> Iterable[tuple[str, str, str]]:
    by_name = {row.name: row for row in report.rows}
    for row in report.rows:
        if row.most is None:
            continue
        floors = _floors(row, by_name[row.floor])
        promise = f"{row.name}: at most {row.most:g} floors (aim {row.aim:g})"
        yield promise, _spread(floors, 1), _met(median(floors) <= row.most)
        for percent, slowest in ADDED:
            late = median(_added(row, by_name[row.direct], percent))
            yield f"{row.name}: p{percent} at most {slowest:g} ms more", f"{late:.2f} ms", _met(late <= slowest)
    for ours, theirs, least in PEER:
        if theirs in by_name:
            times = _floors(by_name[theirs], by_name[ours])
            yield f"LiteLLM ÷ ours, {ours}: at least {least:g}", _spread(times, 1), _met(median(times) >= least)
    if streams := report.streams:
        wanted = sum(streams.answers.values())
        complete = sum(n for label, n in streams.answers.items() if label.startswith(STREAMED) and not _cut(label))
        before, peak, after = streams.before, streams.peak, streams.after
        measured = (
            f"{peak.rss_mb:.0f} MB with {streams.peak_open:,} open, {before.rss_mb:.0f} before; {complete:,} complete"
        )
        sockets = f"sockets {before.sockets} → {peak.sockets} → {after.sockets}"
        yield (
            f"{wanted:,} open streams, at most {STREAMS_RSS:.0f} MB",
            f"{measured}; {sockets}",
            _met(peak.rss_mb <= STREAMS_RSS and complete == streams.peak_open == wanted),
        )
    if soak := report.soak:
        first, last = soak.looks[0], soak.looks[-1]
        grown = last.rss_mb / first.rss_mb - 1
        steady = grown <= GROWTH and last.threads <= first.threads and last.files <= first.files + FILES
        memory = f"RSS {first.rss_mb:.0f} → {last.rss_mb:.0f} MB"
        others = f"threads {first.threads} → {last.threads}, files {first.files} → {last.files}"
        promise = f"no growth from {soak.requests[0]:,} to {soak.requests[-1]:,} requests"
        yield promise, f"{memory}; {others}", _met(steady)


def _unexpected(report: Report) -> Iterator[tuple[str, str, int]]:
    """What was measured, the answers' label, and how many they were."""
    seen: list[tuple[str, str, Mapping[str, int]]] = [(row.name, row.expected, row.answers) for row in report.rows]
    if report.streams:
        seen.append(("streams", f"{STREAMED}untouched", report.streams.answers))
    if report.soak:
        seen.append(("soak", "200 ", report.soak.answers))
    for where, expected, answers in seen:
        yield from ((where, label, n) for label, n in answers.items() if expected not in label or _cut(label))


def _cut(label: str) -> bool:
    return label.endswith(" cut")


def _met(met: bool) -> str:
    return "met" if met else "**missed**"


def _spread(values: Sequence[float], digits: int) -> str:
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)]
