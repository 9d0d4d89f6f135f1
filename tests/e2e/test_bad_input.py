"""Bad input is refused in OpenAI's shape or passed on to the upstream to judge: never a 500, never a hang, nothing is
kept of it, and the proxy goes on serving."""

import gzip
import os
import re
import socket
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import openai
import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from tests.e2e.running import CHAT, Demo, Proxy, run_proxy
from tests.examples import examples
from tests.servers import run_app

Json = Any

SECONDS = 0.75  # that a head and a body may take
STRICT_MIB = 4  # that a body may have
MIB = 2**20
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "PURGE"]
HI = b'"messages":[{"role":"user","content":"hi"}]'
GOOD = b'{"model":"demo-chat",%b}' % HI
ERROR_KEYS = {"message", "type", "param", "code"}
COMPLETION = msgspec.json.encode(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "any",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
    }
)


# --- where it is sent -------------------------------------------------------------------------------------------------


class Lenient:
    """An upstream that answers whatever it gets, so that every refusal is the proxy's own."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        route = Route("/{path:path}", self._answer, methods=METHODS)
        self.app = Starlette(routes=[route], exception_handlers={ClientDisconnect: self._left})

    async def _answer(self, request: Request) -> Response:
        self.bodies.append(await request.body())
        return Response(COMPLETION, media_type="application/json")

    async def _left(self, _request: Request, _error: Exception) -> Response:
        return Response(status_code=400)


@pytest.fixture(scope="module")
def lenient() -> Lenient:
    return Lenient()


@pytest.fixture(scope="module")
def strict(lenient: Lenient, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A proxy with little patience."""
    with run_app(lenient.app) as url:
        config = {
            "server": {"header_timeout": SECONDS, "body_timeout": SECONDS, "max_body_mb": STRICT_MIB},
            "upstreams": [{"name": "lenient", "base_url": f"{url}/v1", "retries": 0, "timeout": {"idle": SECONDS}}],
        }
        with run_proxy(config, tmp_path_factory.mktemp("strict")) as proxy:
            yield proxy
            assert proxy.complaints() == []
            failed = [name for name in samples(proxy) if name.startswith("olvido_fail_open_total{")]
            assert [name for name in failed if not name.endswith(" 0.0")] == []


def samples(proxy: Proxy) -> list[str]:
    return proxy.http.get("/metrics").text.splitlines()


def post(proxy: Proxy, body: bytes, **headers: str) -> httpx.Response:
    return proxy.http.post(CHAT, content=body, headers={"content-type": "application/json", **headers})


def raw(proxy: Proxy, *pieces: bytes) -> tuple[int, dict[str, str], bytes]:
    """Sends bytes as they are and reads until the proxy closes; status, headers and body of the first answer. Fails if
    it does not close."""
    with connected(proxy) as connection:
        for piece in pieces:
            try:
                connection.sendall(piece)
            except OSError:  # it has closed already: what it said is still to be read
                break
        return parsed(read_to_end(connection))


def connected(proxy: Proxy) -> socket.socket:
    address = urlsplit(proxy.url)
    return socket.create_connection((address.hostname, address.port), timeout=120)


def read_to_end(connection: socket.socket) -> bytes:
    received = b""
    while True:
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            return received
        if not piece:
            return received
        received += piece


