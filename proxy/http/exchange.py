"""One HTTP request and its answer, between ASGI's messages and our types: checks of its body (size, time, coding), and
detection of a client that disconnects."""

import asyncio
import itertools
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from functools import lru_cache
from types import TracebackType
from typing import Any, Protocol, Self

from proxy.errors import BadRequest, OlvidoError, RequestTimeout, TooLarge
from proxy.protocol import apis
from proxy.protocol import headers as wire_headers
from proxy.tasks import Tasks, within
from proxy.types import Answer, ApiName, Headers

AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]


CONNECTION = "olvido.connection"  # the ASGI extension with our server's connection

# The rest of a refused body is read and discarded for this long.
DISCARD_SECONDS = 5.0

_WITHOUT_BODY = (204, 304)  # RFC 9110 §8.6: nor with a length

# Unique without asking the system for randomness at every request, which costs 80 µs in a busy server: it lets go of
# the GIL.
_PROCESS = secrets.token_hex(8)
_requests = itertools.count(1)


class Connection(Protocol):
    """Callbacks of our server's connection beyond ASGI: one when it is lost (instead of a task for every request that
    waits for that), and one when the server stops and waits for answers in progress."""

    lost: bool
    on_lost: Callable[[], None] | None
    stopping: bool
    on_stopping: Callable[[], None] | None


class Call:
    """One HTTP request, and the ways to answer it."""

    def __init__(self, scope: AsgiMessage, receive: Receive, send: Send, tasks: Tasks) -> None:
        self.request_id = f"req_{_PROCESS}{next(_requests):08x}"
        self.headers: Headers = wire_headers.decode(scope["headers"])
        self.method: str = scope["method"]
        self.path: str = scope["raw_path"].decode("latin-1")
        self.parameters: Mapping[str, str] = scope.get("path_params", {})
        self.query: str = scope["query_string"].decode("latin-1")
        self.client: str = (scope.get("client") or ("",))[0]  # address of the client
        self.port: int | None = (scope.get("server") or (None, None))[1]  # port of the server
        self.common_headers: Headers = ()  # sent with every answer
        self.api: ApiName = "chat"  # in whose shape errors are told
        self.receive = receive
        self.watch = CancelOnDisconnect(receive, scope.get("extensions", {}).get(CONNECTION), tasks)
        self.answered = False
        self._in_events = False  # a stream of events is being sent
        self._send = send

    async def answer(self, answer: Answer) -> None:
        """Sends an answer, at once or as a stream. A body that breaks off raises and is left without an end: the server
        then closes the connection, so the client knows."""
        body = answer.body
        if isinstance(body, bytes):
            length: Headers = () if answer.status in _WITHOUT_BODY else (("content-length", str(len(body))),)
            await self._start(answer, *length)
            await self._send({"type": "http.response.body", "body": body})
            return
        try:
            await self._start(answer)
            self._in_events = (
                wire_headers.is_event_stream(answer.headers) and wire_headers.coding(answer.headers) == "identity"
            )
            async for chunk in body:
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            await body.aclose()
        self._in_events = False
        await self._send({"type": "http.response.body", "body": b""})

    async def refuse(self, error: OlvidoError, *, unread: int = 0) -> None:
        """Sends `error` as the answer. `unread` bytes of a refused body may still come: the connection can't be used
        again, but the client may send for a while, lest it see a reset connection instead of the answer."""
        answer = apis.told_error(self.api, error.answer(), self.request_id)
        assert isinstance(answer.body, bytes)
        ours: Headers = (("x-request-id", self.request_id), ("x-olvido-request", self.request_id))
        ending: Headers = (("connection", "close"),) if unread else ()
        await self._start(answer, *ours, *ending, ("content-length", str(len(answer.body))))
        await self._send({"type": "http.response.body", "body": answer.body, "more_body": unread > 0})
        if unread:
            await discard_body(self.receive, max_bytes=unread, seconds=DISCARD_SECONDS)
            await self._send({"type": "http.response.body", "body": b""})

    async def break_off(self, error: OlvidoError) -> None:
        """Sends `error` in place of an answer, or as the last event of a stream that has begun, which SDKs raise. The
        stream is left without an end, as any other that breaks off."""
        if not self.answered:
            await self.refuse(error)
        elif self._in_events:
            self._in_events = False
            # On a route that is passed through, the last bytes may be half an event.
            event = b"\n\n" + apis.error_event(self.api, error)
            await self._send({"type": "http.response.body", "body": event, "more_body": True})

    async def _start(self, answer: Answer, *more: tuple[str, str]) -> None:
        self.answered = True
        headers = [
            (_encoded(name), value.encode("latin-1")) for name, value in (*answer.headers, *self.common_headers, *more)
        ]
        await self._send({"type": "http.response.start", "status": answer.status, "headers": headers})


