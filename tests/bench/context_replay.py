"""Conversations through the whole proxy, over HTTP, in front of an upstream that answers as the data says and keeps
what it receives: that is scored, and priced."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import httpx
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proxy.app import create_app
from proxy.pipeline import Services
from proxy.protocol.message import unpacked
from proxy.protocol.request import parse
from proxy.types import LedgerRow, Message, Scope
from tests.bench.context_data import Conversation, Said
from tests.builders import completion, config, counter
from tests.servers import eventually, run_app, run_proxy

Tells = Literal["hits", "misses", "nothing"]  # of its prefix cache: what it held, that it held nothing

READY_SECONDS = 120.0
MODEL = "m"


@dataclass(frozen=True, slots=True)
class Received:
    """A prompt as it arrived."""

    messages: tuple[Message, ...]
    tools: bytes
    plan: str = ""

    @property
    def tokens(self) -> int:
        return sum(tokens_of(said.raw) for said in self.messages) + plain_tokens(self.tools)

    @property
    def text(self) -> str:
        return "\n".join(said.text for said in self.messages)


@lru_cache(200_000)
def tokens_of(raw: bytes) -> int:
    return counter().message(msgspec_message(raw))


@lru_cache(1_000)
def plain_tokens(raw: bytes) -> int:
    return counter().text(raw.decode()) if raw else 0


def msgspec_message(raw: bytes) -> Message:
    (said,) = unpacked(b"[" + raw + b"]")
    return said


def received(body: bytes, plan: str = "") -> Received:
    request = parse(body)
    tools = request.fields.get("tools")
    return Received(request.messages, msgspec.json.encode(tools) if tools else b"", plan)


def repeated(before: Received | None, now: Received) -> int:
    """Tokens at the beginning of `now` that `before` began with: whole messages, and of the first that differs what
    both have in common, as a prefix cache would find them."""
    if before is None or before.tools != now.tools:
        return 0
    tokens = plain_tokens(now.tools)
    for ours, theirs in zip(now.messages, before.messages, strict=False):
        if ours.raw != theirs.raw:
            return tokens + common(ours, theirs)
        tokens += tokens_of(ours.raw)
    return tokens


def common(ours: Message, theirs: Message) -> int:
    if ours.role != theirs.role:
        return 0
    one, other = ours.text, theirs.text
    size = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return counter().text(one[:size]) if size else 0


@dataclass(slots=True)
class Upstream:
    """Answers whatever it is told to, per API key."""

    replies: dict[str, Said] = field(default_factory=dict)
    arrived: dict[str, list[bytes]] = field(default_factory=dict)
    cached: dict[str, int] = field(default_factory=dict)  # what it says that its prefix cache held
    last: dict[str, Received] = field(default_factory=dict)
    tells: Tells = "nothing"

    async def answer(self, request: Request) -> Response:
        body = await request.body()
        key = request.headers["authorization"].removeprefix("Bearer ")
        self.arrived.setdefault(key, []).append(body)
        said = self.replies.get(key, {"role": "assistant", "content": "All right."})
        answer = completion()
        answer["choices"][0]["message"] = {**said}
        got = received(body)
        answer["usage"] = {
            "prompt_tokens": got.tokens,
            "completion_tokens": 10,
            "total_tokens": got.tokens + 10,
        }
        if (found := self.found(key, got)) is not None:
            answer["usage"]["prompt_tokens_details"] = {"cached_tokens": found}
        return Response(msgspec.json.encode(answer), media_type="application/json")

    def found(self, key: str, got: Received) -> int | None:
        """Tokens of a prompt that it says its prefix cache held; None: it says nothing."""
        before, self.last[key] = self.last.get(key), got
        if self.tells == "nothing":
            return None
        return repeated(before, got) if self.tells == "hits" else 0


@dataclass(frozen=True, slots=True)
class Bench:
    upstream: Upstream
    client: httpx.Client
    services: Services  # of the proxy, which runs in a thread of this process: only to read
    model: str = MODEL
    requests: dict[str, str] = field(default_factory=dict)  # id of the last one, by key

    def ask(
        self,
        key: str,
        messages: Sequence[Said],
        *,
        reply: Said | None = None,
        tools: Sequence[Any] = (),
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> Received:
        """The prompt that the upstream got for these messages."""
        if reply is not None:
            self.upstream.replies[key] = reply
        body = {"model": self.model, "messages": messages, **({"tools": tools} if tools else {}), **fields}
        given = {"authorization": f"Bearer {key}", **(headers or {})}
        answered = self.client.post("/v1/chat/completions", json=body, headers=given).raise_for_status()
        self.requests[key] = answered.headers["x-olvido-request"]
        return received(self.upstream.arrived[key][-1], answered.headers["x-olvido-plan"])

    def stages(self, key: str) -> Mapping[str, float]:
        """Seconds in each stage of the last request with this key."""
        tenant = self.services.authenticator.tenant((("authorization", f"Bearer {key}"),))

        def rows() -> list[LedgerRow]:
            newest = asyncio.run(self.services.storage.ledger.recent(Scope(tenant).id, 1))
            return [row for row in newest if row.request_id == self.requests[key]]

        eventually(lambda: bool(rows()))
        return rows()[0].stage_seconds

    def settle(self) -> None:
        """Returns when all that was said has been kept and can be recalled."""
        eventually(lambda: self._pending() == 0, READY_SECONDS)

    def _pending(self) -> float:
        lines = self.client.get("/metrics").text.splitlines()
        return next(float(line.split()[-1]) for line in lines if line.startswith("olvido_memory_pending "))


@dataclass(frozen=True, slots=True)
class Provider:
    """The upstream as the configuration has it, and as it is."""

    name: str
    dialect: str
    cached_price: float | None  # as configured, the input price being 1; None: no price is
    tells: Tells
    ratio: float  # what a cached token really costs; 1: there is no cache
    write: float = 1.0  # what one costs that is written to it
    minimum: int = 0  # tokens: shorter prompts are not cached
    breakpoints: bool = False  # a prompt is found only where an earlier one ended
    block: int = 1  # tokens: the beginning of a prompt is found in multiples of this
    model: str = MODEL
    profile: str = "lean"  # of plain chats


def provider(ratio: float) -> Provider:
    """One that is all that its configuration says."""
    if ratio < 1:
        return Provider(f"r = {ratio:g}", "kimi", ratio, "hits", ratio)
    return Provider("no cache", "generic", ratio, "misses", ratio)


@contextmanager
def bench(
    of: Provider | None = None,
    *,
    upstream: Callable[..., Upstream] = Upstream,
    patience: float = 1.0,
    **sections: Any,
) -> Iterator[Bench]:
    """The proxy with its default configuration, but for reuse, which would answer for the upstream, and `sections`.
    `patience`: factor of every deadline."""
    of = of or provider(0.17)
    answering = upstream(tells=of.tells)
    app = Starlette(routes=[Route("/v1/chat/completions", answering.answer, methods=["POST"])])
    with run_app(app) as url:
        entry = {
            "name": "up",
            "base_url": f"{url}/v1",
            "dialect": of.dialect,
            "retries": 0,
            **({} if of.cached_price is None else {"price": {"input": 1, "cached": of.cached_price, "output": 4}}),
        }
        settings = config(
            **{
                "upstreams": [entry],
                "context": {"profile": of.profile},
                "storage": {"kind": "memory"},
                "server": {"port": 0, "drain": 5},
                "reuse": {"exact": {"enabled": False}, "intent": {"enabled": False}},
                **sections,
            }
        )
        proxy = create_app(settings, patience=patience)
        with (
            run_proxy(settings, proxy) as address,
            httpx.Client(base_url=address, trust_env=False, timeout=60) as client,
        ):
            if settings.embedding.enabled:
                eventually(lambda: b'"embedding":"ready"' in client.get("/readyz").content, READY_SECONDS)
            yield Bench(answering, client, proxy.state.services, of.model)


def original(conversation: Conversation, messages: Sequence[Said]) -> Received:
    tools = msgspec.json.encode(list(conversation.tools)) if conversation.tools else b""
    return Received(tuple(_encoded(said) for said in messages), tools)


_known: dict[int, tuple[Said, Message]] = {}  # with the dict itself, so that no other gets its id


def _encoded(said: Said) -> Message:
    found = _known.get(id(said))
    if found is None:
        raw = httpx.Request("POST", "http://x", json=said).content  # as the client writes it
        found = _known[id(said)] = (said, msgspec_message(raw))
    return found[1]
