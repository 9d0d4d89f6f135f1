"""What arrives upstream is what the client sent, to the byte, with the headers that are meant for it and no others."""

import hashlib
import json
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e.running import CHAT, Demo, Proxy

JSON_HEADERS = {"content-type": "application/json", "authorization": "Bearer sk-test"}
HI = b'"messages":[{"role":"user","content":"hi"}]'

ODD_BODIES = {
    "whitespace": b'\r\n\t{ "messages" :\n[ { "content" : "hi" , "role":"user" } ] ,  "model":"demo-chat"  }\n\n ',
    "key order": b'{"z":1,"model":"demo-chat","a":{"y":2,"b":3},%b}' % HI,
    "unicode escapes": rb'{"model":"demo-chat","messages":[{"role":"user","content":"\u00f1 \ud83c\udf35 \/ \u0007"}]}',
    "raw unicode": '{"model":"demo-chat","messages":[{"role":"user","content":"¿Qué tal? 🌵 \u2028 ﬁ é"}]}'.encode(),
    "unknown keys": b'{"model":"demo-chat","messages":[{"role":"user","content":"hi","x_a":{"a":[]}}],"x_b":null}',
    "numbers": b'{"model":"demo-chat","temperature":0.30000,"seed":9007199254740993,"e":1E+2,"minus":-0.0,'
    b'"big":123456789012345678901234567890,%b}' % HI,
    "repeated key": b'{"model":"demo-chat","user":"a","user":"b",%b}' % HI,
    "duplicate messages": b'{"model":"demo-chat","messages":[],%b}' % HI,
    "streamed": b'{"model":"demo-chat","stream": true,"stream_options":{"include_usage":false},%b}' % HI,
    "deterministic": b'{ "temperature":0.0, "model":"demo-chat", %b}' % HI,
    "empty content": b'{"model":"demo-chat","messages":[{"role":"user","content":""}]}',
    "parts": b'{"model":"demo-chat","messages":[{"role":"user","content":[{"type":"text","text":"hi"},'
    b'{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}',
    "unknown role": b'{"model":"demo-chat","messages":[{"role":"wizard","content":"hi"}]}',
    "long": b'{"model":"demo-chat","messages":[{"role":"user","content":"%b"}]}' % (b"word " * 80_000),
}


@pytest.mark.parametrize("body", ODD_BODIES.values(), ids=ODD_BODIES)
def test_the_body_arrives_as_it_was_sent_and_is_answered_as_directly(body: bytes, demo: Demo, proxy: Proxy) -> None:
    # Another key, or the upstream's prefix cache would hold what the first of them sent.
    direct = demo.control.post(CHAT, content=body, headers={**JSON_HEADERS, "authorization": "Bearer sk-direct"})
    proxied = proxy.http.post(CHAT, content=body, headers=JSON_HEADERS)
    first, second = demo.arrived()
    assert second.body == first.body == body
    assert second.header("content-length") == str(len(body))
    assert second.header("transfer-encoding") is None
    assert (proxied.status_code, proxied.content) == (direct.status_code, direct.content)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/json; charset=utf-8"])
def test_the_content_type_is_the_clients(kind: str | None, demo: Demo, proxy: Proxy) -> None:
    headers = {"authorization": "Bearer sk-test"} | ({"content-type": kind} if kind else {})
    assert proxy.http.post(CHAT, content=ODD_BODIES["key order"], headers=headers).status_code == 200
    assert demo.arrived()[0].header("content-type") == kind


def test_headers_for_the_upstream_pass_and_ours_and_hop_by_hop_ones_do_not(demo: Demo, proxy: Proxy) -> None:
    meant_for_it = {
        "openai-organization": "org-1",
        "openai-project": "proj-1",
        "openai-beta": "assistants=v2",
        "x-client-request-id": "client-1",
        "idempotency-key": "once",
        "x-stainless-lang": "python",
        "user-agent": "ours/1.0",
        "accept": "application/json",
        "accept-language": "es-AR",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "cookie": "a=b",
    }
    meant_for_others = {
        "x-olvido-session": "s-1",
        "x-olvido-user": "ana",
        "x-olvido-mode": "on",
        "x-olvido-cache": "off",
        "x-olvido-anything": "1",
        "te": "trailers",
        "keep-alive": "timeout=5",
        "proxy-authorization": "Basic eDp5",
        "proxy-connection": "keep-alive",
        "connection": "keep-alive, x-only-here",
        "x-only-here": "1",
        "upgrade": "h2c",
    }
    proxy.http.post(CHAT, content=ODD_BODIES["key order"], headers={**JSON_HEADERS, **meant_for_it, **meant_for_others})
    (arrived,) = demo.arrived()
    for name, value in meant_for_it.items():
        assert arrived.header(name) == value
    assert not meant_for_others.keys() & {name for name, _ in arrived.headers}
    assert arrived.header("authorization") == "Bearer sk-test"
    assert arrived.header("host") == urlsplit(demo.url).netloc
    assert arrived.header("accept-encoding") == "identity"
    assert len(arrived.headers) == len({name for name, _ in arrived.headers})


