"""Limits on a real server: what a client is told, what counts, what is no way around them, and what fails open."""

import gzip
import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

import httpx
import openai
import pytest

from proxy.config import key_hash
from proxy.demo.app import CHAT_MODELS
from proxy.http.exchange import AsgiMessage, Receive, Send
from tests.proxied import KEY, Upstream, in_front_of, run_upstream
from tests.servers import eventually, proxy_app, run_app

ASKED: dict[str, Any] = {
    "model": CHAT_MODELS[0],
    "messages": [{"role": "user", "content": "How are you?"}],
    "max_tokens": 50,
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with run_upstream() as running:
        yield running


@contextmanager
def limited(upstream: Upstream, **sections: Any) -> Iterator[httpx.Client]:
    price = {"price": {"input": 1.0, "cached": 0.1, "output": 4.0}}
    app = proxy_app(in_front_of(upstream, upstream=price, **sections))
    with (
        run_app(app) as url,
        httpx.Client(base_url=url, timeout=120, headers={"authorization": f"Bearer {KEY}"}) as http,
    ):
        yield http


def test_an_sdk_sees_a_rate_limit_as_it_sees_openais(upstream: Upstream) -> None:
    with (
        limited(upstream, limits={"keys": {"requests_per_minute": 2}}) as http,
        openai.OpenAI(base_url=f"{http.base_url}/v1", api_key=KEY, max_retries=0) as client,
    ):
        raw = client.chat.completions.with_raw_response.create(**ASKED)
        assert raw.headers["x-ratelimit-limit-requests"] == "2"
        assert raw.headers["x-ratelimit-remaining-requests"] == "1"
        client.chat.completions.create(**ASKED)
        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(**ASKED)
        error = refused.value
        assert (error.code, error.type) == ("rate_limit_exceeded", "requests")
        assert 1 <= int(error.response.headers["retry-after"]) <= 62
        other = client.with_options(api_key="sk-of-another")
        other.chat.completions.create(**ASKED)


def test_a_budget_is_told_as_a_quota_and_what_is_refused_never_reaches_the_upstream(upstream: Upstream) -> None:
    with limited(upstream, limits={"keys": {"dollars_per_day": 0.0001}}) as http:
        upstream.bodies()
        answer = http.post("/v1/chat/completions", json=ASKED)
        assert answer.status_code == 429
        assert answer.json()["error"]["code"] == "insufficient_quota"
        assert answer.headers["x-should-retry"] == "false"
        assert upstream.bodies() == []
        metrics = http.get("/metrics").text
        assert 'olvido_limited_total{limit="dollars_per_day",whose="key"} 1.0' in metrics


def test_what_an_answer_came_to_takes_the_place_of_its_estimate(upstream: Upstream) -> None:
    with limited(upstream, limits={"keys": {"tokens_per_minute": 1_000}}) as http:
        for _ in range(4):  # each is estimated at 1,000 tokens, nearly
            answer = http.post("/v1/chat/completions", json={**ASKED, "max_tokens": 900})
            assert answer.status_code == 200


def test_answers_from_memory_are_requests_that_cost_nothing(upstream: Upstream) -> None:
    asked = {**ASKED, "temperature": 0}
    with limited(upstream, limits={"keys": {"requests_per_minute": 3, "dollars_per_day": 0.001}}) as http:
        sources = [http.post("/v1/chat/completions", json=asked).headers["x-olvido-source"] for _ in range(3)]
        assert sources == ["upstream", "exact", "exact"]
        assert http.post("/v1/chat/completions", json=asked).json()["error"]["type"] == "requests"


def test_pass_through_routes_are_limited_by_requests_and_by_a_budget_that_is_spent(upstream: Upstream) -> None:
    with limited(upstream, limits={"keys": {"requests_per_minute": 2}}) as http:
        first = http.get("/v1/models")
        assert first.headers["x-ratelimit-remaining-requests"] == "1"
        assert http.get("/v1/models").status_code == 200
        refused = http.get("/v1/models")
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
        assert http.post("/v1/chat/completions", json=ASKED).status_code == 429


def test_an_end_user_is_limited_by_itself(upstream: Upstream) -> None:
    with limited(upstream, limits={"users": {"requests_per_minute": 1}}) as http:

        def asked_by(user: str | None) -> int:
            headers = {} if user is None else {"x-olvido-user": user}
            return http.post("/v1/chat/completions", json=ASKED, headers=headers).status_code

        assert [asked_by("ana"), asked_by("ana"), asked_by("ben"), asked_by(None), asked_by(None)] == [
            *(200, 429, 200, 200, 200)
        ]


def test_a_body_that_cannot_be_read_is_limited_too(upstream: Upstream) -> None:
    with limited(upstream, limits={"keys": {"requests_per_minute": 1}}) as http:
        raw = json.dumps(ASKED).replace('"How are you?"', '"\\ud800"')
        headers = {"content-type": "application/json"}
        found = [http.post("/v1/chat/completions", content=raw, headers=headers).status_code for _ in range(2)]
        assert found[1] == 429


def test_where_nothing_can_be_counted_requests_go_on(upstream: Upstream, tmp_path: Path) -> None:
    app = proxy_app(in_front_of(upstream, limits={"keys": {"requests_per_minute": 1}}))
    with (
        run_app(app) as url,
        httpx.Client(base_url=url, timeout=120, headers={"authorization": f"Bearer {KEY}"}) as http,
    ):
        app.state.services.shared.counters._path = tmp_path  # noqa: SLF001 (a folder is no database)
        for _ in range(3):
            answer = http.post("/v1/chat/completions", json=ASKED)
            assert answer.status_code == 200
            assert answer.headers["x-olvido-plan"] == "fail-open;stage=limits"
        assert http.get("/v1/models").status_code == 200
        assert 'olvido_fail_open_total{reason="OperationalError",stage="limits"} 4.0' in http.get("/metrics").text


# --- ways around them -------------------------------------------------------------------------------------------------

WORDS = 2_000  # of each answer


@dataclass
class Careless:
    """An upstream that takes any path, body and header as they come, compresses what may be, and tells no usage of a
    stream."""

    url: str = ""
    paths: list[str] = field(default_factory=list)

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.paths.append(scope["path"])
        if body and json.loads(body).get("stream"):
            word = b'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
            end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
            asked = json.loads(body)
            if asked.get("reasoning_effort") and (asked.get("stream_options") or {}).get("include_usage"):
                thoughts = b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d}}\n\n' % (50 * WORDS)
                end = end.replace(b"data: [DONE]", thoughts + b"data: [DONE]")
            kind, said = b"text/event-stream", word * WORDS + end
        else:
            usage = {"prompt_tokens": 9, "completion_tokens": WORDS, "total_tokens": WORDS + 9}
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "word"}}
            kind, said = b"application/json", json.dumps({"choices": [choice], "usage": usage}).encode()
        headers = [(b"content-type", kind)]
        if b"gzip" in dict(scope["headers"]).get(b"accept-encoding", b""):
            headers, said = [*headers, (b"content-encoding", b"gzip")], gzip.compress(said)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": said})