def parsed(received: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    code = int(status.split(" ")[1])
    return code, headers, body[: 0 if code == 204 else int(headers["content-length"])]


def head(*lines: str | bytes, path: str = CHAT, method: str = "POST") -> bytes:
    """A request's head; closes the connection afterwards."""
    always = (f"{method} {path} HTTP/1.1", "Authorization: Bearer sk-raw", "Connection: close")
    return b"\r\n".join([*(line.encode() if isinstance(line, str) else line for line in (*always, *lines)), b"", b""])


def assert_refused(body: bytes, *, code: str | None = None) -> None:
    error = msgspec.json.decode(body)["error"]
    assert error.keys() == ERROR_KEYS
    assert error["type"] == "invalid_request_error"
    assert isinstance(error["message"], str)
    assert 0 < len(error["message"]) < 500
    if code is not None:
        assert error["code"] == code


def assert_alive(proxy: Proxy) -> None:
    assert post(proxy, GOOD).status_code == 200


# --- bodies that no upstream could accept -----------------------------------------------------------------------------

INVALID, MISSING = "invalid_json", "missing_required_parameter"
DEEP = 100_000

REFUSED: dict[str, tuple[bytes, str | None, str | None]] = {  # body, code, param
    "empty": (b"", INVALID, None),
    "white space": (b" \r\n", INVALID, None),
    "not JSON": (b"model=demo-chat&messages=hi", INVALID, None),
    "cut off": (GOOD[:-1], INVALID, None),
    "two documents": (GOOD + GOOD, INVALID, None),
    "trailing comma": (b'{"model":"m",%b,}' % HI, INVALID, None),
    "single quotes": (GOOD.replace(b'"', b"'"), INVALID, None),
    "UTF-16": (GOOD.decode().encode("utf-16"), INVALID, None),
    "NUL after the end": (GOOD + b"\0", INVALID, None),
    "NUL in a string": (b'{"model":"m","messages":[{"role":"user","content":"a\0b"}]}', INVALID, None),
    "invalid UTF-8 in a message": (b'{"model":"m","messages":[{"role":"user","content":"\xff\xfe"}]}', INVALID, None),
    "invalid UTF-8 in a field": (b'{"model":"m","user":"\xc3",%b}' % HI, INVALID, None),
    "invalid UTF-8 in a name": (b'{"model":"m","\xed\xa0\x80":1,%b}' % HI, INVALID, None),
    "nested too deeply in a message": (
        b'{"model":"m","messages":[{"role":"user","content":%b%b}]}' % (b"[" * DEEP, b"]" * DEEP),
        INVALID,
        None,
    ),
    "nested too deeply in a field": (b'{"model":"m","tools":%b%b,%b}' % (b"[" * DEEP, b"]" * DEEP, HI), INVALID, None),
    "nested too deeply, never closed": (b'{"a":' * DEEP, INVALID, None),
    "array": (b"[%b]" % GOOD, None, None),
    "string": (b'"hi"', None, None),
    "null": (b"null", None, None),
    "number": (b"1e999", None, None),
    "no model": (b"{%b}" % HI, MISSING, "model"),
    "empty object": (b"{}", MISSING, "model"),
    "model is null": (b'{"model":null,%b}' % HI, None, "model"),
    "model is a number": (b'{"model":4,%b}' % HI, None, "model"),
    "model is an array": (b'{"model":["m"],%b}' % HI, None, "model"),
    "model is empty": (b'{"model":"",%b}' % HI, None, "model"),
    "model is a book": (b'{"model":"%b",%b}' % (b"m" * 100_000, HI), None, "model"),
    "no messages": (b'{"model":"m"}', MISSING, "messages"),
    "messages are empty": (b'{"model":"m","messages":[]}', None, "messages"),
    "messages are null": (b'{"model":"m","messages":null}', None, "messages"),
    "messages are a string": (b'{"model":"m","messages":"hi"}', None, "messages"),
    "messages are an object": (b'{"model":"m","messages":{"role":"user","content":"hi"}}', None, "messages"),
    "a message is a string": (b'{"model":"m","messages":["hi"]}', None, "messages[0]"),
    "a message is null": (b'{"model":"m","messages":[{"role":"user"},null]}', None, "messages[1]"),
    "a message is an array": (b'{"model":"m","messages":[[]]}', None, "messages[0]"),
    "too many messages": (b'{"model":"m","messages":[%b{}]}' % (b"{}," * 100_000), None, "messages"),
    "stream is a string": (b'{"model":"m","stream":"true",%b}' % HI, None, "stream"),
    "stream is a number": (b'{"model":"m","stream":1,%b}' % HI, None, "stream"),
}


@pytest.mark.parametrize(("body", "code", "param"), REFUSED.values(), ids=REFUSED)
def test_a_body_that_no_upstream_could_accept_is_refused(
    body: bytes, code: str | None, param: str | None, lenient: Lenient, strict: Proxy
) -> None:
    lenient.bodies.clear()
    answer = post(strict, body)
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert re.fullmatch("req_[0-9a-f]{24}", answer.headers["x-olvido-request"])
    assert_refused(answer.content, code=code)
    if param is not None:
        assert answer.json()["error"]["param"] == param
    assert lenient.bodies == []


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "identity, gzip"])
def test_a_compressed_body_is_refused(coding: str, lenient: Lenient, strict: Proxy) -> None:
    lenient.bodies.clear()
    answer = post(strict, gzip.compress(GOOD), **{"content-encoding": coding})
    assert answer.status_code == 400
    assert "Content-Encoding" in answer.json()["error"]["message"]
    assert lenient.bodies == []


