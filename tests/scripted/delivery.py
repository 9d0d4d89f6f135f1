"""How a reply leaves the server: piece by piece, or not at all.

Nothing sleeps blindly: every pause ends when the client leaves or the control releases it, and what became of the
reply is written down.
"""

import asyncio
import contextlib
import socket
import struct

from starlette.types import Receive, Scope, Send

from tests.scripted.faults import Fault
from tests.scripted.recording import Received, Recorder
from tests.scripted.reply import Reply, spoil

TRANSPORT = "olvido.transport"  # where server.py leaves the connection in `scope["extensions"]`


class Releases:
    """Lets go of every reply that is being held back."""

    def __init__(self) -> None:
        self._held: set[asyncio.Event] = set()

    @property
    def holding(self) -> int:
        return len(self._held)

    def release(self) -> None:
        for wake in self._held:
            wake.set()

    async def hold(self, wake: asyncio.Event, seconds: float | None) -> None:
        self._held.add(wake)
        try:
            await _pause(wake, seconds)
        finally:
            self._held.discard(wake)


async def _pause(wake: asyncio.Event, seconds: float | None) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(wake.wait(), seconds)


class Delivery:
    """An ASGI response."""

    def __init__(
        self, reply: Reply, fault: Fault | None, request: Received, *, recorder: Recorder, releases: Releases
    ) -> None:
        self._reply = spoil(reply, fault)
        self._fault = fault
        self._request = request
        self._recorder = recorder
        self._releases = releases
        self._wake = asyncio.Event()
        self._gone = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if self._fault is None and len(self._reply.pieces) == 1:
                await self._send(send, None)  # there is nothing to interrupt
                return
            async with asyncio.TaskGroup() as group:
                watcher = group.create_task(self._watch(receive))
                try:
                    await self._send(send, scope.get("extensions", {}).get(TRANSPORT))
                finally:
                    watcher.cancel()
        finally:
            self._recorder.done(self._request)

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._wake.set()

    async def _send(self, send: Send, transport: asyncio.Transport | None) -> None:
        request, reply = self._request, self._reply
        if self._is("slow-first-byte"):
            await self._hold(self._fault.value if self._fault else None)
        if self._left() or await self._break(transport, 0):
            return
        request.status = reply.status
        await send({"type": "http.response.start", "status": reply.status, "headers": self._headers()})
        last = len(reply.pieces) - 1
        for number, piece in enumerate(reply.pieces):
            if number and reply.delay:
                await _pause(self._wake, reply.delay)
            if self._left() or (number and await self._break(transport, number)) or self._left():
                return
            # Written down first: the client may have read it before the send returns.
            request.chunks_sent += 1
            request.finished = number == last and not reply.streamed
            await send({"type": "http.response.body", "body": piece, "more_body": not request.finished})
            if not request.finished:
                # A write does not yield: without this a client that leaves is noticed only after the last piece.
                await asyncio.sleep(0)
        if request.finished or self._left():
            return
        request.finished = True
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _hold(self, seconds: float | None) -> None:
        await self._releases.hold(self._wake, seconds)
        if not self._gone:
            self._wake.clear()

    def _is(self, name: str) -> bool:
        return self._fault is not None and self._fault.name == name

    def _left(self) -> bool:
        self._request.closed_early = self._gone
        return self._gone

    async def _break(self, transport: asyncio.Transport | None, sent: int) -> bool:
        """Break the connection, or hold it, if that is to happen after `sent` pieces. True: there is none any more."""
        if self._fault is None or self._fault.name not in ("stall", "cut", "reset"):
            return False
        # An answer that is shorter than asked for breaks before its last piece.
        if sent != min(self._fault.at(0 if self._is("reset") else 1), len(self._reply.pieces) - 1):
            return False
        if self._is("stall"):
            await self._hold(None)
            return False
        if transport is None:
            raise ConnectionAbortedError("this server cannot break a connection; run it with tests.scripted.server")
        if self._is("reset"):
            connection = transport.get_extra_info("socket")
            # To linger for no time at all is what makes the kernel send RST instead of FIN.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        else:
            transport.close()
        await self._wake.wait()
        return True

    def _headers(self) -> list[tuple[bytes, bytes]]:
        headers = {"content-type": self._reply.content_type, **self._reply.headers}
        if not self._reply.streamed:
            headers["content-length"] = str(sum(map(len, self._reply.pieces)))
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
