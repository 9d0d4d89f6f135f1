"""The routes, over real sockets: what is ours, what passes, and an error in OpenAI's shape for everything else."""

import asyncio
import socket
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from proxy.app import Endpoint, create_app
from proxy.config import key_hash
from proxy.config.redacting import redact
from proxy.http.exchange import Call
from proxy.pipeline import Services
from proxy.storage.base import StorageError
from tests.builders import body, config, user
from tests.proxied import KEY, Upstream, in_front_of, run_upstream, total
from tests.servers import eventually, proxy_app, run_proxy

CHAT = "/v1/chat/completions"
ASKED = body(user("What is a black hole?"), model="demo-chat")
JSON = {"content-type": "application/json"}
OWN_KEY = "own-key-of-ana-0123456789"


@dataclass(frozen=True, slots=True)
class Proxy:
    upstream: Upstream
    http: httpx.Client
    services: Services


def started(stack: ExitStack, upstream: Upstream, /, **sections: Any) -> Proxy:
    settings = in_front_of(upstream, **sections)
    app = proxy_app(settings)
    url = stack.enter_context(run_proxy(settings, app))
    http = httpx.Client(base_url=url, headers={"authorization": f"Bearer {KEY}"}, timeout=120, trust_env=False)
    return Proxy(upstream, stack.enter_context(http), app.state.services)


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Proxy, Proxy]]:
    """An open proxy with small limits, and one with keys of its own."""
    with ExitStack() as stack:
        upstream = stack.enter_context(run_upstream())
        limits = {"port": 0, "drain": 1, "max_body_mb": 1, "body_timeout": 0.2}
        keys = {"mode": "keys", "keys": [{"name": "ana", "key": key_hash(OWN_KEY)}]}
        yield started(stack, upstream, server=limits), started(stack, upstream, auth=keys)


@pytest.fixture
def proxy(running: tuple[Proxy, Proxy]) -> Proxy:
    running[0].upstream.bodies()
    return running[0]


@pytest.fixture
def guarded(running: tuple[Proxy, Proxy]) -> Proxy:
    running[1].upstream.bodies()
    return running[1]


def error(answer: httpx.Response) -> tuple[int, str | None]:
    """The status and code of an error in OpenAI's shape."""
    told = answer.json()["error"]
    assert told.keys() == {"message", "type", "param", "code"}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"] == answer.headers["x-olvido-request"]
    return answer.status_code, told["code"]


# --- our own routes ---------------------------------------------------------------------------------------------------


def test_it_is_alive_and_ready_and_says_what_of_it(proxy: Proxy) -> None:
    assert proxy.http.get("/healthz").json() == {"status": "ok"}
    ready = proxy.http.get("/readyz").json()
    assert ready["status"] == "ready"
    assert ready["parts"]["storage"] == "ready"
    assert ready["parts"]["upstreams"] == {"demo": {"breaker": "closed"}}


def test_its_metrics_can_be_scraped(proxy: Proxy) -> None:
    proxy.http.post(CHAT, content=ASKED, headers=JSON)
    eventually(
        lambda: total(proxy.services, "olvido_requests_total") and not proxy.services.storage.database.writer.depth
    )
    scraped = proxy.http.get("/metrics")
    assert scraped.headers["content-type"].startswith("text/plain")
    for name in ("olvido_requests_total", "olvido_tokens_total", "olvido_in_flight 0.0", "olvido_writer_queue 0.0"):
        assert name in scraped.text


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/"),
        ("GET", "/v2/models"),
        ("POST", "/healthz"),
        ("DELETE", "/metrics"),
        ("PROPFIND", "/x"),
        ("GET", "/v1"),
        ("GET", "/v1/../admin"),
        ("GET", "/v1/%2e%2e/admin"),
        ("GET", "/x%0a"),
    ],
)
def test_anything_else_is_unknown(method: str, path: str, proxy: Proxy) -> None:
    url = httpx.URL(proxy.http.base_url, raw_path=path.encode())
    assert error(proxy.http.request(method, url)) == (404, "unknown_url")