@pytest.fixture
def careless() -> Iterator[Careless]:
    upstream = Careless()
    with run_app(upstream) as url:
        upstream.url = url
        yield upstream


@contextmanager
def before(careless: Careless, **keys: float) -> Iterator[httpx.Client]:
    """A client of a proxy in front of it, under these limits."""
    price = {"price": {"input": 1.0, "cached": 0.1, "output": 4.0}}
    app = proxy_app(in_front_of(careless, upstream=price, limits={"keys": keys}))  # type: ignore[arg-type]  # all that it reads of it is a URL
    with (
        run_app(app) as url,
        httpx.Client(base_url=url, timeout=120, headers={"authorization": f"Bearer {KEY}"}) as http,
    ):
        yield http


def spent(http: httpx.Client) -> float:
    return float(sum(each["today"]["dollars"] for each in http.get("/admin/api/keys").json()["keys"]))


CHAT = {"model": "m", "messages": [{"role": "user", "content": "How are you?"}]}
TEXT = {"model": "m", "prompt": "How are you?"}
GZIP = {"accept-encoding": "gzip"}


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/v1/completions", TEXT, GZIP),
        ("/v1/completions", {**TEXT, "stream": True}, {}),
        ("/v1/completions", {**TEXT, "stream": True}, GZIP),
        ("/v1/completions", TEXT, {**GZIP, "content-type": "text/plain"}),
        ("/v1//Completions;x/", {**TEXT, "stream": True}, {"content-type": "multipart/form-data"}),
        ("/v1/chat/completions/", {**CHAT, "stream": True}, {}),
        ("/v1//chat/completions", {**CHAT, "stream": True}, GZIP),
        ("/v1/Chat/Completions", {**CHAT, "stream": True}, {}),
        ("/v1/chat/completions;x", {**CHAT, "stream": True}, {}),
        ("/v1/chat%2Fcompletions", {**CHAT, "stream": True}, {}),
        ("/v1/engines/m/completions", {**TEXT, "stream": True}, GZIP),
    ],
)
def test_no_spelling_of_a_path_no_coding_and_no_stream_is_a_way_around_a_budget(
    careless: Careless, path: str, body: dict[str, Any], headers: dict[str, str]
) -> None:
    cost = WORDS * 4.0 / 1e6
    with before(careless, dollars_per_day=0.9 * cost) as http:
        asked: dict[str, Any] = {
            "content": json.dumps(body),
            "headers": {"content-type": "application/json", **headers},
        }
        assert http.post(path, **asked).status_code == 200
        eventually(lambda: spent(http) > 0.9 * cost)
        refused = http.post(path, **asked)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "insufficient_quota")


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/engines/m/completions", "/v1/chat/completions/"])
def test_of_fifty_at_once_as_many_pass_as_a_budget_has_room_for(careless: Careless, path: str) -> None:
    body = {**(CHAT if "chat" in path else TEXT), "max_tokens": WORDS, "stream": True}
    one = (WORDS * 4.0 + 500) / 1e6
    with before(careless, dollars_per_day=one) as http, ThreadPoolExecutor(50) as threads:
        found = Counter(threads.map(lambda _: http.post(path, json=body).status_code, range(50)))
        assert found == {200: 1, 429: 49}
        assert len(careless.paths) == 1