def test_of_what_is_refused_nothing_is_kept(lenient: Lenient, strict: Proxy) -> None:
    assert_alive(strict)  # so that there is something to count
    settle(strict)
    before = kept(strict)
    for body, _, _ in REFUSED.values():
        refused = {"authorization": "Bearer sk-refused", "x-olvido-session": "refused", "x-olvido-user": "refused"}
        assert post(strict, body, **refused).status_code == 400
    settle(strict)
    after = kept(strict)
    grown = {table: after[table] - before[table] for table in before}
    assert grown == {"ledger": 1, "scopes": 1, "sessions": 1, "links": 2, "answers": 1}
    assert lenient.bodies[-1] == marker(strict)


def settle(proxy: Proxy) -> None:
    """What was written before this request is in the file when its own row is."""
    answer = post(proxy, marker(proxy), authorization=f"Bearer sk-{os.urandom(8).hex()}")
    assert answer.status_code == 200
    proxy.row(request_id=answer.headers["x-olvido-request"])


def marker(proxy: Proxy) -> bytes:
    return b'{"model":"m","seed":1,"messages":[{"role":"user","content":"say: settled"}]}'


def kept(proxy: Proxy) -> dict[str, int]:
    """Rows in everything that is stored."""
    tables = {"olvido.db": ("ledger", "scopes", "sessions", "links"), "answers/cache.db": ("Cache",)}
    counts = {}
    for file, names in tables.items():
        with closing(sqlite3.connect(f"file:{proxy.storage / file}?mode=ro", uri=True)) as database:
            for name in names:
                (counts[name],) = database.execute(f"SELECT count(*) FROM {name}").fetchone()
    counts["answers"] = counts.pop("Cache")
    return counts


# --- bodies that are for the upstream to judge ------------------------------------------------------------------------

PASSED: dict[str, bytes] = {
    "unknown role": b'{"model":"m","messages":[{"role":"wizard","content":"hi"}]}',
    "no role": b'{"model":"m","messages":[{"content":"hi"}]}',
    "role is a number": b'{"model":"m","messages":[{"role":7,"content":"hi"}]}',
    "no content": b'{"model":"m","messages":[{"role":"user"}]}',
    "content is a number": b'{"model":"m","messages":[{"role":"user","content":7}]}',
    "content is an object": b'{"model":"m","messages":[{"role":"user","content":{"a":[]}}]}',
    "parts of no kind": b'{"model":"m","messages":[{"role":"user","content":[null,1,"a",[],{}]}]}',
    "empty message": b'{"model":"m","messages":[{}]}',
    "tool calls are a string": b'{"model":"m","messages":[{"role":"assistant","tool_calls":"x","content":null}]}',
    "a tool message alone": b'{"model":"m","messages":[{"role":"tool","tool_call_id":5}]}',
    "wrong types": b'{"model":"m","temperature":"hot","seed":[],"n":"2","user":5,"metadata":7,"stop":{},"tools":"x",'
    b'"stream_options":[],"modalities":5,"functions":1,"audio":0,"response_format":"json","prompt_cache_key":{},%b}'
    % HI,
    "tools of no kind": b'{"model":"m","seed":1,"tools":[null,1,{"function":3},{"type":5}],%b}' % HI,
    "nulls": b'{"model":"m","stream":null,"temperature":null,"user":null,"metadata":null,"tools":null,%b}' % HI,
    "numbers beyond a double": b'{"model":"m","seed":%b,"x":1e308,"y":-0.0,%b}' % (b"9" * 400, HI),
    "an escaped NUL": rb'{"model":"m\u0000","user":"\u0000","messages":[{"role":"user","content":"\u0000"}]}',
    "control characters": rb'{"model":"m\r\n","prompt_cache_key":"a\r\nx-b: c","user":"\r","messages":[{"role":"\n"}]}',
    "repeated names": b'{"model":"a","model":"m","seed":1,"messages":[],"messages":[{"role":"user","role":"x"}],%b}'
    % HI,
    "empty names": b'{"":"","model":"m","messages":[{"":""}]}',
    "nested deeply": b'{"model":"m","seed":1,"messages":[{"role":"user","content":"hi","x":%b%b}]}'
    % (b"[" * 500, b"]" * 500),
    "surrogates in pairs": rb'{"model":"m","messages":[{"role":"user","content":"\ud83c\udf35"}]}',
    "many messages": b'{"model":"m","messages":[%b{}]}' % (b"{}," * 5_000),
}


