"""The cluster's nginx.conf, in a real nginx before real proxies: streams pass as they come, a proxy that is gone is
passed over, and no question is asked twice."""

import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from proxy.config import Config
from proxy.config.upstreams import Timeout
from tests.deploy.nginx import CONF, Nginx, needs_nginx, run_nginx
from tests.proxied import KEY, Upstream, in_front_of, run_upstream
from tests.servers import eventually, run_proxy

pytestmark = pytest.mark.long

CHAT = "/v1/chat/completions"
HELLO = {"model": "demo-chat", "messages": [{"role": "user", "content": "Say: hi."}]}
POSTS = 12
HELD = 3  # pieces of a stream that are sent before it stalls
KEYED = {"authorization": f"Bearer {KEY}"}


@dataclass(frozen=True, slots=True)
class Cluster:
    nginx: Nginx
    http: httpx.Client  # through nginx
    upstream: Upstream
    first: ExitStack  # one of the two proxies: closing it stops it
    first_url: str

    def post(self, **more: object) -> httpx.Response:
        return self.http.post(CHAT, json={**HELLO, **more})


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with run_upstream() as upstream, ExitStack() as first, ExitStack() as rest:
        urls = [each.enter_context(run_proxy(settings(upstream))) for each in (first, rest)]
        nginx = rest.enter_context(run_nginx(urls, tmp_path))
        yield Cluster(nginx, rest.enter_context(client(nginx.url)), upstream, first, urls[0])


def settings(upstream: Upstream) -> Config:
    return in_front_of(upstream, server={"port": 0, "allowed_hosts": ["127.0.0.1"]}, storage={"kind": "off"})


def client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers=KEYED, timeout=120, trust_env=False)


@needs_nginx
def test_a_stream_arrives_as_it_is_sent(cluster: Cluster) -> None:
    """The upstream holds the rest back until what came before has arrived."""
    with cluster.http.stream(
        "POST", CHAT, json={**HELLO, "stream": True}, headers={"x-demo-fault": f"stall={HELD}"}
    ) as answer:
        lines = filter(None, answer.iter_lines())
        assert all(next(lines).startswith("data: {") for _ in range(HELD))
        assert cluster.upstream.http.post("/__demo/release").status_code == 204
        assert [*lines][-1] == "data: [DONE]"


@needs_nginx
def test_both_proxies_are_asked_and_their_connections_kept(cluster: Cluster) -> None:
    assert [cluster.post().status_code for _ in range(POSTS)] == [200] * POSTS
    eventually(lambda: len(cluster.nginx.log().splitlines()) == POSTS)  # a line follows its answer
    assert len({line.split()[4] for line in cluster.nginx.log().splitlines()}) == 2
    assert len(cluster.upstream.bodies()) == POSTS


@needs_nginx
def test_a_stopped_proxy_is_passed_over(cluster: Cluster) -> None:
    assert cluster.post().status_code == 200
    cluster.first.close()
    assert [cluster.post().status_code for _ in range(POSTS)] == [200] * POSTS
    assert len(cluster.upstream.bodies()) == 1 + POSTS


@needs_nginx
def test_a_proxy_that_was_taken_out_can_be_stopped_while_others_ask(cluster: Cluster) -> None:
    """Stopped without that, requests on their way to it would be lost."""
    asking, stopped = ThreadPoolExecutor(4), threading.Event()

    def ask() -> Counter[int]:
        """Each by a connection of its own: this old nginx closes those that idle when it is reloaded."""
        seen: Counter[int] = Counter()
        with client(cluster.nginx.url) as http:
            while not stopped.is_set() or not seen:
                seen[http.post(CHAT, json=HELLO, headers={"connection": "close"}).status_code] += 1
        return seen

    with asking:
        try:
            answers = [asking.submit(ask) for _ in range(4)]
            eventually(lambda: cluster.nginx.log().count("\n") > POSTS)
            cluster.nginx.take_out(cluster.first_url)
            cluster.first.close()
            asked = cluster.nginx.log().count("\n")
            eventually(lambda: cluster.nginx.log().count("\n") > asked + POSTS)
        finally:
            stopped.set()
    total = sum((each.result() for each in answers), Counter[int]())
    assert set(total) == {200}
    assert len(cluster.upstream.bodies()) == total[200]