def test_nothing_is_added_that_the_client_did_not_send(demo: Demo, proxy: Proxy) -> None:
    body = ODD_BODIES["key order"]
    head = f"POST {CHAT} HTTP/1.1\r\nAuthorization: Bearer sk-bare\r\nContent-Length: {len(body)}\r\n\r\n"
    address = urlsplit(proxy.url)
    with socket.create_connection((address.hostname, address.port), timeout=120) as connection:
        connection.sendall(head.encode() + body)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    (arrived,) = demo.arrived()
    assert {name for name, _ in arrived.headers} == {"host", "authorization", "content-length", "accept-encoding"}


def test_a_body_in_chunks_arrives_whole(demo: Demo, proxy: Proxy) -> None:
    body = ODD_BODIES["whitespace"]
    pieces = (body[at : at + 5] for at in range(0, len(body), 5))
    assert proxy.http.post(CHAT, content=pieces, headers=JSON_HEADERS).status_code == 200
    (arrived,) = demo.arrived()
    assert arrived.body == body
    assert arrived.header("content-length") == str(len(body))


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_other_routes_pass_in_both_directions(method: str, demo: Demo, proxy: Proxy) -> None:
    path = "/v1/echo/a%20b%2Fc/%E2%82%AC?q=1&q=a+b%26&empty="
    content = b"" if method == "GET" else bytes(range(256)) * 9
    headers = {"x-custom": "1", "x-olvido-user": "ana", "accept-encoding": "gzip", "user-agent": "ours/1.0"}

    def ask(client: httpx.Client) -> tuple[int, object]:
        asked = client.request(method, path, content=content, headers={**headers, "authorization": "Bearer sk-test"})
        told = json.loads(asked.content)
        told["headers"] = sorted(
            header for header in told["headers"] if header[0] not in ("host", "connection", "x-olvido-user", "accept")
        )
        return asked.status_code, told

    status, told = ask(proxy.http)
    assert (status, told) == ask(demo.control)
    assert isinstance(told, dict)
    assert (told["path"], told["query"]) == ("/v1/echo/a%20b%2Fc/%E2%82%AC", "q=1&q=a+b%26&empty=")
    assert told["sha256"] == hashlib.sha256(content).hexdigest()
    assert not [name for name, _ in told["headers"] if name.startswith("x-olvido-")]


def test_an_upload_larger_than_the_body_limit_of_the_managed_route_streams_through(demo: Demo, proxy: Proxy) -> None:
    piece = bytes(range(256)) * 4096
    answer = proxy.http.post("/v1/echo", content=(piece for _ in range(40)))
    assert answer.json()["size"] == 40 * len(piece)
    refused = proxy.http.post(CHAT, content=(piece for _ in range(40)))
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "request_too_large")


@pytest.mark.parametrize(
    "path", ["/v1/../__demo/requests", "/v1/%2e%2e/__demo/requests", "/v1/a/..%2f..%2f../__demo/requests", "/v1/."]
)
def test_no_path_leads_out_of_the_upstreams_api(path: str, demo: Demo, proxy: Proxy) -> None:
    head = f"GET {path} HTTP/1.1\r\nAuthorization: Bearer sk-x\r\nConnection: close\r\n\r\n"
    address = urlsplit(proxy.url)
    with socket.create_connection((address.hostname, address.port), timeout=120) as connection:
        connection.sendall(head.encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 404")


def test_a_head_request_is_answered_without_a_body(proxy: Proxy) -> None:
    answer = proxy.http.head("/v1/echo")
    assert (answer.status_code, answer.content) == (200, b"")
