"""The client leaves: the upstream is let go at once, the ledger says so, and nothing half-made is kept."""

import asyncio

import httpx
import openai
import pytest

from proxy.tasks import Tasks
from tests.e2e.running import CHAT, Demo, Proxy, chat
from tests.servers import eventually

pytestmark = pytest.mark.long

AT_ONCE = 10.0  # seconds in which the upstream must be let go, on a busy machine, too


def leave_stream(proxy: Proxy, question: str) -> str:
    """Ask for 20 chunks that never stop coming, leave after 3; the request's id."""
    asked = chat(question, stream=True, temperature=0)
    slowly = {"x-demo-chunks": "20", "x-demo-fault": "stall=9"}
    with proxy.http.stream("POST", CHAT, json=asked, headers=slowly) as answer:
        seen = b""
        for piece in answer.iter_raw():
            seen += piece
            if seen.count(b"\n\n") >= 3:
                return answer.headers["x-olvido-request"]
    raise AssertionError("the stream ended")


def test_a_stream_that_is_left_closes_the_upstream_is_told_and_not_kept(demo: Demo, proxy: Proxy) -> None:
    question = "60 words of a stream that is left"
    request_id = leave_stream(proxy, question)
    eventually(lambda: demo.arrived()[0].closed_early, AT_ONCE)
    assert not demo.arrived()[0].finished
    row = proxy.row(request_id=request_id)
    assert (row["outcome"], row["status"], row["stream"], row["source"]) == ("client_gone", 200, 1, "upstream")
    assert row["tokens_completion"] > 0

    again = proxy.http.post(CHAT, json=chat(question, temperature=0))
    assert again.headers["x-olvido-source"] == "upstream"
    assert len(demo.arrived()) == 2


def test_the_sdk_leaves_a_stream(demo: Demo, proxy: Proxy) -> None:
    slowly = {"x-demo-chunks": "20", "x-demo-fault": "stall=9"}
    with openai.OpenAI(base_url=proxy.base_url, api_key="sk-leaves", max_retries=0) as client:
        stream = client.chat.completions.create(**chat("60 words"), stream=True, extra_headers=slowly)
        for _, _chunk in zip(range(3), stream, strict=False):
            pass
        stream.close()
        eventually(lambda: demo.arrived()[0].closed_early, AT_ONCE)


@pytest.mark.parametrize("fault", ["slow-first-byte", "stall=1"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_client_that_does_not_wait_for_the_answer(fault: str, stream: bool, demo: Demo, proxy: Proxy) -> None:
    asked = chat(f"say: never read {fault} {stream}", temperature=0, stream=stream)
    left = proxy.metric("olvido_requests_total", outcome="client_gone")
    with (
        pytest.raises(httpx.ReadTimeout),
        proxy.http.stream("POST", CHAT, json=asked, headers={"x-demo-fault": fault}, timeout=0.3) as answer,
    ):
        answer.read()
    eventually(lambda: demo.arrived()[0].closed_early, AT_ONCE)
    eventually(lambda: proxy.metric("olvido_requests_total", outcome="client_gone") == left + 1)
    again = proxy.http.post(CHAT, json={**asked, "stream": False})
    assert again.headers["x-olvido-source"] == "upstream"


async def test_many_that_leave_at_once_leave_nothing_behind(demo: Demo, proxy: Proxy) -> None:
    left = proxy.metric("olvido_requests_total", outcome="client_gone")

    async def ask(client: httpx.AsyncClient, number: int) -> None:
        asked = chat(f"60 words {number}", stream=number % 2 == 0, temperature=0)
        await client.post(CHAT, json=asked, headers={"x-demo-fault": "stall=1"}, timeout=60)

    key = {"authorization": "Bearer sk-crowd"}
    async with httpx.AsyncClient(
        base_url=proxy.url, timeout=120, headers=key, limits=httpx.Limits(max_connections=40)
    ) as client:
        tasks = Tasks()
        asking = [tasks.spawn(ask(client, number), name=f"asks {number}") for number in range(40)]
        await asyncio.to_thread(eventually, lambda: demo.in_flight == 40)
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    eventually(lambda: demo.in_flight == 0)
    eventually(lambda: proxy.metric("olvido_requests_total", outcome="client_gone") == left + 40)
    gauge = next(line for line in proxy.http.get("/metrics").text.splitlines() if line.startswith("olvido_in_flight "))
    assert float(gauge.split()[1]) == 0


def test_on_every_other_route_the_upstream_is_let_go_too(demo: Demo, proxy: Proxy) -> None:
    with pytest.raises(httpx.ReadTimeout):
        proxy.http.get("/v1/models", headers={"x-demo-fault": "slow-first-byte"}, timeout=0.3)
    eventually(lambda: demo.arrived("/v1/models")[0].closed_early, AT_ONCE)