LOOSE: dict[str, bytes] = {  # JSON to most parsers, not to a strict one
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "NaN": b'{"model":"m","temperature":NaN,%b}' % HI,
    "a lone surrogate in a message": rb'{"model":"m","messages":[{"role":"user","content":"\ud800"}]}',
    "a lone surrogate in the model": rb'{"model":"\udfff",%b}' % HI,
    "a lone surrogate in a name": rb'{"model":"m","\ud83d":1,%b}' % HI,
    "a cut emoji": rb'{"model":"m","messages":[{"role":"user","content":"say: \ud83d"}]}',
    "Infinity": b'{"model":"m","messages":[{"role":"user","content":"hi","weight":-Infinity}]}',
    "a number beyond a double": b'{"model":"m","seed":1e400,%b}' % HI,
    "all of it, deterministic": b'\xef\xbb\xbf{"model":"m","temperature":0,"seed":NaN,"user":"\\udc00",%b}' % HI,
}


@pytest.mark.parametrize("body", PASSED.values(), ids=PASSED)
def test_a_body_that_may_mean_something_is_passed_on_as_it_is(body: bytes, lenient: Lenient, strict: Proxy) -> None:
    lenient.bodies.clear()
    answer = post(strict, body, authorization="Bearer sk-passes")  # no other test's: one of these asks what others do
    assert (answer.status_code, answer.content) == (200, COMPLETION), answer.text
    assert answer.headers["x-olvido-source"] == "upstream"
    assert lenient.bodies == [body]


@pytest.mark.parametrize("body", LOOSE.values(), ids=LOOSE)
def test_a_body_that_only_a_strict_parser_refuses_is_passed_on_as_it_is(
    body: bytes, lenient: Lenient, strict: Proxy
) -> None:
    key = {"authorization": f"Bearer sk-{os.urandom(8).hex()}"}
    for _ in range(2):  # nothing is reused
        lenient.bodies.clear()
        answer = post(strict, body, **key)
        assert (answer.status_code, answer.content) == (200, COMPLETION), answer.text
        assert (answer.headers["x-olvido-source"], answer.headers["x-olvido-plan"]) == ("upstream", "untouched")
        assert lenient.bodies == [body]
    row = strict.row(request_id=answer.headers["x-olvido-request"])
    assert (row["status"], row["outcome"]) == (200, "complete")


def test_of_what_only_a_strict_parser_refuses_nothing_is_kept_but_its_row(lenient: Lenient, strict: Proxy) -> None:
    settle(strict)
    before = kept(strict)
    key = {"authorization": f"Bearer sk-{os.urandom(8).hex()}", "x-olvido-session": "loose"}
    for body in LOOSE.values():
        assert post(strict, body, **key).status_code == 200
    settle(strict)
    grown = {table: count - before[table] for table, count in kept(strict).items()}
    # The marker leaves a row, a conversation with its links and an answer; that of the others is named in their rows.
    people = 2  # one request names its end user
    assert grown == {
        "ledger": len(LOOSE) + 1,
        "scopes": people + 1,
        "sessions": people + 1,
        "links": 2,
        "answers": 1,
    }
    assert strict.complaints() == []
    assert lenient.bodies[-1] == marker(strict)


