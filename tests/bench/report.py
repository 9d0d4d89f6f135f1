"""What was measured, as Markdown for people and as JSON for whoever compares two runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

import msgspec

from proxy.bench.load import StallOutcome, StreamsOutcome
from proxy.bench.measuring import Limit, Measure, Row, spread
from proxy.bench.processes import Status

# What the proxy must reach and is to reach, beside the limits of its rows.
PEER = (("untouched, history known", "LiteLLM", 20.0, 35.0), ("everything on, English", "LiteLLM, long", 4.0, 8.0))
STALL = 100.0  # ms that a message of 20 MB may keep others waiting
STREAMS_RSS = 250.0  # MB
GROWTH = 0.05  # of the RSS after the first fifth of the soak
FILES = 10  # that may be open when the soak ends and were not at its first look: SQLite's readers come when needed

STREAMED = "200 text/event-stream upstream "  # and then the plan: one that failed open reached its client, too


class Soak(msgspec.Struct, frozen=True):
    requests: list[int]  # how many had been answered at each look
    looks: list[Status]
    answers: dict[str, int]


class Report(msgspec.Struct, frozen=True):
    conditions: dict[str, str]
    rows: list[Row]
    transports: dict[str, list[float]]  # CPU µs per request, of each round
    stalls: list[StallOutcome]
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
        own = row is direct
        lines.append(
            (
                row.name,
                "" if own else spread(row.cpu, 0),
                "" if own else spread(row.floors(floor), 1),
                "" if own else spread(row.switches, 1),
                spread(row.rate, 0),
                *(spread(row.latency(p), 2) if own else f"+{spread(row.added(direct, p), 2)}" for p in (50, 99)),
                "" if row.lag is None else f"{row.lag:.1f}",
            )
        )
    return _table(("", "CPU µs/request", "floors", "switches", "requests/s", "p50 ms", "p99 ms", "lag p99 ms"), lines)


def _transports_table(transports: dict[str, list[float]]) -> list[str]:
    return _table(("", "CPU µs/request"), ((name, spread(cpu, 0)) for name, cpu in transports.items()))


def _soak_table(soak: Soak) -> list[str]:
    looks = zip(soak.requests, soak.looks, strict=True)
    return _table(
        ("requests", "RSS MB", "threads", "open files", "sockets"),
        ((f"{n:,}", f"{s.rss_mb:.1f}", str(s.threads), str(s.files), str(s.sockets)) for n, s in looks),
    )


def _verdicts(report: Report) -> Iterable[tuple[str, str, str]]:
    by_name = {row.name: row for row in report.rows}
    for row in report.rows:
        for limit in row.limits:
            unit, values = _UNITS[limit.of], _values(row, limit.of, by_name)
            promise = f"{row.name}: {unit} at most {limit.most:g} (aim {limit.aim:g})"
            yield promise, spread(values, 1 if limit.of == "floors" else 2), _verdict(limit, median(values))
    for ours, theirs, least, aim in PEER:
        if ours in by_name and theirs in by_name:
            times = by_name[theirs].floors(by_name[ours])
            verdict = _met(median(times) >= least, aim=median(times) >= aim)
            yield f"LiteLLM ÷ ours, {ours}: at least {least:g} (aim {aim:g})", spread(times, 1), verdict
    if report.stalls:
        longest = [each.longest * 1e3 for each in report.stalls]
        promise = f"a message of 20 MB: /healthz answers within {STALL:g} ms"
        yield promise, f"{spread(longest, 0)} ms", _met(median(longest) <= STALL)
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


_UNITS: Mapping[Measure, str] = {
    "floors": "floors",
    "switches": "switches a request",
    "p50": "p50 added, ms,",
    "p99": "p99 added, ms,",
    "lag": "lag of the event loop, p99, ms,",
}


def _values(row: Row, of: Measure, by_name: Mapping[str, Row]) -> list[float]:
    match of:
        case "floors":
            return row.floors(by_name[row.floor])
        case "switches":
            return row.switches
        case "p50" | "p99":
            return row.added(by_name[row.direct], int(of[1:]))
        case "lag":
            return [float("nan") if row.lag is None else row.lag]


def _verdict(limit: Limit, value: float) -> str:
    return _met(value <= limit.most, aim=value <= limit.aim)


def _unexpected(report: Report) -> Iterator[tuple[str, str, int]]:
    """What was measured, the answers' label, and how many they were."""
    seen: list[tuple[str, str, Mapping[str, int]]] = [(row.name, row.expected, row.answers) for row in report.rows]
    if report.streams:
        seen.append(("streams", f"{STREAMED}untouched", report.streams.answers))
    seen += [("20 MB", "200 ", each.answers) for each in report.stalls]
    if report.soak:
        seen.append(("soak", "200 ", report.soak.answers))
    for where, expected, answers in seen:
        yield from ((where, label, n) for label, n in answers.items() if expected not in label or _cut(label))


def _cut(label: str) -> bool:
    return label.endswith(" cut")


def _met(met: bool, *, aim: bool = False) -> str:
    return "met, and the aim" if met and aim else "met" if met else "**missed**"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)]
