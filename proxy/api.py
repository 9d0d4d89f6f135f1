"""Handlers of the API: conversations, which are managed; responses that are kept; and the pass-through of every other
`/v1` route, streamed to the first upstream and back, unchanged."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from time import time
from typing import Any, TypeAlias
from urllib.parse import unquote

from proxy.errors import MethodNotAllowed, OlvidoError, UnknownRoute, UpstreamError
from proxy.http.access import METHODS, OPTIONS
from proxy.http.exchange import Call, ClientGone, read_body, refuse_coding, stream_body
from proxy.keys.limits import with_room
from proxy.observe.tracing import CURRENT, current, with_parent
from proxy.pipeline import Services, kept_responses, limits, other_apis
from proxy.pipeline.unmanaged import Passage, Unmanaged
from proxy.protocol import headers as wire_headers
from proxy.protocol.apis import path_of
from proxy.protocol.routes import route_of, spelt
from proxy.types import Answer, ApiName, Headers, Incoming
from proxy.upstream.client import Response, Upstream

Handler: TypeAlias = Callable[[Call, Services], Awaitable[None]]

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"

# No API has them. An upstream that answers TRACE tells what it was sent: its key, which is not the client's to see.
NOT_PASSED = frozenset({"TRACE", "TRACK", "CONNECT"})


def conversation(api: ApiName, answered: Callable[[Incoming, Services], Awaitable[Answer]]) -> Handler:
    """Returns the handler of a managed route: `/v1/chat/completions`, `/v1/responses`, `/v1/messages`."""

    path = f"/v1{path_of(api)}"

    async def handler(call: Call, services: Services) -> None:
        call.api = api
        await _traced(call, services, path, _converse(call, services, api, answered))

    return handler


async def _traced(call: Call, services: Services, route: str, work: Coroutine[Any, Any, int]) -> None:
    """Runs the work of a request in a trace of its own, where requests are traced. `work` returns the status of its
    answer."""
    if services.tracing is None:
        await work
        return
    trace = services.tracing.begin(call.headers, call.request_id)
    mark = CURRENT.set(trace)
    status, error = 0, ""
    try:
        status = await work
    except OlvidoError as refused:
        # An answer that has begun has the status that it began with.
        status, error = 0 if call.answered else refused.status, refused.code or type(refused).__name__
        raise
    except BaseException as failure:
        is_gone = isinstance(failure, ClientGone | asyncio.CancelledError)
        status, error = 0, "client_gone" if is_gone else "our_error"
        raise
    finally:
        CURRENT.reset(mark)
        told = {"http.request.method": call.method, "http.route": route, "url.path": route, "url.scheme": "http"}
        trace.end(f"{call.method} {route}", {**told, "olvido.request": call.request_id}, status, error)


async def _converse(
    call: Call, services: Services, api: ApiName, answered: Callable[[Incoming, Services], Awaitable[Answer]]
) -> int:
    incoming = await incoming_of(call, services)
    count, in_flight = services.metrics.tally.add, services.metrics.in_flight
    count(in_flight, 1)
    try:
        try:
            answer = await answered(incoming, services)
        except BaseException:
            services.limiter.release(incoming.request_id)  # no row will settle it
            raise
        count(services.metrics.api_requests, 1, api)
        await call.answer(answer)
    finally:
        count(in_flight, -1)
    return answer.status


_respond = conversation("responses", other_apis.responses)


async def responses(call: Call, services: Services) -> None:
    """Answers `/v1/responses`. A request for a WebSocket gets a 404, so that its client falls back to HTTP."""
    if call.method == "POST":
        await _respond(call, services)
    elif wire_headers.get(call.headers, "upgrade") is not None:
        raise UnknownRoute("The Responses API is served over HTTP alone, without WebSockets.")
    else:
        await pass_through(call, services)


async def kept_response(call: Call, services: Services) -> None:
    """Answers requests about a response that the proxy keeps; what it does not have passes through, to an upstream that
    has the API."""
    name, what = call.parameters["response"], call.parameters.get("what", "")
    if call.method == "POST" and not what:
        await _of_no_response(call, services, name)
        return
    tenant = services.authenticator.tenant(call.headers)
    incoming = Incoming(call.request_id, call.headers, b"", time(), tenant, call.query)
    answer = await kept_responses.told(what, call.method, name, incoming, services)
    if answer is None:
        await pass_through(call, services, upstream=services.router.speaking("responses"))
    else:
        await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def _of_no_response(call: Call, services: Services, name: str) -> None:
    """Answers `/v1/responses/input_tokens`: the upstream's count where it has that API, else our own. What else is
    asked of no response, `/v1/responses/compact`, passes to the upstream of its model."""
    incoming = await incoming_of(call, services)
    if name == "input_tokens":
        await _counted(call, services, incoming, "responses")
    else:
        await pass_through(call, services, incoming.body, await kept_responses.addressee(incoming, services))


async def count_tokens(call: Call, services: Services) -> None:
    """Answers `/v1/messages/count_tokens`: the upstream's count where it has that API, else our own."""
    call.api = "messages"
    incoming = await incoming_of(call, services)
    await _counted(call, services, incoming, "messages")


