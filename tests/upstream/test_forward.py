"""To the upstream and back: again, elsewhere, or an error; told once, however it ends."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.errors import BreakerOpen, UpstreamBroken, UpstreamError, UpstreamTimeout, UpstreamUnreachable
from proxy.observe.metrics import Metrics
from proxy.tasks import Tasks
from proxy.types import Answer, ChatRequest, Delivery, Headers, Plan, Prompt, PromptTokens
from proxy.upstream.client import Router
from proxy.upstream.client import Upstream as Client
from proxy.upstream.forward import (
    FIRST_DELAY,
    LONGEST_DELAY,
    Decision,
    after_failure,
    after_status,
    backoff,
    forward,
    retry_after,
)
from proxy.upstream.outage import DOWN
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


NOW = 1_445_412_470.0  # 2015-10-21 07:27:50 GMT
NONE: Headers = ()
RETRY, GIVE_UP, FALL_BACK = Decision("retry", FIRST_DELAY), Decision("give_up"), Decision("fall_back")


def wait(seconds: float) -> Decision:
    return Decision("retry", seconds)


def decided(
    status: int, headers: Headers = NONE, *, attempt: int = 0, retries: int = 2, has_fallback: bool = False
) -> Decision:
    return after_status(
        status,
        headers,
        attempt,
        upstream_config(retries=retries, max_retry_wait=10.0),
        has_fallback=has_fallback,
        now=NOW,
        jitter=lambda: 0.0,
    )


@pytest.mark.parametrize("has_fallback", [False, True])
@pytest.mark.parametrize("status", [200, 201, 204, 301, 400, 401, 403, 404, 409, 413, 422, 499, 600])
def test_an_answer_that_the_request_has_earned_goes_to_the_client(status: int, has_fallback: bool) -> None:
    assert decided(status, has_fallback=has_fallback) == GIVE_UP


RETRYABLE = (429, 500, 501, 502, 503, 504, 507, 520, 529, 599)


@pytest.mark.parametrize("status", RETRYABLE)
def test_an_answer_that_may_be_another_next_time_is_asked_for_again(status: int) -> None:
    assert decided(status) == RETRY
    assert decided(status, attempt=1) == wait(2 * FIRST_DELAY)
    assert decided(status, attempt=2) == GIVE_UP
    assert decided(status, attempt=2, has_fallback=True) == FALL_BACK
    assert decided(status, retries=0) == GIVE_UP
    assert decided(status, retries=0, has_fallback=True) == FALL_BACK


def test_what_counts_against_an_upstream_is_always_asked_for_again() -> None:
    assert all(decided(status) == RETRY for status in DOWN)
    assert not {429, 500} & DOWN  # one request may have earned these


@pytest.mark.parametrize(
    ("headers", "alone", "with_fallback"),
    [
        ([("retry-after", "3")], wait(3.0), wait(3.0)),
        ([("retry-after", "0")], wait(0.0), wait(0.0)),
        ([("retry-after", "2.5")], wait(2.5), wait(2.5)),
        ([("retry-after", "10")], wait(10.0), wait(10.0)),
        ([("retry-after", "11")], GIVE_UP, FALL_BACK),
        ([("retry-after", "86400")], GIVE_UP, FALL_BACK),
        ([("retry-after-ms", "250")], wait(0.25), wait(0.25)),
        ([("retry-after-ms", "10001")], GIVE_UP, FALL_BACK),
        ([("retry-after-ms", "250"), ("retry-after", "60")], wait(0.25), wait(0.25)),
        ([("retry-after-ms", "soon"), ("retry-after", "3")], wait(3.0), wait(3.0)),
        ([("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")], wait(10.0), wait(10.0)),
        ([("retry-after", "Wed, 21 Oct 2015 07:28:01 GMT")], GIVE_UP, FALL_BACK),
        ([("retry-after", "Wed, 21 Oct 2015 07:28:00")], wait(10.0), wait(10.0)),
        ([("retry-after", "Wed, 21 Oct 2015 09:28:00 +0200")], wait(10.0), wait(10.0)),
        ([("retry-after", "Wed, 21 Oct 2009 07:28:00 GMT")], wait(0.0), wait(0.0)),
        ([("retry-after", "in a while")], RETRY, RETRY),
        ([("retry-after", "")], RETRY, RETRY),
        ([("retry-after", "-3")], RETRY, RETRY),
        ([("retry-after", "nan")], RETRY, RETRY),
        ([("retry-after", "inf")], RETRY, RETRY),
        ([("retry-after", "1e999")], RETRY, RETRY),
        ([("retry-after", "Wed, 99 Oct 2015 07:28:00 GMT")], RETRY, RETRY),
        ([("retry-after", f"Wed, 21 Oct 2015 07:28:00 +{'9' * 30}")], RETRY, RETRY),
        ([("x-should-retry", "false")], GIVE_UP, FALL_BACK),
        ([("x-should-retry", "false"), ("retry-after", "1")], GIVE_UP, FALL_BACK),
        ([("x-should-retry", "true")], RETRY, RETRY),
        ([("x-should-retry", "true"), ("retry-after", "60")], GIVE_UP, FALL_BACK),
    ],
)
def test_the_upstream_says_when(headers: list[tuple[str, str]], alone: Decision, with_fallback: Decision) -> None:
    assert decided(429, tuple(headers)) == alone
    assert decided(429, tuple(headers), has_fallback=True) == with_fallback


def test_a_date_without_a_zone_is_not_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        monkeypatch.setenv("TZ", "America/Argentina/Buenos_Aires")
        time.tzset()
        assert decided(429, (("retry-after", "Wed, 21 Oct 2015 07:28:00"),)) == wait(10.0)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("failure", "attempt", "alone", "with_fallback"),
    [
        (UpstreamUnreachable, 0, RETRY, RETRY),
        (UpstreamUnreachable, 1, wait(2 * FIRST_DELAY), wait(2 * FIRST_DELAY)),
        (UpstreamUnreachable, 2, GIVE_UP, FALL_BACK),
        (UpstreamBroken, 0, wait(0.0), wait(0.0)),
        (UpstreamBroken, 1, wait(2 * FIRST_DELAY), wait(2 * FIRST_DELAY)),
        (UpstreamBroken, 2, GIVE_UP, FALL_BACK),
        (UpstreamTimeout, 0, GIVE_UP, FALL_BACK),
        (UpstreamTimeout, 2, GIVE_UP, FALL_BACK),
    ],
)
def test_no_answer(failure: type[UpstreamError], attempt: int, alone: Decision, with_fallback: Decision) -> None:
    settings = upstream_config(retries=2)
    for has_fallback, expected in ((False, alone), (True, with_fallback)):
        got = after_failure(failure(""), attempt, settings, has_fallback=has_fallback, jitter=lambda: 0.0)
        assert got == expected


@pytest.mark.parametrize(
    ("attempt", "jitter", "seconds"), [(0, 0.0, 0.5), (1, 0.0, 1.0), (4, 0.0, 8.0), (9, 0.0, 8.0), (0, 0.5, 0.4375)]
)
def test_each_pause_is_twice_the_one_before_up_to_the_longest(attempt: int, jitter: float, seconds: float) -> None:
    assert backoff(attempt, lambda: jitter) == seconds


@given(st.integers(0, 10), st.floats(0, 1, exclude_max=True))
def test_jitter_takes_at_most_a_quarter(attempt: int, jitter: float) -> None:
    whole = backoff(attempt, lambda: 0.0)
    assert 0.75 * whole <= backoff(attempt, lambda: jitter) <= whole <= LONGEST_DELAY


_dates = st.lists(
    st.sampled_from(
        ["Wed,", "21", "Oct", "2015", "07:28:00", "GMT", "+0200", "-", "99", "0", "9" * 20, ":", "é", "\x00"]
    ),
    max_size=8,
).map(" ".join)


@given(_dates | st.text(max_size=20))
@example(f"Mon, 20 Nov 1995 19:12:08 +{'9' * 30}")
@example("Mon, 20 Nov 1 00:00:00 +2300")
def test_whatever_stands_in_retry_after_is_a_pause_or_nothing(value: str) -> None:
    for name in ("retry-after", "retry-after-ms"):
        seconds = retry_after(((name, value),), NOW)
        assert seconds is None or 0 <= seconds < float("inf")
