"""Several proxies, as processes of their own, over one Redis: nobody can tell which of them answers."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.running import CHAT, Demo, Proxy, chat, run_demo, run_proxy, upstream
from tests.redis_server import RedisServer, run_redis
from tests.servers import eventually

pytestmark = pytest.mark.long

PATIENT_MS = 2_000  # on a busy machine, too, everything is shared
HELD = {"x-demo-fault": "slow-first-byte"}
PROXIES = 3


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with run_redis() as running:
        yield running


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with run_demo() as running:
        yield running


def config(demo: Demo, server: RedisServer, storage: Path) -> dict[str, Any]:
    return {
        "upstreams": [upstream("demo", demo, ["*"])],
        "storage": {"path": str(storage)},
        "shared": {"url": server.url, "timeout_ms": PATIENT_MS},
    }


@pytest.fixture(scope="module")
def running(demo: Demo, server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Proxy]]:
    storage = tmp_path_factory.mktemp("shared")  # one folder: one secret, and so one name in Redis
    with ExitStack() as stack:
        folders = [tmp_path_factory.mktemp(f"proxy{number}") for number in range(PROXIES)]
        started = [stack.enter_context(run_proxy(config(demo, server, storage), folder)) for folder in folders]
        yield started
        assert [proxy.complaints() for proxy in started] == [[]] * PROXIES


@pytest.fixture
def proxies(demo: Demo, running: list[Proxy]) -> list[Proxy]:
    demo.clear()
    return running


async def once(condition: Callable[[], object]) -> None:
    await asyncio.to_thread(eventually, condition, 30.0)


def in_flight(proxy: Proxy) -> float:
    lines = proxy.http.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith("olvido_in_flight ")).split()[1])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_three_hundred_identical_requests_to_several_processes_are_one_upstream_call(
    stream: bool, demo: Demo, proxies: list[Proxy]
) -> None:
    asked = chat(f"say: together {stream}", temperature=0, stream=stream)
    key = {"authorization": "Bearer sk-test"}
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(headers=key, timeout=60, limits=limits, trust_env=False) as crowd:
        urls = [f"{proxies[number % PROXIES].url}{CHAT}" for number in range(300)]
        group = asyncio.gather(*(crowd.post(url, json=asked, headers=HELD) for url in urls))
        await once(lambda: sum(map(in_flight, proxies)) == 300)

        def released() -> bool:
            demo.release()
            return group.done()

        await once(released)
        answers = await group
    assert {answer.status_code for answer in answers} == {200}
    sources = sorted(answer.headers["x-olvido-source"] for answer in answers)
    assert sources == ["exact"] * 299 + ["upstream"]
    assert len(demo.arrived()) == 1


def test_an_answer_of_one_process_is_found_by_the_others_and_by_no_other_scope(
    demo: Demo, proxies: list[Proxy]
) -> None:
    asked = chat("say: found elsewhere", temperature=0)
    assert proxies[0].http.post(CHAT, json=asked).headers["x-olvido-source"] == "upstream"

    def found(proxy: Proxy) -> bool:
        return proxy.http.post(CHAT, json=asked).headers["x-olvido-source"] == "exact"

    assert [found(proxy) for proxy in proxies] == [True] * PROXIES
    other = {"authorization": "Bearer sk-somebody-else"}
    assert proxies[1].http.post(CHAT, json=asked, headers=other).headers["x-olvido-source"] == "upstream"


@pytest.mark.note("v2 NO/3")
def test_a_tool_call_that_one_process_passed_on_is_answered_through_another(proxies: list[Proxy]) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    session = {"x-olvido-session": "across"}
    asked = chat("call: look {}", tools=[tool])
    answer = proxies[0].http.post(CHAT, json=asked, headers=session).raise_for_status().json()
    calls = answer["choices"][0]["message"].get("tool_calls")
    assert calls, json.dumps(answer)[:500]
    result = {"role": "tool", "tool_call_id": calls[0]["id"], "content": "seen"}

    def went_on() -> bool:
        sent = {"model": "demo-chat", "messages": [result], "tools": [tool]}
        return proxies[1].http.post(CHAT, json=sent, headers=session).status_code == 200

    eventually(went_on)


def test_with_redis_gone_requests_are_answered_and_it_is_told_and_it_comes_back(
    demo: Demo, tmp_path: Path, start_proxy: Callable[..., Proxy]
) -> None:
    with run_redis() as own:
        proxy = start_proxy(config(demo, own, tmp_path / "own"))
        asked = chat("say: still here", temperature=0)
        assert proxy.http.post(CHAT, json=asked).headers["x-olvido-source"] == "upstream"
        eventually(lambda: proxy.http.post(CHAT, json=asked).headers["x-olvido-source"] == "exact")
        assert proxy.metric("olvido_shared_state", state="ready") == 1
        own.kill()
        eventually(lambda: proxy.metric("olvido_shared_state", state="down") == 1)
        for _ in range(5):
            answer = proxy.http.post(CHAT, json=asked)
            assert (answer.status_code, answer.headers["x-olvido-source"]) == (200, "upstream")
        assert proxy.metric("olvido_shared_failures_total", part="answers", reason="down") >= 5
        own.start()
        eventually(lambda: proxy.metric("olvido_shared_state", state="ready") == 1)
        eventually(lambda: proxy.http.post(CHAT, json=asked).headers["x-olvido-source"] == "exact")
        lines = [json.loads(line) for line in proxy.log.read_text().splitlines()]
        told = [line["message"] for line in lines if "Redis" in line["message"]]
        assert told[:1] + told[-1:] == ["Redis is reached"] * 2
        assert told[1:-1].count("Redis is done without: this process answers by itself") in (1, 2)  # lost, not there
        assert not [line for line in lines if "fail open" in line["message"]]
