"""Plays `olvido demo --agent`: an agent of eighty steps, three times: straight to the upstream, through the proxy
within a limit of 16,000 tokens, and the same with memory's tools; prints what each has cost, and what it did."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from textwrap import fill
from typing import Any

import httpx
import msgspec
import uvloop

from proxy import server as proxy_server
from proxy.config import Config, load
from proxy.demo import agent
from proxy.demo.app import create_app
from proxy.demo.bill import PRICE, Bill, laid_out
from proxy.demo.helped import COLUMNS
from proxy.demo.show import counted
from proxy.protocol.answers import find_usage
from proxy.replay.progress import Progress
from proxy.tokens import load_tokenizer

LIMIT = 16_000
SYSTEM = "You are a careful agent that reads logs."
SAFE = 0.8
MOST_REQUESTS = 200


@dataclass
class Run:
    """One play of the agent."""

    bill: Bill = field(default_factory=Bill)
    answers: list[str] = field(default_factory=list)  # texts that the client got
    is_finished: bool = False
    pressures: list[float] = field(default_factory=list)  # of each prompt, share of the safe context
    names: set[str] = field(default_factory=set)  # of tools that the client was asked to run

    @property
    def exact(self) -> int:
        """Seals that were told, and are right."""
        wanted = [f"The seal of part {number} is {agent.seal(number)}." for number in agent.QUESTIONS.values()]
        return sum(any(each in answer for answer in self.answers) for each in wanted)


def config(folder: Path, upstream_url: str, *, tools: bool) -> Config:
    """Returns the configuration of the proxy before the agent's model."""
    upstream = {"name": "demo", "base_url": upstream_url, "dialect": "kimi", "price": asdict(PRICE)}
    sections = {"server": {"port": 0, "drain": 2}, "storage": {"path": folder / ("tools" if tools else "agent")}}
    memory = {"tools": {"enabled": tools}}
    limited = {**upstream, "context_tokens": LIMIT}
    return Config.model_validate({**sections, "memory": memory, "upstreams": [limited]})


async def play(base_url: str, key: str, session: str = "demo", told: Callable[[], object] = lambda: None) -> Run:
    """Plays the agent's client: runs the tool that it is asked for, and asks for a seal now and then. `told`: called
    once each part is read."""
    run = Run()
    history: list[Mapping[str, Any]] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": agent.TASK}]
    questions = dict(agent.QUESTIONS)
    read = 0
    headers = {"authorization": f"Bearer {key}", "x-olvido-session": session}
    async with httpx.AsyncClient(base_url=base_url, headers=headers, timeout=60, trust_env=False) as client:
        for _ in range(MOST_REQUESTS):
            answer = await _asked(client, run, history)
            history.append(answer)
            calls = answer.get("tool_calls") or ()
            for call in calls:
                run.names.add(call["function"]["name"])
                number = msgspec.json.decode(call["function"]["arguments"])["number"]
                if number > read:
                    told()
                read = max(read, number)
                history.append({"role": "tool", "tool_call_id": call["id"], "content": agent.part(number)})
            if not calls:
                run.answers.append(answer.get("content") or "")
                if read >= agent.STEPS and not questions:
                    run.is_finished = True
                    return run
                history.append({"role": "user", "content": "Go on."})
            elif read in questions:  # a person looks over the agent's shoulder
                history.append({"role": "user", "content": agent.question(questions.pop(read))})
    return run


