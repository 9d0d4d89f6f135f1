"""Plays `olvido demo --cluster`: the conversation of the demonstration through four proxies, each a process of its own,
over one PostgreSQL and one Redis. Every request goes to one of them at random; what is remembered must not depend on
which. PostgreSQL comes from the package pgserver, redis-server from this machine; without it they have PostgreSQL.
"""

import asyncio
import os
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import msgspec

from proxy import server as proxy_server
from proxy.config import load
from proxy.demo.app import create_app
from proxy.demo.bill import PRICE, table
from proxy.demo.index import POLL_SECONDS, Index
from proxy.demo.show import CONVERSATION, Ask, counted, play, talk
from proxy.replay.progress import Progress
from proxy.tokens import load_tokenizer

PROXIES = 4
START_SECONDS = 60.0


class AnyOf(httpx.AsyncHTTPTransport):
    """A transport that sends each request to one of some servers, by chance; `counts` are theirs."""

    def __init__(self, ports: Sequence[int], seed: int = 0) -> None:
        super().__init__()
        self.counts = dict.fromkeys(ports, 0)
        self._ports = ports
        self._random = random.Random(seed)  # noqa: S311 (the same every time)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends the request, and returns its answer."""
        port = self._random.choice(self._ports)
        self.counts[port] += 1
        request.url = request.url.copy_with(port=port)
        request.headers["host"] = f"{request.url.host}:{port}"  # a proxy on loopback asks for its own
        return await super().handle_async_request(request)


def run(*, stay: bool, short: bool = False) -> int:
    """Plays the conversation and prints what it cost, and where states were found. Returns the exit code of the
    command; with `stay` only once it is interrupted."""
    if find_spec("pgserver") is None:
        print("olvido demo: --cluster needs PostgreSQL: pip install 'olvido[cluster]' pgserver", file=sys.stderr)
        return 1
    with ExitStack() as stack, suppress(KeyboardInterrupt):
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="olvido-demo-")))
        database, redis = stack.enter_context(_postgres(folder / "postgres")), stack.enter_context(_redis(folder))
        return asyncio.run(_show(CONVERSATION if short else talk(), folder, database, redis, stay=stay))
    return 0


@contextmanager
def _postgres(folder: Path) -> Iterator[str]:
    with warnings.catch_warnings(action="ignore"):  # about a folder for what we do not use
        import pgserver  # noqa: PLC0415 (no dependency of the proxy)
    folder.mkdir()
    running = pgserver.postgres_server.get_server(folder, cleanup_mode="delete")
    try:
        yield str(running.get_uri())
    finally:
        running.cleanup()


@contextmanager
def _redis(folder: Path) -> Iterator[str | None]:
    if (program := shutil.which("redis-server")) is None:
        print("redis-server is not installed: the proxies share PostgreSQL alone\n")
        yield None
        return
    address = folder / "redis.sock"
    command = (program, "--port", "0", "--unixsocket", str(address), "--dir", str(folder), "--save", "")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 (our own command)
    try:
        yield f"unix://{address}"
    finally:
        process.terminate()
        process.wait()


async def _show(turns: Sequence[Ask], folder: Path, database: str, redis: str | None, *, stay: bool) -> int:
    usual = load(None, {}, port=0)  # any free port of this machine
    upstream = proxy_server.listen(usual)
    tokenizer = await asyncio.to_thread(load_tokenizer)
    demo = create_app(
        lru_cache(4_096)(tokenizer.encode_ordinary), {ask.text: ask.answer for ask in talk() if ask.answer}
    )
    server = proxy_server.server(usual, demo)
    async with asyncio.TaskGroup() as group, AsyncExitStack() as stack:
        group.create_task(server.serve(sockets=[upstream]))
        stack.callback(setattr, server, "should_exit", True)
        url = proxy_server.base_url(upstream)
        ports = [stack.enter_context(_proxy(folder / f"{number}", url, database, redis)) for number in range(PROXIES)]
        clients = [
            await stack.enter_async_context(httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False))
            for port in ports
        ]
        await asyncio.gather(*map(_ready, clients))
        print(
            f"Playing {len(turns)} turns, once straight to the upstream and once through {PROXIES} proxies …\n",
            flush=True,
        )
        done = counted(Progress(sys.stderr), 2 * len(turns))
        direct = await play(turns, url, "sk-demo-direct", told=done)
        anyone, index = AnyOf(ports), Index(clients)
        proxied = await play(turns, f"http://127.0.0.1:{ports[0]}/v1", "sk-demo-proxied", index, anyone, told=done)
        print(table(direct, proxied))
        print(f"\nrequests by proxy: {', '.join(map(str, anyone.counts.values()))}")
        print(told(await index.numbers("olvido_context_reads_total", "result")))
        if stay:
            listed = "\n".join(f"    http://127.0.0.1:{port}/v1    page: http://127.0.0.1:{port}/ui" for port in ports)
            print(f"\nThe proxies are running; each knows what any of them was told:\n\n{listed}\n\nCtrl-C stops them.")
            sys.stdout.flush()
            await asyncio.Event().wait()
    return 0


def told(reads: Mapping[str, float]) -> str:
    """Returns a line on where states of conversations were found, by the number of look-ups of each result."""
    every = sum(reads.values())
    share = (reads.get("hot", 0.0) + reads.get("memory", 0.0)) / every if every else 0.0
    listed = ", ".join(f"{result} {number:.0f}" for result, number in sorted(reads.items()))
    return f"hot context: {share:.0%} of {every:.0f} look-ups needed no database ({listed})"


@contextmanager
def _proxy(folder: Path, upstream_url: str, database: str, redis: str | None) -> Iterator[int]:
    """Runs a proxy in a process of its own, with a folder of its own; gives its port."""
    folder.mkdir()
    with proxy_server.listen(load(None, {}, port=0)) as found:  # a port that is free
        port = int(found.getsockname()[1])
    upstream = {"name": "demo", "base_url": upstream_url, "dialect": "kimi", "price": asdict(PRICE)}
    sections: dict[str, Any] = {
        "server": {"port": port, "drain": 2},
        "storage": {"kind": "postgres", "path": str(folder), "url": "${DATABASE_URL}", "pool": 4},
        "log": {"level": "error", "format": "text"},
        "upstreams": [upstream],
    }
    if redis is not None:
        sections["shared"] = {"url": redis, "timeout_ms": 500}
    (folder / "olvido.yaml").write_bytes(msgspec.yaml.encode(sections))
    command = (sys.executable, "-m", "proxy", "serve", "--config", str(folder / "olvido.yaml"))
    process = subprocess.Popen(command, env={**os.environ, "DATABASE_URL": database})  # noqa: S603 (our own command)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


async def _ready(client: httpx.AsyncClient) -> None:
    """Waits until a proxy answers. Raises TimeoutError."""
    async with asyncio.timeout(START_SECONDS):
        while True:
            with suppress(httpx.TransportError):
                await client.get("/readyz")
                return
            await asyncio.sleep(POLL_SECONDS)
