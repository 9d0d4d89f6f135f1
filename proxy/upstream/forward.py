"""Forwarding of a request: retries and fallback before the first byte, then every byte as it comes.

Every delivery is reported exactly once, however it ends (complete, client gone, upstream broken).
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, time

import aiohttp
import httpx

from proxy.errors import BreakerOpen, UpstreamError, from_transport
from proxy.observe.metrics import Metrics
from proxy.protocol import headers as wire_headers
from proxy.tasks import Tasks
from proxy.types import Answer, ChatRequest, Delivery, Headers, Outcome, Prompt
from proxy.upstream.client import Upstream, close_response, response_headers
from proxy.upstream.relay import Relay, Reply
from proxy.upstream.retry import UPSTREAM_DOWN, Decision, Failure, after_failure, after_status
from proxy.upstream.routing import Route

PATH = "/chat/completions"

# An answer up to this size is read whole before it is passed on, so one that breaks off becomes an error and not half
# an answer; a larger one is streamed through, and stays unaccounted.
MAX_WHOLE_BYTES = 32 * 1024 * 1024

Report = Callable[[Delivery], None]


@dataclass(slots=True)
class _Tally:
    """Counts that are reported even if no upstream answers."""

    retries: int = 0


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
    tally = _Tally()
    try:
        reply = await _reply(request, client_headers, query, route, prompt_for, metrics, tally)
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
                retries=tally.retries,
                upstream_seconds=perf_counter() - started,
            )
        )
        raise
    metrics.of(metrics.first_byte_seconds, reply.upstream.name).observe(reply.first_byte_seconds)
    if reply.response.status_code >= 400:
        metrics.of(metrics.upstream_errors, reply.upstream.name, str(reply.response.status_code)).inc()
    relay = Relay(reply, request, report=report, tasks=tasks, metrics=metrics)
    return await _deliver(reply, relay)


async def _reply(
    request: ChatRequest,
    client_headers: Headers,
    query: str,
    route: Route,
    prompt_for: Callable[[Upstream], Prompt],
    metrics: Metrics,
    tally: _Tally,
) -> Reply:
    """Returns the first answer that needs neither retry nor fallback, or the last one. Raises UpstreamError if there is
    none."""
    failure: UpstreamError | None = None
    for position, upstream in enumerate(route.candidates):
        has_fallback = position + 1 < len(route.candidates)
        attempt = 0
        while True:
            prompt = prompt_for(upstream)
            if not upstream.breaker.allow():
                failure = _breaker_open(upstream)
                break
            started = perf_counter()
            try:
                response = await _send(upstream, prompt, client_headers, query, stream=request.stream)
            except (httpx.TransportError, aiohttp.ClientError, TimeoutError, OSError) as error:
                upstream.breaker.failure()
                failure = from_transport(error, upstream.name)
                kind = failure.code or ""
                metrics.of(metrics.upstream_errors, upstream.name, kind).inc()
                decision = after_failure(
                    _FAILURES[kind],
                    attempt=attempt,
                    retries=upstream.config.retries,
                    has_fallback=has_fallback,
                    jitter=random.random,
                )
            except BaseException:
                upstream.breaker.abandoned()
                raise
            else:
                headers = response_headers(response)
                decision = after_status(
                    response.status_code,
                    headers,
                    attempt=attempt,
                    retries=upstream.config.retries,
                    max_wait=upstream.config.max_retry_wait,
                    has_fallback=has_fallback,
                    now=time(),
                    jitter=random.random,
                )
                _judge(upstream, response.status_code)
                if decision.action == "give_up":
                    seconds = perf_counter() - started
                    return Reply(upstream, response, headers, started, seconds, tally.retries, prompt)
                metrics.of(metrics.upstream_errors, upstream.name, str(response.status_code)).inc()
                await close_response(response)
            finally:
                metrics.of(metrics.breaker_open, upstream.name).set(upstream.breaker.state != "closed")
            if decision.action != "retry":
                break
            await _pause(decision)
            attempt += 1
            tally.retries += 1
            metrics.of(metrics.upstream_retries, upstream.name).inc()
        if has_fallback:
            metrics.of(metrics.upstream_fallbacks, upstream.name).inc()
    assert failure is not None, "the last candidate either answers or fails"
    raise failure


_FAILURES: dict[str, Failure] = {
    "upstream_unreachable": "connect",
    "upstream_broken": "broken",
    "upstream_timeout": "timeout",
}


async def _send(
    upstream: Upstream, prompt: Prompt, client_headers: Headers, query: str, *, stream: bool
) -> httpx.Response:
    timeout = upstream.config.timeout
    # Without streaming the first byte comes when the whole answer has been generated.
    return await upstream.send(
        "POST",
        upstream.url(PATH, query),
        wire_headers.to_upstream(client_headers, authorization=upstream.authorization, managed=True),
        prompt.body,
        timeout.first_byte if stream else timeout.answer,
    )


def _judge(upstream: Upstream, status: int) -> None:
    if status in UPSTREAM_DOWN:
        upstream.breaker.failure()
    else:
        upstream.breaker.success()


def _breaker_open(upstream: Upstream) -> BreakerOpen:
    seconds = max(1, round(upstream.breaker.retry_after + 0.5))
    return BreakerOpen(
        f"upstream {upstream.name!r} has failed repeatedly and is left alone for {seconds} s",
        headers=(("retry-after", str(seconds)),),
    )


async def _pause(decision: Decision) -> None:
    if decision.delay > 0:
        await asyncio.sleep(decision.delay)


async def _deliver(reply: Reply, relay: Relay) -> Answer:
    """Returns the answer: a stream as it comes, anything else read whole first."""
    upstream, status = reply.upstream, reply.response.status_code
    if _is_event_stream(reply.headers):
        coded = (wire_headers.get(reply.headers, "content-encoding") or "identity") != "identity"
        relay.expect_events(readable=not coded)
        return Answer(status, wire_headers.to_client(reply.headers, length=False), relay)

    chunks: list[bytes] = []
    size = 0
    try:
        body = upstream.body(reply.response)
        async for chunk in body:
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_WHOLE_BYTES:
                relay.resume(b"".join(chunks), body)
                return Answer(status, wire_headers.to_client(reply.headers, length=True), relay)
    except UpstreamError:
        relay.finish("upstream_broken")
        raise
    except (httpx.TransportError, aiohttp.ClientError, OSError) as error:
        relay.finish("upstream_broken")
        raise from_transport(error, upstream.name) from error
    except BaseException:
        relay.finish("client_gone")
        raise
    whole = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    relay.finish("complete" if status < 400 else "upstream_error", whole)
    return Answer(status, wire_headers.to_client(reply.headers, length=False), whole)


def _is_event_stream(headers: Headers) -> bool:
    return (wire_headers.get(headers, "content-type") or "").lower().startswith("text/event-stream")
