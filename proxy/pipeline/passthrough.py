"""Every `/v1` route but the managed one: streamed through to the first upstream in both directions, untouched."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from urllib.parse import unquote

import aiohttp
import httpx

from proxy.errors import OlvidoError, UnknownRoute, from_transport
from proxy.http.edge import stream_body
from proxy.http.exchange import Call
from proxy.pipeline.parts import Services
from proxy.protocol import headers as wire_headers
from proxy.types import Answer
from proxy.upstream.client import Upstream, close_response, response_headers


async def pass_through(call: Call, services: Services) -> None:
    """No retries: a body that is streamed can be sent once. No accounting: these routes are not ours to understand."""
    services.gate.tenant(call.headers)  # with own keys: raises Unauthorized for anybody else's
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
    except (httpx.TransportError, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise _cause(error) or from_transport(error, upstream.name) from error
    kept = wire_headers.to_client(response_headers(response), length=True)
    answer = Answer(response.status_code, (*kept, ("x-olvido-request", call.request_id)), _Through(upstream, response))
    await call.answer(answer)


def leads_out(path: str) -> bool:
    """Would `path`, once somebody resolves its dots, leave the API? Then the upstream's key would go where the
    configuration did not send it."""
    return any(unquote(step) in (".", "..") for step in unquote(path).replace("\\", "/").split("/"))


def _body(call: Call, upstream: Upstream) -> AsyncIterator[bytes] | None:
    """None if the request announces no body, as GET does."""
    length = wire_headers.get(call.headers, "content-length")
    if length in (None, "0") and wire_headers.get(call.headers, "transfer-encoding") is None:
        return None
    return stream_body(call.receive, idle=upstream.config.timeout.idle, on_end=call.watch.start)


def _cause(error: BaseException | None) -> OlvidoError | None:
    """Our own error in reading the client's body, if that is why the HTTP client gave up."""
    while error is not None:
        if isinstance(error, OlvidoError):
            return error
        error = error.__cause__ or error.__context__
    return None


class _Through:
    """The upstream's body, as it comes."""

    def __init__(self, upstream: Upstream, response: httpx.Response) -> None:
        self._upstream = upstream
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async with aclosing(self._upstream.body(self._response)) as body:
                async for chunk in body:
                    yield chunk
        except (httpx.TransportError, aiohttp.ClientError, OSError) as error:
            raise _cause(error) or from_transport(error, self._upstream.name) from error

    async def aclose(self) -> None:
        await asyncio.shield(close_response(self._response))
