"""A reused answer is compared with what the upstream says now: in the background, in the ledger, in a metric, and
nowhere else.

Vectors come from the demo upstream, where one text has always one vector and two have nothing in common.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Literal

import pytest

from proxy.pipeline import Services
from proxy.pipeline.chat import handle
from proxy.protocol.chains import chain_of
from proxy.protocol.request import parse
from proxy.types import ChatRequest, Headers, Identity, Incoming, LedgerRow, ReuseHit, Scope
from tests.builders import NOW, body, completion, stored, user
from tests.proxied import KEY, Got, Upstream, ask, in_front_of, run_upstream, serving, total

ASKED = "How do I descale a coffee machine?"
RAW = body(user(ASKED), model="demo-chat")
PLAIN = "Descale it with vinegar."
LINE = "[Answer retrieved from an earlier conversation]"
FAULT = "x-demo-fault"
_numbers = count(1)
AUTHORIZED: Headers = (("authorization", f"Bearer {KEY}"), ("content-type", "application/json"))


@asynccontextmanager
async def verifying(upstream: Upstream, share: float = 1.0) -> AsyncIterator[Services]:
    """Everything behind the edge, once reuse by intent is ready."""
    settings = in_front_of(
        upstream,
        upstream={"price": {"input": 1.0, "cached": 0.25, "output": 4.0}},
        embedding={"model": "text-embedding-3-small", "base_url": f"{upstream.url}/v1", "api_key": "sk-vectors"},
        reuse={"intent": {"enabled": True, "verify": share}},
    )
    async with serving(settings, patience=20.0) as services, asyncio.timeout(60):  # no look-up runs out of time
        await until(lambda: services.intent.state == "ready")
        yield services


async def until(condition: Callable[[], object]) -> None:
    while not condition():  # noqa: ASYNC110 (what it waits for tells nobody)
        await asyncio.sleep(0.002)


def arrived(upstream: Upstream) -> list[bytes]:
    """The chats that have arrived since the last look."""
    chats = [seen.body for seen in upstream.demo.recorder.requests if seen.path.endswith("/chat/completions")]
    upstream.demo.recorder.clear()
    return chats


async def rows(services: Services) -> list[LedgerRow]:
    """Of the only scope there is."""
    scope = f"{services.authenticator.tenant(AUTHORIZED)}/"
    await services.storage.ledger.flush()
    return await services.storage.ledger.recent(scope)


def who(services: Services, request: ChatRequest) -> Identity:
    scope = Scope(services.authenticator.tenant(AUTHORIZED))
    return Identity(scope, "s", "header", chain_of(scope.id, request.messages))


def agreements(services: Services) -> list[float]:
    """How many, and their sum."""
    return [total(services, f"olvido_reuse_agreement_{each}") for each in ("count", "sum")]


async def verify(
    services: Services,
    answer: Mapping[str, Any],
    *,
    raw: bytes = RAW,
    source: Literal["exact", "intent"] = "intent",
) -> None:
    """As after a reuse of `answer`, when all that follows has been done."""
    request = parse(raw)
    services.verifier.sample(
        Incoming("req_9", AUTHORIZED, raw, NOW, services.authenticator.tenant(AUTHORIZED)),
        request,
        who(services, request),
        ReuseHit(source, "key", stored(answer), "absent", "r-0000000000000001", 0.9),
        services.router.route("demo-chat"),
    )
    await services.tasks.drain(10.0)


async def again(services: Services, raw: bytes, *, headers: Headers = (), request_id: str | None = None) -> Got:
    """In a conversation of its own: whoever has an answer made anew does not get the same one."""
    session = ("x-olvido-session", f"s-{next(_numbers)}")
    return await ask(services, raw, headers=(session, *headers), request_id=request_id)


async def upstreams_own(upstream: Upstream, raw: bytes = RAW) -> str:
    answer = await asyncio.to_thread(upstream.http.post, "/v1/chat/completions", content=raw)
    said = answer.json()["choices"][0]["message"]["content"]
    assert isinstance(said, str)
    upstream.demo.recorder.clear()
    return said


# --- the whole way ----------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("stream", [False, True])
async def test_the_upstream_is_asked_once_more_in_the_background_and_its_cost_is_told(
    upstream: Upstream, *, stream: bool
) -> None:
    raw = body(user(ASKED), model="demo-chat", stream=stream)
    async with verifying(upstream) as services:
        assert (await again(services, raw, request_id="req_1")).source == "upstream"
        assert arrived(upstream) == [raw]
        assert agreements(services) == [0, 0]
        hit = await again(services, raw, request_id="req_2")
        assert (hit.status, hit.source, hit.headers["x-olvido-tokens-sent"]) == (200, "intent", "0")
        assert arrived(upstream) == [raw]
        assert agreements(services) == pytest.approx([1, 1], abs=1e-3)

        by_id = {row.request_id: row for row in await rows(services)}
        assert by_id.keys() == {"req_1", "req_2", "req_2-verify"}
        first, reused, verified = by_id["req_1"], by_id["req_2"], by_id["req_2-verify"]
        assert (reused.source, reused.cost, reused.tokens_billed) == ("intent", 0, 0)
        assert (verified.source, verified.outcome, verified.stream) == ("upstream", "complete", stream)
        assert (verified.reuse_reason, verified.intent_reason) == ("verify", "")
        assert (verified.session, verified.cost_saved) == (reused.session, 0)
        assert verified.cost > 0
        assert (verified.tokens_billed, verified.tokens_completion) == (first.tokens_billed, first.tokens_completion)
        assert total(services, "olvido_requests_total", source="upstream") == 2


async def test_the_client_does_not_wait_for_it(upstream: Upstream) -> None:
    raw = body(user(ASKED), model="demo-chat", stream=True)
    async with verifying(upstream) as services:
        await again(services, raw)
        given: Headers = (*AUTHORIZED, ("x-olvido-session", "another"), (FAULT, "slow-first-byte=60"))
        answer = await handle(Incoming("req_2", given, raw, NOW, services.authenticator.tenant(given)), services)
        assert answer.source == "intent"
        assert isinstance(answer.body, bytes)
        assert agreements(services) == [0, 0]
        arrived(upstream)
        await until(lambda: arrived(upstream))  # it is under way
        await asyncio.to_thread(upstream.http.post, "/__demo/release")
        await services.tasks.drain(10.0)
        assert agreements(services)[0] == 1


async def test_its_answer_is_not_kept_and_the_reused_one_stays(upstream: Upstream) -> None:
    async with verifying(upstream) as services:
        await again(services, RAW)
        hits = [await again(services, RAW) for _ in range(3)]
        assert {hit.source for hit in hits} == {"intent"}
        assert len({hit.body for hit in hits}) == 1
        assert len({hit.headers["x-olvido-reuse"] for hit in hits}) == 1
        assert services.intent.partitions.entries == 1
        assert agreements(services)[0] == 3


# --- which are verified -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "source"), [(0.0, "intent"), (1.0, "exact")])
async def test_what_is_not_sampled_costs_nothing(
    upstream: Upstream, share: float, source: Literal["exact", "intent"]
) -> None:
    async with verifying(upstream, share) as services:
        await verify(services, completion(PLAIN), source=source)
        assert arrived(upstream) == []
        assert await rows(services) == []
        assert agreements(services) == [0, 0]


# --- how far both agree -----------------------------------------------------------------------------------------------


async def test_the_systems_line_is_no_disagreement(upstream: Upstream) -> None:
    said = await upstreams_own(upstream)
    async with verifying(upstream) as services:
        await verify(services, completion(f"{LINE}\n\n{said}"))
        assert agreements(services) == pytest.approx([1, 1], abs=1e-3)


@pytest.mark.parametrize("stream", [False, True])
async def test_another_answer_is(upstream: Upstream, *, stream: bool) -> None:
    async with verifying(upstream) as services:
        await verify(services, completion(PLAIN), raw=body(user(ASKED), model="demo-chat", stream=stream))
        count, cosines = agreements(services)
        assert count == 1
        assert abs(cosines) < 0.5


@pytest.mark.parametrize(
    "answer",
    [
        completion(""),
        completion(None),
        {"choices": ["x"]},
        {"choices": []},
        {"choices": [{"message": "x"}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": "x"}]}}]},
        {"x": 1},
    ],
)
async def test_where_there_is_no_text_there_is_no_agreement_either(
    upstream: Upstream, answer: Mapping[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with verifying(upstream) as services:
        await verify(services, answer)
        assert agreements(services) == [0, 0]
        assert len(arrived(upstream)) == len(await rows(services)) == 1
    assert "background task failed" not in caplog.text


async def test_without_vectors_there_is_none(upstream: Upstream, caplog: pytest.LogCaptureFixture) -> None:
    async with verifying(upstream) as services:
        await services.intent.embedder.close()
        await verify(services, completion(PLAIN))
        assert len(arrived(upstream)) == 1
        assert agreements(services) == [0, 0]
        assert total(services, "olvido_fail_open_total", stage="verify", reason="EmbeddingUnavailable") == 1
    assert "background task failed" not in caplog.text


# --- what it leaves behind --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [{}, {"temperature": 0}])
async def test_it_leaves_no_trace_but_its_row(upstream: Upstream, fields: Mapping[str, Any]) -> None:
    raw = body(user(ASKED), model="demo-chat", **fields)
    async with verifying(upstream) as services:
        await verify(services, completion(PLAIN), raw=raw)
        assert len(arrived(upstream)) == 1
        request = parse(raw)
        known = who(services, request)
        assert await services.storage.sessions.longest_prefix(known.scope.id, known.chain) is None
        assert services.intent.partitions.entries == 0
        assert len(services.shared.flights) == 0
        assert (await again(services, raw)).source == "upstream"


# --- when it goes wrong -----------------------------------------------------------------------------------------------

FAULTS = ["500", "502", "429=0", "reset=0", "reset=1", "cut=1", "garbage=1", "error-event=1", "no-done", "gzip"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
async def test_an_upstream_that_fails_hurts_nobody(
    upstream: Upstream, fault: str, caplog: pytest.LogCaptureFixture, *, stream: bool
) -> None:
    raw = body(user(ASKED), model="demo-chat", stream=stream)
    with caplog.at_level(logging.WARNING):
        async with verifying(upstream) as services:
            await again(services, raw)
            calm = await again(services, raw)
            hit = await again(services, raw, headers=((FAULT, fault),), request_id="req_f")
            assert (hit.status, hit.source, hit.body) == (200, "intent", calm.body)
            assert hit.plan == "untouched"
            assert len([row for row in await rows(services) if row.request_id == "req_f-verify"]) == 1
            assert (await again(services, raw)).source == "intent"
    assert "background task failed" not in caplog.text


async def test_an_upstream_that_is_gone_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    with run_upstream() as leaving:
        up = verifying(leaving)
        services = await up.__aenter__()
        await again(services, RAW)
    try:
        hit = await again(services, RAW, request_id="req_2")
        assert (hit.status, hit.source) == (200, "intent")
        (row,) = [row for row in await rows(services) if row.request_id == "req_2-verify"]
        assert (row.outcome, row.cost) == ("upstream_error", 0)
        assert agreements(services) == [0, 0]
    finally:
        await up.__aexit__(None, None, None)
    assert "background task failed" not in caplog.text
