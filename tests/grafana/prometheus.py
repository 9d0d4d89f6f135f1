"""A real Prometheus for tests, and every expression that we ask one."""

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.servers import eventually

GRAFANA = Path(__file__).parent.parent.parent / "grafana"
RULES = GRAFANA / "prometheus"
METRICS_TOKEN = "a-metrics-token-0123456789"
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="needs prometheus and promtool on the PATH (apt-get install prometheus)",
)

_COMPARED = re.compile(r"\s*(?:==|!=|>=|<=|>|<)\s*(?:[\d.]+|[\d.]+ \* .*)$")
_JOINED = re.compile(r"\s+and on \(\w*\)\s+")


def panels() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """With the dashboard's name."""
    for file in DASHBOARDS:
        for panel in json.loads(file.read_text(encoding="utf-8"))["panels"]:
            if panel["type"] != "row":
                yield file.stem, panel


def rules() -> list[Mapping[str, Any]]:
    """Recording rules and alerts."""
    files = [yaml.safe_load((RULES / name).read_text(encoding="utf-8")) for name in ("rules.yml", "alerts.yml")]
    return [rule for file in files for group in file["groups"] for rule in group["rules"]]


def expressions() -> dict[str, str]:
    """Every expression by where it stands. Of an alert, what it looks at: that is there when nothing is wrong, too."""
    found = {}
    for name, panel in panels():
        for target in panel["targets"]:
            where = f"{name}: {panel['title']}: {target.get('legendFormat', '')}"
            found[where] = target["expr"]
    for rule in rules():
        if "record" in rule:
            found[rule["record"]] = rule["expr"]
        else:
            for number, part in enumerate(_JOINED.split(rule["expr"]), 1):
                found[f"{rule['alert']}: {number}"] = _COMPARED.sub("", part)
    return found


def filled(expression: str) -> str:
    """As Grafana fills in its variables, for a range of the last hour, and a rate over the same."""
    for variable, value in {
        "$__rate_interval": "1h",
        "$__range_s": "3600",
        "$__range": "1h",
        "$model": ".*",
        "$upstream": ".*",
    }.items():
        expression = expression.replace(variable, value)
    assert "$" not in expression, expression
    return expression


@dataclass(frozen=True, slots=True)
class Prometheus:
    http: httpx.Client

    def ask(self, expression: str, at: float | None = None) -> dict[str, float]:
        """Values by series, now or at a time; those that are no number left out. Raises what Prometheus says to a bad
        expression."""
        asked = {"query": expression} if at is None else {"query": expression, "time": str(at)}
        answer = self.http.post("/api/v1/query", data=asked).json()
        assert answer["status"] == "success", (expression, answer)
        found = {json.dumps(one["metric"], sort_keys=True): float(one["value"][1]) for one in answer["data"]["result"]}
        return {series: value for series, value in found.items() if not isnan(value)}

    def number(self, expression: str, at: float | None = None) -> float:
        """Of one series; 0 if there is none."""
        return sum(self.ask(expression, at).values())

    def scraped(self) -> float:
        """The time of a scrape that has just come. Of a proxy that could not be scraped the next time, as the machine
        was busy, there is nothing after that."""
        at: list[float] = []

        def is_there() -> bool:
            at[:] = self.ask("timestamp(olvido_ready)").values()
            return bool(at)

        eventually(is_there)
        return max(at)


@contextmanager
def run_prometheus(target: str, folder: Path) -> Iterator[Prometheus]:
    """With our configuration, but `target` (HOST:PORT) in it, and in a hurry."""
    config = yaml.safe_load((RULES / "prometheus.yml").read_text(encoding="utf-8"))
    config["global"] = {"scrape_interval": "300ms", "scrape_timeout": "300ms", "evaluation_interval": "300ms"}
    config["rule_files"] = [str(RULES / name) for name in config["rule_files"]]
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [target]
    token = folder / "metrics.token"
    token.write_text(METRICS_TOKEN, encoding="utf-8")
    config["scrape_configs"][0]["authorization"]["credentials_file"] = str(token)
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "config.file": folder / "prometheus.yml",
        "storage.tsdb.path": folder / "data",
        "web.listen-address": f"127.0.0.1:{port}",
        "log.level": "warn",
    }
    command = ["prometheus", *(f"--{name}={value}" for name, value in options.items())]
    log = folder / "prometheus.log"
    with log.open("wb") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, trust_env=False) as http:

            def is_ready() -> bool:
                assert process.poll() is None, log.read_text()
                try:
                    return http.get("/-/ready").status_code == 200
                except httpx.TransportError:
                    return False

            eventually(is_ready, 30)
            yield Prometheus(http)
    finally:
        process.terminate()
        process.wait(timeout=120)
