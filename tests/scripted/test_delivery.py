"""What goes wrong on purpose, over a real socket."""

import contextlib
import http.client
import socket
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from tests.scripted.config import ScriptedConfig
from tests.scripted.conftest import Serve, Upstream
from tests.servers import eventually

HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hello there."}]
STREAM = {"model": "demo-chat", "messages": HELLO, "stream": True}


def ask(upstream: Upstream, fault: str, *, stream: bool = False, **headers: str) -> str:
    create: Any = upstream.sdk.chat.completions.create
    answer = create(model="demo-chat", messages=HELLO, stream=stream, extra_headers={"x-demo-fault": fault, **headers})
    if not stream:
        return str(answer.choices[0].message.content)
    return "".join(chunk.choices[0].delta.content or "" for chunk in answer if chunk.choices)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("429", openai.RateLimitError),
        ("500", openai.InternalServerError),
        ("502", openai.InternalServerError),
        ("503", openai.InternalServerError),
        ("reset", openai.APIConnectionError),
        ("cut", openai.APIConnectionError),
        ("garbage", Exception),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_raises(upstream: Upstream, fault: str, error: type[Exception], *, stream: bool) -> None:
    with pytest.raises(error):
        ask(upstream, fault, stream=stream)


@pytest.mark.parametrize("fault", ["cut=3", "reset=3", "error-event=3"])
def test_a_stream_that_breaks_in_the_middle_raises_after_what_came(upstream: Upstream, fault: str) -> None:
    create: Any = upstream.sdk.chat.completions.create
    came: list[Any] = []
    with pytest.raises(openai.APIError):
        came.extend(create(**STREAM, extra_headers={"x-demo-fault": fault}))
    assert 0 < len(came) <= 3


@pytest.mark.parametrize("fault", ["crlf", "comments", "multiline", "no-space", "split", "odd", "no-done", ""])
def test_a_stream_written_in_another_way_says_the_same(upstream: Upstream, fault: str) -> None:
    assert ask(upstream, fault, stream=True) == ask(upstream, "")


def test_a_compressed_body_says_the_same(upstream: Upstream) -> None:
    assert ask(upstream, "gzip") == ask(upstream, "")
    raw = upstream.http.get("/v1/models", headers={"x-demo-fault": "gzip"})
    assert raw.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("stream", [False, True])
def test_an_oversized_answer_is_as_large_as_asked_for(upstream: Upstream, *, stream: bool) -> None:
    assert len(ask(upstream, "oversized=300000", stream=stream)) >= 300_000


def test_a_cut_ends_without_the_last_chunk_and_a_reset_is_a_reset(upstream: Upstream) -> None:
    with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
        upstream.http.post("/v1/chat/completions", json=STREAM, headers={"x-demo-fault": "cut=2"})
    with pytest.raises(ConnectionResetError):
        _raw(upstream.url, "reset")


def test_rate_limits_tell_when_to_come_back(upstream: Upstream) -> None:
    limited = upstream.http.post("/v1/chat/completions", json=STREAM, headers={"x-demo-fault": "429=0.25"})
    assert limited.status_code == 429
    assert (limited.headers["retry-after"], limited.headers["retry-after-ms"]) == ("1", "250")
    assert limited.headers["x-ratelimit-remaining-requests"] == "0"
    assert limited.json()["error"]["code"] == "rate_limit_exceeded"


def test_the_sdks_own_retries_get_through(serve: Serve) -> None:
    upstream = serve(ScriptedConfig())
    sdk = upstream.sdk.with_options(max_retries=2)
    answer = sdk.chat.completions.create(
        model="demo-chat", messages=HELLO, extra_headers={"x-demo-fault": "429=0.01x2", "x-demo-fault-key": "one"}
    )
    assert answer.choices[0].message.content
    assert upstream.demo.faults.happened == {"429": 2}
    assert upstream.demo.recorder.received == 3


def test_a_fault_can_be_set_for_every_request_and_taken_back(serve: Serve) -> None:
    upstream = serve(ScriptedConfig(fault="503"))
    assert upstream.http.get("/v1/models").status_code == 503
    assert upstream.http.put("/__demo/fault", content="500").status_code == 204
    assert upstream.http.get("/v1/models").status_code == 500
    assert upstream.http.put("/__demo/fault", content="nonsense").status_code == 400
    assert upstream.http.put("/__demo/fault", content="").status_code == 204
    assert upstream.http.get("/v1/models").status_code == 200
    assert upstream.http.get("/v1/models", headers={"x-demo-fault": "nonsense"}).status_code == 400


@pytest.mark.parametrize("fault", ["stall=3", "slow-first-byte"])
def test_the_server_notices_that_the_client_of_a_stalled_answer_has_left(upstream: Upstream, fault: str) -> None:
    upstream.demo.recorder.clear()
    with contextlib.closing(_connected(upstream.url, fault)):
        eventually(lambda: upstream.demo.releases.holding)
    eventually(lambda: not upstream.demo.recorder.in_flight)
    (received,) = upstream.demo.recorder.requests
    assert (received.closed_early, received.finished) == (True, False)
    assert received.chunks_sent == (3 if fault == "stall=3" else 0)


def test_the_server_notices_that_a_client_has_left_between_two_chunks(upstream: Upstream) -> None:
    upstream.demo.recorder.clear()
    headers = {"x-demo-chunks": "20", "x-demo-chunk-delay": "0.02"}
    with upstream.http.stream("POST", "/v1/chat/completions", json=STREAM, headers=headers) as answer:
        events = answer.iter_lines()
        for _ in range(6):  # three events, each with a blank line
            next(events)
    eventually(lambda: not upstream.demo.recorder.in_flight)
    (received,) = upstream.demo.recorder.requests
    assert received.closed_early
    assert received.chunks_sent < 20
    assert upstream.demo.recorder.closed_early == 1


def test_a_stalled_answer_goes_on_when_it_is_released(upstream: Upstream) -> None:
    with contextlib.closing(_connected(upstream.url, "stall=3")) as connection:
        eventually(lambda: upstream.demo.releases.holding)
        assert upstream.http.post("/__demo/release").status_code == 204
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert answer.read().endswith(b"data: [DONE]\n\n")


def test_a_slow_first_byte_comes_in_its_own_time(upstream: Upstream) -> None:
    assert ask(upstream, "slow-first-byte=0.01") == ask(upstream, "")


def _connected(url: str, fault: str) -> socket.socket:
    """A connection that has just sent a request for a stream and has read nothing."""
    address = httpx.URL(url)
    assert address.port is not None
    connection = socket.create_connection((address.host, address.port), timeout=120)
    body = httpx.Request("POST", url, json=STREAM).content
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: demo\r\nauthorization: Bearer sk-test\r\n"
        f"x-demo-fault: {fault}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection


def _raw(url: str, fault: str) -> bytes:
    with contextlib.closing(_connected(url, fault)) as connection:
        return connection.recv(1024)
