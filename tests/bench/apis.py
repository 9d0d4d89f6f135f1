"""Three APIs, one prompt: what upstreams get of the same conversations by chat completions, Responses and Messages; and
what a request costs in each.

    python -m tests.bench.apis [--quick] [--show] [--rows prompts|cost|cpu] [--only WAY]

Prompts: conversations (authored, SWE-agent, tau-bench; the evaluation data) are had turn by turn through the whole
proxy, over HTTP, by a client of each API that sends its whole history. An upstream of chat completions gets the same
messages from all three (but for the spelling of a call's arguments, which Messages have as an object), so evidence and
costs are those of `make bench-context`. An upstream that has the API gets its own items or blocks: they say the same
as the chat completion's messages, and keep to the API's order. Fails if one prompt differs, or an order is broken.

Cost: 49 conversations of `make bench-context`, each API billed by its provider's rules, Messages by Anthropic's: reads,
writes, minimums, look-back (`apis_cost.py`). Fails if a conversation costs more than 1.02 of pass-through as a whole or
1.10 at its worst point, or if a prompt holds a point less of the evidence than the chat completion's.

CPU: the proxy's, a process of its own, for conversations of 20 turns with a tool, one API after the other in each
round, against chat completions in the same round. Fails above 1.3.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import msgspec

from proxy.app import create_app
from proxy.protocol import apis
from proxy.types import ApiName
from tests.bench import apis_cost
from tests.bench.apis_bodies import body_of, plain
from tests.bench.context_data import Conversation, authored, swe, tau
from tests.builders import config
from tests.e2e.running import run_proxy as run_process
from tests.native import ANSWERS, Native, run_native
from tests.other_apis import misplaced_blocks, misplaced_items
from tests.servers import eventually, run_proxy
from tests.talking import CLIENTS

Json = Any
OTHERS: tuple[ApiName, ...] = ("responses", "messages")
# A budget that most conversations exceed.
SECTIONS: Json = {
    "context": {"profile_with_tools": "lean"},
    "profiles": {"lean": {"budget": 1500}},
    "embedding": {"enabled": False},
}
ROUNDS, TURNS, LIMIT = 7, 20, 1.3
TALKS = 3  # conversations of a round
IDLE = 0.002  # seconds of CPU in three tenths of a second


# --- prompts ----------------------------------------------------------------------------------------------------------


@contextmanager
def proxied(upstream: Native, spoken: list[str], dialect: str) -> Iterator[httpx.Client]:
    entry = {"name": "up", "base_url": f"{upstream.url}/v1", "apis": spoken, "dialect": dialect, "retries": 0}
    settings = config(
        **SECTIONS,
        upstreams=[entry],
        storage={"kind": "memory"},
        server={"port": 0, "drain": 5},
        reuse={"exact": {"enabled": False}, "intent": {"enabled": False}},
    )
    with (
        run_proxy(settings, create_app(settings, patience=60)) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=60) as http,
    ):
        yield http


def spelt(messages: Json) -> list[Json]:
    """Messages, to be compared: their texts, and calls with arguments as values."""
    told = []
    for said in messages:
        calls = [
            (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"] or "{}"))
            for call in said.get("tool_calls") or ()
        ]
        content = said.get("content")
        text = "\n".join(part.get("text", "") for part in content) if isinstance(content, list) else content or ""
        told.append([said["role"], text, calls, said.get("tool_call_id")])
    return told


def neutral(api: ApiName, body: Json) -> Json:
    """What an upstream got, as messages of a chat completion."""
    raw = msgspec.json.encode(body)
    return json.loads(raw if api == "chat" else apis.APIS[api].parse(raw).raw)["messages"]


def had(conversation: Conversation, api: ApiName, http: httpx.Client, key: str) -> tuple[int, int]:
    """Has a conversation; returns the number of its requests, and of those whose prompt was rewritten."""
    managed = count = 0
    for history, answer in conversation.requests():
        body = body_of(api, conversation, [plain(each) for each in history])
        headers = {"authorization": f"Bearer {key}", ANSWERS: json.dumps(plain(answer).data)}
        answered = http.post(f"/v1{apis.path_of(api)}", json=body, headers=headers)
        answered.raise_for_status()
        eventually(lambda: "\nolvido_memory_pending 0.0" in http.get("/metrics").text)  # the next request knows of it
        managed += answered.headers["x-olvido-plan"].startswith("managed")
        count += 1
    return count, managed


def prompts(conversations: list[Conversation]) -> bool:
    """Prints how many prompts differ."""
    requests = managed = 0
    differ = dict.fromkeys((f"{api}, {where}" for api in OTHERS for where in ("translated", "its own")), 0)
    faults: list[str] = []
    with ExitStack() as stack:
        upstream = stack.enter_context(run_native(seals=False))
        chat = stack.enter_context(proxied(upstream, ["chat"], "generic"))
        native = {api: stack.enter_context(proxied(upstream, ["chat", api], "generic")) for api in OTHERS}
        for number, conversation in enumerate(conversations):
            got: dict[str, list[Json]] = {}
            ways: list[tuple[str, ApiName, httpx.Client]] = [("chat", "chat", chat)]
            ways += [(f"{api}, translated", api, chat) for api in OTHERS]
            ways += [(f"{api}, its own", api, native[api]) for api in OTHERS]
            for name, api, http in ways:
                upstream.asked.clear()
                count, changed = had(
                    conversation, api, http, f"sk-{number}-{name.replace(', ', '-').replace(' ', '-')}"
                )
                bodies = [body for _, body in upstream.asked]
                written = api if name.endswith("own") else "chat"
                got[name] = [spelt(neutral(written, body)) for body in bodies]
                if name == "chat":
                    requests, managed = requests + count, managed + changed
                if written == "responses":
                    faults += [fault for body in bodies for fault in misplaced_items(body["input"])]
                elif written == "messages":
                    faults += [fault for body in bodies for fault in misplaced_blocks(body["messages"])]
            for name in differ:
                apart = [pair for pair in zip(got["chat"], got[name], strict=True) if pair[0] != pair[1]]
                differ[name] += len(apart)
                if apart and "--show" in sys.argv:
                    print(
                        conversation.name, name, *[json.dumps(side, ensure_ascii=False) for side in apart[0]], sep="\n"
                    )
    print(f"{len(conversations)} conversations, {requests} requests in each API, of which {managed} were rewritten")
    for name, number in differ.items():
        print(f"  {name}: {number} prompts differ from the chat completion's")
    print(f"  orders broken: {len(faults)} {faults[:3] or ''}")
    return not any(differ.values()) and not faults


# --- CPU --------------------------------------------------------------------------------------------------------------


def used(process: int) -> float:
    """Seconds of CPU that the threads of a process have used, to the nanosecond: a conversation takes a few ticks."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(each.read_text(encoding="ascii").split()[0]) for each in threads) / 1e9