def test_another_method_on_the_managed_path_is_the_upstreams_to_judge(proxy: Proxy) -> None:
    assert proxy.http.get(CHAT).status_code in (404, 405)
    assert len(proxy.upstream.bodies()) <= 1


# --- the managed route ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_is_the_upstreams_and_says_what_we_did(stream: bool, proxy: Proxy) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", stream=stream)
    answer = proxy.http.post(CHAT, content=raw, headers=JSON)
    direct = proxy.upstream.http.post(CHAT, content=raw, headers=JSON)
    assert answer.content == direct.content
    ours = {name for name in answer.headers if name.startswith("x-olvido-")}
    assert ours == {
        f"x-olvido-{name}" for name in ("source", "session", "request", "tokens-original", "tokens-sent", "plan")
    }
    assert answer.headers["x-request-id"] == direct.headers["x-request-id"]
    proxy.upstream.bodies()


@pytest.mark.parametrize(
    ("content", "headers", "expected"),
    [
        (b"{", {}, (400, "invalid_json")),
        (b"\xff\xfe", {}, (400, "invalid_json")),
        (b'{"model":"m","messages":[]}', {}, (400, None)),
        (b'{"messages":[{}]}', {}, (400, "missing_required_parameter")),
        (ASKED, {"content-encoding": "gzip"}, (400, None)),
        (b" " * (2**20 + 1), {}, (413, "request_too_large")),
    ],
)
def test_what_cannot_be_handled_is_refused_and_goes_nowhere(
    content: bytes, headers: dict[str, str], expected: tuple[int, str | None], proxy: Proxy
) -> None:
    assert error(proxy.http.post(CHAT, content=content, headers={**JSON, **headers})) == expected
    assert proxy.upstream.bodies() == []


def test_a_body_that_turns_out_too_large_is_refused_with_an_answer_that_arrives(proxy: Proxy) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * 2**16

    assert error(proxy.http.post(CHAT, content=pieces(), headers=JSON)) == (413, "request_too_large")


def test_a_body_that_does_not_come_is_not_waited_for(proxy: Proxy) -> None:
    host, port = proxy.http.base_url.host, proxy.http.base_url.port

    async def slow() -> bytes:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"POST " + CHAT.encode() + b" HTTP/1.1\r\ncontent-length: 9\r\n\r\n{")
        head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
        return head

    assert asyncio.run(slow()).startswith(b"HTTP/1.1 408 ")


def test_an_upstream_that_fails_is_an_error_of_ours(proxy: Proxy) -> None:
    assert error(proxy.http.post(CHAT, content=ASKED, headers={**JSON, "x-demo-fault": "reset=0"})) == (
        502,
        "upstream_broken",
    )


def test_while_an_answer_is_under_way_it_is_in_flight(proxy: Proxy) -> None:
    def in_flight() -> float:
        return total(proxy.services, "olvido_in_flight")

    raw = body(user("60 words"), model="demo-chat", stream=True)
    with proxy.http.stream("POST", CHAT, content=raw, headers={**JSON, "x-demo-fault": "stall=2"}) as answer:
        pieces = answer.iter_raw()
        assert next(pieces)
        assert in_flight() == 1
    eventually(lambda: in_flight() == 0)
    eventually(lambda: total(proxy.services, "olvido_requests_total", outcome="client_gone") == 1)


# --- own keys ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [CHAT, "/v1/embeddings", "/v1/files"])
def test_with_own_keys_nobody_else_gets_in(path: str, guarded: Proxy) -> None:
    assert error(guarded.http.post(path, content=ASKED, headers=JSON)) == (401, "invalid_api_key")
    assert guarded.upstream.bodies() == []


def test_and_who_has_one_does(guarded: Proxy) -> None:
    headers = {**JSON, "authorization": f"Bearer {OWN_KEY}"}
    assert guarded.http.post(CHAT, content=ASKED, headers=headers).status_code == 200
    assert guarded.http.get("/healthz", headers={"authorization": ""}).status_code == 200


# --- pages of other sites ---------------------------------------------------------------------------------------------

FRIEND = "https://chat.example.com"
ASKING = [("POST", CHAT), ("GET", "/v1/files"), ("GET", "/metrics"), ("DELETE", "/v1/files/f"), ("GET", "/v1/models")]


