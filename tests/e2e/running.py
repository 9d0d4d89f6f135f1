"""Both servers as a user runs them, each in its own process: the demo upstream and the proxy, and how tests look into
them from outside."""

import base64
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.forked import Forked, Process
from tests.scripted.app import create_app
from tests.scripted.config import ScriptedConfig
from tests.servers import eventually, run_app, run_command

Json = Any
CHAT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request as the upstream got it, and what became of it there."""

    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    chunks_sent: int
    closed_early: bool
    finished: bool
    status: int

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo upstream."""

    url: str  # like http://127.0.0.1:40001
    control: httpx.Client

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def arrived(self, path: str = CHAT) -> list[Arrived]:
        """What has arrived at `path` since `clear`, oldest first."""
        return [
            Arrived(
                query=request["query"],
                headers=tuple((name, value) for name, value in request["headers"]),
                body=base64.b64decode(request["body"]),
                chunks_sent=request["chunks_sent"],
                closed_early=request["closed_early"],
                finished=request["finished"],
                status=request["status"],
            )
            for request in self._state()["requests"]
            if request["path"] == path
        ]

    @property
    def in_flight(self) -> int:
        return int(self._state()["in_flight"])

    def clear(self) -> None:
        self.control.delete("/__demo/requests").raise_for_status()

    def release(self) -> None:
        """Let go of every answer that is being held back."""
        self.control.post("/__demo/release").raise_for_status()

    def _state(self) -> Json:
        return self.control.get("/__demo/requests").raise_for_status().json()


@contextmanager
def run_demo(*options: str) -> Iterator[Demo]:
    with (
        run_command("-m", "tests.scripted", "--port", "0", "--record", *options) as (url, _process),
        httpx.Client(base_url=url, timeout=120) as control,
    ):
        yield Demo(url, control)


@contextmanager
def run_demo_here(config: ScriptedConfig) -> Iterator[Demo]:
    """In a thread, which starts at once; for a test that does not measure or kill it."""
    with run_app(create_app(config)) as url, httpx.Client(base_url=url, timeout=120) as control:
        yield Demo(url, control)


@dataclass(frozen=True, slots=True)
class Proxy:
    """The proxy, started by its own command."""

    url: str
    process: Process
    storage: Path
    log: Path
    http: httpx.Client  # for what no SDK does

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def rows(self, **where: str) -> list[Mapping[str, Json]]:
        """The ledger's rows as they are in the file now, oldest first."""
        condition = " AND ".join(f"{column} = :{column}" for column in where) or "1"
        with closing(sqlite3.connect(f"file:{self.storage / 'olvido.db'}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            found = database.execute(f"SELECT * FROM ledger WHERE {condition} ORDER BY at", where).fetchall()
        return [dict(row) for row in found]

    def row(self, **where: str) -> Mapping[str, Json]:
        """The one row that there will be once the batch is written."""
        eventually(lambda: self.rows(**where))
        (row,) = self.rows(**where)
        return row

    def metric(self, name: str, **labels: str) -> float:
        """The sum of all samples of a metric that have these labels."""
        total = 0.0
        for line in self.http.get("/metrics").text.splitlines():
            if line.startswith(f"{name}{{") and all(f'{key}="{value}"' in line for key, value in labels.items()):
                total += float(line.rpartition(" ")[2])
        return total

    def complaints(self) -> list[str]:
        """Lines of the log that say that something is wrong with the proxy itself."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        # That a broken stream is not ended is the purpose; uvicorn can't know.
        intended = "ASGI callable returned without completing response."
        return [
            json.dumps(line) for line in lines if line["level"] in ("error", "critical") and line["message"] != intended
        ]

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)


@contextmanager
def run_proxy(config: Mapping[str, Json], folder: Path, **environ: str) -> Iterator[Proxy]:
    """Serves `config` on a free port; its storage, if it names none, is in `folder`. Without reuse by intent unless it
    is asked for: many tests ask alike questions and want the upstream's answer."""
    reuse = {"intent": {"enabled": False}, **config.get("reuse", {})}
    embedding = {"enabled": reuse["intent"]["enabled"], **config.get("embedding", {})}
    settings = {"storage": {"path": str(folder / "storage")}, **config, "reuse": reuse, "embedding": embedding}
    file, log = folder / "olvido.yaml", folder / "olvido.log"
    file.write_text(yaml.safe_dump(settings))
    process = _started(["serve", "--config", str(file), "--port", "0"], log, {**os.environ, **environ}, settings)
    try:
        eventually(lambda: b"startup complete" in log.read_bytes() or process.poll() is not None, 120)
        address = re.search(r"base_url at (http://\S+)/v1", log.read_text())
        assert address is not None, log.read_text()
        with httpx.Client(base_url=address[1], headers={"authorization": "Bearer sk-test"}, timeout=120) as http:
            yield Proxy(address[1], process, Path(settings["storage"]["path"]), log, http)
    finally:
        process.terminate()
        process.wait(timeout=120)


@contextmanager
def two_proxies(url: str, folder: Path, **upstream: Json) -> Iterator[list[Proxy]]:
    """Two proxies before an upstream and one storage, whose models manage their memory themselves."""
    settings = {
        "upstreams": [{"name": "it", "base_url": f"{url}/v1", "models": ["*"], **upstream}],
        "memory": {"tools": {"enabled": True, "offer": "first"}},
        "responses": {"take_over": True},
        "storage": {"path": str(folder / "shared")},
    }
    with ExitStack() as stack:
        folders = [folder / "one", folder / "two"]
        for each in folders:
            each.mkdir()
        yield [stack.enter_context(run_proxy(settings, each)) for each in folders]


def _started(arguments: Sequence[str], log: Path, environ: Mapping[str, str], settings: Mapping[str, Json]) -> Process:
    if settings.get("server", {}).get("workers", 1) == 1:
        return Forked(arguments, log, environ)
    with log.open("wb") as stderr:
        return subprocess.Popen([sys.executable, "-m", "proxy", *arguments], stderr=stderr, env=environ)


# Prices at which a small budget is worth keeping.
FOLDS_PAY: Json = {"input": 1, "cached": 0.5, "output": 1}


def upstream(name: str, demo: Demo, models: Sequence[str], **settings: Json) -> Json:
    """An entry of the configuration: by default one that neither retries nor has a breaker, so what the demo answers is
    what comes back."""
    quiet = {"retries": 0, "breaker": {"failures": 0}, "dialect": "openai"}
    return {"name": name, "base_url": demo.base_url, "models": list(models), **quiet, **settings}


def chat(content: str, **fields: Json) -> dict[str, Json]:
    """The body of a chat completion request."""
    return {"model": "demo-chat", "messages": [{"role": "user", "content": content}], **fields}


def events(body: bytes) -> list[Json]:
    """The data of every event of a stream, `[DONE]` left out."""
    data = [line.removeprefix(b"data: ") for line in body.split(b"\n\n") if line.startswith(b"data: ")]
    return [json.loads(event) for event in data if event != b"[DONE]"]
