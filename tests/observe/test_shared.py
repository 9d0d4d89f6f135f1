"""Several processes told as one: as the client library keeps it, and as users run it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from proxy.observe.metrics import VARIABLE, shared_folder
from tests.e2e.running import CHAT, chat, run_proxy
from tests.proxied import run_upstream
from tests.servers import eventually

# Records a row when it is told to, and says what all processes have recorded.
_COUNTING = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families
from proxy.observe.metrics import Metrics
from tests.builders import ledger_row

metrics = Metrics()
metrics.in_flight.inc()
for line in sys.stdin:
    if line == "record\\n":
        metrics.recorded(ledger_row())
    if line == "leave\\n":
        metrics.close()
        break
    families = text_string_to_metric_families(metrics.exposition().decode())
    told = {}
    for family in families:
        for sample in family.samples:
            told[sample.name] = told.get(sample.name, 0) + sample.value
    print(json.dumps(told), flush=True)
"""


class Process:
    def __init__(self, running: "subprocess.Popen[str]") -> None:
        self._running = running

    def say(self, command: str) -> dict[str, float]:
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        self._running.stdin.write(f"{command}\n")
        self._running.stdin.flush()
        line = self._running.stdout.readline()
        told: dict[str, float] = json.loads(line) if line else {}
        return told

    def kill(self) -> None:
        self._running.kill()
        self._running.wait(timeout=10)

    def leave(self) -> None:
        self.say("leave")
        self._running.wait(timeout=10)


@contextmanager
def counting(folder: Path) -> Iterator[Process]:
    environ = {**os.environ, VARIABLE: str(folder), "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    command = [sys.executable, "-c", _COUNTING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ) as running:
        try:
            yield Process(running)
        finally:
            running.kill()


def recorded(told: dict[str, float]) -> tuple[float, float, float]:
    """Requests, observations of a histogram, and processes that run."""
    return told["olvido_requests_total"], told["olvido_overhead_seconds_count"], told["olvido_in_flight"]


def test_a_run_begins_with_nothing_and_counts_all_its_processes(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "by the first"
    with ExitStack() as stack:
        first, second = stack.enter_context(counting(folder)), stack.enter_context(counting(folder))
        first.say("record")
        second.say("record")
        assert recorded(second.say("record")) == recorded(first.say("tell")) == (3, 3, 2)
        assert first.say("tell")["olvido_build_info"] == 1
        assert "process_resident_memory_bytes" not in first.say("tell")
        second.kill()
        assert recorded(first.say("tell")) == (3, 3, 1)  # what it had counted stays, what it was does not
        first.leave()
        assert list(folder.glob("gauge_live*")) == []
        fresh = stack.enter_context(counting(folder))
        assert recorded(fresh.say("record")) == (1, 1, 1)


@pytest.mark.parametrize(("environ", "expected"), [({}, None), ({VARIABLE: ""}, None), ({VARIABLE: "/x"}, Path("/x"))])
def test_processes_are_told_as_one_only_if_a_folder_is_named(environ: dict[str, str], expected: Path | None) -> None:
    assert shared_folder(environ) == expected


@pytest.mark.long
def test_whichever_server_is_scraped_tells_of_all(tmp_path: Path) -> None:
    with ExitStack() as stack:
        entry = {"name": "demo", "base_url": f"{stack.enter_context(run_upstream()).url}/v1", "dialect": "openai"}
        config = {"upstreams": [entry], "storage": {"path": str(tmp_path / "storage")}}
        folders = [tmp_path / name for name in ("one", "other")]
        for folder in folders:
            folder.mkdir()
        shared = {VARIABLE: str(tmp_path / "metrics")}
        one, other = [stack.enter_context(run_proxy(config, folder, **shared)) for folder in folders]
        for proxy, text in ((one, "Say: one."), (one, "Say: two."), (other, "From now on, call me Captain Ana.")):
            proxy.http.post(CHAT, json=chat(text)).raise_for_status()
        eventually(lambda: one.metric("olvido_requests_total", source="upstream") == 3)
        for name in ("olvido_requests_total", "olvido_upstream_seconds_count"):
            assert one.metric(name, upstream="demo") == other.metric(name, upstream="demo") == 3
        # Nobody asked the other one about itself.
        eventually(lambda: one.metric("olvido_facts", status="active") == 1)
        assert one.complaints() == other.complaints() == []