async def _counted(call: Call, services: Services, incoming: Incoming, api: ApiName) -> None:
    counted = await kept_responses.counted(api, incoming, services)
    if isinstance(counted, Answer):
        await call.answer(counted)
    else:
        upstream, body = counted
        await pass_through(call, services, body, upstream)


async def incoming_of(call: Call, services: Services) -> Incoming:
    """Reads a request of the API whole. Raises what refuses its key, its coding or its body."""
    tenant = services.authenticator.tenant(call.headers)
    refuse_coding(call.headers)
    server = services.config.server
    body = await read_body(
        call.receive, call.headers, max_bytes=server.max_body_mb * 2**20, seconds=server.body_timeout
    )
    call.watch.start()
    # It has come when it is whole: one that is sent slowly would count in a minute, or a day, that is over.
    return Incoming(call.request_id, call.headers, body, time(), tenant, call.query)


def otherwise(managed: Mapping[str, Handler]) -> Handler:
    """Returns the handler of all other routes. What is a managed route in another spelling is managed, as it would be
    answered: `base_url` with a slash at its end makes some clients ask for `/v1//chat/completions`."""

    async def handler(call: Call, services: Services) -> None:
        known = managed.get(spelt(call.path)) if call.method == "POST" else None
        await (known or pass_through)(call, services)

    return handler


async def pass_through(
    call: Call, services: Services, read: bytes | None = None, upstream: Upstream | None = None
) -> None:
    """Forwards one request. No retries, since a streamed body can be sent only once. Nothing is decided about it, nor
    learnt: what it was is noticed as it passes, for the ledger. `read`: its body, where that has been read. `upstream`:
    the one that is asked; None: the first, or of those that have the Messages API, if the client's is that."""
    if call.path.startswith(f"{MESSAGES}/") or wire_headers.get(call.headers, "anthropic-version") is not None:
        call.api = "messages"
        upstream = upstream or services.router.speaking("messages")
    await _traced(call, services, route_of(call.method, call.path), _pass(call, services, read, upstream))


