"""The proxy is killed, stopped, or loses its storage: clients are answered, and what was written stays."""

import asyncio
import resource
import signal
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.running import CHAT, Demo, Proxy, chat, events, upstream
from tests.servers import eventually

Json = Any
LOSS = 1.0  # seconds of the ledger that a kill may cost
ENOUGH = 10  # requests that must not be lost


def config(demo: Demo) -> dict[str, Json]:
    return {"upstreams": [upstream("demo", demo, ["*"])]}


def integrity(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


async def load_until_killed(proxy: Proxy, seconds: float) -> tuple[dict[str, float], float]:
    """Requests as fast as eight clients can, and SIGKILL so many seconds after the first that count; when each request
    was answered, and when it was killed."""
    answered: dict[str, float] = {}

    async def client(number: int) -> None:
        async with httpx.AsyncClient(
            base_url=proxy.url, timeout=120, headers={"authorization": f"Bearer sk-{number}"}
        ) as http:
            asked = 0
            while True:
                asked += 1
                body = chat(f"say: {number}.{asked}", temperature=asked % 2, stream=asked % 3 == 0)
                try:
                    answer = await http.post(CHAT, json=body)
                except httpx.TransportError:
                    return
                answered[answer.headers["x-olvido-request"]] = time.time()

    async with asyncio.TaskGroup() as clients:
        for number in range(8):
            clients.create_task(client(number))
        await asyncio.to_thread(eventually, lambda: len(answered) > ENOUGH)
        await asyncio.sleep(seconds)
        proxy.process.kill()
        killed = time.time()
    return answered, killed


@pytest.mark.note("v2 Flujo/2", "Rumi Sesión/5")
@pytest.mark.long
async def test_a_kill_under_load_loses_at_most_the_last_second_and_corrupts_nothing(
    demo: Demo, start_proxy: Callable[..., Proxy], tmp_path: Path
) -> None:
    first = start_proxy(config(demo), tmp_path)
    kept = chat("say: kept for later", temperature=0)
    first.http.post(CHAT, json=kept)
    answered, killed = await load_until_killed(first, 1.2 * LOSS)
    first.process.wait()
    old = {request_id for request_id, at in answered.items() if at < killed - LOSS}
    assert len(old) > ENOUGH

    second = start_proxy(config(demo), tmp_path)
    assert integrity(second.storage / "olvido.db") == "ok"
    assert integrity(second.storage / "answers" / "cache.db") == "ok"
    assert old <= {row["request_id"] for row in second.rows()}
    assert second.http.post(CHAT, json=kept).headers["x-olvido-source"] == "exact"
    answer = second.http.post(CHAT, json=chat("say: alive"))
    assert second.row(request_id=answer.headers["x-olvido-request"])["outcome"] == "complete"
    assert second.complaints() == []


@pytest.mark.long
def test_at_shutdown_a_stream_is_finished_and_recorded(demo: Demo, start_proxy: Callable[..., Proxy]) -> None:
    proxy = start_proxy(config(demo))
    seen = b""
    asked = chat("40 words", stream=True)
    with proxy.http.stream("POST", CHAT, json=asked, headers={"x-demo-fault": "stall=4"}) as answer:
        pieces = answer.iter_raw()
        while seen.count(b"\n\n") < 4:
            seen += next(pieces)
        proxy.process.terminate()
        eventually(lambda: refuses(proxy))
        demo.release()
        seen += b"".join(pieces)
    assert seen.endswith(b"data: [DONE]\n\n")
    assert proxy.process.wait(timeout=120) in (0, -15)
    row = proxy.row(request_id=answer.headers["x-olvido-request"])
    assert (row["outcome"], row["stream"]) == ("complete", 1)
    assert proxy.complaints() == []


def refuses(proxy: Proxy) -> bool:
    """It takes no new connections."""
    try:
        httpx.get(f"{proxy.url}/healthz")
    except httpx.TransportError:
        return True
    return False


@pytest.mark.long
def test_at_shutdown_what_does_not_end_is_cut_and_recorded(demo: Demo, start_proxy: Callable[..., Proxy]) -> None:
    proxy = start_proxy({**config(demo), "server": {"drain": 1}})
    asked = chat("40 words", stream=True)
    with proxy.http.stream("POST", CHAT, json=asked, headers={"x-demo-fault": "stall=4"}) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        proxy.process.terminate()
        rest: list[bytes] = []
        with pytest.raises(httpx.TransportError):  # it has no end
            rest.extend(pieces)
    assert events(b"".join(rest))[-1]["error"]["code"] == "shutting_down"
    assert proxy.process.wait(timeout=120) in (0, -15)
    assert proxy.row(request_id=answer.headers["x-olvido-request"])["outcome"] in ("client_gone", "upstream_broken")
    eventually(lambda: demo.arrived()[0].closed_early)


@pytest.mark.long
def test_at_shutdown_who_has_no_answer_yet_is_told_why(demo: Demo, start_proxy: Callable[..., Proxy]) -> None:
    proxy = start_proxy({**config(demo), "server": {"drain": 1}})
    with ThreadPoolExecutor(1) as executor:
        asking = executor.submit(proxy.http.post, CHAT, json=chat("hi"), headers={"x-demo-fault": "slow-first-byte=60"})
        eventually(lambda: demo.in_flight)
        proxy.process.terminate()
        answer = asking.result(15)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "shutting_down")


