"""Plays `olvido demo`: the same conversation, once straight to the demo upstream and once through the real proxy;
prints the bill of each, tokens and cost turn by turn; then leaves a proxy running.

Through the proxy it begins when all of it is ready, and a question that needs memory waits until what was said before
is learnt: people type slower than this plays, and what is shown must not hang on how busy the machine is. Where a wait
was in vain the bill says so.

There are two conversations, in which Spanish and English alternate the way people do who live in both: `CONVERSATION`,
forty turns about a trip and a small project, and `talk`, two hundred of a spring and a summer. Things are told early,
changed, and asked about late; a few questions come again word for word; a tool is called once. Their text is in the
files of talk/, a record a turn, apart by a blank line; a line without a sign (`_FIELDS`) goes on with the one before.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import httpx
import uvloop
import yaml

from proxy import server as proxy_server
from proxy.config import Config, load
from proxy.demo import remembering
from proxy.demo.app import create_app
from proxy.demo.besides import edited, reworded
from proxy.demo.helped import helped
from proxy.protocol.answers import find_usage
from proxy.tokens import load_tokenizer
from proxy.types import Price, Usage

MODEL = "demo-chat"
PRICE = Price(input=0.95, cached=0.16, write=0.95, output=4.0)  # kimi-k2.6
MARKS = (20, 60, 100, 200)  # turns after which the sums are printed
INVITED = "Why is the sky blue?"  # the question of the example that is printed
POLL_SECONDS = 0.02
PATIENCE_SECONDS = 60.0  # seconds that a question waits for the index, at most

TALK = Path(__file__).with_name("talk")

_SHORT: Mapping[str, Any] = yaml.safe_load((TALK / "short.yaml").read_text(encoding="utf-8"))
SYSTEM: str = _SHORT["system"]
WEATHER_RESULT: str = _SHORT["result"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One user turn."""

    text: str
    expects: str = ""  # the answer contains it if the prompt that arrived still held the fact
    tools: Sequence[Mapping[str, Any]] = ()  # offered with this turn; its result is WEATHER_RESULT
    alone: bool = False  # sent without the history and with temperature 0, as a FAQ would be
    answer: str = ""  # the scripted answer; "": derived from the prompt
    outdated: str = ""  # the outdated value, which must not be in the answer


_FIELDS = {"> ": "text", "< ": "answer", "= ": "expects", "~ ": "outdated", "& ": "sent"}
_TOOLS = {"get_weather": (_SHORT["tool"],)}


def read(source: str) -> Iterator[Ask]:
    """The turns of one file."""
    for record in source.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in record.strip().splitlines():
            if field := _FIELDS.get(line[:2]):
                name = field
                fields[name] = line[2:]
            else:
                fields[name] += f"\n{line}"
        if fields:
            sent = fields.pop("sent", "")
            yield Ask(**fields, tools=_TOOLS.get(sent, ()), alone=sent == "alone")


CONVERSATION = tuple(read((TALK / "short.txt").read_text(encoding="utf-8")))


@cache
def talk() -> tuple[Ask, ...]:
    """The two hundred turns, in order."""
    files = sorted(TALK.glob("[0-9]*.txt"))
    return tuple(ask for file in files for ask in read(file.read_text(encoding="utf-8")))


@dataclass
class Bill:
    """Tokens and cost of one play of the conversation."""

    requests: int = 0
    reused: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    recalled: int = 0  # tokens of old turns that went with questions, of `prompt`
    asked: int = 0
    remembered: int = 0
    early: int = 0  # questions that were asked although the index was not ready in time
    marks: dict[int, "Bill"] = field(default_factory=dict)  # number of turns → the sums at that point

    def add(self, usage: Usage | None, *, reused: bool) -> None:
        """Counts an answer. One that the proxy `reused` costs nothing."""
        self.requests += 1
        self.reused += reused
        if usage is not None and not reused:
            self.prompt += usage.prompt_tokens
            self.cached += usage.cached_tokens
            self.completion += usage.completion_tokens

    def check(self, ask: Ask, answer: str) -> None:
        """Counts whether the answer holds what the question expects, and nothing outdated."""
        if ask.expects:
            self.asked += 1
            self.remembered += ask.expects in answer and not (ask.outdated and ask.outdated in answer)

    def mark(self, turns: int) -> None:
        """Keeps the sums as they stand after so many turns."""
        self.marks[turns] = replace(self, marks={})

    @property
    def cost(self) -> float:
        """The cost in US dollars."""
        new = self.prompt - self.cached
        return (new * PRICE.input + self.cached * PRICE.cached + self.completion * PRICE.output) / 1_000_000


def run(port: int, *, stay: bool, short: bool = False) -> int:
    """Plays the conversation and prints what it cost. Returns the exit code of the command; with `stay` only once it is
    interrupted."""
    turns = CONVERSATION if short else talk()
    with (
        tempfile.TemporaryDirectory(prefix="olvido-demo-") as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        suppress(KeyboardInterrupt),
    ):
        return runner.run(_show(turns, port, Path(folder), stay=stay))
    return 0


