"""`olvido erase` beside two proxies that serve, over one SQLite folder, or one PostgreSQL and one Redis: nothing of the
end user stays anywhere, nothing comes back, and the other one has lost nothing."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from proxy.cli import main
from proxy.storage.copying import TABLES
from tests import postgres
from tests.e2e.running import CHAT, Demo, Proxy, chat, run_demo, run_proxy, upstream
from tests.redis_server import RedisServer, run_redis
from tests.servers import eventually

pytestmark = pytest.mark.long

ANA, BETO = "anastasia-q", "bertoldo-w"
WORDS = {ANA: "zumalacarregui", BETO: "quetzaltenango"}


@dataclass(frozen=True, slots=True)
class Deployment:
    demo: Demo
    proxies: list[Proxy]
    file: Path
    storage: Path
    kept: Callable[[], bytes]  # the rows of all tables
    dumped: Callable[[], bytes]  # and all else that a server has

    def say(self, who: str, text: str, turn: int, **fields: Any) -> bytes:
        """What arrives at the upstream of a message, said to one of the proxies."""
        proxy = self.proxies[turn % len(self.proxies)]
        headers = {"x-olvido-user": who, "x-olvido-session": f"talk-of-{who}"}
        self.demo.clear()
        proxy.http.post(CHAT, json=chat(text, **fields), headers=headers).raise_for_status()
        return b"".join(each.body for each in self.demo.arrived())

    def everything(self) -> bytes:
        """All bytes of all files, and of all servers, in small letters."""
        files = [path.read_bytes() for path in self.storage.rglob("*") if path.is_file()]
        return b"\n".join([*files, self.dumped()]).lower()

    def erase(self, *options: str) -> int:
        return main(["erase", "--config", str(self.file), "--yes", *options])


def converse(on: Deployment, who: str) -> None:
    word = WORDS[who]
    for turn in range(6):
        on.say(who, f"My favourite city is {word}{turn} and I live in {word}. Tell me more, please.", turn)
    for turn in range(2):  # kept for who asks it again
        on.say(who, f"What is the population of {word}?", turn, temperature=0)
    eventually(lambda: on.everything().count(word.encode()) > 20, 30.0)


def wait_until_written(on: Deployment) -> None:
    eventually(lambda: all(waiting(proxy) == 0 for proxy in on.proxies), 30.0)


def waiting(proxy: Proxy) -> float:
    """Rows that are not written yet."""
    lines = proxy.http.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith("olvido_writer_queue ")).split()[1])


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with run_demo() as running:
        yield running


def _row(row: Iterable[Any]) -> bytes:
    return b"|".join(each if isinstance(each, bytes) else str(each).encode() for each in row)


def _sqlite(_stack: ExitStack, storage: Path) -> tuple[dict[str, Any], Callable[[], bytes], Callable[[], bytes]]:
    def kept() -> bytes:
        with closing(sqlite3.connect(storage / "olvido.db")) as reading:
            return b"\n".join(_row(row) for table in TABLES for row in reading.execute(f"SELECT * FROM {table}"))

    return {}, kept, kept


def _cluster(stack: ExitStack, _storage: Path) -> tuple[dict[str, Any], Callable[[], bytes], Callable[[], bytes]]:
    url = postgres.database()
    patch = stack.enter_context(pytest.MonkeyPatch.context())
    patch.setenv("WHERE", url)
    server: RedisServer = stack.enter_context(run_redis())
    settings = {"storage": {"kind": "postgres", "url": "${WHERE}"}, "shared": {"url": server.url, "timeout_ms": 2_000}}

    def kept() -> bytes:
        with psycopg.connect(url) as connection:
            rows = [connection.execute(f"SELECT * FROM {table}".encode()).fetchall() for table in TABLES]
        return b"\n".join(_row(row) for found in rows for row in found)

    def dumped() -> bytes:
        lines = [kept()]
        with closing(redis.Redis(unix_socket_path=server.url.removeprefix("unix://"))) as asked:
            key: Any
            for key in asked.keys("*"):
                kind = asked.type(key)
                value: Any = None
                if kind == b"string":
                    value = asked.get(key)
                elif kind == b"hash":
                    value = asked.hgetall(key)
                elif kind == b"set":
                    value = asked.smembers(key)
                lines += [key, value if isinstance(value, bytes) else repr(value).encode()]
        return b"\n".join(lines)

    return settings, kept, dumped


@pytest.fixture(params=["sqlite", "cluster"])
def deployment(request: pytest.FixtureRequest, demo: Demo, tmp_path: Path) -> Iterator[Deployment]:
    with ExitStack() as stack:
        settings, kept, dumped = (_sqlite if request.param == "sqlite" else _cluster)(stack, tmp_path / "storage")
        storage = {**settings.pop("storage", {}), "path": str(tmp_path / "storage")}
        config = {
            "upstreams": [upstream("demo", demo, ["*"])],
            "storage": storage,
            "reuse": {"intent": {"enabled": True}},
            **settings,
        }
        proxies = []
        for number in range(2):
            (folder := tmp_path / f"proxy{number}").mkdir()
            proxies.append(stack.enter_context(run_proxy(config, folder)))
        yield Deployment(demo, proxies, tmp_path / "proxy0" / "olvido.yaml", tmp_path / "storage", kept, dumped)
        assert [proxy.complaints() for proxy in proxies] == [[], []]


def test_nothing_of_an_end_user_stays_and_nothing_comes_back(
    deployment: Deployment, capfd: pytest.CaptureFixture[str]
) -> None:
    for who in (ANA, BETO):
        converse(deployment, who)
    assert WORDS[ANA].encode() in deployment.say(ANA, "Where do I live?", 0).lower()  # it is remembered
    wait_until_written(deployment)
    before = deployment.kept().lower().count(WORDS[BETO].encode())

    # What is exported while they serve is of this end user, from every place, and of nobody else.
    to = deployment.storage.parent / "of ana"
    assert main(["export", "--config", str(deployment.file), "--user", ANA, "--to", str(to)]) == 0
    for name in ("sessions", "requests", "contents", "facts", "turns", "answers"):
        exported = (to / f"{name}.jsonl").read_bytes().lower()
        assert ANA.encode() in exported, name
        assert WORDS[ANA].encode() in exported or name in ("sessions", "requests"), name
    every = b"".join(path.read_bytes() for path in to.rglob("*") if path.is_file()).lower()
    assert every.count(WORDS[BETO].encode()) == every.count(BETO.encode()) == 0

    # One request that begins before the erasure, and ends after it.
    with ThreadPoolExecutor(1) as thread:
        held = {"x-olvido-user": ANA, "x-olvido-session": "late", "x-demo-fault": "slow-first-byte"}
        asked = chat(f"I also like {WORDS[ANA]} in spring, remember that.", temperature=0)
        late = thread.submit(deployment.proxies[1].http.post, CHAT, json=asked, headers=held)
        eventually(lambda: deployment.demo.in_flight, 20.0)
        assert deployment.erase("--user", ANA) == 0
        deployment.demo.release()
        assert late.result(30).status_code == 200
    report = capfd.readouterr().out
    assert re.search(r"^(PostgreSQL|SQLite) +erased +1 scope, ", report, re.MULTILINE), report
    wait_until_written(deployment)

    left = deployment.everything()
    assert left.count(WORDS[ANA].encode()) == 0
    assert left.count(ANA.encode()) == 0
    assert deployment.kept().lower().count(WORDS[BETO].encode()) == before > 20

    for turn in range(4):
        sent = deployment.say(ANA, f"Where do I live, and what is my favourite city? ({turn})", turn)
        assert WORDS[ANA].encode() not in sent.lower()
    assert WORDS[BETO].encode() in deployment.say(BETO, "Where do I live?", 0).lower()
    wait_until_written(deployment)

    # What is said after it is a new beginning, on both.
    deployment.say(ANA, "I live in Chuquisaca now, and I work as a baker.", 0)
    eventually(lambda: b"chuquisaca" in deployment.everything(), 20.0)
    wait_until_written(deployment)
    eventually(lambda: b"chuquisaca" in deployment.say(ANA, "Where do I live?", 1).lower(), 20.0)