def test_and_its_row_can_be_looked_at(strict: Proxy) -> None:
    asked = post(strict, LOOSE["a lone surrogate in the model"], authorization="Bearer sk-looked-at")
    request = asked.headers["x-olvido-request"]
    assert strict.row(request_id=request)["model"] == "\ufffd"
    shown = strict.http.get(f"/admin/api/requests/{request}")
    assert (shown.status_code, shown.json()["request"]["reuse_reason"]) == (200, "unreadable")


ABSURD = [
    "",
    " ",
    "\t",
    "ON",
    "yes",
    "on,off",
    "a" * 5_000,
    "'; DROP TABLE ledger; --",
    "../../etc/passwd",
    "é\xff",
    "%0d%0a",
]


@pytest.mark.parametrize("value", ABSURD, ids=range(len(ABSURD)))
def test_absurd_wishes_are_ignored(value: str, lenient: Lenient, strict: Proxy) -> None:
    names = (
        "x-olvido-session",
        "x-olvido-user",
        "x-olvido-mode",
        "x-olvido-cache",
        "x-olvido-tokens-sent",
        "x-olvido-",
    )
    lines = [f"{name}: ".encode() + value.encode("latin-1") for name in names for _ in range(2)]
    length = f"Content-Length: {len(GOOD)}"
    status, headers, body = raw(strict, head(length, *lines, b"cache-control: " + value.encode("latin-1")) + GOOD)
    assert (status, body) == (200, COMPLETION)
    assert re.fullmatch(r"[A-Za-z0-9._:@+/=-]{1,128}", headers["x-olvido-session"])


# --- size -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [False, True])
def test_the_sdk_is_told_that_a_body_is_too_large(streamed: bool, demo: Demo, proxy: Proxy) -> None:
    with (
        openai.OpenAI(base_url=proxy.base_url, api_key="sk-large", max_retries=0) as client,
        pytest.raises(openai.APIStatusError) as caught,
    ):
        client.chat.completions.create(
            model="demo-chat", messages=[{"role": "user", "content": "x" * 33 * MIB}], stream=streamed
        )
    assert caught.value.status_code == 413
    assert (caught.value.code, caught.value.type) == ("request_too_large", "invalid_request_error")
    assert demo.arrived() == []


async def test_so_is_the_asynchronous_one(demo: Demo, proxy: Proxy) -> None:
    async with openai.AsyncOpenAI(base_url=proxy.base_url, api_key="sk-large", max_retries=0) as client:
        with pytest.raises(openai.APIStatusError) as caught:
            await client.chat.completions.create(
                model="demo-chat", messages=[{"role": "user", "content": "x" * 33 * MIB}]
            )
    assert caught.value.status_code == 413
    assert demo.arrived() == []


@pytest.mark.parametrize("more", [(), ("Expect: 100-continue",)])
@pytest.mark.parametrize("length", [33 * MIB, 10**18])
def test_a_body_announced_as_too_large_is_refused_before_it_is_sent(
    length: int, more: Sequence[str], strict: Proxy
) -> None:
    with connected(strict) as connection:
        connection.sendall(head(f"Content-Length: {length}", *more))
        status, headers, body = parsed(connection.recv(65536))
    assert (status, headers["connection"]) == (413, "close")
    assert_refused(body, code="request_too_large")


def test_a_body_that_turns_out_too_large_is_refused_before_its_end(proxy: Proxy) -> None:
    with connected(proxy) as connection:
        connection.sendall(head("Transfer-Encoding: chunked"))
        chunk = b"%x\r\n%b\r\n" % (MIB, b"x" * MIB)
        for _ in range(32):
            connection.sendall(chunk)
        connection.sendall(b"1\r\nx\r\n")
        status, _, body = parsed(connection.recv(65536))
    assert status == 413
    assert_refused(body, code="request_too_large")


