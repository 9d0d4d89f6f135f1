"""An upstream that speaks given rounds over real sockets, and a fake runner of tools: the tool loop stands between."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from time import perf_counter
from typing import Any, Literal, TypeVar

import msgspec
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from proxy.app import Application, Endpoint
from proxy.config import Config
from proxy.http.exchange import Call, read_body
from proxy.pipeline import RequestContext, Services
from proxy.pipeline.tool_loop import answered
from proxy.protocol.calls import meant
from proxy.protocol.headers import read_directives
from proxy.protocol.request import parse
from proxy.services import build
from proxy.tasks import Attempts, Offload
from proxy.types import Answer, Delivery, Exchange, Incoming, Plan, PromptTokens, ReuseMiss, ToolCall
from proxy.types.desk import Hidden
from tests.builders import config, encoding, identity, incoming
from tests.proxied import AT_ONCE
from tests.scripted.delivery import TRANSPORT
from tests.servers import body_of, run_app
from tests.spoken import Called, Spoken, Style, stream

OURS = frozenset({"remember", "recall_original"})
SCHEMAS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in sorted(OURS)]
LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
REMEMBER = Called("remember", '{"key":"a","value":"b"}')
THEIRS = Called("look", '{"at":"x"}')

Fault = Literal["", "cut", "reset", "error event", "garbage", "hang", "gzip", "no body", "error beside"]


@dataclass(frozen=True, slots=True)
class Step:
    """What the upstream does with one request."""

    spoken: Spoken = field(default_factory=Spoken)
    status: int = 200
    fault: Fault = ""
    events: int = 3  # that pass before the fault
    style: Style = "plain"
    as_stream: bool | None = None  # None: as it was asked for


class Upstream:
    """An ASGI application that does one step after the other, and the last one for ever."""

    def __init__(self) -> None:
        self.url = ""
        self.steps: deque[Step] = deque()
        self.asked: list[dict[str, Any]] = []
        self.raw: list[bytes] = []
        self.hanging = 0  # requests that get no further answer
        self.left = 0  # of these, those whose client has left

    def will(self, *steps: Step | Spoken) -> None:
        self.steps = deque(step if isinstance(step, Step) else Step(step) for step in steps)
        self.asked, self.raw = [], []
        self.hanging = self.left = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        raw = await body_of(receive)
        self.raw.append(raw)
        self.asked.append(msgspec.json.decode(raw))
        step = self.step(dict(scope["headers"]), self.asked[-1])
        streamed = self.asked[-1].get("stream", False) if step.as_stream is None else step.as_stream
        wants = bool((self.asked[-1].get("stream_options") or {}).get("include_usage"))
        whole = stream(step.spoken, step.style, wants_usage=wants) if streamed else step.spoken.body
        kind = b"text/event-stream" if streamed else b"application/json"
        if step.status != 200:
            whole, kind = b'{"error":{"message":"not today","type":"x"}}', b"application/json"
        if step.fault == "garbage":
            whole = b'data: {"choices": [\n\n' + whole if streamed else b"{no json"
        if step.fault == "error beside":
            whole = msgspec.json.encode({**msgspec.json.decode(whole), "error": {"message": "x", "code": 502}})
        headers = [(b"content-type", kind)]
        if step.fault == "gzip":
            headers.append((b"content-encoding", b"gzip"))
        await send({"type": "http.response.start", "status": step.status, "headers": headers})
        if step.fault in ("cut", "hang", "reset", "error event"):
            parts = whole.split(b"\n\n") if streamed else [whole[: len(whole) // 2], b""]
            begun = b"\n\n".join([*parts[: step.events], b""]) if streamed else parts[0]
            await send({"type": "http.response.body", "body": begun, "more_body": True})
            await self._fault(step, scope, receive, send)
            return
        await send({"type": "http.response.body", "body": whole})

    def step(self, _headers: Mapping[bytes, bytes], _asked: dict[str, Any]) -> Step:
        """Returns what is done with a request."""
        return self.steps.popleft() if len(self.steps) > 1 else self.steps[0]

    async def _fault(self, step: Step, scope: Scope, receive: Receive, send: Send) -> None:
        match step.fault:
            case "hang":
                self.hanging += 1
                while (await receive())["type"] != "http.disconnect":
                    pass
                self.left += 1
            case "reset":
                scope["extensions"][TRANSPORT].abort()
            case "error event":
                await send({"type": "http.response.body", "body": b'data: {"error":{"message":"x"}}\n\n'})
            case _:
                scope["extensions"][TRANSPORT].close()


U = TypeVar("U", bound=Upstream)


@contextmanager
def run_rounds() -> Iterator[Upstream]:
    with run_upstream(Upstream()) as upstream:
        yield upstream


@contextmanager
def run_upstream(upstream: U) -> Iterator[U]:
    with run_app(upstream) as url:
        upstream.url = url
        yield upstream


Running = Callable[[Sequence[ToolCall], int], Awaitable[Sequence[str]]]


async def _told(calls: Sequence[ToolCall], round_: int) -> Sequence[str]:
    return [f"result {round_} of {call.name}" for call in calls]


class Runner:
    """A fake `ToolRunner`, which notes what it is asked to do."""

    def __init__(self, *, running: Running = _told, keeps: Callable[[Hidden], Awaitable[bool]] | None = None) -> None:
        self.may_answer = OURS | {"get_time"}
        self.ran: list[tuple[list[str], int]] = []
        self.kept: list[Hidden] = []
        self._running = running
        self._keeps = keeps

    def answers(self, call: ToolCall) -> bool:
        return meant(call.name, OURS) is not None or call.arguments == '{"known":1}'

    async def run(self, calls: Sequence[ToolCall], round_: int) -> Sequence[str]:
        self.ran.append(([call.id for call in calls], round_))
        return await self._running(calls, round_)

    async def keep(self, hidden: Hidden) -> bool:
        self.kept.append(hidden)
        return True if self._keeps is None else await self._keeps(hidden)


class Recorder:
    """Notes deliveries."""

    def __init__(self) -> None:
        self.delivered_: list[tuple[Exchange, Delivery]] = []

    def delivered(self, exchange: Exchange, delivery: Delivery, _attempts: Attempts) -> None:
        self.delivered_.append((exchange, delivery))

    @property
    def one(self) -> Delivery:
        ((_, delivery),) = self.delivered_
        return delivery

    @property
    def exchange(self) -> Exchange:
        ((exchange, _),) = self.delivered_
        return exchange


@asynccontextmanager
async def house(
    url: str, *, tools: dict[str, Any] | None = None, recorder: Any = None, **upstream: Any
) -> AsyncIterator[Services]:
    """Services in front of this upstream."""
    built = await build(settings(url, tools=tools, **upstream), encoding=encoding, writing=AT_ONCE)
    try:
        yield replace(built, recorder=recorder) if recorder is not None else built
    finally:
        await built.close()


def settings(url: str, *, tools: dict[str, Any] | None = None, **upstream: Any) -> Config:
    """A configuration with this upstream and these settings of the tools."""
    entry = {
        "name": "up",
        "base_url": f"{url}/v1",
        "dialect": "openai",
        "retries": 0,
        "breaker": {"failures": 0},
        "price": {"input": 1.0, "cached": 0.25, "output": 4.0},
        **upstream,
    }
    more = entry.pop("more", [])
    return config(
        upstreams=[entry, *more],
        storage={"kind": "memory"},
        server={"port": 0, "drain": 5},
        embedding={"enabled": False},
        reuse={"intent": {"enabled": False}},
        memory={"tools": tools or {}},
    )


_numbers = count(1)


def opened(services: Services, raw: bytes, *, given: Incoming | None = None) -> tuple[RequestContext, Exchange]:
    """A request on its way upstream: planned, with our tools in it."""
    asked = parse(raw)
    context = RequestContext(
        given or incoming(raw, request_id=f"req_{next(_numbers)}"),
        services,
        Attempts(services.metrics.failed_open),
        Offload(services.executor, len(raw)),
        perf_counter(),
        asked,
        read_directives(given.headers if given else ()),
        services.router.route(asked.model),
    )
    context.identity = identity(asked)
    tools = [*(asked.fields.get("tools") or []), *SCHEMAS]
    tokens = PromptTokens(2_000, 2_000, rough=2_000, counted=2_000)
    plan = Plan("managed", tokens, messages=tuple(asked.messages), tools=tools)
    return context, context.exchange(ReuseMiss("absent"), plan, context.route.upstream.name)


async def read(answer: Answer) -> bytes:
    """The whole body; what broke it off is raised."""
    if isinstance(answer.body, bytes):
        return answer.body
    try:
        return b"".join([chunk async for chunk in answer.body])
    finally:
        await answer.body.aclose()


async def asked(services: Services, raw: bytes, runner: Runner) -> tuple[Answer, bytes]:
    """The answer, and its body."""
    answer = await answered(*opened(services, raw), runner)
    body = await read(answer)
    await asyncio.sleep(0)
    return answer, body


def said(messages: Sequence[bytes]) -> list[dict[str, Any]]:
    return [msgspec.json.decode(each) for each in messages]


def create_app(settings: Config, runner: Callable[[], Runner]) -> Application:
    """The proxy's managed route, to which each request brings a runner and a plan with our tools."""

    @asynccontextmanager
    async def lifespan(app: Application) -> AsyncIterator[None]:
        app.state.services = await build(settings, encoding=encoding, writing=AT_ONCE)
        try:
            yield
        finally:
            await app.state.services.close()

    async def managed(call: Call, services: Services) -> None:
        raw = await read_body(call.receive, call.headers, max_bytes=2**20, seconds=10)
        call.watch.start()
        given = incoming(raw, headers=call.headers, request_id=call.request_id)
        await call.answer(await answered(*opened(services, raw, given=given), runner()))

    return Application(
        routes=[Route("/v1/chat/completions", Endpoint(managed, "api", ("POST",)))],
        lifespan=lifespan,
    )
