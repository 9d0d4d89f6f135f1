"""What the proxy costs: CPU, latency and memory, side by side with no proxy and with the least one possible.

    python -m tests.bench.proxy [--quick] [--rows REGEX] [--litellm BIN/litellm] [--json FILE]

More rows than `olvido bench` has, more rounds, and the limits that they are held against; what is measured, and how:
`proxy/bench/measuring.py`.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import msgspec

from proxy.bench import processes
from proxy.bench.bodies import MODELS, Kind
from proxy.bench.measuring import CONNECTIONS, RATE, Bench, Limit, Measure, Round, Row, floor_hash, with_needed
from proxy.bench.processes import Server, Unusable
from tests.bench.report import Report, Soak, markdown

MEGABYTES = 20  # of the message that must not hold up others

# What each server is configured with: nothing beside exact reuse and records; words alone; everything, as it comes.
SECTIONS = {
    "lean": "context: {mode: 'off'}\nreuse: {intent: {enabled: false}}\nembedding: {enabled: false}",
    "words": "embedding: {enabled: false}",
    "all": "",
}


def _limits(**limits: tuple[float, float]) -> tuple[Limit, ...]:
    """What a row must reach, and what it is to reach."""
    names: dict[str, Measure] = {"floors": "floors", "switches": "switches", "p50": "p50", "p99": "p99", "lag": "lag"}
    return tuple(Limit(names[name], *both) for name, both in limits.items())


_D, _F, _L = "direct", "floor", "floor, long"
_S = ("direct, stream", "floor, stream")
_EVERYTHING = {"switches": (2, 1), "p50": (3, 1.5), "p99": (12, 6), "lag": (5, 2)}
ROWS = (
    Row(_D, "direct", "growing", False, "200", _D, _F),
    Row(_F, "floor", "growing", False, "200", _D, _F),
    Row(
        *("untouched, history known", "lean", "growing", False, "upstream untouched", _D, _F),
        _limits(floors=(4, 2.5), switches=(0.5, 0.1)),
    ),
    Row("untouched, history unknown", "lean", "cold", False, "upstream untouched", _D, _F),
    Row("exact hit", "lean", "repeated", False, "exact", _D, _F, _limits(floors=(2, 1.2))),
    Row("exact hit on disk", "lean", "once", False, "exact", _D, _F),
    Row("direct, stream", "direct", "growing", True, "200", *_S),
    Row("floor, stream", "floor", "growing", True, "200", *_S),
    Row("stream", "lean", "growing", True, "upstream untouched", *_S, _limits(floors=(1.5, 1.2))),
    Row(_L, "floor", "long-en", False, "200", _D, _L),
    Row(
        *("everything on, English", "all", "long-en", False, "upstream", _D, _L),
        _limits(floors=(20, 10), **_EVERYTHING),
    ),
    Row(
        *("everything on, Spanish", "all", "long-es", False, "upstream", _D, _L),
        _limits(floors=(30, 15), **_EVERYTHING),
    ),
    Row("without vectors, English", "words", "long-en", False, "upstream", _D, _L, _limits(floors=(8, 5))),
    Row("without vectors, Spanish", "words", "long-es", False, "upstream", _D, _L, _limits(floors=(8, 5))),
    Row("flood of histories, English", "all", "flood-en", False, "upstream", _D, _L, _limits(floors=(25, 12))),
    Row("flood of histories, Spanish", "all", "flood-es", False, "upstream", _D, _L, _limits(floors=(25, 12))),
    Row("LiteLLM", "litellm", "growing", False, "200", _D, _F),
    Row("LiteLLM, long", "litellm", "long-en", False, "200", _D, _L),
)
# What is measured beside the rows, by the same names to choose from; and the servers of ours that it needs.
BESIDE = {"20 MB": "all", "streams": "lean", "soak": "lean", "transports": "direct"}
# A lap of the soak, in tenths.
SOAK: tuple[tuple[Kind, bool, int], ...] = (
    ("growing", False, 5),
    ("growing", True, 3),
    ("cold", False, 1),
    ("repeated", False, 1),
)
LAPS = 5


def soaked(bench: Bench, requests: int) -> Soak:
    ours = bench.servers["lean"]
    done = 0
    answers: Counter[str] = Counter()
    soak = Soak([], [], answers)
    for lap in range(1, LAPS + 1):
        _tell(f"soak, lap {lap} of {LAPS}")
        for kind, stream, tenths in SOAK:
            outcome = bench.run("lean", kind, stream=stream, size=Round(requests // LAPS * tenths // 10, paced=0))
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
    beside = f"beside them there are {', '.join(BESIDE)}"
    parser = argparse.ArgumentParser(prog="python -m tests.bench.proxy", description="What the proxy costs.")
    parser.add_argument("--quick", action="store_true", help="a sanity check: a few seconds a row, small soak")
    parser.add_argument("--rows", type=re.compile, default="", metavar="REGEX", help=f"only these rows; {beside}")
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
    def wanted(name: str) -> bool:
        return bool(re.search(options.rows, name))

    rows = with_needed(ROWS, lambda row: wanted(row.name) and (bool(options.litellm) or row.server != "litellm"))
    needed = {row.server for row in rows} | {server for name, server in BESIDE.items() if wanted(name)}
    hashed = floor_hash()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="olvido-bench-")))
        stack.callback(processes.end_children)
        upstream = stack.enter_context(processes.serving("proxy.bench.upstream"))
        url = f"http://127.0.0.1:{upstream.port}/v1"
        servers = {"direct": upstream}
        if "floor" in needed:
            servers["floor"] = stack.enter_context(processes.serving("proxy.bench.floor", url))
        for name, sections in SECTIONS.items():
            if name in needed:
                servers[name] = stack.enter_context(processes.proxy(folder / name, url, sections))
        if "litellm" in needed:
            servers["litellm"] = stack.enter_context(_litellm(folder, url, options.litellm))
        load = stack.enter_context(processes.running("proxy.bench.load", stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        bench = Bench(load, servers)
        load_before = os.getloadavg()[0]
        size = Round(options.requests, paced=max(80, options.requests // 4))
        numbers = range(1, options.rounds + 1)
        bench.rounds(rows, numbers, size, lambda number, row: _tell(f"round {number}: {row.name}"))
        stalls = []
        if wanted("20 MB"):
            _tell(f"{MEGABYTES} MB")
            stalls = [bench.stall("all", MEGABYTES) for _ in range(options.rounds)]
        transports = {}
        if wanted("transports"):
            _tell("transports")
            transports = _transports(upstream.port, options.rounds, options.requests)
        load_after = os.getloadavg()[0]
        streams = None
        if options.streams and wanted("streams"):
            _tell(f"{options.streams} concurrent streams")
            streams = bench.streams("lean", options.streams)
        return Report(
            conditions={
                "machine": processes.machine(),
                "load average": f"{load_before:.1f} before, {load_after:.1f} after (our own is about 2)",
                "rounds": f"{options.rounds} of {options.requests} requests, {CONNECTIONS} connections",
                "floor": f"sha256 {hashed}",
                "latency": f"at {RATE:g} requests/s; beside direct, what is added to it",
                "bodies": "20 messages, 6 kB, long: 39 to 79, 10 to 20 kB; the answer 1 kB, or a stream of 30 events",
            },
            rows=rows,
            transports=transports,
            stalls=stalls,
            streams=streams,
            soak=soaked(bench, options.soak) if options.soak and wanted("soak") else None,
        )


@contextmanager
def _litellm(folder: Path, upstream: str, executable: Path) -> Iterator[Server]:
    """LiteLLM's proxy in front of the same upstream, as it comes: one worker, no database."""
    config, log = folder / "litellm.yaml", folder / "litellm.log"
    config.write_text(
        "model_list:\n"
        + "".join(
            f"  - model_name: {model}\n    litellm_params:\n"
            f"      {{model: openai/{model}, api_base: '{upstream}', api_key: sk-bench}}\n"
            for model in ("bench-model", *MODELS.values())
        )
        + "general_settings: {dangerously_permit_weak_or_unset_master_key: true}\n"
    )
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    command = [str(executable), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as output, processes.running_command(command, stdout=output, stderr=output) as process:
        alive = "/health/liveliness"
        yield Server(
            processes.when_ready(process, log, lambda: port, lambda at: bool(processes.get(at, alive))), process.pid
        )


def _transports(port: int, rounds: int, requests: int) -> dict[str, list[float]]:
    with processes.running(
        "tests.bench.transports", str(port), str(rounds), str(requests), stdout=subprocess.PIPE
    ) as process:
        output, _ = process.communicate()
    if process.returncode != 0:
        raise Unusable("the transports could not be measured; the error stands above")
    return msgspec.json.decode(output, type=dict[str, list[float]])


def _tell(what: str) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
