"""What many processes cost, and what they lose: over one PostgreSQL and one Redis, beside one process over SQLite.

    python -m tests.bench.cluster [--rounds 6] [--requests 400] [--rows REGEX]

    cpu      CPU a request of one process over PostgreSQL and Redis, beside one over SQLite under the same load, both
             served side by side; each ratio is of one round. The CPU of the two servers is told beside it.
    hot      where four workers found what a plan needs to know of the conversation before it
    faults   Redis, then PostgreSQL, silent and gone for a while under a steady load: what it costs, what is lost

Prints the number of measurements and their spread. Exits with 1 if a row misses its limit.
"""

import argparse
import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from proxy.bench import processes
from proxy.bench.bodies import Kind
from proxy.bench.measuring import Bench, Round, spread
from proxy.bench.processes import Unusable
from tests import postgres
from tests.bench import cluster_faults
from tests.redis_server import RedisServer, run_redis

MOST_CPU = 1.5  # PostgreSQL and Redis against SQLite
MOST_ADDED = 60.0  # ms to the p99, once the breakers are open
LEAN = "embedding: {enabled: false}\nreuse: {intent: {enabled: false}}"
LEAST_HOT = 0.6  # of the look-ups of states
WORKERS = 4
KINDS: Mapping[str, Kind] = {"English": "long-en", "Spanish": "long-es"}
_READS = re.compile(r'^olvido_context_reads_total\{[^}]*result="(\w+)"[^}]*\} (\S+)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The servers that processes share."""

    postgres: postgres.Server
    redis: RedisServer

    @property
    def storage(self) -> str:
        return "kind: postgres, url: '${DATABASE_URL}', pool: 4"

    @property
    def sections(self) -> str:
        return f"shared: {{url: '{self.redis.url}'}}"

    def cpu(self) -> tuple[float, float]:
        """Seconds that PostgreSQL has used, and Redis."""
        return processes.cpu_seconds(self.postgres.pid), processes.cpu_seconds(self.redis.pid)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """New servers, empty; the database's URL in the environment."""
    with ExitStack() as stack:
        server = postgres.Server()
        stack.callback(server.close)
        redis = stack.enter_context(run_redis())
        os.environ["DATABASE_URL"] = server.url
        yield Cluster(server, redis)


def cpu(options: argparse.Namespace) -> bool:
    """Prints what a request costs, by kind of load. True if the limit is kept."""
    print("| row | CPU ms, SQLite | CPU ms, cluster | ratio | + PostgreSQL ms | + Redis ms |")
    print("|---|---|---|---|---|---|")
    kept = [_cpu(name, kind, options) for name, kind in KINDS.items()]  # all of them, also after one that misses
    return all(kept)


def _cpu(name: str, kind: Kind, options: argparse.Namespace) -> bool:
    with _served(name) as (folder, url, load), cluster() as shared, ExitStack() as stack:
        servers = {
            "sqlite": stack.enter_context(processes.proxy(folder / "sqlite", url)),
            "cluster": stack.enter_context(
                processes.proxy(folder / "cluster", url, shared.sections, storage=shared.storage)
            ),
        }
        bench, size = Bench(load, servers), Round(options.requests, paced=2)
        found: dict[str, list[float]] = {each: [] for each in (*servers, "postgres", "redis")}
        for number in range(-1, options.rounds):  # the first one fills caches, and does not count
            for server in sorted(servers, reverse=number % 2 == 1):
                before = shared.cpu()
                outcome = bench.run(server, kind, stream=False, size=size)
                if number >= 0:
                    found[server].append(outcome.cpu / outcome.fast * 1e3)
                if number >= 0 and server == "cluster":
                    for each, used, was in zip(("postgres", "redis"), shared.cpu(), before, strict=True):
                        found[each].append((used - was) / outcome.fast * 1e3)
    ratios = [here / there for here, there in zip(found["cluster"], found["sqlite"], strict=True)]
    cells = (found["sqlite"], found["cluster"], ratios, found["postgres"], found["redis"])
    print(f"| {name}, n = {len(ratios)} | {' | '.join(spread(cell, 2) for cell in cells)} |", flush=True)
    return median(ratios) <= MOST_CPU


def hot(options: argparse.Namespace) -> bool:
    """Prints where states were found. True if the limit is kept."""
    kept = []
    for name, kind in KINDS.items():
        with _served(name) as (folder, url, load), cluster() as shared:
            running = processes.proxy(folder / "several", url, shared.sections, WORKERS, shared.storage)
            with running as server:
                bench = Bench(load, {"several": server})
                for _ in range(options.rounds):
                    bench.run("several", kind, stream=False, size=Round(options.requests, paced=2))
                told = processes.get(server.port, "/metrics").decode()
        reads = {place: float(number) for place, number in _READS.findall(told)}
        share = (reads.get("hot", 0.0) + reads.get("memory", 0.0)) / max(1.0, sum(reads.values()))
        listed = ", ".join(f"{place} {number:.0f}" for place, number in sorted(reads.items()))
        print(
            f"{WORKERS} workers, {name}: {share:.1%} of {sum(reads.values()):.0f} look-ups hit ({listed})", flush=True
        )
        kept.append(share >= LEAST_HOT)
    return all(kept)


@contextmanager
def _served(name: str) -> Iterator[tuple[Path, str, subprocess.Popen[bytes]]]:
    """A folder, an upstream's URL and the load."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"olvido-bench-{name}-")))
        stack.callback(processes.end_children)
        upstream = stack.enter_context(processes.serving("proxy.bench.upstream"))
        load = stack.enter_context(processes.running("proxy.bench.load", stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        yield folder, f"http://127.0.0.1:{upstream.port}/v1", load


def faults(options: argparse.Namespace) -> bool:
    """Prints what became of requests and rows while Redis or PostgreSQL was gone. True if the limits are kept."""
    print(f"\ngone for {options.seconds:g} s under {options.rate:g} requests a second\n\n{cluster_faults.HEAD}")
    kept = []
    for name, fault in FAULTS.items():
        with _served("faults") as (folder, url, _), cluster() as shared:
            running = processes.proxy(folder / "one", url, f"{shared.sections}\n{LEAN}", storage=shared.storage)
            with running as server:
                outcome = asyncio.run(
                    cluster_faults.under(
                        fault(shared),
                        f"http://127.0.0.1:{server.port}",
                        shared.postgres.url,
                        options.seconds,
                        options.rate,
                    )
                )
        print(outcome.row(name), flush=True)
        rows = (*outcome.missing.values(), *outcome.double.values())
        kept.append(not outcome.errors and not any(rows) and outcome.added <= MOST_ADDED)
    return all(kept)


@contextmanager
def _frozen(redis: RedisServer) -> Iterator[None]:
    redis.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        redis.signal(signal.SIGCONT)


FAULTS: Mapping[str, Callable[[Cluster], AbstractContextManager[None]]] = {
    "Redis, silent": lambda shared: _frozen(shared.redis),
    "Redis, killed": lambda shared: cluster_faults.killed(shared.redis.kill, shared.redis.start),
    "PostgreSQL, silent": lambda shared: shared.postgres.silent(),
    "PostgreSQL, stopped": lambda shared: cluster_faults.killed(shared.postgres.stop, shared.postgres.start),
}
ROWS: Mapping[str, Callable[[argparse.Namespace], bool]] = {"cpu": cpu, "hot": hot, "faults": faults}


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds like Ctrl-C, so that no child outlives us
    print(f"{processes.machine()}; load average {os.getloadavg()[0]:.1f} before")
    print(f"{options.rounds} rounds of {options.requests} requests; median (least to most)\n")
    try:
        met = {name: row(options) for name, row in ROWS.items() if re.search(options.rows, name)}
    except Unusable as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(f"\nload average {os.getloadavg()[0]:.1f} after; missed: {', '.join(n for n in met if not met[n]) or 'none'}")
    return int(not all(met.values()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cluster", description="What many processes cost.")
    parser.add_argument("--rounds", type=int, default=6, help="how often each row is measured (default: 6)")
    parser.add_argument("--requests", type=int, default=400, help="requests a row and round (default: 400)")
    parser.add_argument("--rate", type=float, default=100.0, help="requests a second under a fault (default: 100)")
    parser.add_argument("--seconds", type=float, default=20.0, help="that something is gone (default: 20)")
    parser.add_argument("--rows", default="", metavar="REGEX", help="only these rows")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
