"""`python -m tests.calls`: the Python calls, hops to other threads and SQL statements that a request costs, with all
that it leaves to be done. Counts, not times: they are the same on every machine, whatever else it does.

    untouched   a short chat that goes on, whose history is known; context off
    exact hit   a deterministic request, answered from the cache
    stream      as untouched, answered in 30 events
    short       a short chat that goes on, with context on: it fits into the window
    managed     a chat of 41 messages that goes on, planned under a budget
    vectors     the same, with an embedder that costs nothing

Of all threads but the upstream's, libraries included; storage is on disk. n requests of each kind, the median. Calls
are counted apart from the rest, whose counting would be counted. `tests/test_calls.py` holds limits.
"""

import asyncio
import contextlib
import sqlite3
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any, Literal, get_args
from unittest.mock import patch

import numpy as np

from proxy import services as composition
from proxy.embedding import EmbeddingOff, State
from proxy.embedding import Vectors as Embedded
from proxy.pipeline import Services
from proxy.storage.pending import WriterLimits
from tests.builders import Said, assistant, body, encoding, user
from tests.proxied import Upstream, answered, in_front_of, run_upstream

Kind = Literal["untouched", "exact hit", "stream", "short", "managed", "vectors"]

N = 7
TEXT = "the garden wall needs a new foundation before the frost comes and the mason asked for two more weeks"
WORDS = TEXT.split()
OFF = {"context": {"mode": "off"}}
LEAN = {"profiles": {"small": {"base": "lean", "budget": 900}}, "context": {"profile": "small"}}
SECTIONS: dict[Kind, dict[str, Any]] = {
    "untouched": OFF,
    "exact hit": OFF,
    "stream": OFF,
    "short": {},
    "managed": LEAN,
    "vectors": LEAN,
}
BATCHES = WriterLimits(interval=60.0)  # seconds: only `_done` has anything written
CHUNKS = 27  # of a stream's answer; its role, its end and [DONE] make 30 events
CHUNK_SECONDS = 0.003  # between two of them, so that none arrives with another
PATIENCE = 30.0  # seconds
WRITER = "storage-writer"  # the task that waits for more to be written


@dataclass(frozen=True, slots=True)
class Counts:
    """Of a request."""

    calls: int  # of Python functions
    hops: int  # work given to another thread that the request waits for
    after: int  # the same, of what goes on beside it or follows it
    wakes: int  # times that another thread woke the event loop
    statements: int  # of SQL
    texts: int  # that were embedded