def test_a_body_at_the_limit_is_not(lenient: Lenient, strict: Proxy) -> None:
    body = GOOD.replace(b"hi", b"x" * (STRICT_MIB * MIB - len(GOOD) + 2))
    lenient.bodies.clear()
    assert (len(body), post(strict, body).status_code) == (STRICT_MIB * MIB, 200)
    assert post(strict, body + b" ").status_code == 413
    assert lenient.bodies == [body]


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"P", id="one byte"),
        pytest.param(f"POST {CHAT} HTTP/1.1\r\nHost: a\r\nX-A:".encode(), id="half a head"),
        pytest.param(head("Content-Length: 100") + b'{"model"', id="half a body"),
        pytest.param(head("Transfer-Encoding: chunked") + b'8\r\n{"model"\r\n', id="half a body in chunks"),
        pytest.param(head("Transfer-Encoding: chunked") + b"8\r\n{", id="half a chunk"),
        pytest.param(head("Content-Length: 100", "Expect: 100-continue"), id="no body after all"),
    ],
)
def test_what_does_not_come_is_not_waited_for(sent: bytes, strict: Proxy) -> None:
    with connected(strict) as connection:
        connection.sendall(sent)
        received = connection.recv(65536).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
        status, _, body = parsed(received or connection.recv(65536))
    assert status == 408
    assert_refused(body, code="request_timeout")


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "again"),
    [
        pytest.param(f"POST {CHAT} HTTP/1.1\r\n".encode(), b"X-A: b\r\n", id="head"),
        pytest.param(head("Content-Length: 1000000"), b" ", id="body"),
        pytest.param(head("Transfer-Encoding: chunked"), b"1\r\n \r\n", id="chunks"),
    ],
)
def test_what_comes_drop_by_drop_is_not_waited_for_either(first: bytes, again: bytes, strict: Proxy) -> None:
    with connected(strict) as connection:
        connection.sendall(first)
        connection.settimeout(0.02)
        received = b""
        for _ in range(1_000):
            try:
                received = connection.recv(65536)
                break
            except TimeoutError:
                connection.sendall(again)
        status, _, body = parsed(received)
    assert status == 408
    assert_refused(body, code="request_timeout")


def test_a_connection_that_says_nothing_is_closed(strict: Proxy) -> None:
    with connected(strict) as connection:
        assert read_to_end(connection) == b""


@pytest.mark.long
def test_an_upload_that_stops_is_given_up(strict: Proxy) -> None:
    with connected(strict) as connection:
        connection.sendall(head("Content-Length: 100", path="/v1/files") + b"half")
        status, _, body = parsed(connection.recv(65536))
    assert status == 408
    assert_refused(body, code="request_timeout")


# --- heads ------------------------------------------------------------------------------------------------------------

FLOODS = {
    "one long header": [head("X-A: " + "a" * 70_000)],
    "many headers": [head(*(f"X-{number}: b" for number in range(8_000)))],
    "a long path": [head(path="/v1/" + "a" * 70_000)],
    "a head that never ends": [f"POST {CHAT} HTTP/1.1\r\n".encode()] + [b"X-A: %b\r\n" % (b"a" * 1_000)] * 200,
    "a header that never ends": [f"POST {CHAT} HTTP/1.1\r\nX-A: ".encode()] + [b"a" * 10_000] * 100,
    "a name that never ends": [f"POST {CHAT} HTTP/1.1\r\n".encode()] + [b"a" * 10_000] * 100,
    "a path that never ends": [b"POST /v1/"] + [b"a" * 10_000] * 100,
}


@pytest.mark.parametrize("pieces", FLOODS.values(), ids=FLOODS)
def test_a_flood_of_headers_is_refused(pieces: Sequence[bytes], strict: Proxy) -> None:
    status, headers, body = raw(strict, *pieces)
    assert (status, headers["connection"]) == (431, "close")
    assert_refused(body, code="header_too_large")