@pytest.fixture(scope="module")
def keyed() -> Iterator[Proxy]:
    """A proxy that spends a key of its own, with one page that may use it. Its upstream lets any page read."""
    with ExitStack() as stack:
        upstream = stack.enter_context(run_upstream())
        server = {"port": 0, "drain": 1, "allowed_origins": [FRIEND]}
        yield started(stack, upstream, upstream={"api_key": "sk-of-the-user"}, server=server)


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"origin": "https://evil.example"}, "foreign_origin"),
        ({"origin": "null"}, "foreign_origin"),
        ({"sec-fetch-site": "cross-site"}, "foreign_origin"),
        ({"sec-fetch-site": "same-site"}, "foreign_origin"),
        ({"host": "evil.example"}, "foreign_host"),
        ({"host": "evil.example", "origin": "http://evil.example", "sec-fetch-site": "same-origin"}, "foreign_host"),
    ],
)
@pytest.mark.parametrize(("method", "path"), ASKING)
def test_a_page_of_another_site_reaches_no_upstream(
    method: str, path: str, headers: dict[str, str], reason: str, keyed: Proxy
) -> None:
    keyed.upstream.bodies()
    before = total(keyed.services, "olvido_refused_total", reason=reason)
    answer = keyed.http.request(method, path, content=ASKED, headers={**headers, "content-type": "text/plain"})
    assert error(answer) == (403, reason)
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert keyed.upstream.bodies() == []
    assert total(keyed.services, "olvido_refused_total", reason=reason) == before + 1


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://127.0.0.1:{port}/v1/models", 200),
        ("http://localhost:{port}/healthz", 200),
        ("http://evil.example/v1/models", 403),
        ("http://evil.example:{port}/v1/models", 403),
        ("http://evil.example/healthz", 403),
        ("http://127.0.0.1:{port}@evil.example/v1/models", 403),
    ],
)
def test_whom_a_target_in_absolute_form_addresses_is_checked_as_a_host_is(
    target: str, status: int, keyed: Proxy
) -> None:
    port = keyed.http.base_url.port or 0
    head = f"GET {target.format(port=port)} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert (b"foreign_host" in answer) is (status == 403)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/ui", "/admin/api/me"])
def test_what_is_no_secret_can_be_linked_to_but_not_by_another_name(path: str, keyed: Proxy) -> None:
    assert keyed.http.get(path, headers={"sec-fetch-site": "cross-site"}).status_code == 200
    assert error(keyed.http.get(path, headers={"host": "evil.example:1"})) == (403, "foreign_host")


@pytest.mark.parametrize("site", ["none", "same-origin", None])
def test_who_asks_from_here_is_answered(site: str | None, keyed: Proxy) -> None:
    headers = {**JSON} if site is None else {**JSON, "sec-fetch-site": site}
    assert keyed.http.post(CHAT, content=ASKED, headers=headers).status_code == 200
    assert keyed.http.get("/metrics", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/metrics", "GET, HEAD, OPTIONS"),
        ("/healthz", "GET, HEAD, OPTIONS"),
        ("/", "GET, HEAD, OPTIONS"),
        ("/ui", "GET, HEAD, OPTIONS"),
        ("/ui/app.js", "GET, HEAD, OPTIONS"),
        ("/admin/api/login", "POST, OPTIONS"),
        ("/admin/api/facts", "GET, POST, HEAD, OPTIONS"),
        ("/admin/api/facts/f-1", "GET, PATCH, DELETE, HEAD, OPTIONS"),
        ("/admin/api/facts/wiped", "GET, HEAD, OPTIONS"),
    ],
)
def test_every_route_tells_its_methods(path: str, methods: str, keyed: Proxy) -> None:
    answer = keyed.http.options(path)
    assert (answer.status_code, answer.content, answer.headers["allow"]) == (204, b"", methods)
    assert error(keyed.http.options("/admin/api/nothing")) == (404, "unknown_url")


