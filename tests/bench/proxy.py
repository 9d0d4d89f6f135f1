"""What the proxy costs: CPU, latency and memory, side by side with no proxy and with the least one possible.

    python -m tests.bench.proxy [--quick] [--litellm BIN/litellm] [--json FILE]

Upstream, floor, proxy and load are processes of their own. The rows are measured in turns, round after round, so that
what else the machine does falls on all of them; each number is the median of the rounds, with the least and the most.
CPU is the server's, user and system, its children's included, over requests sent as fast as 8 connections go, with all
that it still does for them afterwards until it is idle: writing, learning, embedding. A floor is the CPU of `floor`
(Starlette and aiohttp, the same bytes) in the same round. Latencies are measured at a rate that leaves every row idle
most of the time: at full load they would only repeat the throughput.
"""

import argparse
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TypeVar

import msgspec

from tests.bench import processes
from tests.bench.bodies import Kind
from tests.bench.load import Job, Outcome, StreamsJob, StreamsOutcome
from tests.bench.processes import Server, Unusable
from tests.bench.report import Report, Row, Soak, markdown

CONNECTIONS = 8
RATE = 100.0  # requests per second at which latency is measured

T = TypeVar("T")

# What each server is configured with: nothing beside exact reuse and records; words alone; everything, as it comes.
SECTIONS = {
    "lean": "context: {mode: 'off'}\nreuse: {intent: {enabled: false}}\nembedding: {enabled: false}",
    "words": "embedding: {enabled: false}",
    "all": "",
}
# Server, workload, streamed; and the row.
ROWS: tuple[tuple[str, Kind, bool, Row], ...] = (
    ("direct", "growing", False, Row("direct", "200", "direct", "floor")),
    ("floor", "growing", False, Row("floor", "200", "direct", "floor")),
    ("lean", "growing", False, Row("untouched, history known", "upstream untouched", "direct", "floor", 4, 2.5)),
    ("lean", "cold", False, Row("untouched, history unknown", "upstream untouched", "direct", "floor")),
    ("lean", "repeated", False, Row("exact hit", "exact", "direct", "floor", 2, 1.2)),
    ("lean", "once", False, Row("exact hit on disk", "exact", "direct", "floor")),
    ("direct", "growing", True, Row("direct, stream", "200", "direct, stream", "floor, stream")),
    ("floor", "growing", True, Row("floor, stream", "200", "direct, stream", "floor, stream")),
    ("lean", "growing", True, Row("stream", "upstream untouched", "direct, stream", "floor, stream", 1.5, 1.2)),
    ("floor", "long-en", False, Row("floor, long", "200", "direct", "floor, long")),
    ("all", "long-en", False, Row("everything on, English", "upstream", "direct", "floor, long", 20, 10)),
    ("all", "long-es", False, Row("everything on, Spanish", "upstream", "direct", "floor, long", 30, 15)),
    ("words", "long-en", False, Row("without vectors, English", "upstream", "direct", "floor, long", 8, 5)),
    ("words", "long-es", False, Row("without vectors, Spanish", "upstream", "direct", "floor, long", 8, 5)),
    ("all", "flood-en", False, Row("flood of histories, English", "upstream", "direct", "floor, long", 25, 12)),
    ("all", "flood-es", False, Row("flood of histories, Spanish", "upstream", "direct", "floor, long", 25, 12)),
    ("litellm", "growing", False, Row("LiteLLM", "200", "direct", "floor")),
    ("litellm", "long-en", False, Row("LiteLLM, long", "200", "direct", "floor, long")),
)
# A lap of the soak, in tenths.
SOAK: tuple[tuple[Kind, bool, int], ...] = (
    ("growing", False, 5),
    ("growing", True, 3),
    ("cold", False, 1),
    ("repeated", False, 1),
)
LAPS = 5


