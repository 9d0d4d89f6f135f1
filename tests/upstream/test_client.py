"""The bytes on the wire to an upstream: what was given and nothing else; and how long it is waited for."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxy.errors import UnknownModel, UpstreamBroken, UpstreamTimeout, UpstreamUnreachable
from proxy.upstream.client import Response, Router, Upstream
from tests.builders import upstream_config

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@dataclass
class Wire:
    """A server of few words: each request gets what `answers` says, and is kept as the bytes it was."""

    answers: list[bytes | None]  # None: nothing, for ever
    heads: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.answers:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                self.bodies.append(await self._body(reader, self.heads[-1].lower()))
                answer = self.answers.pop(0)
                writer.write(answer or b"")
                if answer is None or b"content-length: 99" in answer:
                    await reader.read()
        except asyncio.IncompleteReadError:
            pass
        finally:
            self.closed.set()
            writer.close()

    async def _body(self, reader: asyncio.StreamReader, head: bytes) -> bytes:
        if b"transfer-encoding: chunked" in head:
            return await reader.readuntil(b"0\r\n\r\n")
        _, _, length = head.partition(b"content-length: ")
        return await reader.readexactly(int(length.split(b"\r\n")[0] or 0))


@asynccontextmanager
async def talking(*answers: bytes | None, **settings: Any) -> AsyncIterator[tuple[Upstream, Wire]]:
    wire = Wire(list(answers))
    server = await asyncio.start_server(wire.talk, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    upstream = Upstream(upstream_config(**{"base_url": f"http://127.0.0.1:{wire.port}/v1", **settings}))
    try:
        yield upstream, wire
    finally:
        await upstream.close()
        server.close()
        await server.wait_closed()


async def ask(
    upstream: Upstream,
    headers: Sequence[tuple[str, str]] = (),
    content: bytes | AsyncIterator[bytes] | None = b"{}",
    *,
    path: str = "/chat/completions",
    query: str = "",
    patience: float | None = 10.0,
) -> Response:
    return await upstream.send("POST", upstream.url(path, query), headers, content, patience)


async def read(response: Response) -> bytes:
    return b"".join([piece async for piece in pieces_of(response)])


async def pieces_of(response: Response) -> AsyncIterator[bytes]:
    while piece := await response.read():
        yield piece


async def test_what_is_sent_is_what_was_given_and_what_http_needs() -> None:
    given = [("accept", "a"), ("x-two", "1"), ("x-two", "2"), ("x-latin", "ñ"), ("authorization", "Bearer k")]
    async with talking(OK) as (upstream, wire):
        response = await ask(upstream, given, b'{ "as": "it is" }', query="api-version=1&q=a%20b+c%2B")
        assert await read(response) == b"ok"
        request, *lines = wire.heads[0].decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        sent = [tuple(line.split(": ", 1)) for line in lines]
        assert request == "POST /v1/chat/completions?api-version=1&q=a%20b+c%2B HTTP/1.1"
        assert [(name.lower(), value) for name, value in sent if name.lower() not in ("host", "content-length")] == [
            (name, value.encode().decode("latin-1") if name == "x-latin" else value) for name, value in given
        ]
        assert wire.bodies == [b'{ "as": "it is" }']


async def test_a_body_that_comes_in_pieces_goes_in_pieces() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"

    async with talking(OK) as (upstream, wire):
        await read(await ask(upstream, content=pieces()))
        assert wire.bodies == [b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"]


async def test_a_connection_is_used_again_and_keeps_nothing_of_a_client() -> None:
    cookie = b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n"
    async with talking(cookie, OK) as (upstream, wire):
        first = await ask(upstream, [("authorization", "Bearer one")])
        assert ("set-cookie", "a=b") in first.headers
        await read(first)
        await read(await ask(upstream))
        assert wire.connections == 1
        assert b"cookie" not in wire.heads[1].lower()
        assert b"authorization" not in wire.heads[1].lower()


async def test_credentials_of_whoever_runs_us_are_not_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with talking(OK) as (upstream, wire):
        await read(await ask(upstream))
        assert b"authorization" not in wire.heads[0].lower()


async def test_a_redirect_is_an_answer() -> None:
    async with talking(b"HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n") as (upstream, wire):
        response = await ask(upstream)
        assert response.status == 302
        await read(response)
        assert len(wire.heads) == 1


async def test_a_compressed_answer_is_left_as_it_is() -> None:
    raw = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x08"
    async with talking(raw) as (upstream, _):
        assert await read(await ask(upstream)) == b"\x1f\x8b\x08"


async def test_long_headers_of_a_provider_are_taken() -> None:
    long = b"x" * 60_000
    async with talking(b"HTTP/1.1 200 OK\r\nx-policy: " + long + b"\r\ncontent-length: 0\r\n\r\n") as (upstream, _):
        response = await ask(upstream)
        assert dict(response.headers)["x-policy"] == long.decode()
        await read(response)


# --- proxies of the environment -------------------------------------------------------------------------------------


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_an_upstream_is_reached_through_the_proxy_that_the_environment_names(
    variable: str, environment: pytest.MonkeyPatch
) -> None:
    async with talking(OK) as (_, wire):
        environment.setenv(variable, f"http://127.0.0.1:{wire.port}")
        beyond = Upstream(upstream_config(base_url="http://upstream.test/v1"))
        await read(await ask(beyond))
        await beyond.close()
        assert wire.heads[0].startswith(b"POST http://upstream.test/v1/chat/completions HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("variable", "value", "more"),
    [("HTTPS_PROXY", "http://127.0.0.1:1", {}), ("HTTP_PROXY", "http://127.0.0.1:1", {"NO_PROXY": "127.0.0.1"})],
)
async def test_and_not_through_one_for_others(
    variable: str, value: str, more: dict[str, str], environment: pytest.MonkeyPatch
) -> None:
    for name, text in {variable: value, **more}.items():
        environment.setenv(name, text)
    async with talking(OK) as (upstream, wire):
        await read(await ask(upstream))
        assert wire.heads[0].startswith(b"POST /v1/")


# --- how long -------------------------------------------------------------------------------------------------------


async def test_headers_that_do_not_come_are_not_waited_for() -> None:
    async with talking(None) as (upstream, wire):
        with pytest.raises(UpstreamTimeout):
            await ask(upstream, patience=0.05)
        async with asyncio.timeout(100):
            await wire.closed.wait()


async def test_nor_is_the_rest_of_a_body() -> None:
    started = b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nsome"
    async with talking(started, timeout={"idle": 0.05}) as (upstream, wire):
        response = await ask(upstream)
        assert await response.read() == b"some"
        with pytest.raises(UpstreamTimeout, match=r"0\.05 s"):
            await response.read()
        response.close()
        async with asyncio.timeout(100):
            await wire.closed.wait()


async def test_the_time_that_the_reader_takes_is_not_the_upstreams() -> None:
    async with talking(OK, timeout={"idle": 0.01}) as (upstream, _):
        response = await ask(upstream)
        assert await response.read() == b"ok"
        await asyncio.sleep(0.03)
        assert await response.read() == b""


async def test_a_connection_that_breaks_is_no_timeout() -> None:
    async with talking(b"") as (upstream, _):
        with pytest.raises(UpstreamBroken):
            await ask(upstream)


async def test_nobody_there_is_no_connection() -> None:
    upstream = Upstream(upstream_config(base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(UpstreamUnreachable, match="could not be reached: connection refused"):
        await ask(upstream)
    await upstream.close()


async def test_the_log_is_told_once_of_an_upstream_that_is_away_and_once_that_it_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "proxy.upstream.outage")
    busy = b"HTTP/1.1 503 Busy\r\ncontent-length: 2\r\n\r\nno"
    async with talking(busy, busy, OK, OK) as (upstream, wire):
        for _ in range(4):
            await ask(upstream)
        told = [(record.getMessage().partition(";")[0], record.__dict__.get("why")) for record in caplog.records]
        assert told == [("upstream fails", "status 503"), ("upstream answers again", None)]
        assert str(wire.port) not in caplog.text


async def test_an_answer_can_be_closed_at_any_time_and_twice() -> None:
    async with talking(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nsome") as (upstream, wire):
        response = await ask(upstream)
        response.close()
        response.close()
        async with asyncio.timeout(100):
            await wire.closed.wait()


# --- parts ----------------------------------------------------------------------------------------------------------


def test_an_address_is_put_together_once() -> None:
    upstream = Upstream(upstream_config(base_url="https://k.example/api/v1/"))
    assert str(upstream.url("/models")) == "https://k.example/api/v1/models"
    assert str(upstream.url("/models", "limit=1")) == "https://k.example/api/v1/models?limit=1"
    assert upstream.url("/models", "limit=1") is upstream.url("/models", "limit=1")
    assert upstream.url("/a b/\u00f1") == "https://k.example/api/v1/a%20b/%C3%B1"


@pytest.mark.parametrize(("key", "sent"), [(None, None), ("sk-0123456789", "Bearer sk-0123456789")])
def test_a_key_of_the_upstream_replaces_the_clients(key: str | None, sent: str | None) -> None:
    assert Upstream(upstream_config(api_key=key)).authorization == sent


BEGUN = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"
BAD_CHUNKS = {
    "no number": b"garbage\r\nhello\r\n",
    "negative": b"-5\r\nhello\r\n",
    "beyond 64 bits": b"f" * 17 + b"\r\nhello\r\n",
    "shorter than its content": b"2\r\nhello\r\n",
}


@pytest.mark.parametrize("chunk", BAD_CHUNKS.values(), ids=BAD_CHUNKS)
@pytest.mark.parametrize("apart", [False, True])
async def test_a_body_whose_chunks_cannot_be_read_fails_at_once(chunk: bytes, apart: bool) -> None:
    """While the upstream keeps the connection open, and would be waited for."""
    go_on, done = asyncio.Event(), asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n{}")
        writer.write(BEGUN if apart else BEGUN + chunk)
        await go_on.wait()
        writer.write(chunk if apart else b"")
        await done.wait()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    upstream = Upstream(upstream_config(base_url=f"http://127.0.0.1:{port}/v1", timeout={"idle": 60}))
    try:
        async with asyncio.timeout(100):
            with pytest.raises(UpstreamBroken):  # noqa: PT012 (with the head or the body)
                response = await ask(upstream)
                try:
                    async for _ in pieces_of(response):
                        go_on.set()
                finally:
                    response.close()
    finally:
        go_on.set()
        done.set()
        await upstream.close()
        server.close()


@pytest.mark.parametrize("status", [600, 999, 101])
async def test_a_status_that_is_none_of_https_is_an_error(status: int) -> None:
    async with talking(b"HTTP/1.1 %d Odd\r\ncontent-length: 0\r\n\r\n" % status) as (upstream, _):
        with pytest.raises(UpstreamBroken, match=str(status)):
            await ask(upstream)


@pytest.mark.parametrize("status", [200, 299, 418, 599])
async def test_any_other_status_passes(status: int) -> None:
    async with talking(b"HTTP/1.1 %d Odd\r\ncontent-length: 0\r\n\r\n" % status) as (upstream, _):
        assert (await ask(upstream)).status == status


def router(*, reject_unknown: bool = True) -> Router:
    configs = [
        upstream_config("kimi", models=["kimi-*", "moonshot-v1-?k"], fallback="other"),
        upstream_config("other", models=["gpt-5", "kimi-k3"], fallback="last"),
        upstream_config("last", models=["local/*"]),
    ]
    return Router([Upstream(each) for each in configs], reject_unknown=reject_unknown)


@pytest.mark.parametrize(
    ("model", "candidates"),
    [
        ("kimi-k2.6", ["kimi", "other", "last"]),
        ("kimi-k3", ["kimi", "other", "last"]),  # the first that matches, not the one that matches best
        ("kimi-", ["kimi", "other", "last"]),
        ("moonshot-v1-8k", ["kimi", "other", "last"]),
        ("gpt-5", ["other", "last"]),
        ("local/qwen/3.5", ["last"]),
    ],
)
def test_the_first_upstream_with_a_matching_pattern_serves_the_model(model: str, candidates: list[str]) -> None:
    route = router().route(model)
    assert [upstream.name for upstream in route.candidates] == candidates
    assert route.upstream is route.candidates[0]
    assert route.fallbacks == route.candidates[1:]


@pytest.mark.parametrize("model", ["gpt-5-mini", "Kimi-k3", "moonshot-v1-128k", "xkimi-k3", "*", "k"])
def test_a_model_that_nobody_serves_is_refused_with_a_list_of_those_served(model: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        router().route(model)
    assert caught.value.param == "model"
    assert repr(model) in caught.value.message
    for served in ("kimi-* (kimi)", "moonshot-v1-?k (kimi)", "gpt-5 (other)", "local/* (last)"):
        assert served in caught.value.message


def test_or_goes_to_the_first_upstream_if_configured_so() -> None:
    candidates = router(reject_unknown=False).route("gpt-5-mini").candidates
    assert [upstream.name for upstream in candidates] == ["kimi", "other", "last"]


def test_a_long_name_is_quoted_in_part() -> None:
    with pytest.raises(UnknownModel) as caught:
        router().route("m" * 10_000)
    assert len(caught.value.message) < 500


def test_upstreams_are_found_by_name_and_the_first_is_the_default() -> None:
    known = router()
    assert [known.named(name).name for name in ("kimi", "other", "last")] == ["kimi", "other", "last"]
    assert known.default is known.named("kimi")


async def test_aside_it_is_the_same_upstream_whose_failures_harm_nobody() -> None:
    upstream = Upstream(upstream_config(retries=3, breaker={"failures": 1}))
    try:
        aside = upstream.aside()
        assert aside.url("/x") == upstream.url("/x")
        assert (aside.config.retries, aside.config.fallback) == (0, None)
        for _ in range(10):
            aside.breaker.failure()
        assert (aside.breaker.state, upstream.breaker.state) == ("closed", "closed")
    finally:
        await upstream.close()


async def test_the_certificates_are_read_once_for_all_upstreams(monkeypatch: pytest.MonkeyPatch) -> None:
    Upstream(upstream_config("one"))
    read: list[bool] = []
    monkeypatch.setattr(httpx, "create_ssl_context", lambda: read.append(True))
    Upstream(upstream_config("two"))
    assert read == []
