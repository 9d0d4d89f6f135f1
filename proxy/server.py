"""uvicorn with limits: a bound and a deadline for the head of a request, and errors in OpenAI's shape for input that
never becomes a request."""

import asyncio
import errno
import gc
import logging
import re
import resource
import socket
from asyncio import TimerHandle
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from proxy.app import create_app
from proxy.config import Config
from proxy.errors import BadRequest, HeaderTooLarge, OlvidoError, RequestTimeout
from proxy.http.exchange import CONNECTION
from proxy.types import Headers

log = logging.getLogger(__name__)

BACKLOG = 4096
FEW_FILES = 4_096  # open files: fewer are too few for two thousand streams
OWN_FILES = 64  # of the process itself: databases, model, logs


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
        """Parses the bytes, and refuses a head that exceeds its bound."""
        self._shared = self._in_body
        super().data_received(data)
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
        self._in_body = True
        if (named := authority_of(self.url)) is not None:
            self.headers.append((b"host", named))  # besides the header, so that checks see both
        super().on_headers_complete()
        if self._is_last:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Notes that the body is complete."""
        self._in_body = False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Sends OpenAI's error shape for input that is no HTTP, and closes the connection."""
        self._refuse(self._refusal or BadRequest(msg))

    def _too_large(self) -> HeaderTooLarge:
        return HeaderTooLarge(f"The request's head is larger than {self.max_head_bytes // 1024} KiB.")

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
            if not (answering and cycle.response_started):
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


def _is_news(record: logging.LogRecord) -> bool:
    """False for uvicorn's log of an answer that we broke off on purpose, and have logged with its reason."""
    return record.msg != "ASGI callable returned without completing response."


def server(
    config: Config, app: Any = None, *, kind: type[uvicorn.Server] = uvicorn.Server, farewell: float = 0.0
) -> uvicorn.Server:
    """Returns a server for `config`, of one process, not started. `farewell`: see Guarded."""
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    limits = config.server
    guarded = type(
        "Guarded",
        (Guarded,),
        {
            "max_head_bytes": limits.max_header_kb * 1024,
            "head_seconds": limits.header_timeout,
            "farewell": farewell,
        },
    )
    return kind(
        uvicorn.Config(
            app or create_app(config),
            host=limits.host,
            port=limits.port,
            http=guarded,
            ws="none",
            lifespan="on",
            backlog=BACKLOG,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=limits.keep_alive,  # type: ignore[arg-type]  # a fraction of a second is fine too
            timeout_graceful_shutdown=max(1, round(limits.drain)),
        )
    )


def prepare() -> None:
    """Readies this process for serving: open files, garbage collection."""
    _allow_open_files()
    # What is loaded by now lives as long as the process, and need not be looked through for garbage again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _allow_open_files() -> None:
    """A stream is two sockets, and the usual soft limit of 1,024 files is reached by 500 of them."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if most != resource.RLIM_INFINITY and most < FEW_FILES:
        log.warning(
            "few open files are allowed: raise the hard limit (ulimit -Hn, LimitNOFILE)",
            extra={"files": most, "streams_at_once": max(0, (most - OWN_FILES) // 2)},
        )


def listen(config: Config) -> socket.socket:
    """Returns the listening socket, so that the port is known before serving starts. Raises OSError if it is taken."""
    family = socket.AF_INET6 if ":" in config.server.host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((config.server.host, config.server.port))
        sock.listen(BACKLOG)  # from now on connections wait until it serves
    except OSError:
        sock.close()
        raise
    sock.set_inheritable(True)
    return sock


def listener(config: Config) -> socket.socket | None:
    """Returns the listening socket, and logs where clients find it; None, with a line that says why, if it cannot."""
    try:
        sock = listen(config)
    except OSError as error:
        host, port = config.server.host, config.server.port
        log.error(why_not(error, host, port), extra={"host": host, "port": port})  # noqa: TRY400 (it needs no traceback)
        return None
    url = base_url(sock)
    log.info("point your SDK's base_url at %s", url)
    log.info("what happens is shown at %s/ui", url.removesuffix("/v1"))
    return sock


def why_not(error: OSError, host: str, port: int) -> str:
    """Returns a sentence that says why it cannot listen, and what to do."""
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use: choose another one with --port; `olvido doctor` tells whether olvido has it"
    if error.errno == errno.EACCES:
        return f"port {port} is not for this user to open: choose one above 1023 with --port"
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine: choose another one with --host"
    return f"cannot listen on {host}:{port}: {error.strerror or error}"


def base_url(sock: socket.socket) -> str:
    """Returns the base URL for SDKs."""
    host, port = sock.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 (what is shown for it)
    return f"http://{shown}:{port}/v1"