LENGTH = f"Content-Length: {len(GOOD)}"
MALFORMED = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 40,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no such version": b"GET /v1/models HTTP/9.9\r\n\r\n",
    "no such method": b"EAT /v1/models HTTP/1.1\r\nHost: a\r\n\r\n",
    "length is negative": head("Content-Length: -1") + GOOD,
    "length is no number": head("Content-Length: many") + GOOD,
    "length is hexadecimal": head("Content-Length: 0x10") + GOOD,
    "length has a sign": head("Content-Length: +10") + GOOD,
    "length is two": head("Content-Length: 10, 10") + GOOD,
    "length twice": head(LENGTH, "Content-Length: 1") + GOOD,
    "length the same twice": head(LENGTH, LENGTH) + GOOD,
    "length beyond 64 bits": head("Content-Length: " + "9" * 30) + GOOD,
    "length and chunks": head(LENGTH, "Transfer-Encoding: chunked") + GOOD,
    "chunks of garbage": head("Transfer-Encoding: chunked") + b"garbage\r\n" + GOOD,
    "a chunk of negative size": head("Transfer-Encoding: chunked") + b"-5\r\nhello\r\n0\r\n\r\n",
    "a chunk beyond 64 bits": head("Transfer-Encoding: chunked") + b"f" * 17 + b"\r\nhello\r\n0\r\n\r\n",
    "a chunk longer than it says": head("Transfer-Encoding: chunked") + b"2\r\nhello\r\n0\r\n\r\n",
    "chunks are not last": head("Transfer-Encoding: chunked, gzip") + b"0\r\n\r\n",
    "NUL in a header": head(b"X-A: a\0b", LENGTH) + GOOD,
    "NUL in a name": head(b"X-\0A: a", LENGTH) + GOOD,
    "space in a name": head("X A: a", LENGTH) + GOOD,
    "space after a name": head("Content-Length : 5", LENGTH) + GOOD,
    "a line without colon": head("nothing", LENGTH) + GOOD,
    "CR in a header": head(b"X-A: a\rb", LENGTH) + GOOD,
    "NUL in the path": head(LENGTH, path="/v1/chat\0/completions") + GOOD,
    "a path beyond ASCII": b"GET /v1/\xc3\xb1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "no path": b"GET http://elsewhere.invalid HTTP/1.1\r\nHost: a\r\n\r\n",
    "CONNECT": b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: a\r\n\r\n",
}


@pytest.mark.parametrize("sent", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_request_is_refused(sent: bytes, lenient: Lenient, strict: Proxy) -> None:
    lenient.bodies.clear()
    status, headers, body = raw(strict, sent)
    assert (status, headers["connection"]) == (400, "close")
    assert_refused(body)
    assert lenient.bodies == []


def test_what_follows_garbage_in_the_same_connection_is_no_request(lenient: Lenient, strict: Proxy) -> None:
    lenient.bodies.clear()
    smuggled = head(LENGTH) + GOOD
    for first in (
        head("Content-Length: 0", "Transfer-Encoding: chunked"),
        head("Transfer-Encoding: chunked") + b"x\r\n",
    ):
        with connected(strict) as connection:
            connection.sendall(first.replace(b"close", b"keep-alive") + smuggled)
            assert read_to_end(connection).count(b"HTTP/1.1 ") == 1
    assert lenient.bodies == []


def test_requests_sent_all_at_once_are_answered_in_order(lenient: Lenient, strict: Proxy) -> None:
    lenient.bodies.clear()
    bodies = [b'{"model":"m","messages":[{"role":"user","content":"say: %d"}]}' % number for number in range(20)]
    bodies[7] = b"broken"
    requests = [head(f"Content-Length: {len(body)}").replace(b"close", b"keep-alive") + body for body in bodies]
    requests[-1] = requests[-1].replace(b"keep-alive", b"close")
    with connected(strict) as connection:
        connection.sendall(b"".join(requests))
        received = read_to_end(connection)
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"400" if body == b"broken" else b"200" for body in bodies]
    assert lenient.bodies == [body for body in bodies if body != b"broken"]


TARGETS = {
    "somebody else, in absolute form": (f"http://elsewhere.invalid{CHAT}", 403),
    "escaped": ("/v1/%63hat/completions", 200),
    "an escaped slash": ("/v1%2fchat%2fcompletions", 200),
    "no v1": ("/chat/completions", 404),
    "v1 twice": ("/v1/v1/chat/completions", 200),
    "upper case": ("/V1/chat/completions", 404),
    "double slash": ("//v1/chat/completions", 404),
    "root": ("/", 404),
    "v1": ("/v1", 404),
    "dots": ("/v1/../v1/chat/completions", 404),
    "escaped dots": ("/v1/%2e%2e/secret", 404),
    "dots escaped twice": ("/v1/%252e%252e/secret", 404),
    "back slashes": ("/v1/..%5c..%5csecret", 404),
    "a broken escape": ("/v1/%zz/%", 200),
    "an escaped NUL": ("/v1/%00", 200),
    "an escaped line end": ("/v1/a%0d%0aX-A:%20b", 404),
    "a query of garbage": (f"{CHAT}?%zz&&==&a=%0d%0a;../..?", 200),
    "a fragment": (f"{CHAT}#fragment", 200),
    "a long path": ("/v1/" + "a" * 60_000, 200),
}