@pytest.mark.long
def test_a_terminal_that_hangs_up_does_not_end_it(demo: Demo, start_proxy: Callable[..., Proxy]) -> None:
    proxy = start_proxy(config(demo))
    proxy.process.send_signal(signal.SIGHUP)
    eventually(lambda: "SIGHUP is ignored" in proxy.log.read_text())
    assert proxy.http.post(CHAT, json=chat("hi")).status_code == 200


@pytest.mark.long
@pytest.mark.parametrize(("file", "part"), [("olvido.db", "database"), ("answers/cache.db", "answers")])
def test_with_a_damaged_file_it_starts_serves_and_says_so(
    file: str, part: str, demo: Demo, start_proxy: Callable[..., Proxy], tmp_path: Path
) -> None:
    damaged = tmp_path / "storage" / file
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"not a database at all" * 1000)
    proxy = start_proxy(config(demo), tmp_path)
    for _ in range(2):
        assert proxy.http.post(CHAT, json=chat("hi", temperature=0)).status_code == 200
    state = proxy.http.get("/readyz")
    assert state.status_code == 200
    assert list(state.json()["parts"]["storage"]) == [part]
    assert len(proxy.complaints()) == 1


@pytest.mark.long
def test_on_a_full_disk_requests_are_answered_and_afterwards_all_is_well(
    demo: Demo, start_proxy: Callable[..., Proxy]
) -> None:
    proxy = start_proxy(config(demo))
    process = proxy.process.pid

    def answers(count: int) -> list[httpx.Response]:
        asked = [chat(f"say: {number} of {count}", temperature=0, stream=number % 2 == 0) for number in range(count)]
        return [proxy.http.post(CHAT, json=body) for body in asked]

    answers(5)
    before = resource.prlimit(process, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    assert [answer.status_code for answer in answers(20)] == [200] * 20
    assert {answer.headers["x-olvido-source"] for answer in answers(20)} == {"upstream"}
    eventually(lambda: proxy.http.get("/readyz").status_code == 503, 30)
    state = proxy.http.get("/readyz").json()
    assert (state["status"], "cannot be written" in str(state["parts"]["storage"])) == ("not ready", True)
    assert proxy.http.get("/healthz").status_code == 200
    assert "olvido_storage_failing 1.0" in proxy.http.get("/metrics").text
    (unwritten,) = answers(1)
    resource.prlimit(process, resource.RLIMIT_FSIZE, before)
    eventually(lambda: proxy.http.get("/readyz").status_code == 200, 30)  # by itself: nobody asks in between
    assert proxy.http.get("/readyz").json()["parts"]["storage"] == "ready"
    (answer,) = answers(1)
    for asked in (unwritten, answer):  # what could not be written has waited
        assert proxy.row(request_id=asked.headers["x-olvido-request"])["outcome"] == "complete"
    eventually(lambda: answers(1)[0].headers["x-olvido-source"] == "exact")


@pytest.mark.long
def test_when_the_files_are_damaged_while_it_runs_requests_are_answered(
    demo: Demo, start_proxy: Callable[..., Proxy]
) -> None:
    proxy = start_proxy(config(demo))
    proxy.http.post(CHAT, json=chat("say: 0", temperature=0))
    for part in ("olvido.db", "olvido.db-wal", "answers/cache.db", "answers/cache.db-wal"):
        file = proxy.storage / part
        if file.exists():
            file.write_bytes(b"garbage!" * max(1, file.stat().st_size // 8))
    for number in range(10):
        for stream in (False, True):
            answer = proxy.http.post(CHAT, json=chat(f"say: {number}", temperature=0, stream=stream))
            assert answer.status_code == 200
            assert str(number) in answer.text
    assert proxy.stop() in (0, -15)


@pytest.mark.long
def test_when_the_storage_folder_vanishes_requests_are_answered(demo: Demo, start_proxy: Callable[..., Proxy]) -> None:
    proxy = start_proxy(config(demo))
    proxy.http.post(CHAT, json=chat("hi", temperature=0))
    proxy.storage.rename(proxy.storage.with_name("gone"))
    for number in range(10):
        for stream in (False, True):
            answer = proxy.http.post(CHAT, json=chat(f"say: {number}", temperature=0, stream=stream))
            assert answer.status_code == 200
    assert proxy.stop() in (0, -15)
