"""Several workers behind one port: started, killed, reloaded, stopped, orphaned, while clients ask."""

import asyncio
import os
import re
import signal
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.e2e.running import CHAT, Demo, Proxy, chat, upstream
from tests.servers import eventually

pytestmark = pytest.mark.long

Json = Any
Start = Callable[..., Proxy]
START = 120.0  # seconds that workers have to start, beside whatever else runs on this machine
TOKEN = "a-token-of-more-than-thirty-two-characters"


def config(demo: Demo, workers: int = 2, **server: Json) -> dict[str, Json]:
    return {"server": {"workers": workers, **server}, "upstreams": [upstream("demo", demo, ["demo-*"])]}


def who(proxy: Proxy) -> str:
    """The worker that gets the next connection."""
    return str(httpx.get(f"{proxy.url}/readyz").json()["worker"])


def workers(proxy: Proxy, count: int, but: Sequence[str] = ()) -> set[str]:
    """The names of the workers, once so many others than `but` serve."""
    seen: set[str] = set()

    def are_there() -> bool:
        seen.update({who(proxy) for _ in range(2 * count)} - set(but))
        return len(seen) >= count

    eventually(are_there, START)
    return seen


def log_of(proxy: Proxy, message: str) -> list[Json]:
    lines = [yaml.safe_load(line) for line in proxy.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if message in line["message"]]


def until_logged(proxy: Proxy, message: str) -> Json:
    eventually(lambda: log_of(proxy, message), START)
    return log_of(proxy, message)[-1]


def pid_of(proxy: Proxy, worker: str) -> int:
    (line,) = [each for each in log_of(proxy, "worker is starting") if each["worker"] == worker]
    return int(line["pid"])


def is_running(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def told(proxy: Proxy, name: str) -> float:
    """The sum of all series of a metric, with labels or without."""
    lines = httpx.get(f"{proxy.url}/metrics").text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if re.match(rf"{name}[{{ ]", line))


def rewrite(proxy: Proxy, **sections: Json) -> None:
    file = proxy.log.with_name("olvido.yaml")
    settings = yaml.safe_load(file.read_text())
    for name, section in sections.items():
        settings[name] = settings.get(name, {}) | section if isinstance(section, dict) else section
    file.write_text(yaml.safe_dump(settings))


@contextmanager
def held_streams(proxy: Proxy, count: int) -> Iterator[list[Iterator[bytes]]]:
    """Streams that have begun, each on a connection of its own, and go on when the demo is released."""
    with ExitStack() as stack:
        streams = []
        for _ in range(count):
            client = stack.enter_context(
                httpx.Client(base_url=proxy.url, timeout=120, headers={"authorization": "Bearer sk-a"})
            )
            asked = chat("40 words", stream=True)
            answer = stack.enter_context(
                client.stream("POST", CHAT, json=asked, headers={"x-demo-fault": "stall=4"}, timeout=60)
            )
            pieces = answer.iter_raw()
            next(pieces)
            streams.append(pieces)
        yield streams


def finished(streams: Sequence[Iterator[bytes]]) -> int:
    """How many of them end as they should."""
    return sum(b"".join(pieces).endswith(b"data: [DONE]\n\n") for pieces in streams)


# --- start ------------------------------------------------------------------------------------------------------------


