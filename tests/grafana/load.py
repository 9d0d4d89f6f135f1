"""A small load that makes happen all that a dashboard shows, in front of an upstream that keeps its own count."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proxy.config import Config
from proxy.pipeline import Services
from tests.builders import config
from tests.grafana.prometheus import METRICS_TOKEN
from tests.scripted.app import create_app as create_demo
from tests.scripted.config import ScriptedConfig
from tests.servers import eventually, proxy_app, run_app, run_proxy

CHAT = "/v1/chat/completions"
TOLD = "Let me describe the old lighthouse: its keeper was Melquiades, who painted the door green in 1931."
STATED = "From now on, call me Captain Ana."
ASKED = "Do you remember what I said about the keeper of the old lighthouse?"
MOST_ROUNDS = 60
NEWCOMER = "never-heard-of"
HUGE = "a huge event"
LIMITED = "sk-limited-00000000"
STANDING = 1  # tasks that go on: keys are looked at
EVENTS = b"text/event-stream"
_rounds = count(1)


def key_of(number: int) -> str:
    return f"sk-round-{number:08}"


class Counting:
    """An upstream that adds up the prompt tokens that it has told in its usage, as its own bill would. Asked for a huge
    event, it sends one that no reader of streams will take."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.prompt_tokens = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope.get("path", "").endswith("/chat/completions"):
            return await self._app(scope, receive, send)
        asked = await receive()
        if HUGE.encode() in asked["body"]:
            event = b"data: " + b"x" * (17 * 2**20) + b"\n\n"
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", EVENTS)]})
            return await send({"type": "http.response.body", "body": event})
        said = bytearray()
        arrived = [asked]

        async def hear() -> Message:
            return arrived.pop() if arrived else await receive()

        async def overhear(message: Message) -> None:
            said.extend(message.get("body", b""))
            await send(message)

        await self._app(scope, hear, overhear)
        self.prompt_tokens += _told(bytes(said))
        return None


def _told(body: bytes) -> int:
    """Of an answer, or of the events of one: the last usage that was told."""
    lines = body.split(b"\n\n") if body.startswith(b"data:") else [body]
    pieces = [msgspec.json.decode(line.removeprefix(b"data: ")) for line in lines if line.strip(b"dat: \n[DONE]")]
    told = [piece["usage"]["prompt_tokens"] for piece in pieces if isinstance(piece.get("usage"), dict)]
    return int(told[-1]) if told else 0


@dataclass(slots=True)
class Scene:
    """The proxy, with its ledger in a file, and the upstream that it asks."""

    url: str
    http: httpx.Client
    services: Services
    upstream: Counting
    database: Path
    asked: int = 0  # requests that the proxy has answered

    def play(self) -> None:
        """A round of everything."""
        number = next(_rounds)
        key = key_of(number)
        talk: list[Any] = []
        self._say(key, talk, STATED)
        self._say(key, talk, TOLD)
        for part in range(10):
            opening = "By the way, another subject. " if part == 5 else ""
            self._say(key, talk, f"{opening}Tell me more about garden {number}, part {part}. 70 words")
        self._say(key, talk, ASKED)
        faq = {"temperature": 0}
        for _ in range(2):
            self._ask(key, "What is a black hole?", **faq)
        self._ask(key, "What is the weather like today?", **faq)
        self._kept(key, "How do I descale a coffee machine with vinegar?")
        reused = self._ask(key, "How do I descale a coffee machine with vinegar?")
        assert reused.headers["x-olvido-source"] == "intent", reused.headers
        entry = reused.headers["x-olvido-reuse"].partition(";")[0]
        self.http.post(f"/admin/api/reuse/{entry}/wrong").raise_for_status()
        self._ask(key, f"Send {HUGE}.", stream=True)
        self._ask(key, "word " * 1_500)  # over the budget by itself
        self._ask(key, "Say: hi.", cache="off")
        self._ask(key, "Say: hi.", stream=True)
        self._ask(key, "Say: hi.", stream=True, stream_options={"include_usage": True})
        self._ask(key, "Does this fail?", status=503, fault="503")
        for user in ("ana", "luis", "a-stranger"):
            self._ask(key, f"Say: good morning, {user}, {number}.", user=user)
        with_key = {"authorization": f"Bearer {key}"}
        self.http.get("/v1/models", headers=with_key).raise_for_status()
        self.http.post("/v1/embeddings", json={"model": "text-embedding-3-small", "input": "hi"}, headers=with_key)
        body = {"model": "demo-chat", "messages": [{"role": "user", "content": "Say: no."}]}
        assert self.http.post(CHAT, json=body, headers={"authorization": f"Bearer {LIMITED}"}).status_code == 429
        self.settle()

    def ask_newcomer(self) -> None:
        """A few questions to a model that nobody has heard of before, and an error of a kind that is new."""
        key = key_of(next(_rounds))
        for part in range(3):
            self._ask(key, f"Say: newcomer, part {part}.", model=NEWCOMER)
        self._ask(key, "Does this fail?", status=429, fault="429")
        self.settle()

    def settle(self) -> None:
        """Returns when all that follows the answers has been done."""
        eventually(lambda: len(self.services.tasks) <= STANDING and not self.services.storage.database.writer.depth)

    def _say(self, key: str, talk: list[Any], text: str) -> None:
        talk.append({"role": "user", "content": text})
        answer = self._post(key, {"messages": talk}).json()
        talk.append(answer["choices"][0]["message"])

    def _kept(self, key: str, text: str) -> None:
        """Asks, and waits until the answer can be given again."""
        self._ask(key, text)
        self.settle()

    def _ask(self, key: str, text: str, *, status: int = 200, **fields: Any) -> httpx.Response:
        told = {"x-olvido-cache": fields.pop("cache", ""), "x-demo-fault": fields.pop("fault", "")}
        return self._post(key, {"messages": [{"role": "user", "content": text}], **fields}, status, **told)

    def _post(self, key: str, body: dict[str, Any], status: int = 200, **headers: str) -> httpx.Response:
        # A question by itself is one of a conversation of its own: else, asked again, another answer is wanted.
        session = f"s-{self.asked}" if len(body["messages"]) == 1 else ""
        told = {"authorization": f"Bearer {key}", "x-olvido-session": session, **headers}
        headers = {name: value for name, value in told.items() if value}
        answer = self.http.post(CHAT, json={"model": "demo-chat", **body}, headers=headers)
        assert answer.status_code == status, answer.text
        self.asked += 1
        return answer


