"""A chat completion, from an upstream or from memory, told in another API: whole or as events, chunk by chunk. What an
API's own form of it is, its writer knows.

An answer that is none, or that broke off, is never told as one: it is an error, before the first event or as the last.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from proxy.errors import UpstreamBroken
from proxy.protocol import headers as wire_headers
from proxy.protocol import sse
from proxy.protocol.accumulate import BROKE_OFF, Accumulator
from proxy.protocol.responses.output import first_choice
from proxy.types import Answer, ChatRequest, Json, StreamedBody

_EVENTS = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
_JSON = (("content-type", "application/json"),)
_NO_COMPLETION = "the upstream's answer is no chat completion, and cannot be told in this API"

_object = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.Encoder().encode


class Writer(Protocol):
    """Tells one answer in another API."""

    async def whole(self, completion: dict[str, Any]) -> bytes:
        """Returns a whole completion as an object."""

    def chunk(self, chunk: dict[str, Any]) -> bytes:
        """Returns the events of a chunk."""

    async def last(self) -> bytes:
        """Returns the last events."""

    def failed(self, error: dict[str, Any]) -> bytes:
        """Returns the events of an answer that has broken off."""


async def told(answer: Answer, request: ChatRequest, writer: Writer) -> Answer:
    """Returns an answer of the pipeline in another API. An error stays as it is, and is whole. Raises UpstreamBroken
    for what is no completion."""
    whole = answer.body if isinstance(answer.body, bytes) else None
    is_events = wire_headers.is_event_stream(answer.headers)
    headers = tuple([each for each in answer.headers if each[0] not in ("content-type", "cache-control")])
    if answer.status < 400 and request.stream and (is_events or whole is None):
        body = answer.body if whole is None else _Bytes(whole)
        assert not isinstance(body, bytes)
        return Answer(answer.status, (*_EVENTS, *headers), Stream(body, _translated(body, writer)), answer.source)
    if whole is None:
        assert not isinstance(answer.body, bytes)
        whole = await _read(answer.body)
    if answer.status >= 400:
        return Answer(answer.status, answer.headers, whole, answer.source)
    completion = _summed(whole) if is_events else _decoded(whole)
    if error := fault_of(completion):
        return Answer(_status(error), (*_JSON, *headers), _encode({"error": error}), answer.source)
    if not first_choice(completion):
        raise UpstreamBroken(_NO_COMPLETION)
    if request.stream:  # an upstream that answers whole all the same
        made = _Bytes(b"".join(sse.as_sse(completion, include_usage=True)))
        return Answer(answer.status, (*_EVENTS, *headers), Stream(made, _translated(made, writer)), answer.source)
    return Answer(answer.status, (*_JSON, *headers), await writer.whole(completion), answer.source)


def fault_of(said: Mapping[str, Json]) -> dict[str, Any]:
    """Returns the error that a completion or a chunk tells of, in OpenAI's shape; {} if it tells of none."""
    error = said.get("error")
    if not error and str(first_choice(said).get("finish_reason")) in BROKE_OFF:
        error = "The upstream broke off its answer."
    return error if isinstance(error, dict) else {"message": str(error)} if error else {}


def _status(error: Mapping[str, Json]) -> int:
    """Returns the status of an error that came as a 200: what it says itself, if it is one."""
    code = error.get("code")
    return code if isinstance(code, int) and 400 <= code <= 599 else UpstreamBroken.status


def _decoded(whole: bytes) -> dict[str, Any]:
    try:
        return _object.decode(whole)
    except (ValueError, RecursionError):
        raise UpstreamBroken(_NO_COMPLETION) from None


def _summed(stream: bytes) -> dict[str, Any]:
    """Returns the completion that a stream adds up to. Raises UpstreamBroken for one that does not."""
    parser, whole = sse.SseParser(), Accumulator()
    whole.feed_all([event.data for event in (*parser.feed(stream), *parser.flush()) if event.data is not None])
    if whole.garbage or whole.overflowed:
        raise UpstreamBroken(_NO_COMPLETION)  # a part of it would be missing
    completion = whole.completion()
    return {**completion, "error": whole.error} if whole.error else completion


async def _read(body: StreamedBody) -> bytes:
    try:
        return b"".join([piece async for piece in body])
    finally:
        await body.aclose()


class Stream:
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


class _Teller:
    """Tells the events of one stream, until the first that is an error."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._has_choice = False
        self.has_failed = False

    def told(self, events: Sequence[sse.Event]) -> bytes:
        """Returns what these events are in the other API."""
        return b"".join(map(self._event, events))

    async def last(self) -> bytes:
        """Returns the end of an answer; of a stream that held none, the error."""
        if self._has_choice:
            return await self._writer.last()
        return self._failed({"message": "The upstream's stream held no answer."})

    def _event(self, event: sse.Event) -> bytes:
        data = event.data
        if data is None:
            return event.raw  # a comment that keeps the connection open
        if self.has_failed or not data or data.startswith(sse.DONE_DATA):
            return b""
        try:
            chunk = _object.decode(data)
        except (ValueError, RecursionError):
            chunk = {"error": {"message": "The upstream said what is no chunk of a chat completion."}}
        if error := fault_of(chunk):
            return self._failed(error)
        self._has_choice = self._has_choice or bool(first_choice(chunk))
        return self._writer.chunk(chunk)

    def _failed(self, error: dict[str, Any]) -> bytes:
        self.has_failed = True
        return self._writer.failed(error)


async def _translated(body: StreamedBody, writer: Writer) -> AsyncGenerator[bytes, None]:
    """Yields the chunks of a completion as events of another API."""
    parser, teller = sse.SseParser(), _Teller(writer)
    async for piece in body:
        if events := teller.told(parser.feed(piece)):
            yield events
    rest = teller.told(parser.flush())
    if teller.has_failed:
        yield rest
    else:
        yield rest + await teller.last()


class _Bytes:
    """A body that is there already, as a stream."""

    def __init__(self, whole: bytes) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._whole

    async def aclose(self) -> None:
        """Ends nothing."""