@pytest.mark.parametrize(("target", "expected"), TARGETS.values(), ids=TARGETS)
def test_a_strange_target_is_answered(target: str, expected: int, strict: Proxy) -> None:
    status, _, body = raw(strict, head(LENGTH, path=target) + GOOD)
    assert status == expected, body
    if expected == 200:
        assert body == COMPLETION
    else:
        assert_refused(body, code="foreign_host" if expected == 403 else "unknown_url")


@pytest.mark.parametrize("method", sorted({*METHODS} - {"POST"}))
@pytest.mark.parametrize("path", [CHAT, "/v1/models", "/healthz", "/nowhere"])
def test_a_strange_method_is_answered(method: str, path: str, strict: Proxy) -> None:
    status, headers, body = raw(strict, head("Content-Length: 0", path=path, method=method))
    assert status in (200, 204, 403, 404, 405)
    if status >= 400 and method != "HEAD":
        assert headers["content-type"] == "application/json"
        assert_refused(body)


# --- at random --------------------------------------------------------------------------------------------------------


def at_random(whole: int) -> settings:
    """The same examples every time: a failure in CI is a failure here."""
    return settings(
        max_examples=examples(whole),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


SCHEMA = schemathesis.openapi.from_dict(yaml.safe_load(Path(__file__).with_name("schema.yaml").read_text()))
OPERATION = SCHEMA[CHAT]["POST"]


@pytest.mark.long
@at_random(50)
@given(OPERATION.as_strategy(generation_mode=GenerationMode.POSITIVE))
def test_whatever_fits_the_schema_gets_the_upstreams_answer(strict: Proxy, case: Case[Any]) -> None:
    answer = case.call(base_url=strict.url)
    case.validate_response(answer)
    assert answer.status_code == 200
    assert answer.content == COMPLETION or "exact" in answer.headers["x-olvido-source"]


@pytest.mark.long
@at_random(75)
@given(OPERATION.as_strategy(generation_mode=GenerationMode.NEGATIVE))
def test_whatever_does_not_is_refused_or_passed_on(strict: Proxy, case: Case[Any]) -> None:
    answer = case.call(base_url=strict.url)
    assert answer.status_code in (200, 400)


@at_random(150)
@example(b"")
@given(
    st.one_of(
        st.binary(max_size=300),
        st.tuples(
            st.sampled_from(sorted(PASSED.values(), key=len)[:-2]), st.integers(0, 400), st.binary(max_size=3)
        ).map(lambda cut: cut[0][: cut[1]] + cut[2] + cut[0][cut[1] + len(cut[2]) :]),
    )
)
def test_so_are_bytes_of_any_kind(strict: Proxy, body: bytes) -> None:
    answer = post(strict, body)
    assert answer.status_code in (200, 400)
    if answer.status_code == 400:
        assert_refused(answer.content)


@at_random(100)
@given(st.lists(st.sampled_from([*MALFORMED.values(), head(LENGTH) + GOOD]), min_size=1, max_size=2), st.data())
def test_so_are_requests_cut_and_joined_anywhere(strict: Proxy, parts: list[bytes], data: st.DataObject) -> None:
    sent = b"".join(part[: data.draw(st.integers(1, len(part)))] for part in parts)
    with connected(strict) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = read_to_end(connection)
    assert {int(status) for status in re.findall(rb"HTTP/1.1 (\d+)", received)} <= {200, 400, 404, 408}


def test_after_all_of_this_it_still_answers(strict: Proxy) -> None:
    assert_alive(strict)
    assert strict.process.poll() is None