async def _show(turns: Sequence[Ask], port: int, folder: Path, *, stay: bool) -> int:
    usual = load(None, {}, port=0)  # any free port of this machine
    upstream = proxy_server.listen(usual)
    upstream_url = proxy_server.base_url(upstream)
    config = _config(folder, port, upstream_url)
    try:
        front = proxy_server.listen(config)
    except OSError as error:
        upstream.close()
        print(f"olvido demo: cannot listen on port {port}: {error.strerror}; try --port 0", file=sys.stderr)
        return 1
    tokenizer = await asyncio.to_thread(load_tokenizer)
    written = {ask.text: ask.answer for ask in talk() if ask.answer}
    demo = create_app(lru_cache(4_096)(tokenizer.encode_ordinary), written)
    servers = [(proxy_server.server(usual, demo), upstream), (proxy_server.server(config), front)]
    async with asyncio.TaskGroup() as group:
        for server, sock in servers:
            group.create_task(server.serve(sockets=[sock]))
        proxy_url = proxy_server.base_url(front)
        print(f"Playing {len(turns)} turns, once straight to the upstream and once through the proxy …\n")
        direct = await play(turns, upstream_url, "sk-demo-direct")
        async with httpx.AsyncClient(base_url=proxy_url.removesuffix("/v1"), trust_env=False, timeout=60) as client:
            index = Index([client])
            proxied = await play(turns, proxy_url, "sk-demo-proxied", index)
            print(f"{growth(direct.marks, proxied.marks)}\n\n{table(direct, proxied)}\n")
            print(f"{await reworded(client, MODEL, index.entries)}\n")
            print(f"{await helped(client, MODEL, index.settled)}\n")
            print(await edited(client, MODEL, config.memory.files.path if config.memory.files else folder))
        if stay:
            print(invitation(proxy_url, folder / "memory"), flush=True)
        else:
            for server, _ in servers:
                server.should_exit = True
    return 0


def _config(folder: Path, port: int, upstream_url: str) -> Config:
    upstream = {"name": "demo", "base_url": upstream_url, "dialect": "kimi", "price": asdict(PRICE)}
    helper = {**upstream, "name": "helper", "models": [remembering.MODEL], "api_key": "sk-demo-helper"}
    model = {"upstream": "helper", "model": remembering.MODEL, "when": ["close"], "allowance": 1.0}
    sections = {"server": {"port": port, "drain": 2}, "storage": {"path": folder / "storage"}}
    memory = {"model": model, "files": {"path": folder / "memory"}}
    return Config.model_validate({**sections, "memory": memory, "upstreams": [helper, upstream]})


@dataclass(frozen=True, slots=True)
class Index:
    """Reads the state of the index of old turns of one proxy, or of several over one database, over HTTP routes."""

    clients: Sequence[httpx.AsyncClient]

    async def warm(self) -> bool:
        """Waits until nothing is being made ready any more; tells whether that was so in the end."""
        async with _patience():
            for client in self.clients:
                while "warming" in (await client.get("/readyz")).json()["parts"].values():  # noqa: ASYNC110 (over HTTP)
                    await asyncio.sleep(POLL_SECONDS)
            return True
        return False

    async def settled(self) -> bool:
        """Waits until what was said so far is learnt, and other proxies can read it; tells whether that was so."""
        async with _patience():
            while await self._number("olvido_memory_pending"):  # noqa: ASYNC110 (over HTTP)
                await asyncio.sleep(POLL_SECONDS)
            while len(self.clients) > 1 and await self._number("olvido_writer_queue"):  # noqa: ASYNC110 (over HTTP)
                await asyncio.sleep(POLL_SECONDS)
            return True
        return False

    async def recalled(self) -> int:
        """The number of tokens of old turns that were put into prompts so far."""
        return int(await self._number("olvido_recall_tokens_sum"))

    async def entries(self) -> float:
        """The number of questions whose answers are kept, for others that mean the same."""
        return await self._number("olvido_reuse_entries")

    async def numbers(self, name: str, label: str) -> Mapping[str, float]:
        """The sums of a metric by the values of its one label."""
        found: dict[str, float] = {}
        for client in self.clients:
            for line in (await client.get("/metrics")).text.splitlines():
                if line.startswith(f'{name}{{{label}="'):
                    value = line.split('"')[1]
                    found[value] = found.get(value, 0.0) + float(line.rpartition(" ")[2])
        return found

    async def _number(self, name: str) -> float:
        lines = [line for client in self.clients for line in (await client.get("/metrics")).text.splitlines()]
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.split("{")[0].split(" ")[0] == name)


@asynccontextmanager
async def _patience() -> AsyncIterator[None]:
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield


async def play(
    turns: Sequence[Ask],
    base_url: str,
    key: str,
    index: Index | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Bill:
    """Plays the conversation, and returns what it cost. `index`: of the proxy that it is played through; None: straight
    to the upstream."""
    bill = Bill()
    if index:
        await index.warm()
    history: list[Mapping[str, Any]] = [{"role": "system", "content": SYSTEM}]
    async with httpx.AsyncClient(
        base_url=base_url,
        headers={"authorization": f"Bearer {key}"},
        timeout=60,
        trust_env=False,
        transport=transport,
    ) as client:
        for number, ask in enumerate(turns, 1):
            if index and ask.expects:
                bill.early += not await index.settled()
            await _turn(client, bill, history, ask)
            if number in MARKS or number == len(turns):
                bill.recalled = await index.recalled() if index else 0
                bill.mark(number)
    return bill


async def _turn(client: httpx.AsyncClient, bill: Bill, history: list[Mapping[str, Any]], ask: Ask) -> None:
    """One user turn; `history` grows by what is said in it."""
    said = {"role": "user", "content": ask.text}
    if ask.alone:
        await _ask(client, bill, [said], temperature=0)
        return
    history.append(said)
    answer = await _ask(client, bill, history, **({"tools": ask.tools} if ask.tools else {}))
    history.append(answer)
    if calls := answer.get("tool_calls"):
        history += [{"role": "tool", "tool_call_id": call["id"], "content": WEATHER_RESULT} for call in calls]
        answer = await _ask(client, bill, history, tools=ask.tools)
        history.append(answer)
    bill.check(ask, answer.get("content") or "")


async def _ask(
    client: httpx.AsyncClient, bill: Bill, messages: Sequence[Mapping[str, Any]], **fields: Any
) -> Mapping[str, Any]:
    response = await client.post("/chat/completions", json={"model": MODEL, "messages": messages, **fields})
    response.raise_for_status()
    completion = response.json()
    bill.add(find_usage(completion), reused=response.headers.get("x-olvido-source", "upstream") != "upstream")
    message: Mapping[str, Any] = completion["choices"][0]["message"]
    return message


def invitation(proxy_url: str, folder: Path) -> str:
    """What is printed at the end of a proxy that goes on running. `folder`: of memory as files."""
    page = proxy_url.removesuffix("/v1")
    return f"""
The proxy is running. What happened, request by request:

    {page}/ui

Point any OpenAI SDK at it (any key will do, the model is {MODEL!r}):

    base_url = {proxy_url!r}

or:

    curl {proxy_url}/chat/completions \\
      -H 'Authorization: Bearer sk-demo' -H 'Content-Type: application/json' \\
      -d '{{"model": "{MODEL}", "temperature": 0,
           "messages": [{{"role": "user", "content": "{INVITED}"}}]}}'

Ask twice, and the second answer comes from memory (x-olvido-source: exact).
Files of memory, to be edited: {folder}
Metrics: {page}/metrics
Ctrl-C stops it, and all of it is gone."""


def growth(direct: Mapping[int, Bill], proxied: Mapping[int, Bill]) -> str:
    """A table with a line for every mark: all that was billed until then."""
    rows = []
    for turns, bill in direct.items():
        other = proxied[turns]
        tokens = (f"{bill.prompt:,}", f"{other.prompt:,}", f"{other.recalled:,}")
        costs = (f"{bill.cost:.4f}", f"{other.cost:.4f}", f"{other.cost / bill.cost - 1:+.0%}")
        rows.append((f"{turns}", *tokens, *costs))
    head = ("turns", "prompt tokens", "with olvido", "recalled", "cost, US$", "with olvido", "")
    return laid_out(head, rows)


def table(direct: Bill, proxied: Bill) -> str:
    """A table that compares two plays of the whole conversation."""
    rows = [
        _compared("requests", direct.requests, proxied.requests),
        *([_compared("  answered from memory", direct.reused, proxied.reused)] if proxied.reused else []),
        _compared("prompt tokens billed", direct.prompt, proxied.prompt, is_saving=True),
        _compared("  of these cached by the provider", direct.cached, proxied.cached),
        _compared("  of these recalled for questions", direct.recalled, proxied.recalled),
        _compared("completion tokens billed", direct.completion, proxied.completion, is_saving=True),
        _compared("cost, US$ (prices of kimi-k2.6)", direct.cost, proxied.cost, ".5f", is_saving=True),
        ("facts recalled when asked", *(f"{each.remembered} of {each.asked}" for each in (direct, proxied)), ""),
    ]
    told = laid_out(("", "direct", "with olvido", "saved"), rows)
    early = f"\n{proxied.early} questions were asked before the index was ready: this machine is busy"
    return told + early * bool(proxied.early)


def laid_out(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lays out a table, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        first, *cells = row
        return "  ".join([first.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip()

    return "\n".join([line(head), "-" * len(line(head)), *map(line, rows)])


def _compared(name: str, direct: float, proxied: float, form: str = ",", *, is_saving: bool = False) -> Sequence[str]:
    saved = f"{1 - proxied / direct:.1%}" if is_saving and direct else ""
    return (name, f"{direct:{form}}", f"{proxied:{form}}", saved)
