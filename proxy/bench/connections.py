"""The load's keep-alive connections: each sends a request, waits for the whole answer, and sends the next."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from time import perf_counter

import httptools

from proxy.bench.bodies import Lanes

_HEAD = (
    "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: application/json\r\n"
    "content-type: application/json\r\nuser-agent: OpenAI/Python 3.54.0\r\n"
    "authorization: Bearer sk-bench-000000000000\r\nx-stainless-lang: python\r\n"
    "x-stainless-package-version: 3.54.0\r\nx-stainless-runtime: CPython\r\n"
    "x-stainless-retry-count: 0\r\naccept-encoding: identity\r\ncontent-length: {length}\r\n\r\n"
)
DEADLINE = 180.0  # seconds for one phase


class Connection(asyncio.Protocol):
    """One keep-alive connection; `ask` is not reentrant."""

    def __init__(self, answers: Counter[str]) -> None:
        self.begun = False  # the answer to the request under way
        self._answers = answers
        self._labels: dict[bytes, bytes] = {}
        self._answered: asyncio.Future[None] | None = None
        self._end = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP is both ways
        self._transport = transport
        self._parser = httptools.HttpResponseParser(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name in (b"content-type", b"x-olvido-source", b"x-olvido-plan"):
            self._labels[name] = value.partition(b";")[0] if name == b"content-type" else value

    def on_body(self, body: bytes) -> None:
        self.begun = True
        self._end = body

    def on_message_complete(self) -> None:
        label = f"{self._parser.get_status_code()} {b' '.join(self._labels.values()).decode()}"
        if self._labels.get(b"content-type") == b"text/event-stream" and b"[DONE]" not in self._end:
            label += " cut"
        self._answers[label] += 1
        self._labels.clear()
        self.begun = False
        self._parser = httptools.HttpResponseParser(self)
        if self._answered is not None and not self._answered.done():
            self._answered.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self.begun = False
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(exc or ConnectionError("the server closed the connection"))

    async def ask(self, port: int, body: bytes) -> float:
        """Sends a request. Returns the seconds until the end of the answer."""
        return await self.send((_HEAD.format(port=port, length=len(body)).encode(), body))

    async def send(self, request: Sequence[bytes]) -> float:
        """Sends the pieces of a request. Returns the seconds until the end of the answer."""
        if self._transport.is_closing():
            raise ConnectionError("the server closed the connection")
        started = perf_counter()
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.writelines(request)
        await self._answered
        return perf_counter() - started

    def close(self) -> None:
        self._answered = None
        self._transport.close()


class Connections:
    """Open connections to one server, and what it answered."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: list[Connection] = []
        self.answers: Counter[str] = Counter()

    async def open(self, count: int) -> None:
        for _ in range(count):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(self.answers), "127.0.0.1", self._port
            )
            self._open.append(connection)

    async def run(self, lanes: Lanes, rate: float | None = None) -> list[float]:
        """Sends each lane over its connection. Returns the seconds that each request took. With a rate, requests are
        due at fixed times, evenly over all lanes, and the time that an earlier answer made them wait counts."""
        interval = 0.0 if rate is None else len(lanes) / rate
        started = perf_counter()
        async with asyncio.timeout(DEADLINE):
            latencies = await asyncio.gather(
                *(
                    self._send(connection, lane, interval, started + interval * position / len(lanes))
                    for position, (connection, lane) in enumerate(zip(self._open, lanes, strict=True))
                )
            )
        return [latency for lane in latencies for latency in lane]

    async def _send(self, connection: Connection, lane: Sequence[bytes], interval: float, first: float) -> list[float]:
        latencies = []
        for position, body in enumerate(lane):
            late = 0.0
            if interval:
                early = first + position * interval - perf_counter()
                late = max(0.0, -early)
                if early > 0:
                    await asyncio.sleep(early)  # a timer's own lateness is not the server's
            latencies.append(late + await connection.ask(self._port, body))
        return latencies

    async def alive(self) -> float:
        """Asks the server whether it is alive, over the first connection. Returns the seconds that the answer took."""
        asked = f"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\n\r\n"
        return await self._open[0].send((asked.encode(),))

    async def ask_each(self, bodies: Sequence[bytes]) -> None:
        """Sends one request on each connection, all at once. Those that get no answer are counted as such."""

        async def ask(connection: Connection, body: bytes) -> None:
            try:
                await connection.ask(self._port, body)
            except OSError as error:
                self.answers[f"no answer: {error}"] += 1

        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*map(ask, self._open, bodies))

    @property
    def begun(self) -> int:
        return sum(connection.begun for connection in self._open)

    def close(self) -> None:
        for connection in self._open:
            connection.close()