async def _asked(client: httpx.AsyncClient, run: Run, messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    body = {"model": agent.MODEL, "messages": messages, "tools": [agent.TOOL]}
    response = await client.post("/chat/completions", json=body)
    response.raise_for_status()
    completion = response.json()
    usage = find_usage(completion)
    run.bill.add(usage, reused=False)
    if (sent := response.headers.get("x-olvido-tokens-sent")) is not None:
        run.pressures.append(int(sent) / (SAFE * LIMIT))
    message: Mapping[str, Any] = completion["choices"][0]["message"]
    return message


def run() -> int:
    """Plays the agent three times and prints what each play cost. Returns the exit code of the command."""
    with (
        tempfile.TemporaryDirectory(prefix="olvido-demo-") as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        suppress(KeyboardInterrupt),
    ):
        print(f"An agent reads {agent.STEPS} parts of a log, three times …\n", flush=True)
        print(runner.run(_show(Path(folder))))
    return 0


async def _show(folder: Path) -> str:
    direct, plain, managed, calls = await plays(folder, counted(Progress(sys.stderr), 3 * agent.STEPS))
    return f"{table(direct, plain, managed)}\n\n{told(managed, calls)}"


async def plays(folder: Path, told: Callable[[], object] = lambda: None) -> tuple[Run, Run, Run, Mapping[str, int]]:
    """Plays the agent straight to the upstream, through the proxy, and through the proxy with tools. Returns these
    plays, and how often each of memory's tools was called. `told`: called once a part is read."""
    usual = load(None, {}, port=0)  # any free port of this machine
    upstream = proxy_server.listen(usual)
    upstream_url = proxy_server.base_url(upstream)
    configs = [config(folder, upstream_url, tools=tools) for tools in (False, True)]
    fronts = [proxy_server.listen(each) for each in configs]
    tokenizer = await asyncio.to_thread(load_tokenizer)
    demo = create_app(lru_cache(4_096)(tokenizer.encode_ordinary))
    servers = [(proxy_server.server(usual, demo), upstream)]
    servers += [(proxy_server.server(each, None), front) for each, front in zip(configs, fronts, strict=True)]
    async with asyncio.TaskGroup() as group:
        for server, sock in servers:
            group.create_task(server.serve(sockets=[sock]))
        direct = await play(upstream_url, "sk-demo-direct", told=told)
        urls = [proxy_server.base_url(front) for front in fronts]
        plain = await play(urls[0], "sk-demo-plain", told=told)
        managed = await play(urls[1], "sk-demo-agent", told=told)
        calls = await _calls(proxy_server.base_url(fronts[1]).removesuffix("/v1"))
        for server, _ in servers:
            server.should_exit = True
    return direct, plain, managed, calls


async def _calls(base_url: str) -> Mapping[str, int]:
    async with httpx.AsyncClient(base_url=base_url, trust_env=False) as client:
        lines = (await client.get("/metrics")).text.splitlines()
    found: dict[str, int] = {}
    for line in lines:
        if line.startswith("olvido_memory_tool_calls_total{") and 'result="ok"' in line:
            name = line.split('tool="')[1].split('"')[0]
            found[name] = found.get(name, 0) + int(float(line.rpartition(" ")[2]))
    return found


def table(direct: Run, plain: Run, managed: Run) -> str:
    """A table that compares the three plays."""
    plays = (direct, plain, managed)
    bills = [each.bill for each in plays]
    rows = [
        ("requests", *(f"{each.requests:,}" for each in bills)),
        ("prompt tokens billed", *(f"{each.prompt:,}" for each in bills)),
        ("  of these cached by the provider", *(f"{each.cached:,}" for each in bills)),
        ("completion tokens billed", *(f"{each.completion:,}" for each in bills)),
        ("cost, US$ (prices of kimi-k2.6)", *(f"{each.cost:.4f}" for each in bills)),
        ("cost against no limit", *(f"{each.cost / bills[0].cost:.2f}" for each in bills)),
        ("largest prompt, share of what is safe", *(_share(each) for each in plays)),
        ("seals told exactly", *(f"{each.exact} of {len(agent.QUESTIONS)}" for each in plays)),
        ("finished", *("yes" if each.is_finished else "no" for each in plays)),
    ]
    return laid_out(("", "no limit", "16,000 tokens", "memory's tools"), rows)


def told(managed: Run, calls: Mapping[str, int]) -> str:
    """Tells what the agent did with memory's tools, and what its client saw of it."""
    did = ", ".join(f"{name} {count}" for name, count in sorted(calls.items())) or "none of them"
    seen = ", ".join(sorted(managed.names))
    return f"{fill(f'The agent called: {did}.', COLUMNS)}\nIts client was asked to run: {seen}."


def _share(run: Run) -> str:
    return f"{max(run.pressures):.0%}" if run.pressures else ""