class Calls:
    """Counts calls in every thread that is started while it is at work, and in this one."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            self.count += 1


class Vectors(EmbeddingOff):
    """An embedder without a model: equal texts are equal, others have nothing in common."""

    state: State = "ready"
    version = "counted"

    def __init__(self, kind: Kind) -> None:
        self.texts = 0
        if kind != "vectors":
            self.state = "off"

    async def embed(self, texts: Sequence[str]) -> Embedded:
        if self.state == "off":
            return await super().embed(texts)
        self.texts += len(texts)
        vectors: Embedded = np.stack([np.random.default_rng([*text.encode()]).standard_normal(32) for text in texts])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors.astype(np.float32)


class Work:
    """Counts hops, wakes and statements."""

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, asking: asyncio.Task[Any] | None) -> None:
        """From zero. `asking`: the task of the request."""
        self.asking, self.hops, self.after, self.wakes, self.statements = asking, 0, 0, 0, 0

    def hop(self) -> None:
        with contextlib.suppress(RuntimeError):  # no event loop in this thread
            if asyncio.current_task() is self.asking:
                self.hops += 1
                return
        self.after += 1

    def statement(self, _sql: str) -> None:
        self.statements += 1

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        submit, wake, connect = ThreadPoolExecutor.submit, loop.call_soon_threadsafe, sqlite3.connect
        others = set(threading.enumerate()) - {threading.current_thread()}  # servers that other tests left running

        def submitting(pool: ThreadPoolExecutor, work: Any, /, *given: Any, **named: Any) -> Future[Any]:
            if threading.current_thread() not in others:
                self.hop()
            return submit(pool, work, *given, **named)

        def waking(work: Any, *given: Any, **named: Any) -> asyncio.Handle:
            self.wakes += threading.current_thread() is not threading.main_thread()
            return wake(work, *given, **named)

        def connecting(*given: Any, **named: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*given, **named)
            if threading.current_thread() not in others:
                connection.set_trace_callback(self.statement)
            return connection

        with (
            patch.object(ThreadPoolExecutor, "submit", submitting),
            patch.object(loop, "call_soon_threadsafe", waking),
            patch.object(sqlite3, "connect", connecting),
        ):
            yield


def said(number: int, words: int = 30) -> str:
    return f"{number}: " + " ".join(WORDS[(number * 7 + place) % len(WORDS)] for place in range(words))


def chat(first: int, turns: int, words: int) -> list[Said]:
    numbers = range(first, first + turns)
    return [each for n in numbers for each in (user(said(n, words)), assistant(said(n + 1, words)))]


def requests(kind: Kind, n: int, first: int) -> Sequence[bytes]:
    """One more: the first makes the rest known. Texts of another `first` are others, of which nothing is known."""
    match kind:
        case "exact hit":
            return [body(user(f"What is a black hole, {said(first, 6)}?"), model="demo-chat", temperature=0)] * (n + 1)
        case "untouched" | "short" | "stream":
            streamed = {"stream": True} if kind == "stream" else {}
            chats = [chat(first, number + 1, 6) for number in range(n + 1)]
            return [body(*each, user("And then?"), model="demo-chat", **streamed) for each in chats]
        case "managed" | "vectors":
            chats = [chat(first, 20 + number, 40) for number in range(n + 1)]
            return [body(*each, user("And then?"), model="demo-chat") for each in chats]


@contextlib.contextmanager
def upstream() -> Iterator[Upstream]:
    with run_upstream(chunks=CHUNKS, chunk_delay=CHUNK_SECONDS) as running:
        yield running


@contextlib.asynccontextmanager
async def _serving(kind: Kind, running: Upstream, vectors: EmbeddingOff) -> AsyncIterator[Services]:
    with patch.object(composition, "open_embedder", lambda *_, **__: vectors), tempfile.TemporaryDirectory() as folder:
        storage = {"path": str(Path(folder) / "storage")}
        built = await composition.build(
            in_front_of(running, storage=storage, **SECTIONS[kind]), encoding=encoding, writing=BATCHES
        )
        try:
            yield built
        finally:
            await built.close()


async def _calls(kind: Kind, running: Upstream, raws: Sequence[bytes]) -> list[int]:
    counter, vectors = Calls(), Vectors(kind)
    threading.setprofile(counter)
    try:
        async with _serving(kind, running, vectors) as services:
            found = []
            for raw in raws:
                before = counter.count
                sys.setprofile(counter)
                await answered(services, raw)
                await _done(services)
                sys.setprofile(None)
                found.append(counter.count - before)
            return found[1:]
    finally:
        threading.setprofile(None)


async def _work(kind: Kind, running: Upstream, raws: Sequence[bytes]) -> list[tuple[int, int, int, int, int]]:
    work, found, vectors = Work(), [], Vectors(kind)
    with work.counting():
        async with _serving(kind, running, vectors) as services:
            for raw in raws:
                before = vectors.texts
                await _asked(services, raw, work)
                found.append((work.hops, work.after, work.wakes, work.statements, vectors.texts - before))
    return found[1:]


async def _asked(services: Services, raw: bytes, work: Work) -> None:
    work.begin(asyncio.current_task())
    await answered(services, raw)
    work.asking = None
    await _done(services)


async def _done(services: Services) -> None:
    """Waits for all that follows an answer. What that leaves to be written is one batch, however slow the machine."""
    running = services.tasks._running  # noqa: SLF001 (their names are for logs)
    while others := [each for each in running if each.get_name() != WRITER]:
        done, _ = await asyncio.wait(others, timeout=PATIENCE)
        assert done, others
    await services.storage.flush()
    assert await services.tasks.drain(PATIENCE) == 0


def counted(kind: Kind, running: Upstream, n: int = N) -> list[Counts]:
    """Of each request but the first."""
    work = asyncio.run(_work(kind, running, requests(kind, n, 0)))
    calls = asyncio.run(_calls(kind, running, requests(kind, n, 10_000)))  # then: what is loaded once is loaded
    return [Counts(each, *rest) for each, rest in zip(calls, work, strict=True)]


def middle(found: Sequence[Counts]) -> Counts:
    return Counts(*(round(median(column)) for column in zip(*map(astuple, found), strict=True)))


def main() -> None:
    names = [each.name for each in fields(Counts)]
    print(f"{'':10}" + "".join(f"{name:>24}" for name in names) + f"  (n = {N})")
    with upstream() as running:
        for kind in get_args(Kind):
            found = counted(kind, running)
            columns = zip(astuple(middle(found)), *map(astuple, found), strict=True)
            told = [f"{mid:,} ({min(each):,} to {max(each):,})" for mid, *each in columns]
            print(f"{kind:10}" + "".join(f"{each:>24}" for each in told))


if __name__ == "__main__":
    main()
