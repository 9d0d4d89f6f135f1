"""A stream on its way: whole events in the upstream's own bytes, and never a clean end that it did not have."""

import asyncio
from itertools import pairwise
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import UpstreamBroken, UpstreamError, UpstreamTimeout
from proxy.observe.metrics import Metrics
from proxy.protocol import sse
from proxy.tasks import Tasks
from proxy.types import Delivery, Headers, Plan, Prompt, PromptTokens, Usage
from proxy.upstream.client import Upstream
from proxy.upstream.relay import Relay, Reply
from tests.builders import chat, completion, upstream_config, user

TEXT = "The archive holds what the window has let go. " * 9
EVENTS = sse.as_sse(completion(TEXT), include_usage=True)
STREAM = b"".join(EVENTS)
FINISHED = STREAM.index(b'"finish_reason":"stop"}]}') + len(b'"finish_reason":"stop"}]}')
USAGE = next(event for event in EVENTS if b'"choices":[]' in event)


class Body:
    """The response of an upstream: pieces, then an error, or silence, or the end."""

    headers: Headers = (("content-type", "text/event-stream"),)

    def __init__(self, *pieces: bytes, status: int = 200, error: Exception | None = None, silent: bool = False) -> None:
        self.status = status
        self._pieces = iter(each for each in pieces if each)
        self._error = error
        self._silent = silent
        self.closed = False

    async def read(self) -> bytes:
        if piece := next(self._pieces, b""):
            return piece
        if self._error:
            raise self._error
        if self._silent:
            await asyncio.Event().wait()
        return b""

    def close(self) -> None:
        self.closed = True


GONE = UpstreamBroken("gone")
UPSTREAM = Upstream(upstream_config())


class Relayed:
    """One answer, from the upstream's headers to what became of it."""

    def __init__(self, body: Body, *, strip_usage: bool = False) -> None:
        self.body = body
        self.metrics = Metrics()
        self.tasks = Tasks()
        self.reports: list[Delivery] = []
        plan = Plan("untouched", PromptTokens(1, 1))
        reply = Reply(UPSTREAM, body, perf_counter(), 0.25, 1, Prompt(b"{}", plan, strip_usage))
        request = chat(user("hi"), model="asked-for", stream=True)
        self.relay = Relay(reply, request, report=self.reports.append, metrics=self.metrics)
        self.error: UpstreamError | None = None

    async def read(self) -> bytes:
        """All that the client gets; `error` says how it ended."""
        seen = b""
        try:
            async for piece in self.relay:
                seen += piece
        except UpstreamError as error:
            self.error = error
        finally:
            await self.relay.aclose()
        await self.tasks.drain(5.0)
        return seen

    @property
    def report(self) -> Delivery:
        (report,) = self.reports
        return report

    def counted(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, labels)


def events(body: Body, **settings: Any) -> Relayed:
    relayed = Relayed(body, **settings)
    relayed.relay.expect_events(readable=True)
    return relayed


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(stream) + 1) for place in places}), len(stream)]
    return [stream[start:stop] for start, stop in pairwise(edges)]


cuts = st.lists(st.integers(0, len(STREAM)), max_size=12)


@given(cuts)
def test_a_stream_passes_to_the_byte_and_is_read_along_the_way(places: list[int]) -> None:
    relayed = events(Body(*cut(STREAM, places)))
    assert asyncio.run(relayed.read()) == STREAM
    report = relayed.report
    assert (report.outcome, report.status, report.streamed, report.model) == ("complete", 200, True, "m-2026")
    assert report.completion == completion(TEXT)
    assert report.usage == Usage(9, 3)
    assert (report.retries, report.first_byte_seconds) == (1, 0.25)


def whole_events(stream: bytes) -> bytes:
    return stream[: stream.rfind(b"\n\n") + 2] if b"\n\n" in stream else b""


@given(st.integers(0, len(STREAM)), cuts)
def test_a_stream_that_breaks_anywhere_ends_after_a_whole_event_with_an_error(at: int, places: list[int]) -> None:
    relayed = events(Body(*cut(STREAM[:at], places), error=GONE))
    seen = asyncio.run(relayed.read())
    assert isinstance(relayed.error, UpstreamBroken)
    assert seen == whole_events(STREAM[:at]) + b"data: " + relayed.error.body() + b"\n\n"
    assert relayed.report.outcome == "upstream_broken"
    assert relayed.report.completion is None
    assert relayed.body.closed


@given(st.integers(0, len(STREAM)), cuts)
def test_nor_is_one_that_just_ends_taken_for_a_whole_answer(at: int, places: list[int]) -> None:
    relayed = events(Body(*cut(STREAM[:at], places)))
    seen = asyncio.run(relayed.read())
    finished = at >= FINISHED
    if finished or at <= len(b"data: "):
        assert relayed.error is None
        assert seen == STREAM[:at]
    else:
        assert isinstance(relayed.error, UpstreamBroken)
        assert seen == whole_events(STREAM[:at]) + b"data: " + relayed.error.body() + b"\n\n"
    assert relayed.report.outcome == ("upstream_broken" if relayed.error else "complete")
    assert (relayed.report.completion is not None) <= finished


