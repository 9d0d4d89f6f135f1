"""What several workers cost: CPU a request of all processes, and throughput, beside one process under the same load.

    python -m tests.bench.workers [--workers 2] [--rounds 6] [--requests 400] [--rows REGEX]

Both serve side by side, with everything on; each round measures both, the other one first every second time, and each
ratio is of one round. Exits with 1 if a row's median is above the limit.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from proxy.bench import processes
from proxy.bench.bodies import Kind
from proxy.bench.load import Outcome
from proxy.bench.measuring import CONNECTIONS, Bench, Round, spread
from proxy.bench.processes import Unusable

LIMIT = 1.15  # CPU a request, several workers against one process
LEAN = "context: {mode: 'off'}\nreuse: {intent: {enabled: false}}\nembedding: {enabled: false}"


class Row(NamedTuple):
    """A kind of load."""

    name: str
    sections: str
    kind: Kind
    stream: bool = False


ROWS = (
    Row("everything on, English", "", "long-en"),
    Row("everything on, Spanish", "", "long-es"),
    Row("stream, lean", LEAN, "growing", stream=True),
)


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds like Ctrl-C, so that no child outlives us
    print(f"{processes.machine()}; load average {os.getloadavg()[0]:.1f} before")
    print(
        f"{options.rounds} rounds of {options.requests} requests, {CONNECTIONS} connections; median (least to most)\n"
    )
    print(f"| row | CPU ms, 1 | CPU ms, {options.workers} | ratio | requests/s, 1 | requests/s, {options.workers} |")
    print("|---|---|---|---|---|---|")
    try:
        ratios = [_measured(row, options) for row in ROWS if re.search(options.rows, row.name)]
    except Unusable as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(f"\nload average {os.getloadavg()[0]:.1f} after")
    return int(max(ratios, default=0.0) > LIMIT)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.workers", description="What workers cost.")
    parser.add_argument("--workers", type=int, default=2, help="workers that one process is compared with (default: 2)")
    parser.add_argument("--rounds", type=int, default=6, help="how often each row is measured (default: 6)")
    parser.add_argument("--requests", type=int, default=400, help="requests a row and round (default: 400)")
    parser.add_argument("--rows", default="", metavar="REGEX", help="only these rows")
    return parser.parse_args()


def _measured(row: Row, options: argparse.Namespace) -> float:
    """Measures and prints a row. Returns its ratio."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="olvido-bench-")))
        stack.callback(processes.end_children)
        upstream = stack.enter_context(processes.serving("proxy.bench.upstream"))
        url = f"http://127.0.0.1:{upstream.port}/v1"
        servers = {
            name: stack.enter_context(processes.proxy(folder / name, url, row.sections, workers))
            for name, workers in (("one", 1), ("several", options.workers))
        }
        load = stack.enter_context(processes.running("proxy.bench.load", stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        bench = Bench(load, servers)
        size = Round(options.requests, paced=2)
        found: dict[str, list[Outcome]] = {name: [] for name in servers}
        for server in servers:  # caches, imports, the first folds
            bench.run(server, row.kind, stream=row.stream, size=size)
        for number in range(options.rounds):
            for server in sorted(servers, reverse=number % 2 == 1):
                found[server].append(bench.run(server, row.kind, stream=row.stream, size=size))
        cpu = {name: [each.cpu / each.fast * 1e3 for each in outcomes] for name, outcomes in found.items()}
        rate = {name: [each.fast / each.seconds for each in outcomes] for name, outcomes in found.items()}
        ratios = [several / one for several, one in zip(cpu["several"], cpu["one"], strict=True)]
        cells = (
            *(spread(cpu["one"], 2), spread(cpu["several"], 2), spread(ratios, 3)),
            *(spread(rate["one"], 0), spread(rate["several"], 0)),
        )
        print(f"| {row.name} | {' | '.join(cells)} |", flush=True)
        return median(ratios)


if __name__ == "__main__":
    sys.exit(main())
