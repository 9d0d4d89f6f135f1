"""What a request costs here and in another checkout, in turns on the same machine: CPU of the server process.

    python -m tests.bench.against ../olvido-before [--rounds 5] [--requests 1500]

Known conversations over one connection, context management and reuse by intent off: nothing is done to the request, so
what is left is parsing, recognising, passing on and recording it.
"""

import argparse
import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from proxy.bench import processes

HERE = Path(__file__).parents[2]
CONVERSATIONS = 20
MESSAGES = 9
WARM = 300  # requests before it counts
SETTLE_SECONDS = 1.5  # what follows the answers, and what is written in batches, belongs to them
START_SECONDS = 30.0
TEXT = "the quick brown fox jumps over a lazy dog while seven ships sail " * 5
HEADERS = {"content-type": "application/json", "authorization": "Bearer sk-bench"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.against", description=__doc__)
    parser.add_argument("other", type=Path, help="the other checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=1_500)
    options = parser.parse_args()
    costs: dict[Path, list[float]] = {options.other.resolve(): [], HERE: []}
    with processes.serving("proxy.bench.upstream") as upstream:
        for number in range(options.rounds):
            trees = list(costs) if number % 2 == 0 else list(costs)[::-1]
            for tree in trees:
                with _proxy(tree, f"http://127.0.0.1:{upstream.port}/v1") as (pid, port):
                    costs[tree].append(_cost(pid, port, options.requests))
    before, now = costs.values()
    ratios = [one / other for one, other in zip(now, before, strict=True)]
    for name, values in (("there, µs", before), ("here, µs", now)):
        print(f"{name:<10} {statistics.median(values):6.0f} ({min(values):.0f} to {max(values):.0f})")
    print(
        f"{'ratio':<10} {statistics.median(ratios):6.2f} ({min(ratios):.2f} to {max(ratios):.2f}), {len(ratios)} pairs"
    )


@contextmanager
def _proxy(tree: Path, upstream: str) -> Iterator[tuple[int, int]]:
    """Process id and port of the proxy of that checkout."""
    with tempfile.TemporaryDirectory(prefix="olvido-against-") as name:
        folder = Path(name)
        (folder / "olvido.yaml").write_text(
            f"server: {{port: 0}}\n"
            f"upstreams: [{{name: bench, base_url: '{upstream}', dialect: openai}}]\n"
            f"storage: {{path: '{folder / 'storage'}'}}\n"
            "context: {mode: 'off'}\nembedding: {enabled: false}\nreuse: {intent: {enabled: false}}\n"
        )
        log = folder / "log"
        command = [sys.executable, "-m", "proxy", "serve", "--config", str(folder / "olvido.yaml")]
        with log.open("wb") as output, subprocess.Popen(command, cwd=tree, stdout=output, stderr=output) as process:
            try:
                yield process.pid, _port(log, process)
            finally:
                process.terminate()


def _port(log: Path, process: subprocess.Popen[bytes]) -> int:
    deadline = time.monotonic() + START_SECONDS
    while (found := re.search(r"base_url at http://[\d.]+:(\d+)/v1", log.read_text())) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"the proxy did not start:\n{log.read_text()[-3000:]}")
        time.sleep(0.05)
    return int(found[1])


def _cost(pid: int, port: int, requests: int) -> float:
    """Microseconds of CPU a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    bodies = [_body(number) for number in range(CONVERSATIONS)]

    def ask(times: int) -> float:
        before = _cpu(pid)
        for number in range(times):
            connection.request("POST", "/v1/chat/completions", bodies[number % CONVERSATIONS], HEADERS)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"the proxy answered {answer.status}")
        time.sleep(SETTLE_SECONDS)
        return _cpu(pid) - before

    ask(WARM)
    return ask(requests) / requests * 1e6


def _body(number: int) -> bytes:
    said = [
        {"role": "user" if index % 2 == 0 else "assistant", "content": f"{number} {index} {TEXT}"}
        for index in range(MESSAGES)
    ]
    return msgspec.json.encode({"model": "m", "messages": said})


def _cpu(pid: int) -> float:
    """Seconds, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
