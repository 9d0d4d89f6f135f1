"""Every other route: both directions as they come, nothing kept, nothing understood."""

import asyncio
import hashlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from proxy.api import leads_out
from proxy.http.exchange import AsgiMessage, Receive, Send
from tests.builders import config
from tests.servers import eventually, run_app, run_proxy

KEY = "sk-of-the-upstream"


@dataclass
class App:
    """An upstream that says piece by piece what it got, as it gets it."""

    seen: list[AsgiMessage] = field(default_factory=list)
    left: int = 0

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for phase in ("startup", "shutdown"):
                assert (await receive())["type"] == f"lifespan.{phase}"
                await send({"type": f"lifespan.{phase}.complete"})
            return
        self.seen.append(scope)
        match scope["path"]:
            case "/v1/mirror":
                await self._mirror(receive, send)
            case "/v1/endless":
                await self._endless(receive, send)
            case _:
                headers = [
                    (b"content-length", b"5"),
                    (b"x-upstream", b"yes"),
                    (b"connection", b"x-hop"),
                    (b"x-hop", b"1"),
                ]
                await send({"type": "http.response.start", "status": 203, "headers": headers})
                await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else b"hello"})

    async def _mirror(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        more = True
        while more:
            message = await receive()
            more = message.get("more_body", False)
            await send({"type": "http.response.body", "body": message.get("body", b""), "more_body": more})

    async def _endless(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        self.left += 1


@dataclass(frozen=True, slots=True)
class Running:
    url: str
    upstream: App

    def client(self) -> httpx.AsyncClient:
        headers = {"authorization": "Bearer sk-of-the-client"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=100, trust_env=False)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    upstream = App()
    with run_app(upstream) as url:
        entry = {"name": "up", "base_url": f"{url}/v1", "api_key": KEY, "timeout": {"idle": 5}}
        settings = config(upstreams=[entry], storage={"kind": "off"}, server={"port": 0, "drain": 1, "max_body_mb": 1})
        with run_proxy(settings) as proxy:
            yield Running(proxy, upstream)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "PROPFIND"])
async def test_a_request_and_its_answer_pass_as_they_are(method: str, running: Running) -> None:
    running.upstream.seen.clear()
    async with running.client() as client:
        answer = await client.request(
            method, "/v1/files/a%2Fb?limit=1&after=%20x", headers={"x-mine": "1", "x-olvido-mode": "off"}
        )
    (scope,) = running.upstream.seen
    headers = dict(scope["headers"])
    assert (scope["method"], scope["raw_path"]) == (method, b"/v1/files/a%2Fb")
    assert scope["query_string"] == b"limit=1&after=%20x"
    assert headers[b"authorization"] == f"Bearer {KEY}".encode()
    assert headers[b"x-mine"] == b"1"
    assert b"x-olvido-mode" not in headers
    assert (answer.status_code, answer.headers["x-upstream"]) == (203, "yes")
    assert answer.headers["content-length"] == "5"
    assert answer.content == (b"" if method == "HEAD" else b"hello")
    assert answer.headers["x-olvido-request"].startswith("req_")
    assert "x-hop" not in answer.headers


async def test_each_piece_of_an_upload_and_of_its_answer_passes_before_the_next_is_sent(running: Running) -> None:
    back: asyncio.Queue[bytes] = asyncio.Queue()

    async def pieces() -> AsyncIterator[bytes]:
        for number in range(4):
            yield b"piece %d" % number
            # Goes on when this piece has been there and back: it would wait in vain if anything held it.
            assert await back.get() == b"piece %d" % number

    url = httpx.URL(running.url)
    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        reader, writer = await asyncio.open_connection(url.host, url.port)
        writer.write(b"POST /v1/mirror HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n")

        async def send() -> None:
            async for piece in pieces():
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            writer.write(b"0\r\n\r\n")

        group.create_task(send())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        while size := int(await reader.readuntil(b"\r\n"), 16):
            back.put_nowait(await reader.readexactly(size))
            await reader.readexactly(2)
        writer.close()


