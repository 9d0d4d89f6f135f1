"""Several processes over one PostgreSQL and one Redis send what one over SQLite sends."""

import asyncio
import random
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from proxy.conversation.resuming import ARRIVAL_LOOKS, ARRIVAL_PAUSE
from proxy.storage.folder import SECRET
from proxy.tasks import Tasks
from tests import postgres, talks
from tests.e2e.running import CHAT, Proxy, run_proxy
from tests.golden.play import Upstream
from tests.redis_server import PATIENT_MS, fresh_redis
from tests.servers import eventually, run_app
from tests.talks import Lane

pytestmark = pytest.mark.long

PROCESSES = 4
PAUSE = 0.3  # seconds between two kills, beside what they wait for
TURNS = "SELECT scopes.name, link FROM archive JOIN scopes ON scopes.id = scope_id WHERE at IS NOT NULL"
FACTS = "SELECT scopes.name, value, superseded_by IS NULL FROM facts JOIN scopes ON scopes.id = scope_id"
LEDGER = "SELECT request_id, scopes.name FROM ledger JOIN scopes ON scopes.id = scope_id"


async def prompts(conversations: int, folder: Path, seed: int = 1) -> tuple[Sequence[Lane], Sequence[Lane]]:
    """The same conversations with one process, and with several of which each request gets a random one."""
    upstream, choose = Upstream(), random.Random(seed)
    one, several = talks.lanes(conversations), talks.lanes(conversations)
    with run_app(upstream.app) as url:
        async with talks.running(talks.settings(url, storage={"path": folder / "one"})) as proxies:
            await talks.in_rounds(one, upstream, proxies, lambda: 0)
        (folder / "several").mkdir()
        shutil.copy(folder / "one" / SECRET, folder / "several")  # ids of facts are made of it, and order those alike
        sections = {
            "storage": {
                "kind": "postgres",
                "url": postgres.database(),
                "path": folder / "several",
                "pool": 4,
                "timeout_ms": 20_000,
            },
            "shared": {"url": fresh_redis().url, "timeout_ms": PATIENT_MS},
        }
        configured = [talks.settings(url, **sections)] * PROCESSES
        async with talks.running(*configured) as proxies:
            await talks.in_rounds(several, upstream, proxies, lambda: choose.randrange(PROCESSES))
    return one, several


@pytest.mark.parametrize("conversations", [5, pytest.param(200, marks=pytest.mark.long)])
async def test_nobody_can_tell_which_process_answered(conversations: int, tmp_path: Path) -> None:
    one, several = await prompts(conversations, tmp_path)
    assert sum(len(lane.talks) for lane in one) == conversations
    assert any(b"<memory>" in prompt for lane in one for prompt in lane.arrived)
    for here, there in zip(one, several, strict=True):
        assert here.arrived == there.arrived, here.talks[0].name


@dataclass(frozen=True, slots=True)
class Answered:
    """A request that a process has answered."""

    name: str
    pid: int
    at: float  # monotonic seconds
    lane: int
    has_waited: bool = False  # perhaps until it gave up waiting for what another process was about to write


@dataclass(eq=False)
class Processes:
    """Processes of which now and then one is killed, and another one takes its place."""

    stack: ExitStack
    configured: Sequence[Mapping[str, Any]]
    folder: Path
    database: str
    serving: list[Proxy | None] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    killed: dict[int, float] = field(default_factory=dict)  # by process id: what it had answered by then was written

    def start(self, number: int) -> Proxy:
        folder = self.folder / f"{number}-{len(self.killed)}"
        folder.mkdir()
        return self.stack.enter_context(run_proxy(self.configured[number], folder))

    def has_lost(self, request: Answered) -> bool:
        """Tells whether what the process of a request had to write may be lost with it, or came too late for it."""
        return request.has_waited or request.at >= self.killed.get(request.pid, float("inf"))

    async def kill(self, choose: random.Random) -> None:
        """Kills one, again and again, in the midst of its work."""
        while True:
            await asyncio.sleep(PAUSE)
            number = choose.randrange(len(self.serving))
            process = self.serving[number]
            assert process is not None
            written = await asyncio.to_thread(self.written, process)
            process.process.kill()
            self.killed[process.process.pid] = written
            self.serving[number] = None
            self.serving[number] = await asyncio.to_thread(self.start, number)

    def written(self, process: Proxy) -> float:
        """Waits until all that a process has answered by now is written, by its own metrics and the ledger, while it
        goes on answering. Returns that moment."""
        now = time.monotonic()
        names = {each.name for each in self.answered if each.pid == process.process.pid}
        eventually(lambda: not gauges(process)["olvido_memory_pending"], 60)
        learnt = time.monotonic()

        def is_written() -> bool:
            asked, told = time.monotonic(), gauges(process)
            return not told["olvido_writer_queue"] or asked - told["olvido_writer_lag_seconds"] > learnt

        eventually(is_written, 60)
        with psycopg.connect(self.database, autocommit=True) as there:
            eventually(lambda: names <= dict(rows(there, LEDGER)).keys(), 60)
        return now