@given(cuts)
def test_usage_that_only_we_asked_for_is_read_and_not_passed(places: list[int]) -> None:
    relayed = events(Body(*cut(STREAM, places)), strip_usage=True)
    assert asyncio.run(relayed.read()) == STREAM.replace(USAGE, b"")
    assert relayed.report.usage == Usage(9, 3)


async def test_every_event_passes_before_the_next_has_come() -> None:
    relayed = events(Body(*EVENTS[:3], silent=True))
    running = aiter(relayed.relay)
    assert [await anext(running) for _ in range(3)] == EVENTS[:3]
    await relayed.relay.aclose()


async def test_an_upstream_that_falls_silent_is_given_up_with_an_error() -> None:
    relayed = events(Body(*EVENTS[:3], error=UpstreamTimeout("silence")))
    seen = await relayed.read()
    assert isinstance(relayed.error, UpstreamTimeout)
    assert seen == b"".join(EVENTS[:3]) + b"data: " + relayed.error.body() + b"\n\n"
    assert relayed.counted("olvido_upstream_errors_total", upstream="up", kind="cut") == 1


async def test_when_the_client_leaves_the_upstream_is_let_go_and_told_once() -> None:
    relayed = events(Body(*EVENTS))
    running = aiter(relayed.relay)
    for _ in range(3):
        await anext(running)
    await relayed.relay.aclose()
    await relayed.relay.aclose()
    await relayed.tasks.drain(5.0)
    assert relayed.body.closed
    assert (relayed.report.outcome, relayed.report.completion) == ("client_gone", None)
    assert relayed.report.partial is not None
    assert relayed.report.partial["choices"][0]["message"]["content"]


async def test_so_is_one_whose_answer_was_never_begun() -> None:
    relayed = events(Body(*EVENTS))
    await relayed.relay.aclose()
    await relayed.tasks.drain(5.0)
    assert relayed.report.outcome == "client_gone"
    assert relayed.body.closed


async def test_a_client_that_is_cancelled_while_it_waits_has_left() -> None:
    relayed = events(Body(*EVENTS[:3], silent=True))
    reading = relayed.tasks.spawn(relayed.read(), name="reading")
    while len(relayed.tasks) and not relayed.reports:
        await asyncio.sleep(0)
        reading.cancel()
    assert relayed.report.outcome == "client_gone"
    await relayed.tasks.drain(5.0)


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b": only a comment\n\n",
        b"data: no json\n\ndata: [DONE]\n\n",
        b'data: {"choices": [{"delta"\x00 \xff\xfe}\n\n',
        b"event: ping\nid: 7\n\n",
        b"<html>not a stream at all",
        b'data: {"type": "response.created"}\n\n',
    ],
)
async def test_what_is_no_stream_of_completion_chunks_passes_as_it_is(stream: bytes) -> None:
    relayed = events(Body(stream))
    assert await relayed.read() == stream
    assert relayed.error is None
    assert (relayed.report.outcome, relayed.report.completion) == ("complete", None)


async def test_an_error_that_the_upstream_streams_is_its_own_to_tell() -> None:
    stream = EVENTS[0] + b'data: {"error": {"message": "overloaded"}}\n\n'
    relayed = events(Body(stream))
    assert await relayed.read() == stream
    assert relayed.error is None
    assert relayed.report.completion is None


async def test_an_event_too_large_to_hold_passes_and_the_rest_is_not_read() -> None:
    huge = b"data: " + b"x" * (17 * 2**20) + b"\n\n"
    pieces = [huge[start : start + 3_000_000] for start in range(0, len(huge), 3_000_000)]
    relayed = events(Body(EVENTS[0], *pieces, *EVENTS[1:]))
    assert await relayed.read() == EVENTS[0] + huge + b"".join(EVENTS[1:])
    assert relayed.error is None
    assert (relayed.report.outcome, relayed.report.completion) == ("complete", None)
    assert relayed.counted("olvido_fail_open_total", stage="read_stream", reason="EventTooLargeError") == 1


async def test_a_stream_that_is_compressed_passes_unread() -> None:
    relayed = Relayed(Body(b"\x1f\x8b\x08", b"..."))
    relayed.relay.expect_events(readable=False)
    assert await relayed.read() == b"\x1f\x8b\x08..."
    assert (relayed.report.outcome, relayed.report.model) == ("complete", "asked-for")


async def test_a_body_too_large_to_hold_goes_on_where_it_was() -> None:
    relayed = Relayed(Body(b"one ", b"two ", b"three"))
    relayed.relay.resume(await relayed.body.read())
    assert await relayed.read() == b"one two three"
    assert (relayed.report.outcome, relayed.report.streamed) == ("complete", False)


async def test_one_that_breaks_then_has_no_error_event_in_it() -> None:
    relayed = Relayed(Body(b"one ", error=GONE))
    assert await relayed.read() == b"one "
    assert isinstance(relayed.error, UpstreamBroken)
    assert relayed.report.outcome == "upstream_broken"


async def test_a_stream_with_the_status_of_an_error_is_an_error() -> None:
    relayed = events(Body(STREAM, status=500))
    assert await relayed.read() == STREAM
    assert relayed.report.outcome == "upstream_error"
    assert relayed.report.completion is None