def settings(upstream: str, folder: Path, port: int = 0) -> Config:
    small = {
        "base": "lean",
        "budget": 900,
        "pressure": 0.75,
        "window": {"tokens": 300, "answer_tokens": 60},
        "summaries": {"slots": 2, "tokens": 40},
        "facts": {"tokens": 100},
    }
    entry = {
        "name": "demo",
        "base_url": f"{upstream}/v1",
        "dialect": "openai",
        "retries": 0,
        "breaker": {"failures": 0},
        "price": {"input": 1.0, "cached": 0.25, "output": 4.0},
        "api_key": "sk-upstream-0123456789",
    }
    teams = ("north", "south")
    keys: list[dict[str, Any]]
    keys = [{"name": f"round-{n}", "key": key_of(n), "team": teams[n % 2]} for n in range(1, MOST_ROUNDS)]
    keys.append({"name": "limited", "key": LIMITED, "limits": {"tokens_per_minute": 1}})  # no request is so short
    return config(
        upstreams=[entry],
        profiles={"small": small},
        context={"profile": "small", "profile_with_tools": "small"},
        storage={"path": str(folder)},
        server={"port": port, "drain": 5},
        admin={"metrics_token": METRICS_TOKEN},
        auth={"mode": "keys", "keys": keys},
        observe={"users": ["ana", "luis"]},
        embedding={"model": "text-embedding-3-small", "base_url": f"{upstream}/v1", "api_key": "sk-vectors"},
        reuse={"intent": {"enabled": True, "verify": 1.0}},
    )


@contextmanager
def run_scene(folder: Path) -> Iterator[Scene]:
    with run_upstream() as (upstream, upstream_url), run_life(upstream, upstream_url, folder) as scene:
        yield scene


@contextmanager
def run_upstream() -> Iterator[tuple[Counting, str]]:
    """With its address."""
    upstream = Counting(create_demo(ScriptedConfig(models=(*ScriptedConfig().models, NEWCOMER))))
    with run_app(upstream) as url:
        yield upstream, url


@contextmanager
def run_life(upstream: Counting, upstream_url: str, folder: Path, port: int = 0) -> Iterator[Scene]:
    """One life of the proxy, over a folder that outlasts it."""
    chosen = settings(upstream_url, folder, port)
    app = proxy_app(chosen)
    with run_proxy(chosen, app) as url, httpx.Client(base_url=url, timeout=100, trust_env=False) as http:
        services: Services = app.state.services
        eventually(lambda: services.intent.state == "ready", 60)
        yield Scene(url, http, services, upstream, folder / "olvido.db")