def gauges(process: Proxy) -> Mapping[str, float]:
    families = text_string_to_metric_families(process.http.get("/metrics").text)
    return {sample.name: sample.value for family in families for sample in family.samples if not sample.labels}


async def held(talking: Sequence[Lane], upstream: Upstream, processes: Processes, choose: random.Random) -> list[str]:
    """Holds the conversations as fast as they go, each request at a random process, at another one if that is killed.
    Returns what was wrong with prompts, but for those before which a process was killed too soon for what it had to
    write, or was so slow that the next one gave up waiting for it."""
    wrong: list[str] = []

    async def one(lane: Lane, http: httpx.AsyncClient) -> None:
        before: list[Answered] = []  # in the conversation
        while not lane.is_over:
            body, headers = lane.ask()
            upstream.replies[lane.key] = lane.reply()
            while True:
                process = choose.choice([each for each in processes.serving if each is not None])
                asked = time.monotonic()
                try:
                    answer = await http.post(f"{process.url}{CHAT}", json=body, headers=headers)
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.01)
            assert answer.status_code == 200, answer.text
            at, is_delta = time.monotonic(), lane.talk.delta
            if not lane.step:
                before.clear()
            has_waited = is_delta and at - asked > ARRIVAL_LOOKS * ARRIVAL_PAUSE
            before.append(
                Answered(answer.headers["x-olvido-request"], process.process.pid, at, lane.number, has_waited)
            )
            processes.answered.append(before[-1])
            mine = [raw for raw in upstream.arrived if f'"{lane.model}"'.encode() in raw]
            upstream.arrived[:] = [raw for raw in upstream.arrived if raw not in mine]
            lane.arrived.append(mine[-1])
            # What a client without a history has lost is missing in all that follows, too.
            earlier = before[:-1] if is_delta else before[-2:-1]
            if not (has_waited or any(map(processes.has_lost, earlier))):
                wrong.extend(f"{lane.talk.name}, {lane.step}: {each}" for each in lane.wrong(mine[-1]))
            lane.answered()

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=60, limits=limits, trust_env=False) as http:
        waiting = iter(talking)

        async def some() -> None:
            for lane in waiting:
                await one(lane, http)

        tasks = Tasks()
        killing = tasks.spawn(processes.kill(choose), name="kill")
        await asyncio.gather(*(some() for _ in range(talks.AT_ONCE)))
        killing.cancel()
        await tasks.drain(60)
    return wrong


def rows(source: sqlite3.Connection | psycopg.Connection[Any], statement: str) -> list[tuple[Any, ...]]:
    found = source.execute(statement).fetchall()
    return [tuple(bytes(each) if isinstance(each, memoryview) else each for each in row) for row in found]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.long
async def test_processes_that_are_killed_lose_and_repeat_nothing(tmp_path: Path, stack: ExitStack) -> None:
    upstream, choose, lanes = Upstream(), random.Random(2), 100
    one, several = talks.lanes(lanes), talks.lanes(lanes)
    url = stack.enter_context(run_app(upstream.app))
    async with talks.running(talks.settings(url, storage={"path": tmp_path / "one"})) as proxies:
        await talks.in_rounds(one, upstream, proxies, lambda: 0)
    database, redis = postgres.database(), fresh_redis().url
    configured = []
    for number in range(PROCESSES):
        path = tmp_path / f"process{number}"
        path.mkdir(mode=0o700)
        shutil.copy(tmp_path / "one" / SECRET, path)
        storage = {"kind": "postgres", "url": "${DATABASE}", "path": str(path), "pool": 4, "timeout_ms": 20_000}
        sections = {"storage": storage, "shared": {"url": redis, "timeout_ms": PATIENT_MS}}
        configured.append(talks.settings(url, **sections))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE", database)
        with ExitStack() as serving:
            processes = Processes(serving, configured, tmp_path, database)
            processes.serving = [processes.start(number) for number in range(PROCESSES)]
            wrong = await held(several, upstream, processes, choose)
    assert wrong == []
    assert {each.pid for each in processes.answered if not each.has_waited and processes.has_lost(each)}  # at work
    with psycopg.connect(database) as there, closing(sqlite3.connect(tmp_path / "one" / "olvido.db")) as here:
        ledger = dict(rows(there, LEDGER))
        assert len(ledger) == len(rows(there, LEDGER))
        lost = [each for each in processes.answered if processes.has_lost(each)]
        assert {each.name for each in processes.answered if each not in lost} <= ledger.keys()
        torn = {each.lane for each in lost}
        assert torn < {each.lane for each in processes.answered}  # else nothing would be compared
        left_out = {ledger.get(each.name) for each in processes.answered if each.lane in torn}
        for statement in (TURNS, FACTS):
            kept, expected = (
                Counter(row for row in rows(each, statement) if row[0] not in left_out) for each in (there, here)
            )
            assert kept == expected
