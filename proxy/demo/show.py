"""`olvido demo`: the same forty turns, once straight to the demo upstream and once through the real proxy; what each
was billed; and then a proxy that is left running."""

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvloop

from proxy import server as proxy_server
from proxy.config import Config, load
from proxy.demo.app import create_app
from proxy.demo.config import DemoConfig
from proxy.demo.conversation import CONVERSATION, SYSTEM, WEATHER_RESULT, Ask
from proxy.demo.server import listen
from proxy.demo.server import server as demo_server
from proxy.tokens import load_tokenizer
from proxy.types import Price, Usage
from proxy.wire.dialects import DIALECTS
from proxy.wire.usage import find_usage

MODEL = "demo-chat"
PRICE = Price(input=0.95, cached=0.16, write=0.95, output=4.0)  # kimi-k2.6


@dataclass
class Bill:
    """What one play of the conversation came to."""

    requests: int = 0
    reused: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    asked: int = 0
    remembered: int = 0
    forgotten: list[str] = field(default_factory=list)

    def add(self, usage: Usage | None, *, reused: bool) -> None:
        self.requests += 1
        self.reused += reused
        if usage is not None and not reused:
            self.prompt += usage.prompt_tokens
            self.cached += usage.cached_tokens
            self.completion += usage.completion_tokens

    def check(self, ask: Ask, answer: str) -> None:
        if ask.expects:
            self.asked += 1
            self.remembered += ask.expects in answer
            if ask.expects not in answer:
                self.forgotten.append(ask.text)

    @property
    def cost(self) -> float:
        new = self.prompt - self.cached
        return (new * PRICE.input + self.cached * PRICE.cached + self.completion * PRICE.output) / 1_000_000


def run(port: int, *, stay: bool) -> int:
    with (
        tempfile.TemporaryDirectory(prefix="olvido-demo-") as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        suppress(KeyboardInterrupt),
    ):
        return runner.run(_show(port, Path(folder), stay=stay))
    return 0


async def _show(port: int, folder: Path, *, stay: bool) -> int:
    upstream = listen()
    upstream.listen()  # from now on connections wait until it serves
    upstream_url = f"http://127.0.0.1:{upstream.getsockname()[1]}/v1"
    config = _config(folder, port, upstream_url)
    try:
        front = proxy_server.listen(config)
    except OSError as error:
        upstream.close()
        print(f"olvido demo: cannot listen on port {port}: {error.strerror}; try --port 0", file=sys.stderr)
        return 1
    tokenizer = await asyncio.to_thread(load_tokenizer)
    demo = create_app(DemoConfig(dialect=DIALECTS["kimi"], encode=tokenizer.encode_ordinary))
    servers = [(demo_server(demo), upstream), (proxy_server.server(config), front)]
    async with asyncio.TaskGroup() as group:
        for server, sock in servers:
            group.create_task(server.serve(sockets=[sock]))
        proxy_url = proxy_server.base_url(front)
        print(f"Playing {len(CONVERSATION)} turns, once straight to the upstream and once through the proxy …\n")
        direct = await _play(upstream_url, "sk-demo-direct")
        proxied = await _play(proxy_url, "sk-demo-proxied")
        print(_table(direct, proxied))
        if stay:
            print(_invitation(proxy_url), flush=True)
        else:
            for server, _ in servers:
                server.should_exit = True
    return 0


def _config(folder: Path, port: int, upstream_url: str) -> Config:
    tree = f"""
server: {{port: {port}, drain: 2}}
upstreams:
  - name: demo
    base_url: {upstream_url}
    dialect: kimi
    price: {{input: {PRICE.input}, cached: {PRICE.cached}, write: {PRICE.write}, output: {PRICE.output}}}
storage: {{path: {folder / "storage"}}}
"""
    file = folder / "olvido.yaml"
    file.write_text(tree)
    return load(file, {})


async def _play(base_url: str, key: str) -> Bill:
    bill = Bill()
    history: list[Mapping[str, Any]] = [{"role": "system", "content": SYSTEM}]
    async with httpx.AsyncClient(
        base_url=base_url, headers={"authorization": f"Bearer {key}"}, timeout=60, trust_env=False
    ) as client:
        for ask in CONVERSATION:
            said = {"role": "user", "content": ask.text}
            if ask.alone:
                await _ask(client, bill, [said], temperature=0)
                continue
            history.append(said)
            answer = await _ask(client, bill, history, **({"tools": ask.tools} if ask.tools else {}))
            history.append(answer)
            if calls := answer.get("tool_calls"):
                history += [{"role": "tool", "tool_call_id": call["id"], "content": WEATHER_RESULT} for call in calls]
                answer = await _ask(client, bill, history, tools=ask.tools)
                history.append(answer)
            bill.check(ask, answer.get("content") or "")
    return bill


async def _ask(
    client: httpx.AsyncClient, bill: Bill, messages: Sequence[Mapping[str, Any]], **fields: Any
) -> Mapping[str, Any]:
    response = await client.post("/chat/completions", json={"model": MODEL, "messages": messages, **fields})
    response.raise_for_status()
    completion = response.json()
    bill.add(find_usage(completion), reused=response.headers.get("x-olvido-source", "upstream") != "upstream")
    message: Mapping[str, Any] = completion["choices"][0]["message"]
    return message


def _table(direct: Bill, proxied: Bill) -> str:
    rows = [
        ("requests", f"{direct.requests:,}", f"{proxied.requests:,}", ""),
        ("  answered from memory", f"{direct.reused:,}", f"{proxied.reused:,}", ""),
        ("prompt tokens billed", f"{direct.prompt:,}", f"{proxied.prompt:,}", _saved(direct.prompt, proxied.prompt)),
        ("  of these cached by the provider", f"{direct.cached:,}", f"{proxied.cached:,}", ""),
        (
            "completion tokens billed",
            f"{direct.completion:,}",
            f"{proxied.completion:,}",
            _saved(direct.completion, proxied.completion),
        ),
        (
            "cost, US$ (prices of kimi-k2.6)",
            f"{direct.cost:.5f}",
            f"{proxied.cost:.5f}",
            _saved(direct.cost, proxied.cost),
        ),
        (
            "facts recalled when asked",
            f"{direct.remembered} of {direct.asked}",
            f"{proxied.remembered} of {proxied.asked}",
            "",
        ),
    ]
    head = ("", "direct", "through olvido", "saved")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(4)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in (head, *rows)
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _saved(before: float, after: float) -> str:
    return f"{1 - after / before:.1%}" if before else ""


def _invitation(proxy_url: str) -> str:
    return f"""
The proxy is running. Point any OpenAI SDK at it (any key will do, the model is {MODEL!r}):

    base_url = {proxy_url!r}

or:

    curl {proxy_url}/chat/completions -H 'Authorization: Bearer sk-demo' -H 'Content-Type: application/json' \\
      -d '{{"model": "{MODEL}", "temperature": 0, "messages": [{{"role": "user", "content": "Hello"}}]}}'

Ask twice, and the second answer comes from memory (x-olvido-source: exact).
What happened, request by request: {proxy_url.removesuffix("/v1")}/ui
Metrics: {proxy_url.removesuffix("/v1")}/metrics
Ctrl-C stops it."""
