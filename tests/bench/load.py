"""The load, in a process of its own: keep-alive connections that send, wait for the whole answer, and send again.

python -m tests.bench.load      one `Job` or `StreamsJob` as JSON a line on stdin, one outcome a line on stdout
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import httptools
import msgspec
import uvloop

from tests.bench.bodies import Author, Kind, Lanes, workload
from tests.bench.processes import Status, allow_files, cpu_seconds, settle, status, switches

_HEAD = (
    "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: application/json\r\n"
    "content-type: application/json\r\nuser-agent: OpenAI/Python 3.54.0\r\n"
    "authorization: Bearer sk-bench-000000000000\r\nx-stainless-lang: python\r\n"
    "x-stainless-package-version: 3.54.0\r\nx-stainless-runtime: CPython\r\n"
    "x-stainless-retry-count: 0\r\naccept-encoding: identity\r\ncontent-length: {length}\r\n\r\n"
)
DEADLINE = 180.0  # seconds for one phase
# Answers that were just used are served from the proxy's memory for a second; `once` waits until they no longer are.
FORGOTTEN_SECONDS = 1.2


class Job(msgspec.Struct, frozen=True, tag=True):
    """`requests` as fast as the connections go, then `paced` more at `rate` a second."""

    port: int
    pid: int  # whose CPU is read
    kind: Kind
    stream: bool
    requests: int
    paced: int
    rate: float
    connections: int
    seed: int


class StreamsJob(msgspec.Struct, frozen=True, tag=True):
    """`streams` slow streams, all open at the same time."""

    port: int
    pid: int
    streams: int
    seed: int


class Outcome(msgspec.Struct, frozen=True):
    cpu: float  # seconds of CPU that the process and its children spent on the fast requests, until they were idle
    switches: int  # how often a thread but the main one went to sleep, meanwhile
    seconds: float  # that the fast requests took
    fast: int  # how many there were
    paced: list[float]  # seconds that each of the paced requests took
    answers: dict[str, int]  # how many had this status, content type, source and plan


class StreamsOutcome(msgspec.Struct, frozen=True):
    peak_open: int  # streams that had begun and not ended, at most
    answers: dict[str, int]
    before: Status
    peak: Status  # when its RSS was largest
    after: Status


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
        """Seconds until the end of the answer."""
        if self._transport.is_closing():
            raise ConnectionError("the server closed the connection")
        started = perf_counter()
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(_HEAD.format(port=port, length=len(body)).encode() + body)
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
        """Send each lane over its connection; the seconds that each request took. With a rate, requests are due at
        fixed times, evenly over all lanes, and the time that an earlier answer made them wait counts."""
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

    async def ask_each(self, bodies: Sequence[bytes]) -> None:
        """One request on each connection, all at once. Those that get no answer are counted as such."""

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


async def load(job: Job) -> Outcome:
    each, paced = (-(-requests // job.connections) for requests in (job.requests, job.paced))
    work = workload(
        job.kind, requests=(each + paced) * job.connections, lanes=job.connections, seed=job.seed, stream=job.stream
    )
    await _alone(job, work.warm_up)
    if job.kind == "once":
        await asyncio.sleep(FORGOTTEN_SECONDS)
    settle(job.pid)
    used, slept = cpu_seconds(job.pid), switches(job.pid)
    started = perf_counter()
    fast = await _alone(job, [lane[:each] for lane in work.measured])
    seconds = perf_counter() - started
    settle(job.pid)
    used, slept = cpu_seconds(job.pid) - used, switches(job.pid) - slept
    slow = await _alone(job, [lane[each:] for lane in work.measured], job.rate) if paced else Phase([], Counter())
    return Outcome(used, slept, seconds, each * job.connections, slow.latencies, dict(fast.answers + slow.answers))


class Phase(NamedTuple):
    latencies: list[float]  # seconds
    answers: Counter[str]


async def _alone(job: Job, lanes: Lanes, rate: float | None = None) -> Phase:
    """Sends the lanes over connections of their own: none is kept open over a pause."""
    connections = Connections(job.port)
    await connections.open(job.connections)
    try:
        return Phase(await connections.run(lanes, rate), connections.answers)
    finally:
        connections.close()


async def open_streams(job: StreamsJob) -> StreamsOutcome:
    author = Author(job.seed, stream=True, model="bench-slow")
    connections = Connections(job.port)
    settle(job.pid)
    before = peak = status(job.pid)
    peak_open = 0
    await connections.open(job.streams)
    try:
        running = asyncio.gather(connections.ask_each([author.cold() for _ in range(job.streams)]))
        while not running.done():
            await asyncio.wait({running}, timeout=0.2)
            peak_open = max(peak_open, connections.begun)
            peak = max(peak, status(job.pid), key=lambda now: now.rss_mb)
        await running
    finally:
        connections.close()
    await asyncio.sleep(0.1)  # for our own closing to be sent
    settle(job.pid)
    return StreamsOutcome(peak_open, dict(connections.answers), before, peak, status(job.pid))


def main() -> None:
    allow_files()
    encode = msgspec.json.Encoder().encode
    decode = msgspec.json.Decoder(Job | StreamsJob).decode
    for line in sys.stdin.buffer:
        job = decode(line)
        outcome = uvloop.run(load(job) if isinstance(job, Job) else open_streams(job))
        sys.stdout.buffer.write(encode(outcome) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