async def test_an_upload_larger_than_a_managed_body_may_be_passes_whole(running: Running) -> None:
    content = hashlib.shake_128(b"seed").digest(3 * 2**20)
    async with running.client() as client:
        answer = await client.post("/v1/mirror", content=content)
    assert answer.content == content


async def test_when_the_client_leaves_the_upstream_is_let_go(running: Running) -> None:
    before = running.upstream.left
    async with running.client() as client, client.stream("GET", "/v1/endless") as answer:
        assert await anext(answer.aiter_raw()) == b"first"
    await asyncio.to_thread(eventually, lambda: running.upstream.left == before + 1)


async def test_when_nobody_answers_it_is_said_in_openais_shape() -> None:
    settings = config(
        upstreams=[{"name": "up", "base_url": "http://127.0.0.1:9/v1"}], storage={"kind": "off"}, server={"port": 0}
    )
    with run_proxy(settings) as url:
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.get(f"{url}/v1/models")
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "upstream_unreachable"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/..",
        "/v1/../admin",
        "/v1/files/../../admin",
        "/v1/./models",
        "/v1/%2e%2e/admin",
        "/v1/%2E./admin",
        "/v1/..%2fadmin",
        "/v1/%2e%2e%2fadmin",
        "/v1/..\\admin",
        "/v1/..%5cadmin",
        "/v1/%252e%252e/admin",
        "/v1/..;/admin",
        "/v1/%2e%2e%3bx=1/admin",
        "/v1/%2e%2e%253b/admin",
    ],
)
def test_a_path_that_leads_out_of_the_api_is_seen(path: str) -> None:
    assert leads_out(path)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models",
        "/v1/models/a..b",
        "/v1/files/.hidden",
        "/v1/files/x...",
        "/v1/a%2Fb",
        "/v1//models",
        "/v1/...",
        "/v1/models;v=..",
        "/v1/%25",
    ],
)
def test_and_one_that_does_not_is_not(path: str) -> None:
    assert not leads_out(path)


@pytest.mark.parametrize("path", ["/v1/models", "/v1/chat/completions", "/v1/responses", "/v1/responses/r-1"])
async def test_no_upstream_is_asked_to_tell_what_it_was_sent(path: str, running: Running) -> None:
    running.upstream.seen.clear()
    async with running.client() as client:
        answer = await client.request("TRACE", path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert "POST" in answer.headers["allow"]
    assert KEY not in answer.text
    assert running.upstream.seen == []


@pytest.mark.parametrize("path", ["/v1//chat/completions", "/v1/chat/completions/", "/v1/Responses", "/v1/messages//"])
async def test_a_managed_route_is_managed_however_it_is_spelt(path: str, running: Running) -> None:
    """An SDK whose base URL ends in a slash asks for two."""
    running.upstream.seen.clear()
    asked = {"model": "m", "input": "hi"} if "Resp" in path else {**ASKED, "max_tokens": 5}
    async with running.client() as client:
        await client.post(path, json=asked)
        assert {scope["path"] for scope in running.upstream.seen} == {"/v1/chat/completions"}
        await client.get(path)
    assert running.upstream.seen[-1]["path"] == path


@contextmanager
def answering(said: bytes) -> Iterator[str]:
    """The address of a proxy whose upstream answers with these bytes, and keeps the connection open."""
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(2**16)
            connection.sendall(said)
            over.wait(10)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    entry = {"name": "up", "base_url": url, "retries": 0, "timeout": {"idle": 60}}
    settings = config(upstreams=[entry], storage={"kind": "off"}, server={"port": 0, "drain": 1})
    try:
        with run_proxy(settings) as proxy:
            yield proxy
    finally:
        over.set()
        thread.join(100)
        listening.close()


ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize("path", ["/v1/files", "/v1/chat/completions"])
def test_a_status_that_is_none_of_https_is_a_502(path: str) -> None:
    with answering(b"HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n") as url:
        answer = httpx.post(f"{url}{path}", json=ASKED, trust_env=False, timeout=100)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], "999" in error["message"]) == (502, "upstream_broken", True)