def test_thoughts_that_no_stream_shows_count_against_a_budget(careless: Careless) -> None:
    with before(careless, dollars_per_day=1.0) as http:
        asked = {**CHAT, "stream": True, "reasoning_effort": "high", "max_tokens": WORDS}
        answer = http.post("/v1/chat/completions", json=asked)
        assert b"usage" not in answer.content  # it was not the client who asked for it
        eventually(lambda: spent(http) > 50 * WORDS * 4.0 / 1e6)


def test_a_request_for_many_answers_is_counted_as_many(careless: Careless) -> None:
    with before(careless, dollars_per_day=5 * WORDS * 4.0 / 1e6) as http:
        for path, body in (("/v1/chat/completions", CHAT), ("/v1/completions", TEXT)):
            refused = http.post(path, json={**body, "max_tokens": WORDS, "n": 50})
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "insufficient_quota")
            assert http.post(path, json={**body, "max_tokens": WORDS}).status_code == 200


def test_a_body_passes_whole_whether_it_was_read_for_a_limit_or_not(upstream: Upstream) -> None:
    with limited(upstream, limits={"keys": {"dollars_per_day": 1.0}}, server={"port": 0, "max_body_mb": 1}) as http:
        for body in (b'{"x": "%s"}' % (b"y" * 3 * 2**20), b" " * 5 + b'{"x": 1}', b"--x\r\n{}", b"", b"\xff" * 300):
            for content in (body, iter([body[:3], body[3:]])):
                assert http.post("/v1/echo", content=content).json()["size"] == len(body)


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/v1/chat/completions", json.dumps({**CHAT, "model": "dear"})),
        ("/v1/chat/completions", json.dumps({**CHAT, "model": "known "})),
        ("/v1/chat/completions", json.dumps({**CHAT, "model": "dear", "temperature": float("nan")})),
        ("/v1/completions", json.dumps({**TEXT, "model": "dear"})),
        ("/v1/completions", json.dumps({"metadata": {"model": "known"}, **TEXT, "model": "dear"})),
        ("/v1/completions", json.dumps({**TEXT, "model": "dear"}).encode("utf-16")),
        ("/v1/embeddings", json.dumps({"model": "dear", "input": "How are you?"})),
    ],
)
def test_a_model_whose_price_nobody_knows_is_no_way_around_a_budget_in_dollars(
    careless: Careless, path: str, content: str | bytes
) -> None:
    entry = {"prices": {"known": {"input": 1.0, "output": 4.0}}}
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    for budget, unpriced, status in (
        ({"dollars_per_month": 5.0}, "refuse", 403),
        ({"tokens_per_day": 10**9}, "refuse", 200),
        ({"dollars_per_month": 5.0}, "free", 200),
    ):
        limits = {"keys": budget, "unpriced": unpriced}
        settings = in_front_of(careless, upstream=entry, limits=limits)  # type: ignore[arg-type]  # as above
        with run_app(proxy_app(settings)) as url:
            answer = httpx.post(f"{url}{path}", content=content, headers=headers)
            assert answer.status_code == status, answer.text
            if status == 403:
                assert (answer.json()["error"]["code"], answer.json()["error"]["param"]) == ("price_unknown", "model")
                known = json.dumps({**CHAT, "model": "known"})
                assert httpx.post(f"{url}/v1/chat/completions", content=known, headers=headers).status_code == 200
                assert httpx.get(f"{url}/v1/models", headers=headers).status_code != 403


