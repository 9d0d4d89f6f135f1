"""What uvicorn leaves open: heads without end, garbage, requests behind requests, and clients that do not read."""

import asyncio
import contextlib
import hashlib
import json
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import pytest

from proxy.http.connection import Corked
from proxy.http.exchange import AsgiMessage, Receive, Send
from proxy.server import listen
from proxy.server import server as server_of
from tests.builders import config
from tests.servers import eventually, run_proxy

HEAD_KB = 16
CHUNK = b"x" * 2**16
GET = b"GET /echo HTTP/1.1\r\nhost: x\r\n\r\n"


@dataclass
class App:
    """Tells what it got; holds an answer back, half of it sent; or floods the client."""

    flooded: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for phase in ("startup", "shutdown"):
                assert (await receive())["type"] == f"lifespan.{phase}"
                await send({"type": f"lifespan.{phase}.complete"})
            return
        digest, size, more = hashlib.sha256(), 0, scope["path"] != "/early"
        while more:
            message = await receive()
            digest.update(message.get("body", b""))
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        match scope["path"]:
            case "/hold":
                await send({"type": "http.response.body", "body": b"first", "more_body": True})
                await self.released.wait()
                await send({"type": "http.response.body", "body": b"last"})
            case "/release":
                self.released.set()
                await send({"type": "http.response.body", "body": b"released"})
            case "/headers":
                named: dict[str, list[str]] = {}
                for name, value in scope["headers"]:
                    named.setdefault(name.decode(), []).append(value.decode())
                await send({"type": "http.response.body", "body": json.dumps(named).encode()})
            case "/flood":
                for _ in range(2_000):
                    await send({"type": "http.response.body", "body": CHUNK, "more_body": True})
                    self.flooded += 1
                await send({"type": "http.response.body", "body": b""})
            case path:
                told = {"path": path, "size": size, "sha256": digest.hexdigest()}
                await send({"type": "http.response.body", "body": json.dumps(told).encode()})


@dataclass(frozen=True, slots=True)
class Running:
    address: tuple[str, int]
    app: App

    def connect(self) -> "Wire":
        return Wire(socket.create_connection(self.address, timeout=120))


class Wire:
    """A connection as the bytes it carries."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._seen = b""

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def until(self, mark: bytes, times: int = 1) -> bytes:
        """All that has come, once `mark` has come so often."""
        while self._seen.count(mark) < times:
            piece = self.connection.recv(2**16)
            assert piece, self._seen
            self._seen += piece
        return self._seen

    def to_the_end(self) -> bytes:
        with contextlib.suppress(ConnectionResetError):
            while piece := self.connection.recv(2**16):
                self._seen += piece
        return self._seen

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def serving(**server: Any) -> contextlib.AbstractContextManager[Running]:
    @contextlib.contextmanager
    def run() -> Iterator[Running]:
        app = App()
        with run_proxy(config(server={"port": 0, "drain": 1, "max_header_kb": HEAD_KB, **server}), app) as url:
            host, _, port = url.removeprefix("http://").partition(":")
            try:
                yield Running((host, int(port)), app)
            finally:
                with socket.create_connection((host, int(port))) as last:
                    last.sendall(b"GET /release HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")

    return run()


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def impatient() -> Iterator[Running]:
    with serving(header_timeout=0.2, keep_alive=0.5) as running:
        yield running


@pytest.fixture
def holding() -> Iterator[Running]:
    """A server of a test's own, whose answers can be held."""
    with serving(header_timeout=0.2) as running:
        yield running


def refusal(answer: bytes) -> tuple[int, str | None]:
    """The status and code of an error in OpenAI's shape, after which the connection ends."""
    head, _, raw = answer.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1.1 (\d+) ", head)
    assert status is not None, answer
    assert b"\r\nconnection: close" in head
    assert f"content-length: {len(raw)}".encode() in head
    error = json.loads(raw)["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    return int(status[1]), error["code"]


# --- heads ----------------------------------------------------------------------------------------------------------

LONG = b"x" * (HEAD_KB * 1024)


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nhost: x\r\nx-long: " + LONG + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: x\r\nx-long: " + LONG,
        b"GET / HTTP/1.1\r\n" + b"".join(b"x-%d: y\r\n" % number for number in range(2_000)) + b"\r\n",
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 4_000,
        b"GET /" + LONG + b" HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /?" + LONG,
    ],
)
def test_a_head_that_is_too_large_is_refused(head: bytes, server: Running) -> None:
    with server.connect() as wire:
        with contextlib.suppress(ConnectionError):
            wire.send(head)
        assert refusal(wire.to_the_end()) == (431, "header_too_large")


def test_so_is_one_behind_another_request(server: Running) -> None:
    with server.connect() as wire:
        wire.send(GET)
        wire.until(b"sha256")
        with contextlib.suppress(ConnectionError):
            wire.send(b"GET / HTTP/1.1\r\nx: y" + LONG + LONG)
        answer = wire.to_the_end()
    assert refusal(answer[answer.rindex(b"HTTP/1.1 ") :]) == (431, "header_too_large")


