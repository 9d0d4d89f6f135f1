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
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import msgspec
import uvloop
import yaml

from proxy import server as proxy_server
from proxy.config import Config, load
from proxy.demo import remembering
from proxy.demo.app import create_app
from proxy.demo.besides import edited, reworded
from proxy.demo.bill import PRICE, Bill, growth, table
from proxy.demo.helped import helped
from proxy.demo.index import Index
from proxy.demo.speaking import answered, asked
from proxy.protocol.answers import find_usage
from proxy.replay.progress import Progress
from proxy.tokens import load_tokenizer
from proxy.types import ApiName

MODEL = "demo-chat"
MARKS = (20, 60, 100, 200)  # turns after which the sums are printed
INVITED = "Why is the sky blue?"  # the question of the example that is printed

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


def run(port: int, *, stay: bool, short: bool = False, api: ApiName = "chat") -> int:
    """Plays the conversation and prints what it cost. Returns the exit code of the command; with `stay` only once it is
    interrupted. `api`: in which the proxy is asked; its upstream has chat completions alone."""
    turns = CONVERSATION if short else talk()
    with (
        _ended_as_by_hand(),
        tempfile.TemporaryDirectory(prefix="olvido-demo-") as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        suppress(KeyboardInterrupt),
    ):
        return runner.run(_show(turns, port, Path(folder), stay=stay, api=api))
    return 0


@contextmanager
def _ended_as_by_hand() -> Iterator[None]:
    """Takes the end of a terminal or of a service for Ctrl-C, so that nothing is left behind."""
    ends = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(each, lambda *_: signal.raise_signal(signal.SIGINT)) for each in ends]
    try:
        yield
    finally:
        for each, handler in zip(ends, before, strict=True):
            signal.signal(each, handler)


async def _show(turns: Sequence[Ask], port: int, folder: Path, *, stay: bool, api: ApiName) -> int:
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
    in_api = "" if api == "chat" else f" in {api.capitalize()}"
    print(
        f"Playing {len(turns)} turns{in_api}, once straight to the upstream and once through the proxy …\n", flush=True
    )
    tokenizer = await asyncio.to_thread(load_tokenizer)
    written = {ask.text: ask.answer for ask in talk() if ask.answer}
    demo = create_app(lru_cache(4_096)(tokenizer.encode_ordinary), written)
    servers = [(proxy_server.server(usual, demo), upstream), (proxy_server.server(config), front)]
    async with asyncio.TaskGroup() as group:
        for server, sock in servers:
            group.create_task(server.serve(sockets=[sock]))
        proxy_url = proxy_server.base_url(front)
        progress = Progress(sys.stderr)
        told = counted(progress, 2 * len(turns))
        direct = await play(turns, upstream_url, "sk-demo-direct", told=told)
        async with httpx.AsyncClient(base_url=proxy_url.removesuffix("/v1"), trust_env=False, timeout=60) as client:
            index = Index([client])
            proxied = await play(turns, proxy_url, "sk-demo-proxied", index, api=api, told=told)
            print(f"{growth(direct.marks, proxied.marks)}\n\n{table(direct, proxied)}\n", flush=True)
            with progress.saying("asking in other words"):
                besides = await reworded(client, MODEL, index.entries)
            print(f"{besides}\n", flush=True)
            with progress.saying("memory's model reads two conversations"):
                besides = await helped(client, MODEL, index.settled)
            print(f"{besides}\n", flush=True)
            with progress.saying("editing a line of MEMORY.md"):
                besides = await edited(client, MODEL, config.memory.files.path if config.memory.files else folder)
            print(besides, flush=True)
        if stay:
            file = await asyncio.to_thread(write_configuration, config, folder, front.getsockname()[1])
            print(invitation(proxy_url, file), flush=True)
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


def write_configuration(config: Config, folder: Path, port: int) -> Path:
    """Writes what commands have to know of the demonstration to find its data; returns the file. It has no model of
    memory's: the key of that would be a secret in a file."""
    files = config.memory.files
    upstream = next(each for each in config.upstreams if each.name == "demo")
    settings = {
        "server": {"port": port},
        "storage": {"path": str(config.storage.path)},
        "memory": {"files": {"path": str(files.path)}} if files is not None else {},
        "upstreams": [{"name": "demo", "base_url": upstream.base_url, "dialect": "kimi", "price": asdict(PRICE)}],
    }
    path = folder / "olvido.yaml"
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return path


async def play(
    turns: Sequence[Ask],
    base_url: str,
    key: str,
    index: Index | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    api: ApiName = "chat",
    told: Callable[[], object] = lambda: None,
) -> Bill:
    """Plays the conversation, and returns what it cost. `index`: of the proxy that it is played through; None: straight
    to the upstream. `api`: that it is had in. `told`: called after each turn."""
    bill = Bill()
    if index:
        await index.warm()
    history: list[Mapping[str, Any]] = [{"role": "system", "content": SYSTEM}]
    async with httpx.AsyncClient(
        base_url=base_url,
        headers={"authorization": f"Bearer {key}", "content-type": "application/json"},
        timeout=60,
        trust_env=False,
        transport=transport,
    ) as client:
        for number, ask in enumerate(turns, 1):
            if index and ask.expects:
                bill.early += not await index.settled()
            await _turn(client, bill, history, ask, api)
            if number in MARKS or number == len(turns):
                bill.recalled = await index.recalled() if index else 0
                bill.mark(number)
            told()
    return bill


def counted(progress: Progress, of: int) -> Callable[[], object]:
    """Returns a function that tells `progress`, each time it is called, that one more of `of` is done. It tells no time
    that is left: what goes straight to the upstream takes a fraction of the rest."""
    numbers = count(1)

    def told() -> None:
        if (number := next(numbers)) < of:
            progress.say(f"{number} of {of}")
        else:
            progress(of, of)

    return told


async def _turn(
    client: httpx.AsyncClient, bill: Bill, history: list[Mapping[str, Any]], ask: Ask, api: ApiName
) -> None:
    """One user turn; `history` grows by what is said in it."""
    said = {"role": "user", "content": ask.text}
    if ask.alone:
        await _ask(client, bill, [said], api, temperature=0)
        return
    history.append(said)
    answer = await _ask(client, bill, history, api, **({"tools": ask.tools} if ask.tools else {}))
    history.append(answer)
    if calls := answer.get("tool_calls"):
        history += [{"role": "tool", "tool_call_id": call["id"], "content": WEATHER_RESULT} for call in calls]
        answer = await _ask(client, bill, history, api, tools=ask.tools)
        history.append(answer)
    bill.check(answer.get("content") or "", ask.expects, ask.outdated)


async def _ask(
    client: httpx.AsyncClient, bill: Bill, messages: Sequence[Mapping[str, Any]], api: ApiName, **fields: Any
) -> Mapping[str, Any]:
    path, body = asked(api, MODEL, messages, fields)
    response = await client.post(path, content=msgspec.json.encode(body))
    response.raise_for_status()
    completion = answered(response.content)
    bill.add(find_usage(completion), reused=response.headers.get("x-olvido-source", "upstream") != "upstream")
    message: Mapping[str, Any] = completion["choices"][0]["message"]
    return message


def invitation(proxy_url: str, file: Path) -> str:
    """Returns what is printed at the end, of a proxy that goes on running. `file`: its configuration, in the folder
    that its memory as files is in, too."""
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
Files of memory, to be edited: {file.parent / "memory"}
Commands see all of it (`olvido memory list`, `olvido keys list`, …) with:

    export OLVIDO_CONFIG={file}

Metrics: {page}/metrics
Ctrl-C stops it, and all of it is gone."""
