"""Checks of an HTTP request before the pipeline (API key, size and time of the body), and detection of a client that
disconnects."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from hashlib import blake2b, sha256
from types import TracebackType
from typing import Any, Protocol, Self

from proxy.config import Config
from proxy.errors import BadRequest, RequestTimeout, TooLarge, Unauthorized
from proxy.protocol import headers as wire_headers
from proxy.tasks import Tasks
from proxy.types import Headers

AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]


CONNECTION = "olvido.connection"  # the ASGI extension with our server's connection


class Connection(Protocol):
    """Callbacks of our server's connection beyond ASGI: one when it is lost (instead of a task for every request that
    waits for that), and one when the server stops and waits for answers in progress."""

    lost: bool
    on_lost: Callable[[], None] | None
    stopping: bool
    on_stopping: Callable[[], None] | None


# Headers of gateways that select a provider's key identify customers as well.
KEYS = wire_headers.KEYS | {"cf-aig-authorization", "helicone-auth", "x-portkey-api-key", "x-portkey-virtual-key"}


class ClientGone(Exception):
    """Raised when the client left before it had sent its request. Nobody is there to be answered."""


class Authenticator:
    """Authenticates requests, and derives their tenant."""

    def __init__(self, config: Config, secret: bytes) -> None:
        self._secret = secret
        self._own_keys = {key.key: key.name for key in config.auth.keys} if config.auth.mode == "keys" else None

    def tenant(self, headers: Headers) -> str:
        """Returns a keyed hash of the API key, 32 hex digits; the key itself goes no further. With own keys it is a
        hash of the key's name, so a key can be replaced without losing what is remembered. Raises Unauthorized."""
        credentials = _credentials(headers)
        if self._own_keys is None:
            return self._hash("key", "\n".join(credentials))
        given = f"sha256:{sha256(credentials[0].encode()).hexdigest()}"
        for known, name in self._own_keys.items():
            if hmac.compare_digest(known, given):
                return self._hash("name", name)
        raise Unauthorized("Incorrect API key provided: it is none of those this proxy accepts.")

    def _hash(self, kind: str, value: str) -> str:
        return blake2b(f"{kind}:{value}".encode("utf-8", "replace"), key=self._secret, digest_size=16).hexdigest()


def _credentials(headers: Headers) -> list[str]:
    """Returns every key in the request, the bearer token first. Many clients send a dummy in Authorization, and only
    the upstream knows which key counts, so all of them together identify the tenant."""
    given = [(name, value) for name, value in headers if value and name in KEYS]
    bearers = [_bearer(value) for name, value in given if name == "authorization"]
    others = [value for name, value in given if name != "authorization"]
    keys = list(dict.fromkeys(key for key in (*bearers, *others) if key))
    return keys or [wire_headers.get(headers, "authorization") or ""]


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def read_body(receive: Receive, headers: Headers, *, max_bytes: int, seconds: float) -> bytes:
    """Returns the whole body. Raises TooLarge as soon as it is known to be, RequestTimeout after `seconds`,
    ClientGone."""
    announced = wire_headers.get(headers, "content-length")
    if announced is not None and announced.isdecimal() and _exceeds(announced, max_bytes):
        raise _too_large(max_bytes)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
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
    except TimeoutError:
        raise RequestTimeout(f"The request body was not received within {seconds:g} s.") from None


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
