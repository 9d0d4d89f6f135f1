"""Pass-through of every `/v1` route except the managed one, streamed to the first upstream and back, unchanged."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from urllib.parse import unquote

import httpx

from proxy.errors import OlvidoError, UnknownRoute, UpstreamError
from proxy.http.exchange import Call, stream_body
from proxy.pipeline.parts import Services
from proxy.protocol import headers as wire_headers
from proxy.types import Answer
from proxy.upstream.client import Upstream, close_response, response_headers


async def pass_through(call: Call, services: Services) -> None:
    """Forwards one request. No retries, since a streamed body can be sent only once; no ledger row, since we do not
    know these routes."""
    services.authenticator.tenant(call.headers)  # with own keys: raises Unauthorized for anybody else's
    if leads_out(call.path):
        raise UnknownRoute(f"Unknown request URL: {call.method} {call.path[:200]}.")
    upstream = services.router.default
    body = _body(call, upstream)
    if body is None:
        call.watch.start()
    url = upstream.url(call.path.removeprefix("/v1"), call.query)
    headers = wire_headers.to_upstream(call.headers, authorization=upstream.authorization, managed=False)
    try:
        # The answer's headers may come only after a long upload, whose silence `stream_body` bounds.
        response = await upstream.send(call.method, url, headers, body, upstream.config.timeout.answer)
    except UpstreamError as error:
        raise _cause(error.__cause__) or error from error.__cause__
    kept = wire_headers.to_client(response_headers(response), length=True)
    answer = Answer(response.status_code, (*kept, ("x-olvido-request", call.request_id)), _Through(upstream, response))
    await call.answer(answer)


def leads_out(path: str) -> bool:
    """True if `path` has dot segments, which could resolve to a URL outside of the API and take the upstream's key
    there."""
    return any(unquote(step) in (".", "..") for step in unquote(path).replace("\\", "/").split("/"))


def _body(call: Call, upstream: Upstream) -> AsyncIterator[bytes] | None:
    """Returns the stream of the request's body; None if it announces none, as GET does."""
    length = wire_headers.get(call.headers, "content-length")
    if length in (None, "0") and wire_headers.get(call.headers, "transfer-encoding") is None:
        return None
    return stream_body(call.receive, idle=upstream.config.timeout.idle, on_end=call.watch.start)


def _cause(error: BaseException | None) -> OlvidoError | None:
    """Returns our own error in reading the client's body, if that made the HTTP client give up."""
    while error is not None:
        if isinstance(error, OlvidoError):
            return error
        error = error.__cause__ or error.__context__
    return None


@dataclass(frozen=True, slots=True)
class _Through:
    """The upstream's body as a stream."""

    upstream: Upstream
    response: httpx.Response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async with aclosing(self.upstream.body(self.response)) as body:
                async for chunk in body:
                    yield chunk
        except UpstreamError as error:
            raise _cause(error.__cause__) or error from error.__cause__

    async def aclose(self) -> None:
        await asyncio.shield(close_response(self.response))
