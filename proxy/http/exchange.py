"""One HTTP request and its answer, between ASGI's messages and our types."""

import itertools
import secrets
from collections.abc import Mapping

from proxy.errors import OlvidoError
from proxy.http.edge import CONNECTION, AsgiMessage, CancelOnDisconnect, Receive, Send, discard_body
from proxy.protocol import headers as wire_headers
from proxy.protocol import sse
from proxy.tasks import Tasks
from proxy.types import Answer, Headers

# The rest of a refused body is read and discarded for this long.
DISCARD_SECONDS = 5.0

_WITHOUT_BODY = (204, 304)  # RFC 9110 §8.6: nor with a length

# Unique without asking the system for randomness at every request, which costs 80 µs in a busy server: it lets go of
# the GIL.
_PROCESS = secrets.token_hex(8)
_requests = itertools.count(1)


class Call:
    """One HTTP request, and the ways to answer it."""

    __slots__ = (
        "_in_events",
        "_send",
        "answered",
        "client",
        "common_headers",
        "headers",
        "method",
        "parameters",
        "path",
        "port",
        "query",
        "receive",
        "request_id",
        "watch",
    )

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
            self._in_events = _is_readable_stream(answer.headers)
            async for chunk in body:
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            await body.aclose()
        self._in_events = False
        await self._send({"type": "http.response.body", "body": b""})

    async def refuse(self, error: OlvidoError, *, unread: int = 0) -> None:
        """Sends `error` as the answer. `unread` bytes of a refused body may still come: the connection can't be used
        again, but the client may send for a while, lest it see a reset connection instead of the answer."""
        answer = error.answer()
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
            event = b"\n\n" + sse.error_event(error.body())
            await self._send({"type": "http.response.body", "body": event, "more_body": True})

    async def _start(self, answer: Answer, *more: tuple[str, str]) -> None:
        self.answered = True
        headers = [
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in (*answer.headers, *self.common_headers, *more)
        ]
        await self._send({"type": "http.response.start", "status": answer.status, "headers": headers})


def _is_readable_stream(headers: Headers) -> bool:
    coding = wire_headers.get(headers, "content-encoding") or "identity"
    kind = wire_headers.get(headers, "content-type") or ""
    return kind.strip().lower().startswith("text/event-stream") and coding == "identity"
