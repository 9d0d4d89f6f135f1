"""The command `olvido bench`: what the proxy costs on this machine, in about a minute, without a key or a provider.

It starts an upstream of its own, the floor, and three proxies with storage in a temporary folder: as the configuration
says; the same without vectors; and with neither context, reuse by intent nor vectors. All are gone when it ends.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from statistics import median
from time import monotonic
from types import FrameType
from typing import Any

import msgspec

from proxy import config as configuration
from proxy.bench import processes
from proxy.bench.measuring import CONNECTIONS, RATE, Bench, Round, Row, floor_hash, spread, with_needed
from proxy.bench.processes import Unusable
from proxy.config.source import ConfigError, Problem, read

SECONDS, LEAST = 60.0, 2  # no round begins that would end later, but for so many
PACED = 64  # requests of a row and round at the fixed rate
QUIET = 0.3  # seconds, more than the writer waits for a batch
# Sections of a configuration that are the bench's own, and what its other proxies do without.
_OURS = ("server", "upstreams", "auth", "tenancy", "storage", "log", "admin")
_NO_VECTORS = {"embedding": {"enabled": False}}
_WITHOUT: Mapping[str, Mapping[str, Any]] = {
    "lean": {"context": {"mode": "off"}, "reuse": {"intent": {"enabled": False}}, **_NO_VECTORS},
    "words": _NO_VECTORS,
    "all": {},
}
_UPSTREAM = '{"name": "bench", "base_url": "http://127.0.0.1:1/v1"}'

_DIRECT, _FLOOR, _LONG = "upstream alone", "floor", "floor, long messages"
_STREAMED = (f"{_DIRECT}, stream", f"{_FLOOR}, stream")
ROWS = (
    Row(_DIRECT, "direct", "growing", False, "200", _DIRECT, _FLOOR),
    Row(_FLOOR, "floor", "growing", False, "200", _DIRECT, _FLOOR),
    Row("untouched", "lean", "growing", False, "upstream untouched", _DIRECT, _FLOOR),
    Row("exact hit", "lean", "repeated", False, "exact", _DIRECT, _FLOOR),
    Row(_STREAMED[0], "direct", "growing", True, "200", *_STREAMED),
    Row(_STREAMED[1], "floor", "growing", True, "200", *_STREAMED),
    Row("stream of 30 events", "lean", "growing", True, "upstream untouched", *_STREAMED),
    Row(_LONG, "floor", "long-en", False, "200", _DIRECT, _LONG),
    Row("everything on", "all", "long-en", False, "upstream", _DIRECT, _LONG),
    Row("everything on, no vectors", "words", "long-en", False, "upstream", _DIRECT, _LONG),
)
_HEAD = ("", "CPU µs/request", "floors", "requests/s", "p50 ms added", "p99 ms added", "loop lag p99 ms")
_WIDTH = 30  # characters of the progress bar


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit status. Raises ConfigError."""
    with _stoppable():
        try:
            machine, load, floor = processes.machine(), os.getloadavg()[0], floor_hash()
            rows = _measured(options)
            conditions = {
                "machine": f"{machine}; load average before {load:.1f}",
                "floor": f"bare Starlette and aiohttp, the same bytes; sha256 {floor[:12]}",
                "configuration": str(options.config) if options.config else "defaults",
                "rounds": f"{len(rows[0].outcomes)} of {options.requests} requests a row, {CONNECTIONS} connections; "
                f"latency at {RATE:g} requests/s, {len(rows[0].outcomes) * PACED} requests",
            }
        except (Unusable, OSError) as error:
            print(f"olvido bench: {_line(error)}", file=sys.stderr)
            return 1
    with suppress(BrokenPipeError):
        print(as_json(conditions, rows) if options.json else as_text(conditions, rows), flush=True)
    return 0


def _line(error: Exception) -> str:
    first, *others = str(error).strip().splitlines() or [type(error).__name__]
    return f"{first} {others[-1].strip()}" if others else first


