"""Limits on a real server: what a client is told, what counts, and what fails open."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from proxy.demo.app import CHAT_MODELS
from tests.proxied import KEY, Upstream, in_front_of, run_upstream
from tests.servers import proxy_app, run_app

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
    with run_app(app) as url, httpx.Client(base_url=url, headers={"authorization": f"Bearer {KEY}"}) as http:
        yield http


def test_an_sdk_sees_a_rate_limit_as_it_sees_openais(upstream: Upstream) -> None:
    with limited(upstream, limits={"keys": {"requests_per_minute": 2}}) as http:
        client = openai.OpenAI(base_url=f"{http.base_url}/v1", api_key=KEY, max_retries=0)
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
    with run_app(app) as url, httpx.Client(base_url=url, headers={"authorization": f"Bearer {KEY}"}) as http:
        app.state.services.shared.counters._path = tmp_path  # noqa: SLF001 (a folder is no database)
        for _ in range(3):
            answer = http.post("/v1/chat/completions", json=ASKED)
            assert answer.status_code == 200
            assert answer.headers["x-olvido-plan"] == "fail-open;stage=limits"
        assert http.get("/v1/models").status_code == 200
        assert 'olvido_fail_open_total{reason="OperationalError",stage="limits"} 4.0' in http.get("/metrics").text
