"""Requests of the Responses and Messages APIs: read as the neutral request, handled as any other, and answered in the
shape that was asked for.

    body ─ parse ─ (chain of kept responses) ─ chat.handle ─┬─ answer in the client's API ──────────────────▶ client
                                                            └─ chat completion ─ told as object or events ──▶ client
                                                                                 └─ kept, before its end is told

An upstream that has the API answers in it, and nothing is translated. Else the pipeline's answer, a chat completion
from an upstream or from memory, is translated chunk by chunk."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

import msgspec

from proxy.conversation import identify
from proxy.errors import InvalidJson, UpstreamBroken
from proxy.pipeline import Services, response_chains
from proxy.pipeline.chat import handle
from proxy.pipeline.response_chains import Chains
from proxy.protocol import apis, sse
from proxy.protocol import headers as wire_headers
from proxy.protocol.accumulate import Accumulator
from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.messages import output as message_output
from proxy.protocol.messages.events import MessageEvents
from proxy.protocol.responses import output as response_output
from proxy.protocol.responses import request as response_request
from proxy.protocol.responses.events import ResponseEvents
from proxy.protocol.responses.reading import ended_in
from proxy.tasks import Offload
from proxy.types import Answer, Incoming, Json, StreamedBody

_EVENTS = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
_JSON = (("content-type", "application/json"),)

_object = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.Encoder().encode

Keep = Callable[[dict[str, Any]], Awaitable[None]]


# --- Responses --------------------------------------------------------------------------------------------------------


async def responses(incoming: Incoming, services: Services) -> Answer:
    """Answers one request to `/v1/responses`. Raises OlvidoError for requests that we refuse ourselves."""
    offload = Offload(services.executor, len(incoming.body))
    request = await _parsed(incoming, services, offload)
    given = response_request.origin_of(request).given
    is_native = _is_native(request, services)
    directives = wire_headers.read_directives(incoming.headers)
    scope = identify.scope_of(incoming, request, directives)
    chains = Chains(services, scope, incoming.received_at, offload)
    whole = await chains.whole(request, is_native=is_native)
    origin = response_request.origin_of(whole)
    answer = await handle(replace(incoming, body=origin.raw), services, lambda _: whole)
    keeps = services.config.responses.keep > 0 and origin.is_kept and directives.remember and origin.is_whole

    async def keep(response: dict[str, Any]) -> None:
        if keeps:
            await response_chains.keep(services, scope, origin, given, response)

    if answer.api == "responses":
        if not keeps or not services.config.responses.take_over or answer.status != 200:
            return answer
        return await _kept_as_it_is(answer, keep)
    frame = response_output.Frame(
        incoming.request_id.removeprefix("req_"), whole.model, incoming.received_at, origin, _sent_tokens(answer)
    )
    return await _told(answer, whole, _ResponseWriter(frame, keep))


async def _parsed(incoming: Incoming, services: Services, offload: Offload) -> ChatCompletionRequest:
    """Returns a request as read; one that only a lenient parser reads passes as it came, to an upstream that has the
    API."""
    try:
        return await offload(lambda: response_request.parse(incoming.body))
    except InvalidJson:
        loose = await offload(lambda: response_request.glimpsed(incoming.body))
        if loose is None or not _is_native(loose, services):
            raise
        return loose


def _is_native(request: ChatCompletionRequest, services: Services) -> bool:
    return apis.has_native(request.origin, services.router.route(request.model).upstream.config.spoken)


def _sent_tokens(answer: Answer) -> int:
    """Returns our estimate of the prompt's tokens."""
    told = wire_headers.get(answer.headers, "x-olvido-tokens-sent") or "0"
    return int(told) if told.isdecimal() else 0


async def _kept_as_it_is(answer: Answer, keep: Keep) -> Answer:
    """Returns an answer of an upstream that has the API, which is kept as it passes."""
    if not isinstance(answer.body, bytes):
        return replace(answer, body=_Stream(answer.body, _watched(answer.body, keep)))
    with suppress(ValueError, RecursionError):
        await keep(_object.decode(answer.body))
    return answer


# --- Messages ---------------------------------------------------------------------------------------------------------


async def messages(incoming: Incoming, services: Services) -> Answer:
    """Answers one request to `/v1/messages`. Raises OlvidoError for requests that we refuse ourselves."""
    offload = Offload(services.executor, len(incoming.body))
    parse = apis.APIS["messages"].parse
    request = await offload(lambda: parse(incoming.body))
    answer = await handle(incoming, services, lambda _: request)
    if answer.api == "messages":
        return answer
    frame = message_output.Frame(incoming.request_id.removeprefix("req_"), request.model, _sent_tokens(answer))
    if answer.status >= 400:
        return message_output.told_error(answer, incoming.request_id)
    return await _told(answer, request, _MessageWriter(frame))


# --- a chat completion, told in another API ---------------------------------------------------------------------------


class _Writer(Protocol):
    """Tells one answer in another API."""

    async def whole(self, completion: dict[str, Any]) -> bytes:
        """Returns a whole completion as an object."""

    def chunk(self, chunk: dict[str, Any]) -> bytes:
        """Returns the events of a chunk."""

    async def last(self) -> bytes:
        """Returns the last events."""

    def failed(self, error: dict[str, Any]) -> bytes:
        """Returns the events of an answer that has broken off."""


