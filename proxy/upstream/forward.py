"""Forwarding of a request: retries and fallback before the first byte, then every byte as it comes; and the decision
after each failure, to retry, to fall back or to give up.

Every delivery is reported exactly once, however it ends (complete, client gone, upstream broken).
"""

import asyncio
import email.utils
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from itertools import count
from time import perf_counter, time
from typing import Literal

from proxy.config import Upstream as UpstreamConfig
from proxy.errors import BreakerOpen, UpstreamBroken, UpstreamError, UpstreamTimeout
from proxy.observe.metrics import Metrics
from proxy.observe.tracing import Call, Trace, current, with_parent
from proxy.protocol import headers as wire_headers
from proxy.protocol.apis import path_of
from proxy.types import Answer, ChatRequest, Delivery, Headers, Outcome, Prompt
from proxy.upstream.client import Response, Route, Upstream
from proxy.upstream.outage import DOWN
from proxy.upstream.relay import Relay, Reply

# An answer up to this size is read whole before it is passed on, so one that breaks off becomes an error and not half
# an answer; a larger one is streamed through, and stays unaccounted.
MAX_WHOLE_BYTES = 32 * 1024 * 1024

FIRST_DELAY = 0.5  # seconds; as in the official SDKs, doubled each time up to the longest, jittered down by a quarter
LONGEST_DELAY = 8.0

Report = Callable[[Delivery], None]


@dataclass(frozen=True, slots=True)
class Decision:
    """The next step after a failure."""

    action: Literal["retry", "fall_back", "give_up"]
    delay: float = 0.0  # seconds before a retry


@dataclass(slots=True)
class _Forwarding:
    """A request on its way upstream."""

    request: ChatRequest
    client_headers: Headers
    route: Route
    prompt_for: Callable[[Upstream], Prompt]
    query: str
    metrics: Metrics
    trace: Trace | None  # None: the request is not traced
    retries: int = 0  # so far, at all upstreams
    failure: UpstreamError | None = None  # the newest

    async def reply(self) -> Reply:
        """Returns the first answer that needs neither retry nor fallback, or the last one. Raises UpstreamError if
        there is none."""
        metrics, candidates = self.metrics, self.route.candidates
        for position, upstream in enumerate(candidates):
            has_fallback = position + 1 < len(candidates)
            for attempt in count():
                result = await self._attempt(upstream, attempt, has_fallback=has_fallback)
                if isinstance(result, Reply):
                    return result
                if result.action != "retry":
                    break
                if result.delay > 0:
                    await asyncio.sleep(result.delay)
                self.retries += 1
                metrics.of(metrics.upstream_retries, upstream.name).inc()
            if has_fallback:
                metrics.of(metrics.upstream_fallbacks, upstream.name).inc()
        assert self.failure is not None, "the last candidate either answers or fails"
        raise self.failure

    async def _attempt(self, upstream: Upstream, attempt: int, *, has_fallback: bool) -> Reply | Decision:
        """Asks once. Returns the answer if it is final, else what to do next."""
        metrics = self.metrics
        prompt = self.prompt_for(upstream)
        if not upstream.breaker.allow():
            self.failure = _breaker_open(upstream)
            return Decision("fall_back")
        started = perf_counter()
        call = None if self.trace is None else self._call(self.trace, upstream)
        try:
            response = await self._send(upstream, prompt, call)
        except UpstreamError as error:
            if call is not None:
                call.failed(error.code or type(error).__name__)
            upstream.breaker.failure()
            self.failure = error
            metrics.of(metrics.upstream_errors, upstream.name, error.code or "").inc()
            return after_failure(error, attempt, upstream.config, has_fallback=has_fallback)
        except BaseException:
            if call is not None:
                call.failed("client_gone")
            upstream.breaker.abandoned()
            raise
        else:
            status = response.status
            if status in DOWN:
                upstream.breaker.failure()
            else:
                upstream.breaker.success()
            decision = after_status(
                status, response.headers, attempt, upstream.config, has_fallback=has_fallback, now=time()
            )
            if decision.action == "give_up":
                return Reply(upstream, response, started, perf_counter() - started, self.retries, prompt, call)
            if call is not None:
                call.failed(str(status), status)
            metrics.of(metrics.upstream_errors, upstream.name, str(status)).inc()
            response.close()
            return decision
        finally:
            metrics.breaker(upstream.name, is_open=upstream.breaker.state != "closed")

    def _call(self, trace: Trace, upstream: Upstream) -> Call:
        config, request = upstream.config, self.request
        model = config.aliases.get(request.model, request.model)
        return trace.call(
            upstream.name, config.dialect, config.base_url, model, streamed=request.stream, resent=self.retries
        )

    def _send(self, upstream: Upstream, prompt: Prompt, call: Call | None) -> Awaitable[Response]:
        timeout = upstream.config.timeout
        headers = self._headers(upstream, prompt)
        if call is not None:
            headers = with_parent(headers, call.parent)
        # Without streaming the first byte comes when the whole answer has been generated.
        return upstream.send(
            "POST",
            upstream.url(path_of(prompt.api), self.query),
            headers,
            prompt.body,
            timeout.first_byte if self.request.stream else timeout.answer,
        )

    def _headers(self, upstream: Upstream, prompt: Prompt) -> list[tuple[str, str]]:
        asked = self.client_headers
        if self.request.origin is not None and prompt.api == "chat":
            asked = wire_headers.for_chat(asked)
        name, key = upstream.key_for(prompt.api)
        return wire_headers.to_upstream(asked, authorization=key, managed=True, key_header=name)