LONG = "word " * 40_000  # 40,000 tokens that no budget can cut
ASKS_LONG = {**CHAT, "messages": [{"role": "user", "content": LONG}]}


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(ASKS_LONG).encode(),
        json.dumps({**ASKS_LONG, "temperature": float("nan")}).encode(),  # only some parsers read it
    ],
)
def test_a_prompt_that_is_larger_than_its_profiles_budget_needs_the_room_that_it_takes(
    careless: Careless, body: bytes
) -> None:
    with before(careless, dollars_per_day=0.03) as http, ThreadPoolExecutor(20) as threads:
        found = Counter(threads.map(lambda _: http.post("/v1/chat/completions", content=body).status_code, range(20)))
        assert found == {429: 20}
        assert careless.paths == []
        assert http.post("/v1/chat/completions", json={**CHAT, "max_tokens": WORDS}).status_code == 200


def test_a_history_that_was_not_sent_again_needs_its_room(careless: Careless) -> None:
    """A session of which the client sends its new message alone: what it was estimated by."""
    with before(careless, tokens_per_minute=100_000) as http:
        headers = {"x-olvido-session": "s"}
        said = {**ASKS_LONG, "max_tokens": 10}
        assert http.post("/v1/chat/completions", json=said, headers=headers).status_code == 200
        sent = [http.post("/v1/chat/completions", json=CHAT, headers=headers).headers for _ in range(2)]
        used = [100_000 - int(each["x-ratelimit-remaining-tokens"]) for each in sent]
        assert all(at >= int(each["x-olvido-tokens-sent"]) for at, each in zip(used, sent, strict=True))


def test_an_image_is_counted_as_an_image_and_not_as_the_text_that_it_is_written_in(careless: Careless) -> None:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 900_000}"}}
    body = {**CHAT, "messages": [{"role": "user", "content": [image]}], "max_tokens": 10}
    with before(careless, tokens_per_minute=5_000) as http:
        answer = http.post("/v1/chat/completions", json=body, headers={"x-olvido-mode": "off"})
        assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
def test_a_request_that_is_sent_slowly_has_come_when_it_is_whole(careless: Careless, path: str) -> None:
    """What is held back for a minute would count in the minute before, and what is until midnight in another day."""
    body = json.dumps(CHAT if "chat" in path else TEXT).encode()
    half: list[float] = []

    def slowly() -> Iterator[bytes]:
        yield body[:9]
        assert http.get("/healthz").status_code == 200  # it has begun to read by the time of this answer
        half.append(time())
        yield body[9:]

    with before(careless, requests_per_minute=9) as http:
        answer = http.post(path, content=slowly(), headers={"content-type": "application/json"})
        assert answer.status_code == 200
        told = f"/admin/api/requests/{answer.headers['x-olvido-request']}"
        eventually(lambda: http.get(told).status_code == 200)
        assert http.get(told).json()["request"]["at"] >= half[0]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
def test_whoever_leaves_before_the_answer_has_asked_whatever_end_user_he_invents(path: str) -> None:
    """The upstream bills the prompt all the same."""
    began = threading.Event()

    async def upstream(scope: AsgiMessage, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            began.set()
            while (await receive())["type"] != "http.disconnect":
                pass
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    key = "sk-the-key-of-ana-1234"
    keys = [{"name": "ana", "key": key_hash(key), "limits": {"dollars_per_day": 1.0}}]
    entry = {"price": {"input": 1.0, "output": 4.0}, "api_key": KEY}
    admin = {"authorization": f"Bearer {'t' * 20}"}
    with run_app(upstream) as url:
        settings = in_front_of(
            Careless(url),  # type: ignore[arg-type]  # as above
            upstream=entry,
            auth={"mode": "keys", "keys": keys},
            tenancy="shared",
            admin={"token": "t" * 20},
        )
        with run_app(proxy_app(settings)) as proxy:
            headers = {
                "authorization": f"Bearer {key}",
                "x-olvido-user": "invented",
                "content-type": "application/json",
            }
            body = json.dumps(ASKS_LONG if "chat" in path else {**TEXT, "prompt": LONG})
            request = httpx.Request("POST", f"{proxy}{path}", content=body, headers=headers)
            with closing(socket.create_connection((request.url.host, request.url.port or 0))) as client:
                head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
                client.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n{body}".encode())
                assert began.wait(10)
            with httpx.Client(base_url=proxy, timeout=120, headers=admin) as told:
                eventually(lambda: spent(told) >= 0.03)
                rows = told.get("/admin/api/requests").json()["requests"]
                assert [each["scope"].partition("/")[2] for each in rows] == [""]  # nothing is kept of the invented one
