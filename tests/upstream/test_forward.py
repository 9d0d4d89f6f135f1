"""To the upstream and back: again, elsewhere, or an error; told once, however it ends."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from typing import Any

import pytest

from proxy.errors import BreakerOpen, UpstreamBroken, UpstreamError, UpstreamTimeout, UpstreamUnreachable
from proxy.observe.metrics import Metrics
from proxy.tasks import Tasks
from proxy.types import Answer, ChatRequest, Delivery, Headers, Plan, Prompt, PromptTokens
from proxy.upstream.client import Upstream as Client
from proxy.upstream.forward import forward
from proxy.upstream.routing import Router
from tests.builders import chat, upstream_config, user
from tests.proxied import KEY, Upstream, run_upstream
from tests.servers import eventually

PLAN = Plan("untouched", PromptTokens(1, 1))
ASKED = chat(user("What is a black hole?"), model="demo-chat")
STREAMED = chat(user("What is a black hole?"), model="demo-chat", stream=True)

_attempts = count()


@pytest.fixture(scope="module")
def running() -> Iterator[Upstream]:
    with run_upstream() as upstream:
        yield upstream


@pytest.fixture
def upstream(running: Upstream) -> Upstream:
    running.bodies()
    return running


class Road:
    """The upstreams that a request may go to, the first of which is asked first; and what was told of it."""

    def __init__(self, *upstreams: Client) -> None:
        self.upstreams = upstreams
        self.router = Router(upstreams, reject_unknown=False)
        self.metrics = Metrics()
        self.tasks = Tasks()
        self.reports: list[Delivery] = []

    async def go(self, request: ChatRequest = ASKED, fault: str = "", *more: tuple[str, str]) -> Answer:
        told = (("x-demo-fault", fault), ("x-demo-fault-key", f"forward-{next(_attempts)}")) if fault else ()
        headers: Headers = (("authorization", f"Bearer {KEY}"), ("content-type", "application/json"), *told, *more)
        return await forward(
            request,
            headers,
            self.router.route(request.model),
            lambda upstream: Prompt(upstream.config.aliases.get("body", request.raw.decode()).encode(), PLAN),
            report=self.reports.append,
            tasks=self.tasks,
            metrics=self.metrics,
        )

    @property
    def report(self) -> Delivery:
        (report,) = self.reports
        return report

    def counted(self, name: str, **labels: str) -> float:
        return self.metrics.registry.get_sample_value(name, labels) or 0.0

    async def close(self) -> None:
        await self.tasks.drain(5.0)
        for upstream in self.upstreams:
            await upstream.close()


Build = Callable[..., Road]


@pytest.fixture
async def road(upstream: Upstream) -> AsyncIterator[Build]:
    """`road({...}, {...})`: upstreams with these settings, each the fallback of the one before."""
    built: list[Road] = []

    def build(*settings: dict[str, Any]) -> Road:
        names = [f"up{number}" for number in range(len(settings) or 1)]
        fallbacks = [*names[1:], None]
        road = Road(
            *(
                Client(
                    upstream_config(
                        name,
                        **{"base_url": f"{upstream.url}/v1", "retries": 0, "fallback": fallback, **given},
                    )
                )
                for name, fallback, given in zip(names, fallbacks, settings or ({},), strict=True)
            )
        )
        built.append(road)
        return road

    yield build
    for each in built:
        await each.close()


async def read(answer: Answer) -> bytes:
    if isinstance(answer.body, bytes):
        return answer.body
    try:
        return b"".join([piece async for piece in answer.body])
    finally:
        await answer.body.aclose()


# --- an answer ------------------------------------------------------------------------------------------------------


@pytest.mark.note("4.1/6")
async def test_a_whole_answer_is_read_and_told(road: Build, upstream: Upstream) -> None:
    on = road()
    answer = await on.go()
    assert upstream.bodies() == [ASKED.raw]
    assert isinstance(answer.body, bytes)
    assert dict(answer.headers)["content-type"] == "application/json"
    assert (on.report.outcome, on.report.status, on.report.streamed) == ("complete", 200, False)
    assert on.report.raw_completion == answer.body
    assert on.report.upstream_seconds >= on.report.first_byte_seconds > 0
    assert on.counted("olvido_upstream_seconds_count", upstream="up0") == 1
    assert on.counted("olvido_upstream_first_byte_seconds_count", upstream="up0") == 1


async def test_a_stream_is_passed_on_before_it_is_told(road: Build) -> None:
    on = road()
    answer = await on.go(STREAMED)
    assert on.reports == []
    assert (await read(answer)).endswith(b"data: [DONE]\n\n")
    assert (on.report.outcome, on.report.streamed) == ("complete", True)
    assert on.report.completion is not None


async def test_an_error_of_the_upstream_goes_back_as_it_came(road: Build) -> None:
    on = road()
    answer = await on.go(fault="500")
    assert answer.status == 500
    assert (on.report.outcome, on.report.status) == ("upstream_error", 500)
    assert on.counted("olvido_upstream_errors_total", upstream="up0", kind="500") == 1


# --- again, and elsewhere -------------------------------------------------------------------------------------------


@pytest.mark.note("4/5")
@pytest.mark.parametrize("request_", [ASKED, STREAMED], ids=["whole", "streamed"])
@pytest.mark.parametrize(("fault", "retries"), [("429=0x2", 2), ("429=0.01x1", 1), ("reset=0x1", 1)])
async def test_what_fails_before_the_first_byte_is_asked_again(
    fault: str, retries: int, request_: ChatRequest, road: Build, upstream: Upstream
) -> None:
    on = road({"retries": 2})
    answer = await on.go(request_, fault)
    await read(answer)
    assert answer.status == 200
    assert upstream.bodies() == [request_.raw] * (retries + 1)
    assert on.report.retries == retries
    assert on.counted("olvido_upstream_retries_total", upstream="up0") == retries


@pytest.mark.parametrize("fault", ["429=0x1", "500x1", "502x1", "503x1", "reset=0x1", "429=60x1"])
async def test_then_the_fallback_is_asked_with_the_body_that_is_for_it(
    fault: str, road: Build, upstream: Upstream
) -> None:
    own = chat(user("What is a black hole?"), model="gpt-4o-mini").raw
    on = road({}, {"aliases": {"body": own.decode()}})
    answer = await on.go(fault=fault)
    assert answer.status == 200
    assert upstream.bodies() == [ASKED.raw, own]
    assert (on.report.upstream, on.report.retries) == ("up1", 0)
    assert on.counted("olvido_upstream_fallbacks_total", upstream="up0") == 1


async def test_when_all_of_them_fail_the_last_answer_goes_back(road: Build, upstream: Upstream) -> None:
    on = road({}, {}, {})
    answer = await on.go(fault="502")
    assert answer.status == 502
    assert len(upstream.bodies()) == 3
    assert (on.report.outcome, on.report.upstream) == ("upstream_error", "up2")


async def test_what_the_request_has_earned_is_not_asked_again(road: Build, upstream: Upstream) -> None:
    on = road({"retries": 2}, {})
    answer = await on.go(chat(user("hi"), model="no-such-model"))
    assert answer.status == 404
    assert len(upstream.bodies()) == 1


async def test_an_upstream_that_keeps_failing_is_left_alone(road: Build, upstream: Upstream) -> None:
    on = road({"breaker": {"failures": 1, "open_seconds": 60}})
    await on.go(fault="503")
    upstream.bodies()
    with pytest.raises(BreakerOpen) as caught:
        await on.go()
    assert 1 <= int(dict(caught.value.headers)["retry-after"]) <= 61
    assert upstream.bodies() == []
    assert on.counted("olvido_upstream_breaker_open", upstream="up0") == 1
    assert [report.outcome for report in on.reports] == ["upstream_error", "upstream_error"]
    assert on.reports[-1].status == 503


async def test_its_fallback_answers_meanwhile(road: Build, upstream: Upstream) -> None:
    on = road({"breaker": {"failures": 1, "open_seconds": 60}}, {})
    assert (await on.go(fault="503x1")).status == 200
    upstream.bodies()
    assert (await on.go()).status == 200
    assert len(upstream.bodies()) == 1
    assert {report.upstream for report in on.reports} == {"up1"}


# --- no answer ------------------------------------------------------------------------------------------------------

NOBODY = {"base_url": "http://127.0.0.1:9/v1"}
IMPATIENT = {"timeout": {"first_byte": 0.05, "answer": 0.05, "idle": 0.05}}


@pytest.mark.parametrize(
    ("settings", "fault", "error", "status"),
    [
        (NOBODY, "", UpstreamUnreachable, 502),
        (IMPATIENT, "slow-first-byte", UpstreamTimeout, 504),
        ({}, "reset=0", UpstreamBroken, 502),
    ],
)
async def test_an_upstream_that_does_not_answer_is_an_error_and_told_once(
    settings: dict[str, Any], fault: str, error: type[UpstreamError], status: int, road: Build
) -> None:
    on = road(settings)
    with pytest.raises(error):
        await on.go(fault=fault)
    assert (on.report.outcome, on.report.status, on.report.upstream) == ("upstream_error", status, "up0")
    assert on.counted("olvido_upstream_errors_total", upstream="up0", kind=error.code or "") == 1


@pytest.mark.parametrize(
    ("settings", "fault", "error"), [({}, "cut", UpstreamBroken), (IMPATIENT, "stall", UpstreamTimeout)]
)
async def test_half_an_answer_is_none(
    settings: dict[str, Any], fault: str, error: type[UpstreamError], road: Build
) -> None:
    on = road(settings)
    with pytest.raises(error):
        await on.go(fault=fault)
    assert (on.report.outcome, on.report.raw_completion) == ("upstream_broken", None)


@pytest.mark.parametrize("fault", ["slow-first-byte", "stall"])
async def test_when_the_client_leaves_the_upstream_is_let_go(fault: str, road: Build, upstream: Upstream) -> None:
    on = road()
    going = on.tasks.spawn(on.go(fault=fault), name="going")
    recorder = upstream.demo.recorder
    begun = fault == "stall"
    await asyncio.to_thread(eventually, lambda: any(begun <= (each.chunks_sent > 0) for each in recorder.requests))
    going.cancel()
    await on.tasks.drain(5.0)
    await asyncio.to_thread(eventually, lambda: all(each.closed_early for each in recorder.requests))
    assert going.cancelled()
    assert on.report.outcome == "client_gone"