@pytest.mark.parametrize("path", [CHAT, "/v1/files", "/v1/echo"])
def test_no_upstream_is_asked_what_a_page_may(path: str, keyed: Proxy) -> None:
    keyed.upstream.bodies()
    wanted = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    allowed = keyed.http.options(path, headers={**wanted, "origin": FRIEND, "sec-fetch-site": "cross-site"})
    assert (allowed.status_code, allowed.content) == (204, b"")
    assert allowed.headers["access-control-allow-origin"] == FRIEND
    assert allowed.headers["access-control-allow-headers"] == "authorization"
    assert allowed.headers["vary"] == "origin"
    plain = keyed.http.options(path)
    assert (plain.status_code, plain.content) == (204, b"")
    there = "POST, OPTIONS" if path == CHAT else "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
    assert plain.headers["allow"] == there
    assert not [name for name in plain.headers if name.startswith("access-control-")]
    for foreign in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        refused = keyed.http.options(path, headers={**wanted, **foreign})
        assert error(refused) == (403, "foreign_origin")
        assert not [name for name in refused.headers if name.startswith("access-control-")]
    assert keyed.upstream.bodies() == []


@pytest.mark.parametrize("stream", [False, True])
def test_a_page_that_may_reads_the_answer_and_what_we_say_of_it(stream: bool, keyed: Proxy) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", stream=stream)
    answer = keyed.http.post(CHAT, content=raw, headers={**JSON, "origin": FRIEND, "sec-fetch-site": "cross-site"})
    assert answer.status_code == 200
    assert answer.headers.get_list("access-control-allow-origin") == [FRIEND]
    exposed = answer.headers["access-control-expose-headers"].split(", ")
    assert {name for name in answer.headers if name.startswith("x-olvido-")} <= set(exposed)


def test_and_an_error_as_well(keyed: Proxy) -> None:
    answer = keyed.http.post(CHAT, content=b"{", headers={**JSON, "origin": FRIEND})
    assert error(answer) == (400, "invalid_json")
    assert answer.headers["access-control-allow-origin"] == FRIEND


def test_with_own_keys_a_page_that_has_one_may_ask_by_any_name(guarded: Proxy) -> None:
    foreign = {"host": "proxy.example.com", "origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    headers = {**JSON, **foreign, "authorization": f"Bearer {OWN_KEY}"}
    answer = guarded.http.post(CHAT, content=ASKED, headers=headers)
    assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (200, False)
    assert error(guarded.http.options(CHAT, headers={"origin": "https://evil.example"})) == (403, "foreign_origin")


async def refusal(app: Starlette) -> str:
    """What a server is told whose application cannot start."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "lifespan.startup"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(dict(message))

    with suppress(Exception):
        await app({"type": "lifespan", "app": app, "state": {}}, receive, send)
    assert [message["type"] for message in sent] == ["lifespan.startup.failed"]
    return str(sent[0]["message"])


@pytest.mark.parametrize("below", ["", "storage"])
async def test_a_folder_that_cannot_be_used_is_told_in_a_sentence(below: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / below
    told = await refusal(create_app(config(storage={"path": path})))
    assert told.startswith(f"cannot start: {path}")
    assert "Traceback" not in told
    assert redact(told) == told  # the name of the file does not make a secret of the reason


async def test_a_failure_of_the_program_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr("proxy.app.build", broken)
    told = await refusal(create_app(config()))
    assert "Traceback" in told
    assert "a mistake of ours" in told


def test_a_storage_that_cannot_be_used_is_no_mistake_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    async def reading(call: Call, services: Services) -> None:
        raise StorageError("/home/ana/olvido.db: database or disk is full")

    with ExitStack() as stack:
        settings = in_front_of(stack.enter_context(run_upstream()))
        app = proxy_app(settings)
        app.router.routes.insert(0, Route("/reading", Endpoint(reading)))
        answer = httpx.get(f"{stack.enter_context(run_proxy(settings, app))}/reading", trust_env=False, timeout=120)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "storage_unavailable")
    assert "ana" not in answer.text
    (told,) = [each for each in caplog.records if each.getMessage() == "request failed"]
    assert "full" in told.reason  # type: ignore[attr-defined]  # an extra of the line
    assert told.exc_info is None