async def _pass(call: Call, services: Services, read: bytes | None, upstream: Upstream | None) -> int:
    tenant = services.authenticator.tenant(call.headers)  # with own keys: raises Unauthorized for anybody else's
    if leads_out(call.path):
        raise UnknownRoute(f"Unknown request URL: {call.method} {call.path[:200]}.")
    if call.method in NOT_PASSED:
        raise MethodNotAllowed(f"{call.method} is not passed on.", headers=(("allow", ", ".join((*METHODS, OPTIONS))),))
    upstream = upstream or services.router.default
    passage = services.unmanaged.begin(call.request_id, call.method, call.path, call.headers, tenant)
    passage.upstream = upstream.name
    room, body = await _admitted(services, passage, _body(call, upstream) if read is None else read)
    if body is None:
        call.watch.start()
    elif isinstance(body, bytes):
        passage.sent(body)
    else:
        body = _noticed(body, passage)
    is_json = "json" in (wire_headers.get(call.headers, "content-type") or "")
    plain = call.method == "POST" and (is_json or services.limiter.is_limited(passage.scope))
    url = upstream.url(call.path.removeprefix("/v1"), call.query)
    key_header, key = upstream.key_for(call.api)
    asked = call.headers
    if call.api == "messages" and "messages" not in upstream.config.spoken:
        asked = wire_headers.for_chat(asked)
    headers = wire_headers.to_upstream(asked, authorization=key, managed=False, plain=plain, key_header=key_header)
    if isinstance(body, bytes):  # it may not be the client's to the byte
        headers = [each for each in headers if each[0] != "content-length"]
    if (trace := current()) is not None:
        headers = with_parent(headers, trace.parent)
    try:
        # The answer's headers may come only after a long upload, whose silence `stream_body` bounds.
        response = await upstream.send(call.method, url, headers, body, upstream.config.timeout.answer)
    except UpstreamError as error:
        refused = _cause(error.__cause__) or error
        services.unmanaged.end(passage, status=refused.status)
        raise refused from error.__cause__
    except BaseException:  # the client has gone
        services.unmanaged.end(passage, "client_gone")
        raise
    passage.answered(response.status, response.headers)
    kept = wire_headers.to_client(response.headers, length=True)
    through = _Through(response, passage, services.unmanaged)
    await call.answer(Answer(response.status, (*with_room(kept, room), ("x-olvido-request", call.request_id)), through))
    return response.status


def leads_out(path: str) -> bool:
    """True if `path` has dot segments, which could resolve to a URL outside of the API and take the upstream's key
    there. A step's parameters (`..;x=1`), which some servers take off before they resolve it, do not hide it."""
    steps = unquote(path).replace("\\", "/").split("/")
    return any(unquote(step).partition(";")[0] in (".", "..") for step in steps)


def _body(call: Call, upstream: Upstream) -> AsyncIterator[bytes] | None:
    """Returns the stream of the request's body; None if it announces none, as GET does."""
    length = wire_headers.get(call.headers, "content-length")
    if length in (None, "0") and wire_headers.get(call.headers, "transfer-encoding") is None:
        return None
    return stream_body(call.receive, idle=upstream.config.timeout.idle, on_end=call.watch.start)


async def _admitted(
    services: Services, passage: Passage, body: bytes | AsyncIterator[bytes] | None
) -> tuple[Headers, bytes | AsyncIterator[bytes] | None]:
    """Counts a request under limits. Its body is read first if it is JSON, which says what it may come to, and none
    that is larger than a managed one may be; anything else goes on as it comes. Returns the headers of the room that is
    left, and the body."""
    if body is None or isinstance(body, bytes) or not services.limiter.is_limited(passage.scope):
        return await limits.admit_other(services, passage, body if isinstance(body, bytes) else None), body
    most, pieces, size, begins = services.config.server.max_body_mb * 2**20, list[bytes](), 0, b""
    async for piece in body:
        pieces.append(piece)
        size, begins = size + len(piece), begins or piece.lstrip()[:1]
        if begins not in (b"{", b"") or size > most:
            return await limits.admit_other(services, passage, b""), _resumed(pieces, body)
    whole = b"".join(pieces)
    return await limits.admit_other(services, passage, whole), whole


async def _resumed(read: list[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for piece in read:
        yield piece
    async for piece in rest:
        yield piece


async def _noticed(body: AsyncIterator[bytes], passage: Passage) -> AsyncIterator[bytes]:
    async for piece in body:
        passage.sent(piece)
        yield piece


def _cause(error: BaseException | None) -> OlvidoError | None:
    """Returns our own error in reading the client's body, if that made the HTTP client give up."""
    while error is not None:
        if isinstance(error, OlvidoError):
            return error
        error = error.__cause__ or error.__context__
    return None


@dataclass(frozen=True, slots=True)
class _Through:
    """The upstream's body as a stream, recorded at its end."""

    response: Response
    passage: Passage
    unmanaged: Unmanaged

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while chunk := await self.response.read():
                self.passage.came(chunk)
                yield chunk
            self.passage.outcome = "complete"
        except UpstreamError as error:
            self.passage.outcome = "upstream_broken"
            raise _cause(error.__cause__) or error from error.__cause__

    async def aclose(self) -> None:
        self.response.close()
        self.unmanaged.end(self.passage)