def test_a_head_of_nearly_the_limit_is_not(server: Running) -> None:
    with server.connect() as wire:
        wire.send(b"GET /echo HTTP/1.1\r\nx-long: " + LONG[:-200] + b"\r\n\r\n")
        assert wire.until(b"sha256").startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "head", [b"G", b"GET /echo HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n"]
)
def test_a_head_that_does_not_end_is_not_waited_for(head: bytes, impatient: Running) -> None:
    with impatient.connect() as wire:
        wire.send(head)
        assert refusal(wire.to_the_end()) == (408, "request_timeout")


def test_a_connection_that_is_never_used_is_closed(impatient: Running) -> None:
    with impatient.connect() as wire:
        assert wire.to_the_end() == b""


def test_a_second_head_that_does_not_end_is_not_waited_for_either(impatient: Running) -> None:
    with impatient.connect() as wire:
        wire.send(GET)
        first = wire.until(b"sha256").count(b"HTTP/1.1 ")
        wire.send(b"GET /echo HTT")
        answer = wire.to_the_end()
    assert first == 1
    assert refusal(answer[answer.rindex(b"HTTP/1.1 ") :]) == (408, "request_timeout")


def test_an_idle_connection_is_closed_whatever_trickles_in(impatient: Running) -> None:
    with impatient.connect() as wire:
        wire.send(GET)
        wire.until(b'"path"')
        wire.send(b"\r\n")
        assert wire.to_the_end().count(b"HTTP/1.1 200") == 1


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50,  # a TLS hello
        b"what is this\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nno number\r\n",
    ],
)
def test_what_is_no_request_is_refused(garbage: bytes, server: Running) -> None:
    with server.connect() as wire:
        wire.send(garbage)
        assert refusal(wire.to_the_end()) == (400, None)


# --- trailers -------------------------------------------------------------------------------------------------------

CHUNKED = b"POST /headers HTTP/1.1\r\nhost: x\r\nx-user: ana\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0"


def test_what_stands_behind_a_body_is_no_header(server: Running) -> None:
    with server.connect() as wire:
        wire.send(CHUNKED + b"\r\nx-user: bob\r\nauthorization: Bearer k\r\nhost: y\r\n\r\n")
        told = bodies(wire.until(b"}"))
        wire.send(GET)  # nor one of the next request
        assert b'"size": 0' in wire.until(b"sha256")
    assert told == [{"host": ["x"], "x-user": ["ana"], "transfer-encoding": ["chunked"]}]


