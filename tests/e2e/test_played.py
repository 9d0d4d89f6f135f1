"""Real SDKs and a model that manages its memory, through the whole proxy: but for usage they see what they would have
seen of an upstream that never had such tools, and of memory's tools not a byte comes to them."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import openai
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proxy.desk.schemas import NAMES
from proxy.pipeline import Services
from tests.covering import swept
from tests.looping import run_upstream, settings
from tests.playing import JSON, LOOK, LOOP, NEEDLES, PATTERNS, THEN, Player
from tests.proxied import total
from tests.servers import proxy_app, run_proxy
from tests.spoken import STYLES, Style, stream

Json = Any
HERE = Path(__file__).parent
FIRST = {"enabled": True, "offer": "first"}
QUESTION, FOLLOW_UP = "What now?", "And then?"
SDKS = {"openai": "openai", "ai": "ai", "langchain": "@langchain/openai"}


class Tap:
    """An application, and every byte that it has sent: heads and bodies."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.sent: list[bytes] = []  # an answer each

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        at = len(self.sent)
        self.sent.append(b"")

        async def tapped(message: Message) -> None:
            head = b"".join(name + b": " + value + b"\r\n" for name, value in message.get("headers", ()))
            self.sent[at] += head + message.get("body", b"")
            await send(message)

        await self._app(scope, receive, tapped)


def leaks(sent: Sequence[bytes]) -> list[bytes]:
    """The answers that tell anything of memory's tools."""
    forbidden = [*(letter.encode() for letter in NEEDLES), *(name.encode() for name in NAMES)]
    forbidden += [msgspec.json.encode(letter)[1:-1] for letter in NEEDLES]
    forbidden += [json.dumps(letter)[1:-1].encode() for letter in NEEDLES]
    return [each for each in sent if any(word in each.lower() or word in each for word in forbidden)]


@dataclass
class World:
    """The upstream, and the proxy before it."""

    player: Player
    url: str
    tap: Tap
    services: Callable[[], Services]
    counted: float = field(default=0.0)

    @property
    def direct(self) -> str:
        return f"{self.player.url}/v1"

    def calls(self) -> float:
        """Calls of memory's tools that were run since the last look."""
        now = total(self.services(), "olvido_memory_tool_calls_total")
        before, self.counted = self.counted, now
        return now - before


@contextmanager
def running() -> Iterator[World]:
    with run_upstream(Player()) as player, ExitStack() as stack:
        given = settings(player.url, tools=FIRST)
        app = proxy_app(given)
        tap = Tap(app)
        url = stack.enter_context(run_proxy(given, tap))
        yield World(player, f"{url}/v1", tap, lambda: app.state.services)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with running() as made:
        yield made


# --- Python -----------------------------------------------------------------------------------------------------------

Ask = Callable[[openai.OpenAI, Json], tuple[Json, Json]]  # → what was seen, the message


def whole(client: openai.OpenAI, asked: Json) -> tuple[Json, Json]:
    got = client.chat.completions.create(**asked)
    assert got.object == "chat.completion"
    said = got.choices[0].to_dict()
    return [said, got.model], said["message"]


