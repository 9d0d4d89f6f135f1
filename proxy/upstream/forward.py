"""Forwarding of a request: retries and fallback before the first byte, then every byte as it comes.

Every delivery is reported exactly once, however it ends (complete, client gone, upstream broken).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from time import perf_counter, time

import httpx

from proxy.errors import BreakerOpen, UpstreamError
from proxy.observe.metrics import Metrics
from proxy.protocol import headers as wire_headers
from proxy.tasks import Tasks
from proxy.types import Answer, ChatRequest, Delivery, Headers, Outcome, Prompt
from proxy.upstream.client import Upstream, close_response, response_headers
from proxy.upstream.relay import Relay, Reply
from proxy.upstream.routing import UPSTREAM_DOWN, Decision, Route, after_failure, after_status

PATH = "/chat/completions"

# An answer up to this size is read whole before it is passed on, so one that breaks off becomes an error and not half
# an answer; a larger one is streamed through, and stays unaccounted.
MAX_WHOLE_BYTES = 32 * 1024 * 1024

Report = Callable[[Delivery], None]


@dataclass(slots=True)
class _Forwarding:
    """A request on its way upstream."""

    request: ChatRequest
    client_headers: Headers
    route: Route
    prompt_for: Callable[[Upstream], Prompt]
    query: str
    metrics: Metrics
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
        try:
            response = await self._send(upstream, prompt)
        except UpstreamError as error:
            upstream.breaker.failure()
            self.failure = error
            metrics.of(metrics.upstream_errors, upstream.name, error.code or "").inc()
            return after_failure(error, attempt, upstream.config, has_fallback=has_fallback)
        except BaseException:
            upstream.breaker.abandoned()
            raise
        else:
            headers, status = response_headers(response), response.status_code
            if status in UPSTREAM_DOWN:
                upstream.breaker.failure()
            else:
                upstream.breaker.success()
            decision = after_status(status, headers, attempt, upstream.config, has_fallback=has_fallback, now=time())
            if decision.action == "give_up":
                seconds = perf_counter() - started
                return Reply(upstream, response, headers, started, seconds, self.retries, prompt)
            metrics.of(metrics.upstream_errors, upstream.name, str(status)).inc()
            await close_response(response)
            return decision
        finally:
            metrics.of(metrics.breaker_open, upstream.name).set(upstream.breaker.state != "closed")

    def _send(self, upstream: Upstream, prompt: Prompt) -> Awaitable[httpx.Response]:
        timeout = upstream.config.timeout
        # Without streaming the first byte comes when the whole answer has been generated.
        return upstream.send(
            "POST",
            upstream.url(PATH, self.query),
            wire_headers.to_upstream(self.client_headers, authorization=upstream.authorization, managed=True),
            prompt.body,
            timeout.first_byte if self.request.stream else timeout.answer,
        )


async def forward(
    request: ChatRequest,
    client_headers: Headers,
    route: Route,
    prompt_for: Callable[[Upstream], Prompt],
    *,
    query: str = "",
    report: Report,
    tasks: Tasks,
    metrics: Metrics,
) -> Answer:
    """Returns the upstream's answer. `prompt_for` returns the body for an upstream. `report` is called once, when the
    last byte has passed or it is clear that none will. Raises UpstreamError if no upstream answered."""
    started = perf_counter()
    forwarding = _Forwarding(request, client_headers, route, prompt_for, query, metrics)
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
    metrics.of(metrics.first_byte_seconds, reply.upstream.name).observe(reply.first_byte_seconds)
    if reply.response.status_code >= 400:
        metrics.of(metrics.upstream_errors, reply.upstream.name, str(reply.response.status_code)).inc()
    return await _deliver(reply, Relay(reply, request, report=report, tasks=tasks, metrics=metrics))


def _breaker_open(upstream: Upstream) -> BreakerOpen:
    seconds = max(1, round(upstream.breaker.retry_after + 0.5))
    return BreakerOpen(
        f"upstream {upstream.name!r} has failed repeatedly and is left alone for {seconds} s",
        headers=(("retry-after", str(seconds)),),
    )


async def _deliver(reply: Reply, relay: Relay) -> Answer:
    """Returns the answer: a stream as it comes, anything else read whole first."""
    status = reply.response.status_code
    if wire_headers.is_event_stream(reply.headers):
        relay.expect_events(readable=wire_headers.coding(reply.headers) == "identity")
        return Answer(status, wire_headers.to_client(reply.headers, length=False), relay)

    chunks: list[bytes] = []
    size = 0
    try:
        body = reply.upstream.body(reply.response)
        async for chunk in body:
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_WHOLE_BYTES:
                relay.resume(b"".join(chunks), body)
                return Answer(status, wire_headers.to_client(reply.headers, length=True), relay)
    except BaseException as error:
        relay.finish("upstream_broken" if isinstance(error, UpstreamError) else "client_gone")
        raise
    whole = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    relay.finish("complete" if status < 400 else "upstream_error", whole)
    return Answer(status, wire_headers.to_client(reply.headers, length=False), whole)
