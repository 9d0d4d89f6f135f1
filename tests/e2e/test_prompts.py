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

from proxy.storage.folder import SECRET
from proxy.tasks import Tasks
from tests import postgres, talks
from tests.e2e.running import CHAT, Proxy, run_proxy
from tests.golden.play import Upstream
from tests.redis_server import PATIENT_MS, fresh_redis
from tests.servers import run_app
from tests.talks import Lane

pytestmark = pytest.mark.long

PROCESSES = 4
LOSS = 1.0  # seconds before a kill, whose rows may be lost
PAUSE = 1.5  # seconds between two kills
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


@dataclass(eq=False)
class Processes:
    """Processes of which now and then one is killed, and another one takes its place."""

    stack: ExitStack
    configured: Sequence[Mapping[str, Any]]
    folder: Path
    serving: list[Proxy | None] = field(default_factory=list)
    killed: dict[int, float] = field(default_factory=dict)  # by process id, when

    def start(self, number: int) -> Proxy:
        folder = self.folder / f"{number}-{len(self.killed)}"
        folder.mkdir()
        return self.stack.enter_context(run_proxy(self.configured[number], folder))

    def has_lost(self, pid: int, at: float) -> bool:
        """Tells whether what a process answered at that moment may be lost with it."""
        return self.killed.get(pid, float("inf")) - at < LOSS

    async def kill(self, choose: random.Random) -> None:
        """Kills one, again and again."""
        while True:
            await asyncio.sleep(PAUSE)
            number = choose.randrange(len(self.serving))
            process = self.serving[number]
            assert process is not None
            process.process.kill()
            self.killed[process.process.pid] = time.monotonic()
            self.serving[number] = None
            self.serving[number] = await asyncio.to_thread(self.start, number)


async def held(
    talking: Sequence[Lane], upstream: Upstream, processes: Processes, choose: random.Random
) -> tuple[list[str], list[tuple[str, int, float, int]]]:
    """Holds the conversations as fast as they go, each request at a random process, at another one if that is killed.
    Returns what was wrong with prompts, but for those before which the process that answered last was killed too soon
    for what it had to write; and the requests, each with its process, when it was answered, and its lane."""
    wrong: list[str] = []
    answered: list[tuple[str, int, float, int]] = []

    async def one(lane: Lane, http: httpx.AsyncClient) -> None:
        before: tuple[()] | tuple[int, float] = ()
        is_torn = False
        while not lane.is_over:
            body, headers = lane.ask()
            upstream.replies[lane.key] = lane.reply()
            while True:
                process = choose.choice([each for each in processes.serving if each is not None])
                try:
                    answer = await http.post(f"{process.url}{CHAT}", json=body, headers=headers)
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.01)
            assert answer.status_code == 200, answer.text
            name = answer.headers["x-olvido-request"]
            # What a client without a history has lost is missing in all that follows, too.
            is_torn = (bool(before) and processes.has_lost(*before)) or (is_torn and lane.talk.delta)
            before = (process.process.pid, time.monotonic())
            answered.append((name, *before, lane.number))
            mine = [raw for raw in upstream.arrived if f'"{lane.model}"'.encode() in raw]
            upstream.arrived[:] = [raw for raw in upstream.arrived if raw not in mine]
            lane.arrived.append(mine[-1])
            if not is_torn:
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
    return wrong, answered


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
            processes = Processes(serving, configured, tmp_path)
            processes.serving = [processes.start(number) for number in range(PROCESSES)]
            wrong, answered = await held(several, upstream, processes, choose)
    assert wrong == []
    assert len(processes.killed) > 1
    with psycopg.connect(database) as there, closing(sqlite3.connect(tmp_path / "one" / "olvido.db")) as here:
        ledger = dict(rows(there, LEDGER))
        assert len(ledger) == len(rows(there, LEDGER))
        old = {name for name, pid, at, _ in answered if not processes.has_lost(pid, at)}
        assert old - ledger.keys() == set()
        torn = {lane for _, pid, at, lane in answered if processes.has_lost(pid, at)}
        left_out = {ledger.get(name) for name, _, _, lane in answered if lane in torn}
        for statement in (TURNS, FACTS):
            kept, expected = (
                Counter(row for row in rows(each, statement) if row[0] not in left_out) for each in (there, here)
            )
            assert kept == expected
