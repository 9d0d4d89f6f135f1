"""A managed request is asked once more as it was: in the background, at a known cost, within its limit, and without a
trace in anything that a client could notice.

The upstream answers a long prompt otherwise than a short one, so that what it was sent can be told by the answer.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from proxy.config import Config
from proxy.pipeline import Services
from proxy.pipeline.mirror import MOST_UNDER_WAY
from proxy.services import build
from proxy.types import LedgerRow
from proxy.types.quality import QualityPair
from tests.builders import NOW, assistant, body, completion, config, encoding, user
from tests.proxied import AT_ONCE, KEY, Got, answered, ask, total
from tests.servers import run_app

SMALL = {
    "base": "lean",
    "fold": "strict",
    "budget": 400,
    "window": {"turns": 2, "min_turns": 1, "max_turns": 2, "tokens": 200},
    "summaries": {"slots": 2, "tokens": 40},
    "facts": {"tokens": 50},
}
PRICE = {"input": 1.0, "cached": 1.0, "output": 4.0}
WHOLE = "Your dog is called Nala and she is 7 years old."
JUDGED = '{"verdict": "same", "reason": "both say it"}'


@dataclass
class Answering:
    """An upstream that records what arrives. `lost`: what it answers to a prompt of which turns are missing."""

    lost: str = WHOLE
    refuses: int = 0  # status of its answer to a request that does not stream and is whole
    calls: dict[str, list[dict[str, str]]] = field(default_factory=dict)  # tool calls, by which prompt
    verdict: str = JUDGED
    seen: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    url: str = ""
    gate: threading.Event = field(default_factory=threading.Event)  # what is asked as it was waits for it

    def __post_init__(self) -> None:
        self.gate.set()

    async def respond(self, request: Request) -> Response:
        asked = await request.json()
        self.seen.append((dict(request.headers), asked))
        if asked["model"] == "judge":
            return JSONResponse(completion(self.verdict) | {"usage": {"prompt_tokens": 100, "completion_tokens": 10}})
        is_whole = len(asked["messages"]) >= TURNS * 2
        if is_whole:
            await asyncio.to_thread(self.gate.wait, 20.0)
        if is_whole and self.refuses:
            return JSONResponse({"error": {"message": "no"}}, self.refuses, {"x-should-retry": "false"})
        said = WHOLE if is_whole else self.lost
        answer = completion(said) | {
            "usage": {"prompt_tokens": 40 * len(asked["messages"]), "completion_tokens": 12, "total_tokens": 0}
        }
        calls = self.calls.get("whole" if is_whole else "managed")
        if calls is not None:
            made = [{"id": f"c{at}", "type": "function", "function": each} for at, each in enumerate(calls)]
            answer["choices"][0] |= {"finish_reason": "tool_calls"}
            answer["choices"][0]["message"] |= {"tool_calls": made, "content": None}
        if asked.get("stream"):
            return StreamingResponse(_events(said), media_type="text/event-stream")
        return JSONResponse(answer)


async def _events(said: str) -> AsyncIterator[str]:
    for word in said.split(" "):
        yield f'data: {{"id":"c","choices":[{{"index":0,"delta":{{"content":"{word} "}}}}]}}\n\n'
    yield 'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    yield 'data: {"id":"c","choices":[],"usage":{"prompt_tokens":120,"completion_tokens":12,"total_tokens":132}}\n\n'
    yield "data: [DONE]\n\n"


TURNS = 8


def chat_of(turns: int = TURNS, **fields: Any) -> bytes:
    said = []
    for number in range(turns):
        said += [user(f"Tell me about subject {number}. " + "It has many sides. " * 12)]
        said += [assistant(f"Subject {number} has sides. " + "This is one of them. " * 12)]
    return body(*said, user("What is my dog's name?"), model="m", **fields)


@pytest.fixture
def upstream() -> Iterator[Answering]:
    answering = Answering()
    with run_app(Starlette(routes=[Route("/v1/chat/completions", answering.respond, methods=["POST"])])) as url:
        answering.url = url
        yield answering


def configured(upstream: Answering, *, judge: bool = False, **settings: Any) -> Config:
    quality = {"share": 1.0, **({"judge": {"upstream": "judge", "model": "judge"}} if judge else {}), **settings}
    entry = {"base_url": f"{upstream.url}/v1", "dialect": "openai", "retries": 0}
    return config(
        upstreams=[
            {"name": "up", **entry, "price": PRICE, "models": ["m"]},
            {"name": "free", **entry, "models": ["unpriced"]},
            {"name": "judge", **entry, "price": PRICE, "api_key": "sk-judge", "models": ["judge"]},
        ],
        storage={"kind": "memory"},
        server={"port": 0, "drain": 5},
        embedding={"enabled": False},
        reuse={"intent": {"enabled": False}},
        profiles={"lean": SMALL, "agent": SMALL},
        quality=quality,
    )


@asynccontextmanager
async def mirroring(upstream: Answering, **settings: Any) -> AsyncIterator[Services]:
    services = await build(configured(upstream, **settings), encoding=encoding, writing=AT_ONCE)
    try:
        # A scope that no upstream has answered keeps nothing.
        await ask(services, body(user("hello"), model="m"))
        upstream.seen.clear()
        yield services
    finally:
        await services.close()


async def pairs(services: Services) -> list[QualityPair]:
    return [pair for _, pair in await services.storage.quality.recent()]


async def rows(services: Services) -> dict[str, LedgerRow]:
    await services.storage.flush()
    return {row.request_id: row for _, row in await services.storage.accounts.rows()}


def skipped(services: Services) -> dict[str, float]:
    reasons = ("unpriced", "spent", "busy", "paused", "failed")
    told = {reason: total(services, "olvido_quality_skipped_total", reason=reason) for reason in reasons}
    return {reason: count for reason, count in told.items() if count}


async def test_the_request_as_it_was_is_asked_again_and_both_answers_are_kept(upstream: Answering) -> None:
    upstream.lost = "I do not know your dog's name."
    raw = chat_of(stream=True, stream_options={"include_usage": True})
    async with mirroring(upstream) as services:
        got = await ask(services, raw, request_id="req_1")
        assert got.plan.startswith("managed")
        (managed_headers, managed), (headers, again) = upstream.seen
        assert len(again["messages"]) == 2 * TURNS + 1 > len(managed["messages"])
        assert "stream" not in again
        assert "stream_options" not in again
        assert headers["authorization"] == managed_headers["authorization"] == f"Bearer {KEY}"

        (pair,) = await pairs(services)
        assert (pair.request_id, pair.comparison.held, pair.comparison.reason) == ("req_1", False, "unknowing")
        assert (pair.question, pair.original) == ("What is my dog's name?", WHOLE)
        assert pair.managed.strip() == upstream.lost
        assert total(services, "olvido_quality_pairs_total", result="lost", way="measures") == 1


async def test_an_answer_that_says_the_same_has_held(upstream: Answering) -> None:
    upstream.lost = "She is 7 years old, and her name is Nala."
    async with mirroring(upstream) as services:
        await ask(services, chat_of())
        (pair,) = await pairs(services)
        assert pair.comparison.held
        assert pair.comparison.measures.numbers == 1.0


async def test_its_cost_is_a_row_of_the_ledger_that_counts_against_savings(upstream: Answering) -> None:
    async with mirroring(upstream) as services:
        await ask(services, chat_of(), request_id="req_1")
        found = await rows(services)
        mirrored = found["req_1-quality"]
        expected = (40 * (2 * TURNS + 1) * 1.0 + 12 * 4.0) / 1e6
        assert (mirrored.reuse_reason, mirrored.scope) == ("quality", found["req_1"].scope)
        assert mirrored.cost == pytest.approx(expected)
        assert mirrored.cost_saved == 0
        day = await services.storage.accounts.buckets(0, 4e9, 60)
        assert sum(bucket.sums.quality for bucket in day) == pytest.approx(expected)
        assert sum(bucket.sums.requests for bucket in day) == 2  # the client's own
        assert total(services, "olvido_requests_total") == 2
        assert await services.storage.quality.spent(mirrored.at) == pytest.approx(expected)


async def test_nothing_but_the_row_tells_of_it(upstream: Answering) -> None:
    """Memory, reuse and sessions are as without the sample."""
    async with mirroring(upstream) as services, asyncio.timeout(30):
        await ask(services, chat_of(), request_id="req_1")
        scope = (await rows(services))["req_1"].scope
        contents = await services.storage.contents.recent(10)
        assert [entry.request_id for entry in contents if "quality" in entry.request_id] == []
        assert len(await services.storage.accounts.sessions()) == 2  # with the greeting's
        turns = await services.storage.archive.changes(scope, 0, NOW)
        without = configured(upstream, share=0.0)
        plain = await build(without, encoding=encoding, writing=AT_ONCE)
        try:
            assert plain.mirror is None
            await ask(plain, body(user("hello"), model="m"))
            await ask(plain, chat_of(), request_id="req_1")
            await plain.storage.flush()
            other = (await rows(plain))["req_1"].scope
            assert len((await plain.storage.archive.changes(other, 0, NOW)).entries) == len(turns.entries)
        finally:
            await plain.close()


@pytest.mark.parametrize(
    ("raw", "headers"),
    [
        (body(user("short"), model="m"), ()),
        (chat_of(), (("cache-control", "no-store"),)),
        (chat_of(), (("x-olvido-mode", "off"),)),
        (chat_of(), (("x-olvido-mode", "meter"),)),
        (chat_of(), (("x-olvido-cache", "off"),)),
    ],
    ids=["untouched", "no-store", "off", "meter", "cache off"],
)
async def test_what_was_not_rewritten_or_must_not_be_kept_is_never_mirrored(
    upstream: Answering, raw: bytes, headers: tuple[tuple[str, str], ...]
) -> None:
    async with mirroring(upstream) as services:
        await ask(services, raw, headers=headers)
        assert len(upstream.seen) == 1
        assert await pairs(services) == []
        assert skipped(services) == {}


async def test_a_model_without_a_price_is_not_mirrored_since_nobody_could_cap_it(upstream: Answering) -> None:
    async with mirroring(upstream) as services:
        await ask(services, chat_of().replace(b'"model":"m"', b'"model":"unpriced"'))
        assert len(upstream.seen) == 1
        assert skipped(services) == {"unpriced": 1}


async def test_a_day_costs_no_more_than_its_limit(upstream: Answering) -> None:
    async with mirroring(upstream, max_spend=0.01) as services:
        for number in range(8):
            await ask(services, chat_of() + b" " * number, headers=(("x-olvido-session", f"s{number}"),))
        spent = sum(row.cost for row in (await rows(services)).values() if row.reuse_reason == "quality")
        assert 0 < spent <= 0.01
        assert skipped(services)["spent"] + len(await pairs(services)) == 8


async def test_an_upstream_that_fails_is_counted_and_no_client_notices(upstream: Answering) -> None:
    upstream.refuses = 500
    async with mirroring(upstream) as services:
        got: Got = await ask(services, chat_of(), request_id="req_1")
        assert got.status == 200
        assert skipped(services) == {"failed": 1}
        assert await pairs(services) == []
        assert (await rows(services))["req_1-quality"].cost == 0
        assert await services.storage.quality.spent((await rows(services))["req_1"].at) == 0
        assert services.router.named("up").breaker.state == "closed"


async def test_an_upstream_that_says_it_is_asked_too_often_is_left_alone(upstream: Answering) -> None:
    upstream.refuses = 429
    async with mirroring(upstream) as services:
        await ask(services, chat_of())
        await ask(services, chat_of(TURNS + 1))
        assert skipped(services) == {"failed": 1, "paused": 1}
        assert len(upstream.seen) == 3  # two of the client's, one of ours


async def test_tool_calls_are_compared_by_name_and_arguments(upstream: Answering) -> None:
    upstream.calls = {
        "managed": [{"name": "look", "arguments": '{"a": 1, "b": 2}'}],
        "whole": [{"name": "look", "arguments": '{"b":2,"a":1}'}],
    }
    async with mirroring(upstream) as services:
        await ask(services, chat_of())
        upstream.calls["managed"][0]["arguments"] = '{"a": 3}'
        await ask(services, chat_of(TURNS + 1))
        newest, oldest = await pairs(services)
        assert (oldest.comparison.held, oldest.comparison.measures.calls) == (True, True)
        assert (newest.comparison.held, newest.comparison.reason) == (False, "arguments")
        assert newest.managed == 'look({"a": 3})'


async def test_answers_that_call_tools_take_half_of_the_money_at_most(upstream: Answering) -> None:
    upstream.calls = {"managed": [{"name": "look", "arguments": "{}"}], "whole": [{"name": "look", "arguments": "{}"}]}
    async with mirroring(upstream, max_spend=0.0085) as services:  # enough for one that is a text
        await ask(services, chat_of())
        assert skipped(services) == {"spent": 1}
        upstream.calls = {}
        await ask(services, chat_of(TURNS + 1))
        assert len(await pairs(services)) == 1


@pytest.mark.parametrize("verdict", ["same", "first_worse", "second_worse"])
async def test_a_judge_decides_without_knowing_which_was_managed(upstream: Answering, verdict: str) -> None:
    upstream.lost = "It is Nala, aged 7; she was born in spring."
    upstream.verdict = f'{{"verdict": "{verdict}", "reason": "because"}}'
    async with mirroring(upstream, judge=True) as services:
        await ask(services, chat_of(), request_id="req_1")
        (_, asked) = next((headers, body) for headers, body in upstream.seen if body["model"] == "judge")
        data = asked["messages"][1]["content"]
        is_first = data.index("born in spring") < data.index("7 years old")
        (pair,) = await pairs(services)
        lost = verdict == ("first_worse" if is_first else "second_worse")
        assert (pair.comparison.way, pair.comparison.held, pair.verdict) == ("judge", not lost, "because")
        found = await rows(services)
        assert found["req_1-quality_judge"].cost == pytest.approx((100 * 1.0 + 10 * 4.0) / 1e6)
        assert pair.cost == pytest.approx(found["req_1-quality"].cost + found["req_1-quality_judge"].cost)


async def test_a_verdict_that_cannot_be_read_leaves_what_was_measured(upstream: Answering) -> None:
    upstream.lost, upstream.verdict = "She is Nala, 7.", "They are the same, I think."
    async with mirroring(upstream, judge=True) as services:
        await ask(services, chat_of())
        (pair,) = await pairs(services)
        assert pair.comparison.way == "measures"


async def test_no_client_waits_for_it(upstream: Answering) -> None:
    upstream.gate.clear()
    async with mirroring(upstream) as services, asyncio.timeout(60):
        got = await answered(services, chat_of())  # and the other one is not answered yet
        assert (got.status, got.plan.partition(";")[0]) == (200, "managed")
        again = await answered(services, body(user("hello once more"), model="m"))
        assert again.status == 200
        assert await pairs(services) == []
        upstream.gate.set()
        await services.tasks.drain(30.0)
        assert len(await pairs(services)) == 1


async def test_no_more_are_under_way_than_a_process_may_have(upstream: Answering) -> None:
    upstream.gate.clear()
    async with mirroring(upstream) as services, asyncio.timeout(60):
        for number in range(MOST_UNDER_WAY + 2):
            await answered(services, chat_of(), headers=(("x-olvido-session", f"s{number}"),))
        assert skipped(services) == {"busy": 2}
        upstream.gate.set()
        await services.tasks.drain(30.0)
        assert len(await pairs(services)) == MOST_UNDER_WAY


async def test_what_is_forgotten_leaves_no_text_of_its_pairs(upstream: Answering) -> None:
    async with mirroring(upstream) as services:
        await ask(services, chat_of(), request_id="req_1")
        assert (await pairs(services))[0].original == WHOLE
        await ask(services, body(user("Forget everything you know about me."), model="m"))
        await services.storage.flush()
        (pair,) = [pair for pair in await pairs(services) if pair.request_id == "req_1"]
        assert (pair.question, pair.managed, pair.original) == ("", "", "")
        assert pair.comparison.held


async def test_texts_are_kept_only_where_contents_are(upstream: Answering) -> None:
    settings = configured(upstream).model_copy(deep=True)
    hidden = settings.model_copy(update={"admin": settings.admin.model_copy(update={"show_content": False})})
    services = await build(hidden, encoding=encoding, writing=AT_ONCE)
    try:
        await ask(services, body(user("hello"), model="m"))
        await ask(services, chat_of())
        (pair,) = await pairs(services)
        assert (pair.question, pair.managed, pair.original) == ("", "", "")
        assert pair.comparison.measures.length == 1.0
    finally:
        await services.close()
