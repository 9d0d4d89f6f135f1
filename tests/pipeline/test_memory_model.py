"""The model of memory behind an upstream: paid for, in the ledger, and whatever it answers is an answer or none."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from proxy.config import Config
from proxy.curation.model import MOST_ANSWER, MemoryModel, Reply
from proxy.pipeline import Services
from proxy.pipeline.own_requests import HEADERS
from tests.builders import TENANT, completion, config
from tests.proxied import build_services
from tests.servers import run_app

SCOPE = f"{TENANT}/ana"
BODY = msgspec.json.encode({"model": "small", "messages": [{"role": "user", "content": "Qué sé de Ana?"}]})
PRICE = {"input": 1.0, "output": 4.0}
USAGE = {"prompt_tokens": 200, "completion_tokens": 50, "total_tokens": 250}
COST = (200 * 1.0 + 50 * 4.0) / 1e6
MOST = (len(BODY) * 1.0 + MOST_ANSWER * 4.0) / 1e6
GOOD = completion('{"operations": []}') | {"usage": USAGE}


@dataclass
class Model:
    """An upstream that answers as it is told."""

    answer: Response = field(default_factory=lambda: JSONResponse(GOOD))
    seen: list[tuple[dict[str, str], Any]] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def __post_init__(self) -> None:
        self.gate.set()

    async def respond(self, request: Request) -> Response:
        self.seen.append((dict(request.headers), await request.json()))
        await asyncio.to_thread(self.gate.wait, 10.0)
        return self.answer


@pytest.fixture
def upstream() -> Iterator[Model]:
    model = Model()
    with run_app(Starlette(routes=[Route("/v1/chat/completions", model.respond, methods=["POST"])])) as url:
        model.url = url
        yield model
        model.gate.set()


def configured(url: str, dialect: str = "openai", **timeouts: float) -> Config:
    return config(
        upstreams=[
            {
                "name": "up",
                "base_url": f"{url}/v1",
                "dialect": dialect,
                "api_key": "sk-own",
                "price": PRICE,
                "retries": 0,
                "breaker": {"failures": 0},
                "timeout": timeouts,
            }
        ],
        memory={"model": {"upstream": "up", "model": "small"}},
        storage={"kind": "memory"},
        embedding={"enabled": False},
        reuse={"intent": {"enabled": False}},
        server={"port": 0, "drain": 5},
    )


@asynccontextmanager
async def model_of(settings: Config) -> AsyncIterator[tuple[Services, MemoryModel]]:
    async with build_services(settings) as services:
        assert services.curator is not None
        yield services, services.curator.doing.caller.model


async def asked(url: str, **timeouts: float) -> tuple[Reply | None, list[Any]]:
    """The answer, and the rows of the ledger."""
    async with model_of(configured(url, "openai", **timeouts)) as (services, model):
        reply = await model.ask(SCOPE, "s", "memory-1", BODY)
        await services.tasks.drain(5)
        await services.storage.flush()
        return reply, await services.storage.ledger.recent(SCOPE)


async def test_an_answer_costs_what_the_ledger_says(upstream: Model) -> None:
    reply, (row,) = await asked(upstream.url)
    assert reply == Reply('{"operations": []}', COST)
    assert (row.request_id, row.scope, row.session, row.reuse_reason) == ("memory-1-memory", SCOPE, "s", "memory")
    assert (row.cost, row.plan, row.source, row.outcome) == (pytest.approx(COST), "untouched", "upstream", "complete")
    ((headers, body),) = upstream.seen
    assert headers["authorization"] == "Bearer sk-own"
    assert body == msgspec.json.decode(BODY)
    assert {name for name in headers if name.startswith("x-")} == set()
    assert dict(HEADERS).items() <= headers.items()


async def test_it_leaves_no_trace_but_its_row(upstream: Model) -> None:
    async with model_of(configured(upstream.url)) as (services, model):
        await model.ask(SCOPE, "s", "memory-1", BODY)
        await services.tasks.drain(5)
        await services.storage.flush()
        assert await services.storage.facts.all(SCOPE) == []
        assert await services.storage.archive.latest(SCOPE, "s") is None
        assert await services.storage.contents.recent(9) == []
        assert await services.storage.jobs.jobs() == []
        assert len(services.ends) == 0


CHUNK = '{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}'
EVENTS = f"data: {CHUNK}\n\ndata: [DONE]\n\n"


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (JSONResponse(completion("prose") | {"usage": USAGE}), Reply("prose", COST)),
        (JSONResponse({key: value for key, value in completion("{}").items() if key != "usage"}), Reply("{}", MOST)),
        (JSONResponse({"choices": [], "usage": USAGE}), Reply("", COST)),
        (JSONResponse([1, 2]), Reply("", MOST)),
        (Response("<html>"), Reply("", MOST)),
        (JSONResponse({"error": {"message": "no"}}, status_code=400), Reply("", 0.0)),
        (JSONResponse({"error": {"message": "down"}}, status_code=500), Reply("", 0.0, is_out=True)),
        (JSONResponse({"error": {"message": "slow down"}}, status_code=429), Reply("", 0.0, is_out=True)),
        (JSONResponse(completion("x" * 10_000_000)), None),
        (StreamingResponse(iter([EVENTS]), media_type="text/event-stream"), None),
    ],
    ids=[
        "prose",
        "no usage",
        "no choice",
        "other JSON",
        "no JSON",
        "refused",
        "broken",
        "too many",
        "10 MB",
        "a stream",
    ],
)
async def test_whatever_comes_is_an_answer_or_none(answer: Response, reply: Reply | None, upstream: Model) -> None:
    upstream.answer = answer
    assert (await asked(upstream.url))[0] == reply


async def test_what_never_comes_is_none(upstream: Model) -> None:
    upstream.gate.clear()
    reply, (row,) = await asked(upstream.url, answer=0.05)
    assert reply is None
    assert row.reuse_reason == "memory"


async def test_nobody_there_costs_nothing() -> None:
    assert (await asked("http://127.0.0.1:9"))[0] == Reply("", 0.0, is_out=True)


@pytest.mark.parametrize(
    ("dialect", "limit", "sampling", "schemas"),
    [
        ("openai", "max_completion_tokens", {}, True),
        ("kimi", "max_tokens", {}, True),
        ("mistral", "max_tokens", {"temperature": 0}, True),
        ("vllm", "max_tokens", {"temperature": 0}, True),
        ("deepseek", "max_tokens", {"temperature": 0}, False),
        ("generic", "max_tokens", {}, False),
    ],
)
async def test_each_dialect_is_asked_in_its_words(
    dialect: str, limit: str, sampling: dict[str, Any], schemas: bool
) -> None:
    async with model_of(configured("http://127.0.0.1:9", dialect)) as (_, model):
        assert model.settings == {"model": "small", limit: MOST_ANSWER, **sampling}
        assert (model.name, model.schemas) == ("small", schemas)


async def test_no_answer_can_cost_more_than_it_says(upstream: Model) -> None:
    async with model_of(configured(upstream.url)) as (_, model):
        assert model.most(BODY) == pytest.approx(MOST)