@pytest.mark.parametrize(
    "piece",
    [b"\r\n" + b"x: y\r\n" * 10_000, b"\r\nx-long: " + LONG * 4, b";" + LONG * 4],
    ids=["many trailers", "a long trailer", "an extension of a chunk"],
)
@pytest.mark.parametrize("path", [b"/headers", b"/early"])
def test_what_stands_behind_a_body_without_end_is_not_read_for_ever(piece: bytes, path: bytes, server: Running) -> None:
    with server.connect() as wire:
        wire.send(CHUNKED.replace(b"/headers", path))
        if path == b"/early":  # the answer is there before the request has ended
            wire.until(b"0\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            wire.send(piece)
            for _ in range(400):  # more than a socket holds
                wire.send(LONG)
        answer = wire.to_the_end()
    if path == b"/headers":
        assert refusal(answer) == (431, "header_too_large")
    else:
        assert answer.count(b"HTTP/1.1 ") == 1


# --- requests behind requests ---------------------------------------------------------------------------------------


def bodies(answers: bytes) -> list[Any]:
    return [json.loads(raw) for raw in re.findall(rb"\{[^}]*\}", answers)]


def test_requests_in_one_write_are_answered_in_their_order(server: Running) -> None:
    asked = [f"/{number}" for number in range(30)]
    with server.connect() as wire:
        wire.send(b"".join(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode() for path in asked))
        answers = wire.until(b"sha256", 30)
    assert [told["path"] for told in bodies(answers)] == asked


def test_so_are_large_bodies_whose_ends_share_a_read_with_the_next_head(server: Running) -> None:
    sent = [bytes([number]) * (4 * HEAD_KB * 1024 + number) for number in range(8)]
    with server.connect() as wire:
        for content in sent:
            wire.send(f"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: {len(content)}\r\n\r\n".encode() + content)
        answers = wire.until(b"sha256", len(sent))
    assert [told["sha256"] for told in bodies(answers)] == [hashlib.sha256(content).hexdigest() for content in sent]


def test_the_beginning_of_a_head_behind_a_body_is_no_large_head(server: Running) -> None:
    content = b"x" * (3 * HEAD_KB * 1024)
    head = f"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: {len(content)}\r\n\r\n".encode()
    with server.connect() as wire:
        wire.send(head + content + GET[:10])
        wire.until(b"sha256")
        wire.send(GET[10:])
        assert len(bodies(wire.until(b"sha256", 2))) == 2


@pytest.mark.parametrize("behind", [b"\x00garbage\r\n\r\n", b"GET /half HTTP/1.1\r\nhost", b"GET /?" + LONG + LONG])
def test_what_comes_behind_a_request_does_not_spoil_its_answer(behind: bytes, holding: Running) -> None:
    with holding.connect() as wire:
        wire.send(b"GET /hold HTTP/1.1\r\nhost: x\r\n\r\n")
        wire.until(b"first")
        wire.send(behind)
        with holding.connect() as other:  # that is refused for half a head says that the other's time is over, too
            other.send(b"GET /half HTTP/1.1\r\nhost")
            assert refusal(other.to_the_end()) == (408, "request_timeout")
        with holding.connect() as releasing:
            releasing.send(b"GET /release HTTP/1.1\r\nhost: x\r\n\r\n")
            releasing.until(b"released")
        answer = wire.to_the_end()
    assert b"\r\n\r\n5\r\nfirst\r\n4\r\nlast\r\n0\r\n\r\n" in answer


def test_nor_that_of_a_whole_request_before_it(holding: Running) -> None:
    with holding.connect() as wire:
        wire.send(b"GET /hold HTTP/1.1\r\nhost: x\r\n\r\n")
        wire.until(b"first")
        wire.send(GET + b"garbage\r\n\r\n")
        with holding.connect() as releasing:
            releasing.send(b"GET /release HTTP/1.1\r\nhost: x\r\n\r\n")
            releasing.until(b"released")
        answer = wire.to_the_end()
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert b'"path": "/echo"' in answer


# --- large ----------------------------------------------------------------------------------------------------------


def test_a_large_body_arrives_whole(server: Running) -> None:
    content = hashlib.shake_128(b"seed").digest(20 * 2**20)
    with server.connect() as wire:
        wire.send(f"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: {len(content)}\r\n\r\n".encode() + content)
        (told,) = bodies(wire.until(b"}"))
    assert told["sha256"] == hashlib.sha256(content).hexdigest()


def test_an_answer_waits_for_a_client_that_does_not_read(holding: Running) -> None:
    with holding.connect() as wire:
        wire.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
        wire.send(b"GET /flood HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        eventually(lambda: holding.app.flooded)
        with holding.connect() as other:  # a whole exchange later it has sent what it could
            other.send(GET)
            other.until(b"sha256")
        assert holding.app.flooded * len(CHUNK) < 32 * 2**20
        received = sum(iter(lambda: len(wire.connection.recv(2**20)), 0))
    assert holding.app.flooded == 2_000
    assert received > 2_000 * len(CHUNK)


def test_a_client_of_http_1_0_is_answered(server: Running) -> None:
    with server.connect() as wire:
        wire.send(b"GET /echo HTTP/1.0\r\n\r\n")
        assert b'"size": 0' in wire.to_the_end()


# --- the cork -------------------------------------------------------------------------------------------------------


class Transport(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.writes: list[bytes] = []
        self.closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closing
        self.writes.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    abort = close


async def test_what_is_written_in_one_turn_is_one_write() -> None:
    transport = Transport()
    corked = Corked(transport, asyncio.get_running_loop())
    corked.write(b"head")
    corked.write(b"body")
    assert transport.writes == []
    await asyncio.sleep(0)
    assert transport.writes == [b"headbody"]
    corked.write(b"more")
    await asyncio.sleep(0)
    assert transport.writes == [b"headbody", b"more"]


async def test_closing_writes_first_and_nothing_after() -> None:
    transport = Transport()
    corked = Corked(transport, asyncio.get_running_loop())
    corked.write(b"all")
    corked.close()
    corked.write(b"too late")
    await asyncio.sleep(0)
    assert transport.writes == [b"all"]
    assert corked.is_closing()


async def test_what_is_held_when_the_connection_breaks_is_let_go() -> None:
    transport = Transport()
    corked = Corked(transport, asyncio.get_running_loop())
    corked.write(b"lost")
    corked.abort()
    await asyncio.sleep(0)
    assert transport.writes == []


async def test_everything_else_is_the_transports() -> None:
    assert Corked(Transport(), asyncio.get_running_loop()).get_extra_info("peername") == ("127.0.0.1", 1)


# --- its end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("farewell", [0.0, 60.0])
def test_while_it_stops_an_idle_connection_may_ask_once_more_if_it_is_allowed_to(farewell: float) -> None:
    settings = config(server={"port": 0, "drain": 5})
    bound = listen(settings)
    address = bound.getsockname()
    running = server_of(settings, App(), farewell=farewell)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    with Wire(socket.create_connection(address, timeout=120)) as wire:
        wire.send(GET)
        wire.until(b"sha256")
        running.should_exit = True
        eventually(lambda: bound.fileno() == -1)  # it takes no new connections
        with contextlib.suppress(ConnectionError):
            wire.send(GET)
        answers = wire.to_the_end()
    thread.join(100)
    assert not thread.is_alive()
    assert answers.count(b"200 OK") == (2 if farewell else 1)
    assert answers.count(b"connection: close") == (1 if farewell else 0)