@pytest.mark.note("v2 Resumen/7")
def test_on_an_empty_folder_all_workers_start_at_once_and_are_one_proxy(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy({**config(demo, 4), "embedding": {"enabled": True}})
    names = workers(proxy, 4)
    assert names == {"1", "2", "3", "4"}
    eventually(lambda: len(log_of(proxy, "worker is ready")) == 4, START)
    for number in range(8):
        body = chat(f"say: {number}")
        httpx.post(proxy.url + CHAT, json=body, headers={"authorization": "Bearer sk-a"}).raise_for_status()
    eventually(lambda: len(proxy.rows()) == 8)
    assert len({row["scope_id"] for row in proxy.rows()}) == 1
    with closing(sqlite3.connect(proxy.storage / "olvido.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert told(proxy, "olvido_workers") == 4
    assert told(proxy, "olvido_requests_total") == 8
    assert proxy.complaints() == []


def test_connections_that_come_at_once_are_shared_evenly(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy(config(demo))
    workers(proxy, 2)
    address = (httpx.URL(proxy.url).host, httpx.URL(proxy.url).port or 0)
    with ExitStack() as stack:
        connections = [stack.enter_context(socket.create_connection(address, timeout=120)) for _ in range(40)]
        answered = []
        for connection in connections:
            connection.sendall(b"GET /readyz HTTP/1.1\r\nhost: 127.0.0.1:%d\r\n\r\n" % address[1])
            answered.append(connection.recv(2**16).rpartition(b'"worker":')[2])
    assert sorted(answered.count(worker) for worker in set(answered)) == [20, 20]


def test_workers_that_cannot_start_end_it(demo: Demo, start_proxy: Start, tmp_path: Path) -> None:
    secret = tmp_path / "storage" / "tenant.secret"
    secret.parent.mkdir()
    secret.write_bytes(b"x" * 32)
    secret.chmod(0o644)
    with pytest.raises(AssertionError, match="no worker can start"):  # its log, if it does not start
        run_until_ended(start_proxy(config(demo), tmp_path))


def run_until_ended(proxy: Proxy) -> None:
    assert proxy.process.wait(timeout=START) == 1
    raise AssertionError(proxy.log.read_text())


# --- death ------------------------------------------------------------------------------------------------------------


async def test_a_worker_that_is_killed_under_load_takes_nobody_else_with_it(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy(config(demo))
    await asyncio.to_thread(workers, proxy, 2)
    victim, stop = "1", asyncio.Event()
    sums: list[float] = []
    answers: dict[str, int] = {}
    failed: list[str] = []

    async def client(number: int) -> None:
        """Asks, ten times on a connection."""
        while not stop.is_set():
            async with httpx.AsyncClient(
                base_url=proxy.url, timeout=120, headers={"authorization": f"Bearer sk-{number}"}
            ) as http:
                name = "nobody"
                try:
                    name = (await http.get("/readyz")).json()["worker"]
                    for _ in range(10):
                        (await http.post(CHAT, json=chat("say: x"))).raise_for_status()
                        answers[name] = answers.get(name, 0) + 1
                except httpx.TransportError:
                    failed.append(name)

    async def scrape() -> None:
        async with httpx.AsyncClient(base_url=proxy.url, timeout=120) as http:
            while not stop.is_set():
                try:
                    lines = (await http.get("/metrics")).text.splitlines()
                except httpx.TransportError:
                    continue
                sums.append(
                    sum(float(each.rpartition(" ")[2]) for each in lines if each.startswith("olvido_requests_"))
                )

    async def until(condition: Callable[[], object]) -> None:
        await asyncio.to_thread(eventually, condition, START)

    async with asyncio.TaskGroup() as clients:
        for number in range(6):
            clients.create_task(client(number))
        clients.create_task(scrape())
        await until(lambda: min(answers.get(each, 0) for each in ("1", "2")) > 20 and len(sums) > 2)
        os.kill(pid_of(proxy, victim), signal.SIGKILL)
        await until(lambda: answers.get("3", 0) > 20)  # the one in its place
        seen = len(sums)
        await until(lambda: len(sums) > seen + 2)
        stop.set()
    assert set(failed) <= {victim, "nobody"}
    assert failed.count("nobody") <= 1  # a connection that it had been given, and not yet answered on
    assert sums == sorted(sums)
    assert log_of(proxy, "worker has died")[0]["how"] == "SIGKILL"
    assert told(proxy, "olvido_worker_starts_total") == 3
    assert told(proxy, "olvido_workers") == 2


def test_one_that_dies_at_once_again_and_again_is_given_time_and_comes_back(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy(config(demo))
    workers(proxy, 2)
    secret = proxy.storage / "tenant.secret"
    secret.chmod(0o644)  # then no worker starts
    os.kill(pid_of(proxy, "1"), signal.SIGKILL)
    eventually(lambda: len(log_of(proxy, "worker has died")) >= 3, START)
    assert proxy.http.get("/healthz").status_code == 200
    assert log_of(proxy, "worker has died")[-1]["next_in_seconds"] > 0
    secret.chmod(0o600)
    workers(proxy, 1, but=["1", "2"])


def test_one_that_is_told_to_end_finishes_and_is_replaced(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy(config(demo))
    workers(proxy, 2)
    with held_streams(proxy, 2) as streams:
        os.kill(pid_of(proxy, "1"), signal.SIGTERM)
        eventually(lambda: {who(proxy) for _ in range(4)} <= {"2", "3"})  # a signal takes its time
        demo.release()
        assert finished(streams) == 2
    workers(proxy, 1, but=["1", "2"])
    assert proxy.complaints() == []


# --- reload -----------------------------------------------------------------------------------------------------------


def test_a_reload_breaks_no_stream_and_puts_the_new_configuration_in_force(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy(config(demo))
    workers(proxy, 2)
    errors, stop = [], threading.Event()

    def ask() -> None:
        """Asks all the time, on a connection that is kept alive."""
        with httpx.Client(base_url=proxy.url, timeout=120, headers={"authorization": "Bearer sk-b"}) as http:
            while not stop.is_set():
                try:
                    http.post(CHAT, json=chat("say: x")).raise_for_status()
                except httpx.HTTPError as error:
                    errors.append(repr(error))

    clients = [threading.Thread(target=ask, daemon=True) for _ in range(3)]
    with held_streams(proxy, 4) as streams:
        for each in clients:
            each.start()
        counted = told(proxy, "olvido_requests_total")
        rewrite(proxy, server={"workers": 3}, context={"profile": "balanced"})
        proxy.process.send_signal(signal.SIGHUP)
        until_logged(proxy, "reloaded: ")
        assert httpx.get(f"{proxy.url}/admin/api/me").json()["profile"] == "balanced"
        assert workers(proxy, 3, but=["1", "2"]) == {"3", "4", "5"}
        assert all(is_running(pid_of(proxy, old)) for old in ("1", "2"))  # they have streams
        demo.release()
        assert finished(streams) == 4
    eventually(lambda: len(log_of(proxy, "worker has ended")) == 2, START)
    assert told(proxy, "olvido_requests_total") >= counted + 4
    stop.set()
    for each in clients:
        each.join()
    assert errors == []
    assert proxy.complaints() == []


@pytest.mark.parametrize(
    ("sections", "why"),
    [
        ({"server": {"drian": 3}}, "drian"),
        ({"server": {"host": "localhost"}}, "needs a restart"),
        ({"storage": {"path": "/proc/nowhere"}}, "do not become ready"),
    ],
)
def test_a_configuration_that_cannot_be_used_changes_nothing(
    sections: dict[str, Json], why: str, demo: Demo, start_proxy: Start
) -> None:
    proxy = start_proxy(config(demo))
    workers(proxy, 2)
    rewrite(proxy, **sections)
    proxy.process.send_signal(signal.SIGHUP)
    line = until_logged(proxy, "not reloaded")
    assert why in f"{line['message']} {line.get('why', '')}"
    assert {who(proxy) for _ in range(4)} == {"1", "2"}
    # One that is killed now comes back with the configuration that is in force.
    os.kill(pid_of(proxy, "1"), signal.SIGKILL)
    workers(proxy, 1, but=["1", "2"])


# --- end --------------------------------------------------------------------------------------------------------------


def test_at_shutdown_streams_are_finished_and_recorded(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy(config(demo))
    workers(proxy, 2)
    with held_streams(proxy, 4) as streams:
        proxy.process.terminate()
        until_logged(proxy, "Shutting down")
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{proxy.url}/healthz")
        demo.release()
        assert finished(streams) == 4
    assert proxy.process.wait(timeout=START) == 0
    assert [row["outcome"] for row in proxy.rows()] == ["complete"] * 4
    assert proxy.complaints() == []


def test_a_second_signal_ends_it_at_once(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy(config(demo))
    workers(proxy, 2)
    with held_streams(proxy, 2) as streams:
        proxy.process.terminate()
        until_logged(proxy, "Shutting down")
        proxy.process.send_signal(signal.SIGINT)
        proxy.process.wait(timeout=START)  # nobody has released the streams
        with pytest.raises(httpx.TransportError):
            finished(streams)
    assert not any(is_running(pid_of(proxy, name)) for name in ("1", "2"))


def test_without_their_supervisor_workers_finish_and_end(demo: Demo, start_proxy: Start, tmp_path: Path) -> None:
    run_time = tmp_path / "run"
    run_time.mkdir()
    proxy = start_proxy(config(demo), XDG_RUNTIME_DIR=str(run_time), RUNTIME_DIRECTORY="")
    workers(proxy, 2)
    pids = [pid_of(proxy, name) for name in ("1", "2")]
    with held_streams(proxy, 4) as streams:
        proxy.process.kill()
        eventually(lambda: len(log_of(proxy, "the supervisor has ended")) == 2)
        demo.release()
        assert finished(streams) == 4
    eventually(lambda: not any(map(is_running, pids)), START)
    assert [row["outcome"] for row in proxy.rows()] == ["complete"] * 4
    eventually(lambda: not list(run_time.iterdir()))


# --- what they share --------------------------------------------------------------------------------------------------


def test_a_cookie_that_was_logged_out_is_of_no_use_to_any_worker(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy({**config(demo), "admin": {"token": "${TOKEN}"}}, TOKEN=TOKEN)
    names = workers(proxy, 2)
    api = f"{proxy.url}/admin/api"
    given = httpx.post(f"{api}/login", json={"token": TOKEN})
    cookie = {"cookie": given.headers["set-cookie"].partition(";")[0], "sec-fetch-site": "same-origin"}

    def statuses() -> list[int]:
        return [httpx.get(f"{api}/scopes", headers=cookie).status_code for _ in range(2 * len(names))]

    assert statuses() == [200] * 4
    httpx.post(f"{api}/logout", headers=cookie | {"content-type": "application/json"}).raise_for_status()
    eventually(lambda: statuses() == [401] * 4)


@pytest.mark.note("v2 Resumen/1")
def test_what_one_worker_learnt_the_other_one_knows(demo: Demo, start_proxy: Start) -> None:
    proxy = start_proxy(config(demo))
    workers(proxy, 2)
    body = chat("say: the same", temperature=0)
    key = {"authorization": "Bearer sk-a"}
    assert httpx.post(proxy.url + CHAT, json=body, headers=key).headers["x-olvido-source"] == "upstream"

    def sources() -> list[str]:
        return [httpx.post(proxy.url + CHAT, json=body, headers=key).headers["x-olvido-source"] for _ in range(2)]

    eventually(lambda: sources() == ["exact"] * 2)
    assert len(demo.arrived()) <= 2