@needs_nginx
def test_a_question_that_a_proxy_has_heard_is_not_asked_again(tmp_path: Path) -> None:
    with (
        run_upstream() as upstream,
        run_proxy(settings(upstream)) as proxy,
        run_dying() as dying,
        run_nginx([dying.url, proxy], tmp_path) as nginx,
        client(nginx.url) as http,
    ):
        answers = [http.post(CHAT, json=HELLO) for _ in range(POSTS)]
        lost = [answer for answer in answers if answer.status_code != 200]
        assert len(lost) == dying.heard > 0
        assert len(upstream.bodies()) == POSTS - len(lost)
        assert {answer.status_code for answer in lost} == {502}
        assert lost[0].json()["error"]["code"] == "proxy_unreachable"


@needs_nginx
def test_without_any_proxy_the_answer_is_an_error_that_clients_read(tmp_path: Path) -> None:
    with run_nginx(["http://127.0.0.1:1"], tmp_path) as nginx, client(nginx.url) as http:
        answer = http.post(CHAT, json=HELLO)
        assert (answer.status_code, answer.json()["error"]["type"]) == (502, "upstream_error")
        assert http.get(f"{nginx.health_url}/readyz").status_code == 502


@needs_nginx
def test_any_proxy_that_is_ready_makes_the_cluster_ready(cluster: Cluster) -> None:
    assert cluster.http.get(f"{cluster.nginx.health_url}/readyz").json()["status"] == "ready"
    cluster.first.close()
    assert cluster.http.get(f"{cluster.nginx.health_url}/readyz").status_code == 200


@needs_nginx
@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/models", 200), ("/ui", 200), ("/admin/api/summary", 200), ("/metrics", 404), ("/healthz", 404), ("/", 404)],
)
def test_only_the_api_and_the_page_are_reached(cluster: Cluster, path: str, status: int) -> None:
    answer = cluster.http.get(path)
    assert answer.status_code == status
    assert status == 200 or answer.json()["error"]["code"] == "unknown_url"


@needs_nginx
def test_a_body_that_is_too_large_is_refused_as_the_proxy_does(cluster: Cluster) -> None:
    with closing(socket.create_connection(("127.0.0.1", httpx.URL(cluster.nginx.url).port or 0))) as sock:
        sock.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: {2**26}\r\n\r\n".encode())
        told = sock.makefile("rb")
        assert told.readline().startswith(b"HTTP/1.1 413 ")
        while told.readline().strip():
            pass
        assert b'"code": "request_too_large"' in told.read1()


@needs_nginx
def test_no_key_is_logged(cluster: Cluster) -> None:
    cluster.http.get("/v1/models", params={"api_key": KEY})
    eventually(lambda: "/v1/models" in cluster.nginx.log())
    assert KEY not in cluster.nginx.log()


def told(name: str) -> str:
    (value,) = set(re.findall(rf"^\s*{name} (.+?);", CONF.read_text(), re.MULTILINE))
    return str(value)


def test_its_numbers_are_those_of_the_proxy() -> None:
    server, timeout = Config().server, Timeout()
    assert told("client_max_body_size") == f"{server.max_body_mb}m"
    assert told("client_body_timeout") == told("proxy_send_timeout") == f"{server.body_timeout:.0f}s"
    assert told("client_header_timeout") == f"{server.header_timeout:.0f}s"
    assert told("large_client_header_buffers").split()[1] == f"{server.max_header_kb}k"
    assert float(told("proxy_read_timeout").removesuffix("s")) > timeout.answer
    (client_side, to_proxies) = sorted(re.findall(r"keepalive_timeout (\d+)s", CONF.read_text()), key=int, reverse=True)
    assert int(client_side) == server.keep_alive > int(to_proxies)


class Dying:
    """A proxy that is killed in every request, once it has heard all of it."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.heard = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            sock, _ = self._listening.accept()
            with closing(sock), sock.makefile("rb") as told:
                length = 0
                while line := told.readline().strip():
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                if not length:
                    return  # a connection of `close`
                assert len(told.read(length)) == length
                self.heard += 1

    def close(self) -> None:
        socket.create_connection(self._listening.getsockname()).close()
        self._thread.join(timeout=120)
        self._listening.close()


@contextmanager
def run_dying() -> Iterator[Dying]:
    with closing(Dying()) as dying:
        yield dying