class _ResponseWriter:
    def __init__(self, frame: response_output.Frame, keep: Keep) -> None:
        self._frame = frame
        self._keep = keep
        self._events = ResponseEvents(frame)

    async def whole(self, completion: dict[str, Any]) -> bytes:
        response = response_output.response_of(completion, self._frame)
        await self._keep(response)
        return _encode(response)

    def chunk(self, chunk: dict[str, Any]) -> bytes:
        return self._events.feed(chunk)

    async def last(self) -> bytes:
        ending, response = self._events.ended()
        await self._keep(response)  # who hears of the end may go on from it at once
        return ending + self._events.last(response)

    def failed(self, error: dict[str, Any]) -> bytes:
        return self._events.failed(error)


class _MessageWriter:
    def __init__(self, frame: message_output.Frame) -> None:
        self._frame = frame
        self._events = MessageEvents(frame)

    async def whole(self, completion: dict[str, Any]) -> bytes:
        return _encode(message_output.message_of(completion, self._frame))

    def chunk(self, chunk: dict[str, Any]) -> bytes:
        return self._events.feed(chunk)

    async def last(self) -> bytes:
        return self._events.ended()

    def failed(self, error: dict[str, Any]) -> bytes:
        return self._events.failed(error)


async def _told(answer: Answer, request: ChatCompletionRequest, writer: _Writer) -> Answer:
    """Returns an answer of the pipeline in another API. An error stays as it is."""
    if answer.status >= 400:
        return answer
    headers = tuple([each for each in answer.headers if each[0] not in ("content-type", "cache-control")])
    is_events = wire_headers.is_event_stream(answer.headers)
    if request.stream and (is_events or not isinstance(answer.body, bytes)):
        body = _Bytes(answer.body) if isinstance(answer.body, bytes) else answer.body
        return Answer(answer.status, (*_EVENTS, *headers), _Stream(body, _translated(body, writer)), answer.source)
    raw = answer.body if isinstance(answer.body, bytes) else b"".join([piece async for piece in answer.body])
    try:
        completion = _summed(raw) if is_events else _object.decode(raw)
    except (ValueError, RecursionError):
        raise UpstreamBroken("the upstream's answer is no chat completion, and cannot be told in this API") from None
    if request.stream:  # an upstream that answers whole all the same
        body = _Bytes(b"".join(sse.as_sse(completion, include_usage=True)))
        return Answer(answer.status, (*_EVENTS, *headers), _Stream(body, _translated(body, writer)), answer.source)
    return Answer(answer.status, (*_JSON, *headers), await writer.whole(completion), answer.source)


def _summed(stream: bytes) -> dict[str, Any]:
    """Returns the completion that a stream adds up to."""
    parser, whole = sse.SseParser(), Accumulator()
    whole.feed_all([event.data for event in (*parser.feed(stream), *parser.flush()) if event.data is not None])
    return whole.completion()


class _Stream:
    """A stream made of another one. Iterate it once; `aclose` it in any case."""

    def __init__(self, body: StreamedBody, made: AsyncGenerator[bytes, None]) -> None:
        self._body = body
        self._made = made

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._made

    async def aclose(self) -> None:
        """Ends the stream, and the one that it is made of."""
        try:
            await self._made.aclose()
        finally:
            await self._body.aclose()


async def _translated(body: StreamedBody, writer: _Writer) -> AsyncGenerator[bytes, None]:
    """Yields the chunks of a completion as events of another API."""
    parser = sse.SseParser()
    has_failed = False

    def told(events: Sequence[sse.Event]) -> bytes:
        nonlocal has_failed
        parts: list[bytes] = []
        for event in events:
            data = event.data
            if data is None:
                parts.append(event.raw)  # a comment that keeps the connection open
            if has_failed or not data or data.startswith(sse.DONE_DATA):
                continue
            try:
                chunk = _object.decode(data)
            except (ValueError, RecursionError):
                chunk = {"error": {"message": "The upstream said what is no chunk of a chat completion."}}
            error: Json = chunk.get("error")
            has_failed = bool(error)
            told = error if isinstance(error, dict) else {"message": str(error)}
            parts.append(writer.failed(told) if error else writer.chunk(chunk))
        return b"".join(parts)

    async for piece in body:
        if events := told(parser.feed(piece)):
            yield events
    rest = told(parser.flush())
    if not has_failed:
        yield rest + await writer.last()


async def _watched(body: StreamedBody, keep: Keep) -> AsyncGenerator[bytes, None]:
    """Yields the events of a response as they are. Its object is kept before the event that holds it has passed."""
    parser = sse.SseParser()
    async for piece in body:
        for event in parser.feed(piece):
            if event.data is not None and (response := ended_in(event.data)) is not None:
                await keep(response)
            yield event.raw
    if rest := parser.rest():
        yield rest


class _Bytes:
    """A body that is there already, as a stream."""

    def __init__(self, whole: bytes) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._whole

    async def aclose(self) -> None:
        """Ends nothing."""
