"""A client's connection: uvicorn's HTTP protocol with a bound and a deadline for the head of a request, no trailers,
errors in OpenAI's shape for input that never becomes a request, and one system call for what is written in one turn of
the event loop.

uvicorn takes the fields behind a body (trailers) for headers of the request, without a bound. A proxy in front that
sets a header, or takes one away, does not look there: a key, a Host or an end user from there would be taken for its
word (RFC 9110 §6.5.1 forbids it). Here they are bounded as a head is, and dropped."""

import asyncio
import re
from asyncio import TimerHandle
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from proxy.errors import BadRequest, HeaderTooLarge, OlvidoError, RequestTimeout
from proxy.http.exchange import CONNECTION
from proxy.types import Headers


class Corked:
    """A transport that sends all writes of one event loop turn in one system call. uvicorn writes the head and the body
    of an answer apart, and a system call costs more than most of our stages."""

    MOST_HELD = 64 * 1024  # bytes: held ones do not count for the transport's flow control

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Holds the bytes until the end of this turn, or until `MOST_HELD`."""
        if not self._held:
            self._loop.call_soon(self.flush)
        self._held.append(data)
        self._size += len(data)
        if self._size >= self.MOST_HELD:
            self.flush()

    def flush(self) -> None:
        """Sends the held bytes."""
        if self._held:
            held, self._held, self._size = b"".join(self._held), [], 0
            if not self._transport.is_closing():
                self._transport.write(held)

    def close(self) -> None:
        """Sends the held bytes and closes the transport."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Guarded(HttpToolsProtocol):
    """uvicorn's HTTP protocol with bounds for the size and the time of a head, which it lacks."""

    max_head_bytes = 64 * 1024
    head_seconds = 20.0
    farewell = 0.0  # seconds that an idle connection may still be asked something while the server stops

    _is_last = False  # the next answer ends the connection

    # See exchange.Connection.
    lost = False
    on_lost: Callable[[], None] | None = None
    stopping = False
    on_stopping: Callable[[], None] | None = None

    _head_bytes = 0
    _beside_body = 0  # bytes that have come within a body since the last of it: trailers, extensions of chunks
    _in_head = True
    _in_body = False
    _shared = False  # the chunk being read holds more than a head
    _timer: TimerHandle | None = None
    _refusal: OlvidoError | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Corks the transport and starts the deadline of the head."""
        super().connection_made(Corked(transport, self.loop))  # type: ignore[arg-type]  # all of a transport that is used
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tells the request in progress that its client has left."""
        self._stop_timer()
        super().connection_lost(exc)
        self.lost = True
        if self.on_lost is not None:
            self.on_lost()

    def shutdown(self) -> None:
        """Tells the answer in progress that the server stops. An idle connection gets one more answer, if its client
        asks within `farewell`: that request may be on its way already, and would be lost."""
        if self.farewell and self._is_idle:
            self._is_last = True
            self.loop.call_later(self.farewell, self._close_idle)
        else:
            super().shutdown()
        self.stopping = True
        if self.on_stopping is not None:
            self.on_stopping()

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _close_idle(self) -> None:
        if self._is_idle and not self.transport.is_closing():
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Parses the bytes, and refuses a head that exceeds its bound, or as much within a body that is none of it."""
        self._shared = self._in_body
        if self._in_body:
            self._beside_body += len(data)
        super().data_received(data)
        if self._beside_body > self.max_head_bytes and self._in_body and not self.transport.is_closing():
            self._refuse(self._too_large())
        # Count only chunks that are all head: the one in which it ends may hold the body's beginning, and the one in
        # which it begins the end of the body before.
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += 1 if self._shared else len(data)
            if self._head_bytes > self.max_head_bytes:
                self._refuse(self._too_large())
        self._expire_again()

    def _expire_again(self) -> None:
        """Restarts uvicorn's keep-alive timer, which any bytes stop for good, a stray line end too."""
        idle = self.cycle is not None and self.cycle.response_complete and self._timer is None
        if idle and self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def on_message_begin(self) -> None:
        """Adds this connection to the request's ASGI extensions, and starts the deadline of the next head."""
        super().on_message_begin()
        self.scope["extensions"] = {CONNECTION: self}  # type: ignore[dict-item]  # an extension of our own
        self._head_bytes = 0
        self._expect_head()

    def on_headers_complete(self) -> None:
        """Refuses a head that exceeds its bound, and adds the host of an absolute target to the headers."""
        self._in_head = False
        self._shared = True
        self._stop_timer()
        if sum(len(name) + len(value) + 4 for name, value in self.headers) + len(self.url) > self.max_head_bytes:
            self._refusal = self._too_large()
            raise ValueError("head too large")  # stops the parser, which then calls send_400_response
        if (named := authority_of(self.url)) is not None:
            self.headers.append((b"host", named))  # besides the header, so that checks see both
        super().on_headers_complete()  # raises for a target without a path, of which there is no cycle then
        self._in_body = True
        self.headers = []  # what comes from now on is no header: see above
        if self._is_last:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Passes a part of the body on."""
        self._beside_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Notes that the body is complete."""
        self._in_body = False
        self._beside_body = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Sends OpenAI's error shape for input that is no HTTP, and closes the connection."""
        self._refuse(self._refusal or BadRequest(msg))

    def _too_large(self) -> HeaderTooLarge:
        return HeaderTooLarge(
            f"The request's head, or what stands behind its body, is larger than {self.max_head_bytes // 1024} KiB."
        )

    def _expect_head(self) -> None:
        self._in_head = True
        if self._timer is None:
            self._timer = self.loop.call_later(self.head_seconds, self._head_late)

    def _head_late(self) -> None:
        self._timer = None
        if self._head_bytes:
            self._refuse(RequestTimeout(f"The request's head was not received within {self.head_seconds:g} s."))
        else:
            self.transport.close()  # a connection that was opened and never used

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, error: OlvidoError) -> None:
        self._stop_timer()
        cycle, answering = self.cycle, self.cycle is not None and not self.cycle.response_complete
        if answering and not self._in_body:
            # The bad input follows a request that is being answered: finish that answer, then close.
            cycle.keep_alive = False
            return
        if not self.transport.is_closing():
            if not (self._in_body and cycle.response_started):  # its answer has been told
                self.transport.write(_response(error))
            self.transport.close()


def authority_of(target: bytes) -> bytes | None:
    """Returns the host of a request target in absolute form (`http://name:1/path`); None for any other form."""
    scheme, separator, rest = target.partition(b"://")
    if not separator or b"/" in scheme or b"?" in scheme:
        return None
    return re.split(rb"[/?#]", rest, maxsplit=1)[0]


def _response(error: OlvidoError) -> bytes:
    answer = error.answer()
    assert isinstance(answer.body, bytes)
    headers: Headers = (*answer.headers, ("content-length", str(len(answer.body))), ("connection", "close"))
    lines = [
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + answer.body