def streamed(client: openai.OpenAI, asked: Json) -> tuple[Json, Json]:
    chunks = list(client.chat.completions.create(**asked, stream=True))
    deltas = [choice for chunk in chunks for choice in chunk.choices]
    calls: dict[int, Json] = {}
    for piece in (piece for choice in deltas for piece in choice.delta.tool_calls or ()):
        call = calls.setdefault(piece.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call["id"] += piece.id or ""
        if piece.function is not None:
            call["function"]["name"] += piece.function.name or ""
            call["function"]["arguments"] += piece.function.arguments or ""
    message: Json = {"role": "assistant", "content": "".join(choice.delta.content or "" for choice in deltas)}
    if calls:
        message["tool_calls"] = [calls[at] for at in range(len(calls))]
    extra = [(choice.delta.model_extra or {}).get("reasoning_content") or "" for choice in deltas]
    seen = {
        "message": message,
        "reasoning": "".join(extra),
        "ids": len({chunk.id for chunk in chunks}),
        "created": len({chunk.created for chunk in chunks}),
        "models": sorted({chunk.model for chunk in chunks}),
        "objects": sorted({chunk.object for chunk in chunks}),
        "roles": [choice.delta.role for choice in deltas if choice.delta.role],
        "ends": [choice.finish_reason for choice in deltas if choice.finish_reason],
        "usages": sum(chunk.usage is not None for chunk in chunks),
        "empty": sum(not chunk.choices for chunk in chunks),
    }
    return seen, message


def with_usage(client: openai.OpenAI, asked: Json) -> tuple[Json, Json]:
    return streamed(client, {**asked, "stream_options": {"include_usage": True}})


def helped(client: openai.OpenAI, asked: Json) -> tuple[Json, Json]:
    with client.chat.completions.stream(**asked) as stream:
        done = [event.type for event in stream if event.type.endswith("done")]
        said = stream.get_final_completion().choices[0].to_dict()
    return [sorted(done), said], said["message"]


WAYS: dict[str, Ask] = {"whole": whole, "stream": streamed, "stream with usage": with_usage, "stream helper": helped}


def conversation(base_url: str, name: str, way: str, key: str) -> list[Json]:
    """What the SDK sees: a question with all that the client's own tools say, the next one, one with a form."""
    messages: Json = [{"role": "user", "content": QUESTION}]
    asked = {"model": name, "messages": messages, "tools": [LOOK]}
    seen = []
    with openai.OpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
        for question in (FOLLOW_UP, "As JSON?"):
            while True:
                told, said = WAYS[way](client, asked)
                seen.append(told)
                messages.append(said)
                calls = said.get("tool_calls") or ()
                messages += [{"role": "tool", "tool_call_id": call["id"], "content": "seen"} for call in calls]
                if not calls:
                    break
            messages.append({"role": "user", "content": question})
        form = {"type": "json_schema", "json_schema": {"name": "trip", "schema": {"type": "object"}, "strict": True}}
        told, said = WAYS[way](client, {**asked, "response_format": form})
        assert said["content"] == JSON
    return [*seen, told]


def ours_in(name: str) -> int:
    """How often memory's tools are called in a conversation: once the cap is reached no more, nor once the offer has
    ended."""
    rounds = [*PATTERNS[name].rounds[:-1], *(() if name == LOOP else THEN.rounds)]
    return sum(call.name != "look" for spoken in rounds for call in spoken.calls)


@pytest.mark.parametrize(("name", "way", "style"), swept([*PATTERNS], [*WAYS], ["plain", "one by one", "several"]))
def test_the_python_sdk_sees_no_trace_of_memorys_tools(world: World, name: str, way: str, style: Style) -> None:
    world.player.style = style
    key = f"sk-python-{name}-{way}-{style}".replace(" ", "-").replace(",", "")
    direct = conversation(world.direct, name, way, key)
    before = len(world.tap.sent)
    world.calls()
    proxied = conversation(world.url, name, way, key)
    assert proxied == direct
    assert world.calls() == ours_in(name)
    sent = world.tap.sent[before:]
    assert len(sent) == len(direct)
    assert leaks(sent) == []


def test_a_leak_would_be_found(world: World) -> None:
    conversation(world.url, "both in parallel", "stream", "sk-leaking")
    arrived = [msgspec.json.encode(each["messages"]) for each in world.player.by_key["sk-leaking"]]
    assert len(leaks(arrived)) == len(arrived)
    for spoken in PATTERNS["both in parallel"].rounds[:1]:
        for style in STYLES:
            assert leaks([stream(spoken, style)])


# --- Node -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("sdk", SDKS)
def test_nor_does_an_sdk_of_node(world: World, sdk: str) -> None:
    if not (HERE / "node_modules" / SDKS[sdk] / "package.json").exists():
        pytest.skip(f"{SDKS[sdk]} is not installed: run `npm ci` in tests/e2e")
    world.player.style = "plain"
    direct = seen_by_node(sdk, world.player.url)
    before = len(world.tap.sent)
    world.calls()
    proxied = seen_by_node(sdk, world.url.removesuffix("/v1"))
    assert {key: (proxied.get(key), seen) for key, seen in direct.items() if proxied.get(key) != seen} == {}
    assert proxied.keys() == direct.keys()
    assert len(direct) % len(PATTERNS) == 0
    assert world.calls() > len(PATTERNS)
    assert leaks(world.tap.sent[before:]) == []


def seen_by_node(sdk: str, base_url: str) -> dict[str, Json]:
    """What each way of asking saw, of each pattern."""
    ran = subprocess.run(
        ["node", f"played_{sdk}.mjs"],
        cwd=HERE,
        env={**os.environ, "BASE_URL": base_url, "PATTERNS": json.dumps(list(PATTERNS))},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    seen: dict[str, Json] = json.loads(ran.stdout)
    return seen