@contextmanager
def _stoppable() -> Iterator[None]:
    """Ends the process at the first signal, after all that it has started; no second signal breaks that off."""
    every = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    signals = [each for each in every if signal.getsignal(each) is not signal.SIG_IGN]  # by nohup, say

    def stop(number: int, _frame: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = {each: signal.signal(each, stop) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def sections(path: Path | None, environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Returns what each proxy is configured with beside upstream and storage, as YAML. Secrets stay references. Raises
    ConfigError. `folder`: for a file."""
    tree: dict[str, Any] = {}
    if path:
        source = read(path)
        if source.problems or not isinstance(source.tree, dict):
            raise ConfigError(str(path), [*source.problems])
        tree = {name: section for name, section in source.tree.items() if name not in _OURS}
        if isinstance(intent := (tree.get("reuse") or {}).get("intent"), dict):
            intent.pop("judge", None)  # it would ask a provider
        checked = folder / "checked.yaml"
        checked.write_text(f"upstreams: [{_UPSTREAM}]\n{_yaml(tree)}", encoding="utf-8")
        try:
            configuration.load(checked, environ)
        except ConfigError as error:
            problems = [Problem(each.where, each.text, source.line(each.where)) for each in error.problems]
            raise ConfigError(str(path), problems) from None
    return {name: _yaml(_merged(tree, without)) for name, without in _WITHOUT.items()}


def _yaml(tree: Mapping[str, Any]) -> str:
    return "".join(f"{name}: {msgspec.json.encode(section).decode()}\n" for name, section in tree.items())


def _merged(tree: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(tree)
    for name, value in over.items():
        merged[name] = _merged(merged.get(name) or {}, value) if isinstance(value, Mapping) else value
    return merged


def _measured(options: argparse.Namespace) -> list[Row]:
    rows, began = with_needed(ROWS, lambda _row: True), monotonic()
    with ExitStack() as stack:
        show = stack.enter_context(_progress())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="olvido-bench-")))
        stack.callback(processes.end_children)
        each = sections(options.config, os.environ, folder)
        upstream = stack.enter_context(processes.serving("proxy.bench.upstream"))
        url = f"http://127.0.0.1:{upstream.port}/v1"
        servers = {"direct": upstream, "floor": stack.enter_context(processes.serving("proxy.bench.floor", url))}
        for name, given in each.items():
            show("starting the proxies")
            servers[name] = stack.enter_context(processes.proxy(folder / name, url, given))
        pipe = subprocess.PIPE
        load = stack.enter_context(processes.running("proxy.bench.load", stdin=pipe, stdout=pipe))
        size = Round(options.requests, PACED, QUIET)
        numbers = range(1, options.rounds + 1) if options.rounds else _in_time(began)
        Bench(load, servers).rounds(rows, numbers, size, lambda number, row: show(f"round {number}: {row.name}"))
    return rows


def _in_time(began: float) -> Iterator[int]:
    """Yields numbers of rounds while another one like those before ends within `SECONDS` of the beginning."""
    first = monotonic()
    for number in count(1):
        now = monotonic()
        if number > LEAST and now - began + (now - first) / (number - 1) > SECONDS:
            return
        yield number


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Gives what shows the part of a minute that has passed, and what begins now: on a terminal only."""
    is_shown, began = sys.stderr.isatty(), monotonic()

    def show(what: str) -> None:
        passed = monotonic() - began
        bar = ("#" * int(min(passed / SECONDS, 1) * _WIDTH)).ljust(_WIDTH, ".")
        minutes, seconds = divmod(int(passed), 60)
        if is_shown:
            sys.stderr.write(f"\r\x1b[K[{bar}] {minutes}:{seconds:02} {what}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


# --- the report -------------------------------------------------------------------------------------------------------


def as_text(conditions: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Returns the report for people: a table, and what is to be known of it."""
    by_name = {row.name: row for row in rows}
    lines = [_HEAD, *(_columns(row, by_name) for row in rows if row.server != "direct")]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
    told = [f"{name}: {value}" for name, value in conditions.items()]
    notes = [*_notes(rows)]
    return "\n".join([*told, "", *table, *([""] if notes else []), *notes])


def _columns(row: Row, by_name: Mapping[str, Row]) -> tuple[str, ...]:
    direct = by_name[row.direct]
    return (
        row.name,
        f"{median(row.cpu):.0f}",
        "1" if row.name == row.floor else spread(row.floors(by_name[row.floor]), 1),
        f"{median(row.rate):.0f}",
        *(f"{row.pooled_latency(percent) - direct.pooled_latency(percent):.1f}" for percent in (50, 99)),
        "" if row.lag is None else f"{row.lag:.1f}",
    )


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if median(row.rate) < RATE:
            yield f"{row.name}: fewer than {RATE:g} requests/s, so its latencies at that rate are those of a queue."
        for label, times in row.answers.items():
            if row.expected not in label or label.endswith(" cut"):
                yield f"{row.name}: {times} answers were not what it is about: {label}"


def as_json(conditions: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Returns the report for programs, with what was measured in each round."""
    by_name = {row.name: row for row in rows}
    told = [
        {
            "name": row.name,
            "cpu_us": row.cpu,
            "floors": row.floors(by_name[row.floor]),
            "requests_per_second": row.rate,
            "added_p50_ms": row.added(by_name[row.direct], 50),
            "added_p99_ms": row.added(by_name[row.direct], 99),
            "loop_lag_p99_ms": row.lag,
            "answers": row.answers,
        }
        for row in rows
    ]
    report = {"conditions": conditions, "rows": told, "notes": [*_notes(rows)]}
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