class Bench:
    """The servers, and the load that is told what to do to them."""

    def __init__(self, load: subprocess.Popen[bytes], servers: Mapping[str, Server]) -> None:
        self._load = load
        self._servers = servers
        self._seeds = count(1)
        self.rows = [each for each in ROWS if each[0] in servers]

    def ask(self, job: Job | StreamsJob, answer: type[T]) -> T:
        assert self._load.stdin is not None
        assert self._load.stdout is not None
        try:
            self._load.stdin.write(msgspec.json.encode(job) + b"\n")
            self._load.stdin.flush()
            return msgspec.json.decode(self._load.stdout.readline(), type=answer)
        except (BrokenPipeError, msgspec.DecodeError):
            raise Unusable(f"the load ended during {job}; its error stands above") from None

    def run(self, server: str, kind: Kind, *, stream: bool, requests: int, paced: int = 0) -> Outcome:
        to = self._servers[server]
        job = Job(to.port, to.pid, kind, stream, requests, paced, RATE, CONNECTIONS, next(self._seeds))
        return self.ask(job, Outcome)

    def rounds(self, rounds: int, requests: int, paced: int) -> None:
        for number in range(1, rounds + 1):
            _tell(f"round {number} of {rounds}")
            for server, kind, stream, row in self.rows:
                row.outcomes.append(self.run(server, kind, stream=stream, requests=requests, paced=paced))

    def streams(self, streams: int) -> StreamsOutcome:
        _tell(f"{streams} concurrent streams")
        ours = self._servers["lean"]
        return self.ask(StreamsJob(ours.port, ours.pid, streams, next(self._seeds)), StreamsOutcome)

    def soak(self, requests: int) -> Soak:
        ours = self._servers["lean"]
        done = 0
        answers: Counter[str] = Counter()
        soak = Soak([], [], answers)
        for lap in range(1, LAPS + 1):
            _tell(f"soak, lap {lap} of {LAPS}")
            for kind, stream, tenths in SOAK:
                outcome = self.run("lean", kind, stream=stream, requests=requests // LAPS * tenths // 10)
                done += outcome.fast
                answers.update(outcome.answers)
            soak.requests.append(done)
            soak.looks.append(processes.status(ours.pid))
        return soak


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds like Ctrl-C, so that no child outlives us
    try:
        report = _measure(options)
    except Unusable as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(markdown(report))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.proxy", description="What the proxy costs.")
    parser.add_argument("--quick", action="store_true", help="a sanity check: a few seconds a row, small soak")
    parser.add_argument("--rounds", type=int, help="how often each row is measured (default: 5)")
    parser.add_argument("--requests", type=int, help="requests a row and round (default: 400)")
    parser.add_argument("--streams", type=int, help="concurrent streams; 0: skip (default: 1000)")
    parser.add_argument("--soak", type=int, help="requests of the soak; 0: skip (default: 50000)")
    parser.add_argument("--litellm", type=Path, metavar="FILE", help="measure LiteLLM's proxy, too: its executable")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every round's numbers")
    options = parser.parse_args()
    defaults = (2, 160, 100, 2_000) if options.quick else (5, 400, 1_000, 50_000)
    for name, default in zip(("rounds", "requests", "streams", "soak"), defaults, strict=True):
        if getattr(options, name) is None:
            setattr(options, name, default)
    return options


def _measure(options: argparse.Namespace) -> Report:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="olvido-bench-")))
        upstream = stack.enter_context(processes.serving("tests.bench.upstream"))
        url = f"http://127.0.0.1:{upstream.port}/v1"
        floor = stack.enter_context(processes.serving("tests.bench.floor", url))
        servers = {"direct": upstream, "floor": floor}
        for name, sections in SECTIONS.items():
            servers[name] = stack.enter_context(processes.proxy(folder / name, url, sections))
        if options.litellm:
            servers["litellm"] = stack.enter_context(processes.litellm(folder, url, options.litellm))
        load = stack.enter_context(processes.running("tests.bench.load", stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        bench = Bench(load, servers)
        load_before = os.getloadavg()[0]
        bench.rounds(options.rounds, options.requests, paced=max(80, options.requests // 4))
        _tell("transports")
        transports = _transports(upstream.port, options.rounds, options.requests)
        load_after = os.getloadavg()[0]
        return Report(
            conditions={
                "machine": f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
                "load average": f"{load_before:.1f} before, {load_after:.1f} after (our own is about 2)",
                "rounds": f"{options.rounds} of {options.requests} requests, {CONNECTIONS} connections",
                "latency": f"at {RATE:g} requests/s; beside direct, what is added to it",
                "bodies": "20 messages, 6 kB, long: 39 to 79, 10 to 20 kB; the answer 1 kB, or a stream of 30 events",
            },
            rows=[row for *_, row in bench.rows],
            transports=transports,
            streams=bench.streams(options.streams) if options.streams else None,
            soak=bench.soak(options.soak) if options.soak else None,
        )


def _transports(port: int, rounds: int, requests: int) -> dict[str, list[float]]:
    with processes.running(
        "tests.bench.transports", str(port), str(rounds), str(requests), stdout=subprocess.PIPE
    ) as process:
        output, _ = process.communicate()
    if process.returncode != 0:
        raise Unusable("the transports could not be measured; the error stands above")
    return msgspec.json.decode(output, type=dict[str, list[float]])


def _processor() -> str:
    try:
        lines: Iterator[str] = iter(Path("/proc/cpuinfo").read_text().splitlines())
    except OSError:
        lines = iter(())
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def _tell(what: str) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