async def forward(
    request: ChatRequest,
    client_headers: Headers,
    route: Route,
    prompt_for: Callable[[Upstream], Prompt],
    *,
    query: str = "",
    report: Report,
    metrics: Metrics,
    whole: int = MAX_WHOLE_BYTES,
) -> Answer:
    """Returns the upstream's answer. `prompt_for` returns the body for an upstream. `report` is called once, when the
    last byte has passed or it is clear that none will. `whole`: bytes up to which an answer is read whole. Raises
    UpstreamError if no upstream answered."""
    started = perf_counter()
    forwarding = _Forwarding(request, client_headers, route, prompt_for, query, metrics, current())
    try:
        reply = await forwarding.reply()
    except BaseException as error:
        outcome: Outcome = "our_error"
        if isinstance(error, asyncio.CancelledError):
            outcome = "client_gone"
        elif isinstance(error, UpstreamError):
            outcome = "upstream_error"
        report(
            Delivery(
                outcome,
                status=error.status if isinstance(error, UpstreamError) else 0,
                upstream=route.upstream.name,
                model=request.model,
                streamed=request.stream,
                retries=forwarding.retries,
                upstream_seconds=perf_counter() - started,
            )
        )
        raise
    metrics.tally.observe(metrics.first_byte_seconds, reply.first_byte_seconds, reply.upstream.name)
    if reply.response.status >= 400:
        metrics.of(metrics.upstream_errors, reply.upstream.name, str(reply.response.status)).inc()
    return await _deliver(reply.response, Relay(reply, request, report=report, metrics=metrics), whole)


def _breaker_open(upstream: Upstream) -> BreakerOpen:
    seconds = max(1, round(upstream.breaker.retry_after + 0.5))
    return BreakerOpen(
        f"upstream {upstream.name!r} has failed repeatedly and is left alone for {seconds} s",
        headers=(("retry-after", str(seconds)),),
    )


async def _deliver(response: Response, relay: Relay, most: int) -> Answer:
    """Returns the answer: a stream as it comes, anything else read whole first."""
    status, headers = response.status, response.headers
    if wire_headers.is_event_stream(headers):
        relay.expect_events(readable=wire_headers.coding(headers) == "identity")
        return Answer(status, wire_headers.to_client(headers, length=False), relay, api=relay.api)

    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := await response.read():
            chunks.append(chunk)
            size += len(chunk)
            if size > most:
                relay.resume(b"".join(chunks))
                return Answer(status, wire_headers.to_client(headers, length=True), relay, api=relay.api)
    except BaseException as error:
        relay.finish("upstream_broken" if isinstance(error, UpstreamError) else "client_gone")
        raise
    whole = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    relay.finish("complete" if status < 400 else "upstream_error", whole)
    return Answer(status, wire_headers.to_client(headers, length=False), whole, api=relay.api)


def after_status(
    status: int,
    headers: Headers,
    attempt: int,
    settings: UpstreamConfig,
    *,
    has_fallback: bool,
    now: float,
    jitter: Callable[[], float] = random.random,
) -> Decision:
    """Returns what to do about an answer. `attempt` counts from 0; `jitter` returns [0, 1). If the upstream asks for a
    longer pause than the settings allow, its answer, Retry-After included, goes to the fallback or to the client."""
    if status != 429 and not 500 <= status < 600:
        return Decision("give_up")
    otherwise = Decision("fall_back" if has_fallback else "give_up")
    if attempt >= settings.retries or wire_headers.get(headers, "x-should-retry") == "false":
        return otherwise
    asked = retry_after(headers, now)
    if asked is None:
        return Decision("retry", backoff(attempt, jitter))
    return Decision("retry", asked) if asked <= settings.max_retry_wait else otherwise


def after_failure(
    error: UpstreamError,
    attempt: int,
    settings: UpstreamConfig,
    *,
    has_fallback: bool,
    jitter: Callable[[], float] = random.random,
) -> Decision:
    """Returns what to do when no answer came. A timeout isn't retried at the same upstream: it may still be working on
    (and billing) the request. The first retry of a broken connection is immediate: most often it was a kept-alive
    connection that the upstream had just closed."""
    if isinstance(error, UpstreamTimeout) or attempt >= settings.retries:
        return Decision("fall_back" if has_fallback else "give_up")
    return Decision("retry", 0.0 if isinstance(error, UpstreamBroken) and attempt == 0 else backoff(attempt, jitter))


def backoff(attempt: int, jitter: Callable[[], float]) -> float:
    """Returns the seconds before the next attempt."""
    return float(min(FIRST_DELAY * 2**attempt, LONGEST_DELAY) * (1 - 0.25 * jitter()))


def retry_after(headers: Headers, now: float) -> float | None:
    """Returns the seconds that the upstream asks to wait (`retry-after-ms`, or `retry-after` as seconds or HTTP date);
    None if it does not."""
    milliseconds = _number(wire_headers.get(headers, "retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = wire_headers.get(headers, "retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        date = email.utils.parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # the latter for a time zone of many digits
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else -1.0
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