def settled(process: int) -> float:
    """Seconds of CPU that it has used once it is idle."""
    before = -1.0
    while (now := used(process)) > before + IDLE:
        before = now
        time.sleep(0.3)
    return now


def cpu(rounds: int) -> bool:
    """Prints what a request costs in each API."""
    ratios: dict[str, list[float]] = {}
    chats: list[float] = []
    with ExitStack() as stack:
        upstream = stack.enter_context(run_native(seals=False))
        processes = {}
        for name, spoken in {"translated": ["chat"], "its own": ["chat", *OTHERS]}.items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            entry = {"name": "up", "base_url": f"{upstream.url}/v1", "apis": spoken, "retries": 0}
            processes[name] = stack.enter_context(run_process({**SECTIONS, "upstreams": [entry]}, folder))
        for round_ in range(rounds + 1):  # the first warms up
            ways: list[tuple[str, ApiName, str]] = [("chat", "chat", "translated")]
            ways += [(f"{api}, {how}", api, how) for api in OTHERS for how in processes]
            for name, api, how in ways:
                proxy = processes[how]
                process = proxy.process.pid
                before = settled(process)
                for talk in range(TALKS):
                    key = f"sk-{round_}-{talk}-{name.replace(', ', '-').replace(' ', '-')}"
                    client = CLIENTS[api](proxy.http, key)
                    for turn in range(TURNS):
                        client.say(f"Question {turn}: {'what about it? ' * 20}")
                each = (settled(process) - before) / (2 * TURNS * TALKS) * 1e6
                if name == "chat":
                    chats.append(each)
                if round_:
                    ratios.setdefault(name, []).append(each / chats[-1])
    print(f"\nCPU of a request, n = {rounds} rounds of {2 * TURNS * TALKS} requests; chat: {median(chats[1:]):.0f} µs")
    for name, found in ratios.items():
        print(f"  {name}: {median(found):.2f} of chat ({min(found):.2f} to {max(found):.2f})")
    return all(median(found) <= LIMIT for found in ratios.values())


def _named(option: str, otherwise: str) -> str:
    """The value that follows an option."""
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else otherwise


def main() -> int:
    quick, rows, only = "--quick" in sys.argv, _named("--rows", "prompts cost cpu"), _named("--only", "")
    is_well = True
    if "prompts" in rows:
        every = [*authored(), *swe(), *tau()]
        is_well = prompts(every[:6] if quick else every[:49])
    if "cost" in rows:
        is_well = apis_cost.costs(quick=quick, only=only) and is_well
    if "cpu" in rows:
        is_well = cpu(2 if quick else ROUNDS) and is_well
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