@lru_cache(1_000)
def _encoded(name: str) -> bytes:
    return name.encode("latin-1")


class ClientGone(Exception):
    """Raised when the client left before it had sent its request. Nobody is there to be answered."""


async def read_body(receive: Receive, headers: Headers, *, max_bytes: int, seconds: float) -> bytes:
    """Returns the whole body. Raises TooLarge as soon as it is known to be, RequestTimeout after `seconds`,
    ClientGone."""
    announced = wire_headers.get(headers, "content-length")
    if announced is not None and announced.isdecimal() and _exceeds(announced, max_bytes):
        raise _too_large(max_bytes)
    try:
        return await within(seconds, _whole(receive, max_bytes))
    except TimeoutError:
        raise RequestTimeout(f"The request body was not received within {seconds:g} s.") from None


async def _whole(receive: Receive, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > max_bytes:
            raise _too_large(max_bytes)
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _exceeds(digits: str, limit: int) -> bool:
    significant = digits.lstrip("0")
    return len(significant) > len(str(limit)) or int(significant or "0") > limit  # int() refuses thousands of digits


def _too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {max_bytes // 2**20} MiB, the most this proxy accepts.")


async def stream_body(receive: Receive, *, idle: float, on_end: Callable[[], None]) -> AsyncIterator[bytes]:
    """Yields the body as it arrives, for routes that are passed through. Calls `on_end` after the last byte. Raises
    RequestTimeout after `idle` seconds of silence, ClientGone."""
    while True:
        try:
            async with asyncio.timeout(idle):
                message = await receive()
        except TimeoutError:
            raise RequestTimeout(f"The client sent nothing for {idle:g} s.") from None
        if message["type"] == "http.disconnect":
            raise ClientGone
        if part := message.get("body", b""):
            yield part
        if not message.get("more_body", False):
            on_end()
            return


async def discard_body(receive: Receive, *, max_bytes: int, seconds: float) -> None:
    """Reads and discards the rest of a refused body for a while, so that a client that still sends gets the answer, and
    not a reset connection."""
    try:
        async with asyncio.timeout(seconds):
            while max_bytes > 0:
                message = await receive()
                max_bytes -= len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return


class CancelOnDisconnect:
    """Cancels the work inside its block when the client disconnects, and swallows that cancellation.

    Between the request's last byte and the answer's, `receive` returns nothing but the disconnect. It must be heard: an
    answer that nobody reads is still billed.
    """

    def __init__(self, receive: Receive, connection: Connection | None, tasks: Tasks) -> None:
        self._receive = receive
        self._connection = connection
        self._tasks = tasks
        self._work: asyncio.Task[Any] | None = None
        self._watch: asyncio.Task[Any] | None = None
        self.gone = False

    def start(self) -> None:
        """Starts to listen, once the request's body has been read."""
        if self._connection is not None:
            self._connection.on_lost = self._lost
            if self._connection.lost:
                self._lost()
        else:
            self._watch = self._tasks.spawn(self._listen(), name="watch for disconnect")

    def on_server_stop(self, end: Callable[[], None]) -> None:
        """Calls `end` when the server stops and waits for answers, to end one that has no end of its own. Servers
        without that callback cut it off after their grace period."""
        if self._connection is not None:
            self._connection.on_stopping = end
            if self._connection.stopping:
                end()

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._lost()

    def _lost(self) -> None:
        if self._work is not None:
            self.gone = True
            self._work.cancel()

    async def __aenter__(self) -> Self:
        self._work = asyncio.current_task()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        work, self._work = self._work, None
        if self._watch is not None:
            self._watch.cancel()
        if self._connection is not None:
            self._connection.on_lost = self._connection.on_stopping = None
        if not self.gone or work is None:
            return False
        return work.uncancel() <= 0 and kind is asyncio.CancelledError


def refuse_coding(headers: Headers) -> None:
    """Raises BadRequest for a body with a content coding, which the managed route can't read."""
    coding = wire_headers.get(headers, "content-encoding")
    if coding and coding.lower() != "identity":
        raise BadRequest(f"Content-Encoding {coding[:40]!r} is not supported on this route; send plain JSON.")
