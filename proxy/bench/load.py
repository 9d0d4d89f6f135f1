"""The load, in a process of its own: keep-alive connections that send, wait for the whole answer, and send again.

python -m proxy.bench.load      a job as JSON a line on stdin, its outcome a line on stdout
"""

import asyncio
import re
import sys
from collections import Counter
from time import monotonic, perf_counter
from typing import NamedTuple

import msgspec
import uvloop

from proxy.bench.bodies import Author, Kind, Lanes, workload
from proxy.bench.connections import Connections
from proxy.bench.processes import Status, Unusable, allow_files, cpu_seconds, get, settle, status, switches

# Answers that were just used are served from the proxy's memory for a second; `once` waits until they no longer are.
FORGOTTEN_SECONDS = 1.2
OWING_SECONDS = 60.0
POLL_SECONDS = 0.002  # between two questions whether a server is alive
_OWED = re.compile(rb"^olvido_(?:memory_pending|writer_queue) (\S+)", re.MULTILINE)
_LAGS = re.compile(rb'^olvido_loop_lag_seconds_bucket\{le="([^"]+)"\} (\S+)', re.MULTILINE)


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
    quiet: float = 0.5  # seconds without CPU after which a process is idle


class StreamsJob(msgspec.Struct, frozen=True, tag=True):
    """`streams` slow streams, all open at the same time."""

    port: int
    pid: int
    streams: int
    seed: int


class StallJob(msgspec.Struct, frozen=True, tag=True):
    """A message of so many megabytes, while the server is asked again and again whether it is alive."""

    port: int
    pid: int
    megabytes: int
    seed: int


class Outcome(msgspec.Struct, frozen=True):
    """A row's numbers of one round."""

    cpu: float  # seconds of CPU that the process and its children spent on the fast requests, until they were idle
    switches: int  # how often a thread but the main one went to sleep, meanwhile
    seconds: float  # that the fast requests took
    fast: int  # how many there were
    paced: list[float]  # seconds that each of the paced requests took
    answers: dict[str, int]  # how many had this status, content type, source and plan
    # How often the event loop was late by so many seconds at most ("0.001", …, "+Inf"), the steps before included;
    # empty if the server does not tell.
    lags: dict[str, float]


class StallOutcome(msgspec.Struct, frozen=True):
    """The effect of a large message on others."""

    longest: float  # seconds that the server took to say that it is alive, at most
    answers: dict[str, int]  # to the message


class StreamsOutcome(msgspec.Struct, frozen=True):
    """Many streams at once."""

    peak_open: int  # streams that had begun and not ended, at most
    answers: dict[str, int]
    before: Status
    peak: Status  # when its RSS was largest
    after: Status


async def load(job: Job) -> Outcome:
    """Measures a row of one round."""
    each, paced = (-(-requests // job.connections) for requests in (job.requests, job.paced))
    work = workload(
        job.kind, requests=(each + paced) * job.connections, lanes=job.connections, seed=job.seed, stream=job.stream
    )
    await _alone(job, work.warm_up)
    if job.kind == "once":
        await asyncio.sleep(FORGOTTEN_SECONDS)
    _settled(job)
    before = _lags(job.port)
    used, slept = cpu_seconds(job.pid), switches(job.pid)
    started = perf_counter()
    fast = await _alone(job, [lane[:each] for lane in work.measured])
    seconds = perf_counter() - started
    used_by_now, slept_by_now = _settled(job)
    used, slept = used_by_now - used, slept_by_now - slept
    slow = await _alone(job, [lane[each:] for lane in work.measured], job.rate) if paced else Phase([], Counter())
    lags = {upto: count - before[upto] for upto, count in _lags(job.port).items()}
    return Outcome(
        used, slept, seconds, each * job.connections, slow.latencies, dict(fast.answers + slow.answers), lags
    )


def _settled(job: Job) -> tuple[float, int]:
    """Waits until the server is idle and says that it owes no work to earlier requests, for `OWING_SECONDS` at most.
    Returns its seconds of CPU and its switches by then, without those of that question."""
    deadline = monotonic() + OWING_SECONDS
    while True:
        settle(job.pid, quiet=job.quiet)
        by_now = cpu_seconds(job.pid), switches(job.pid)
        if not any(map(float, _OWED.findall(get(job.port, "/metrics")))) or monotonic() > deadline:
            return by_now


def _lags(port: int) -> dict[str, float]:
    return {upto.decode(): float(count) for upto, count in _LAGS.findall(get(port, "/metrics"))}


class Phase(NamedTuple):
    """Requests that were sent, and answered."""

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


async def stall(job: StallJob) -> StallOutcome:
    """Measures what a large message does to others."""
    message, asking = Connections(job.port), Connections(job.port)
    body = Author(job.seed, stream=False).huge(job.megabytes)
    settle(job.pid)
    await message.open(1)
    await asking.open(1)
    try:
        sent = asyncio.gather(message.ask_each([body]))
        longest = 0.0
        while not sent.done():
            longest = max(longest, await asking.alive())
            await asyncio.sleep(POLL_SECONDS)
        await sent
    finally:
        message.close()
        asking.close()
    settle(job.pid)
    return StallOutcome(longest, dict(message.answers))


async def open_streams(job: StreamsJob) -> StreamsOutcome:
    """Measures many slow streams at once."""
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


async def _done(job: Job | StallJob | StreamsJob) -> Outcome | StallOutcome | StreamsOutcome:
    match job:
        case Job():
            return await load(job)
        case StallJob():
            return await stall(job)
        case StreamsJob():
            return await open_streams(job)


def main() -> None:
    """Measures what it is told to, until it is told no more."""
    allow_files()
    encode = msgspec.json.Encoder().encode
    decode = msgspec.json.Decoder(Job | StallJob | StreamsJob).decode
    for line in sys.stdin.buffer:
        try:
            outcome = uvloop.run(_done(decode(line)))
        except (OSError, TimeoutError, Unusable) as error:
            sys.exit(f"the load: {type(error).__name__}: {error}")
        sys.stdout.buffer.write(encode(outcome) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
