"""Requests of the Responses and Messages APIs: read as the neutral request, handled as any other, and answered in the
shape that was asked for.

    body ─ parse ─ (chain of kept responses) ─ chat.handle ─┬─ answer in the client's API ──────────────────▶ client
                                                            └─ chat completion ─ told as object or events ──▶ client
                                                                                 └─ kept, before its end is told

An upstream that has the API answers in it, and nothing is translated. Else the pipeline's answer, a chat completion
from an upstream or from memory, is translated chunk by chunk."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec

from proxy.conversation import names
from proxy.errors import InvalidJson
from proxy.pipeline import Services, response_chains, telling
from proxy.pipeline.chat import handle
from proxy.pipeline.response_chains import Chains
from proxy.protocol import apis, sse
from proxy.protocol import headers as wire_headers
from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.messages import output as message_output
from proxy.protocol.messages import request as message_request
from proxy.protocol.messages.events import MessageEvents
from proxy.protocol.responses import output as response_output
from proxy.protocol.responses import request as response_request
from proxy.protocol.responses.echoed import Echo, echo_of
from proxy.protocol.responses.events import ResponseEvents
from proxy.protocol.responses.reading import ended_in
from proxy.tasks import Offload
from proxy.types import Answer, Incoming, StreamedBody

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
    scope = names.scope_of(incoming, request, directives)
    chains = Chains(services, scope, incoming.received_at, offload)
    whole = await chains.whole(request, is_native=is_native)
    origin = response_request.origin_of(whole)
    answer = await handle(replace(incoming, body=origin.raw), services, lambda _: whole)
    keeps = services.config.responses.keep > 0 and origin.is_kept and directives.remember and origin.is_whole

    async def keep(response: dict[str, Any]) -> None:
        if keeps:
            is_unstored = answer.is_unstored
            await response_chains.keep(services, scope, origin, given, response, is_unstored=is_unstored)

    if answer.api == "responses":
        if not keeps or not services.config.responses.take_over or answer.status != 200:
            return answer
        echo = echo_of(replace(origin, is_unstored=True)) if answer.is_unstored else None
        return await _kept_as_it_is(answer, keep, echo)
    frame = response_output.Frame(
        incoming.request_id.removeprefix("req_"), whole.model, incoming.received_at, origin, _sent_tokens(answer)
    )
    return await telling.told(answer, whole, _ResponseWriter(frame, keep))


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


async def _kept_as_it_is(answer: Answer, keep: Keep, echo: Echo | None) -> Answer:
    """Returns an answer of an upstream that has the API, which is kept as it passes. `echo`: what it repeats of the
    client's request, where that is not what was sent."""
    if not isinstance(answer.body, bytes):
        return replace(answer, body=telling.Stream(answer.body, _watched(answer.body, keep, echo)))
    body = answer.body
    with suppress(ValueError, RecursionError):
        body = body if echo is None else echo.told(body)
        await keep(_object.decode(body))
    return replace(answer, body=body)


# --- Messages ---------------------------------------------------------------------------------------------------------


async def messages(incoming: Incoming, services: Services) -> Answer:
    """Answers one request to `/v1/messages`. Raises OlvidoError for requests that we refuse ourselves."""
    offload = Offload(services.executor, len(incoming.body))
    try:
        request = await offload(lambda: message_request.parse(incoming.body))
    except InvalidJson:
        loose = await offload(lambda: message_request.glimpsed(incoming.body))
        if loose is None or "messages" not in services.router.route(loose.model).upstream.config.spoken:
            raise
        request = loose
    answer = await handle(incoming, services, lambda _: request)
    if answer.api == "messages":
        return answer
    name, stops = incoming.request_id.removeprefix("req_"), message_request.stops_of(request)
    frame = message_output.Frame(name, request.model, _sent_tokens(answer), stops)
    told = await telling.told(answer, request, _MessageWriter(frame))
    if told.status >= 400:
        return message_output.told_error(told, incoming.request_id)
    return replace(told, headers=(*told.headers, ("request-id", incoming.request_id)))


# --- their writers --------------------------------------------------------------------------------------------------


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


async def _watched(body: StreamedBody, keep: Keep, echo: Echo | None) -> AsyncGenerator[bytes, None]:
    """Yields the events of a response as they are, but for its `echo`. Its object is kept before the event that holds
    it has passed."""
    parser = sse.SseParser()
    async for piece in body:
        for event in parser.feed(piece):
            data, raw = event.data, event.raw
            if data is not None and echo is not None and (told := echo.told_in(data)) is not data:
                data, raw = told, b"%bdata: %b\n\n" % (raw.partition(b"data:")[0], told)
            if data is not None and (response := ended_in(data)) is not None:
                await keep(response)
            yield raw
    if rest := parser.rest():
        yield rest
