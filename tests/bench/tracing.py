"""What tracing costs: CPU of the proxy per request, its thread that sends spans included, without tracing, with the
usual share of the requests traced, and with all of them.

    python -m tests.bench.tracing [ROUNDS] [REQUESTS]

A real collector takes the spans. Every round measures each proxy once, forwards and backwards by turns, so that what
else the machine does falls on all of them. A second proxy without tracing tells how far two that are alike differ. A
ratio is of the CPU of all rounds; beside it the median, the least and the most of the rounds. Requests are the cheapest
that there are, without context management or embedding: what tracing adds is the same for all, and a smaller share of
others. Fails if a tenth costs more than 3 % beyond that difference.
"""

import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from proxy.bench import processes
from proxy.bench.bodies import Kind
from proxy.bench.measuring import Bench, Round, spread
from tests.collector import run_collector

LIMIT = 0.03
ROUNDS, REQUESTS = 30, 200
SHARES = {"off": 0.0, "off again": 0.0, "10 %": 0.1, "100 %": 1.0}
KIND: Kind = "cold"
CHEAPEST = "context: {mode: off}\nembedding: {enabled: false}\n"
QUIET = 0.3  # seconds: what is sent later counts in the next round of the same proxy


def measured(rounds: int, requests: int) -> dict[str, list[float]]:
    """CPU µs per request, of each round."""
    found: dict[str, list[float]] = {name: [] for name in SHARES}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="olvido-tracing-")))
        stack.callback(processes.end_children)
        collector = stack.enter_context(run_collector())
        upstream = stack.enter_context(processes.serving("proxy.bench.upstream"))
        url = f"http://127.0.0.1:{upstream.port}/v1"
        servers = {}
        for number, (name, share) in enumerate(SHARES.items()):
            told = f"observe: {{tracing: {{endpoint: '{collector.url}', sample: {share}}}}}\n" if share else ""
            servers[name] = stack.enter_context(processes.proxy(folder / str(number), url, CHEAPEST + told))
        pipe = subprocess.PIPE
        bench = Bench(stack.enter_context(processes.running("proxy.bench.load", stdin=pipe, stdout=pipe)), servers)
        size = Round(requests, 0, QUIET)
        for name in servers:
            bench.run(name, KIND, stream=False, size=size)  # the first is not told: caches fill
        for number in range(rounds):
            for name in list(servers) if number % 2 else reversed(servers):
                outcome = bench.run(name, KIND, stream=False, size=size)
                found[name].append(outcome.cpu / outcome.fast * 1e6)
        assert collector.spans, "nothing was traced"
    return found


def main() -> int:
    """Measures, prints, and returns 1 if it is too dear."""
    given = [int(each) for each in sys.argv[1:]]
    rounds, requests = (*given, *(ROUNDS, REQUESTS)[len(given) :])
    found = measured(rounds, requests)
    off = found["off"]
    print(f"{processes.machine()}; {rounds} rounds of {requests} requests")
    print("            µs a request, median (least to most)   of off: all rounds, median (least to most) of a round")
    more = {name: sum(cpu) / sum(off) - 1 for name, cpu in found.items()}
    for name, cpu in found.items():
        each = [mine / without for mine, without in zip(cpu, off, strict=True)]
        print(f"{name:>9}   {spread(cpu, 0):<38} {1 + more[name]:.3f}, {spread(each, 3)}")
    return int(more["10 %"] > LIMIT + abs(more["off again"]))


if __name__ == "__main__":
    sys.exit(main())
