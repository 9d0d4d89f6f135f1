"""Traces of real requests, as a real collector gets them: streams, errors, retries, a fallback, answers from memory,
tools, clients that leave; and a collector that is away."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests import proxied
from tests.collector import Collector, Got, run_collector
from tests.looping import REMEMBER, Upstream, run_rounds
from tests.servers import eventually, run_proxy
from tests.spoken import Spoken

pytestmark = pytest.mark.long

CHAT = "/v1/chat/completions"
PLAIN = {"model": "demo-chat", "messages": [{"role": "user", "content": "Say: hi. My secret is Rosebud."}]}
STAGES = {"identify", "exact", "plan", "assemble", "record", "ledger"}


@dataclass(frozen=True, slots=True)
class House:
    """A proxy whose traces a collector gets."""

    http: httpx.Client
    collector: Collector
    upstream: proxied.Upstream

    def trace(
        self, body: Mapping[str, Any] = PLAIN, headers: Mapping[str, str] | None = None, *, status: int = 200
    ) -> list[Got]:
        """The spans of one request, once all are there."""
        trace = secrets.token_hex(16)
        answer = self.http.post(
            CHAT, json=body, headers={**(headers or {}), "traceparent": f"00-{trace}-{'b' * 16}-01"}
        )
        assert answer.status_code == status, answer.text
        return self.spans(trace)

    def spans(self, trace: str) -> list[Got]:
        found = self.collector.of(trace)
        eventually(lambda: any(each.name == "ledger" for each in self.collector.of(trace)))
        return found if any(each.name == "ledger" for each in found) else self.collector.of(trace)


def tracing(collector: Collector, sample: float = 0.0) -> dict[str, Any]:
    return {"tracing": {"endpoint": collector.url, "sample": sample, "callers_per_minute": 6_000}}


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with run_collector() as running:
        yield running


@contextmanager
def run_house(collector: Collector, upstream: proxied.Upstream, **more: Any) -> Iterator[House]:
    observe = more.pop("observe", tracing(collector))
    with (
        run_proxy(proxied.in_front_of(upstream, observe=observe, **more)) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=100, headers={"authorization": "Bearer sk-secret"}) as http,
    ):
        yield House(http, collector, upstream)


@pytest.fixture(scope="module")
def upstream() -> Iterator[proxied.Upstream]:
    with proxied.run_upstream() as running:
        yield running


@pytest.fixture(scope="module")
def house(collector: Collector, upstream: proxied.Upstream) -> Iterator[House]:
    entry = {"name": "demo", "base_url": f"{upstream.url}/v1", "dialect": "openai", "breaker": {"failures": 0}}
    spare = {**entry, "name": "spare", "retries": 0, "api_key": "sk-0123456789abcdef", "models": ["spare-*"]}
    upstreams = [{**entry, "retries": 1, "fallback": "spare"}, spare]
    with run_house(collector, upstream, upstreams=upstreams) as running:
        yield running


def only(spans: list[Got], kind: str) -> Got:
    (found,) = [each for each in spans if each.kind == kind]
    return found


def calls(spans: list[Got]) -> list[Got]:
    return [each for each in spans if each.kind == "client"]


def test_a_request_is_a_span_with_its_stages_and_its_call_inside(house: House) -> None:
    spans = house.trace()
    root, call = only(spans, "server"), only(spans, "client")
    assert root.name == "POST /v1/chat/completions"
    assert root.parent == "b" * 16
    assert {each.parent for each in spans if each is not root} == {root.id}
    assert {each.name for each in spans if each.kind == "internal"} >= STAGES
    assert call.name == "chat demo-chat"
    assert root.started <= call.started
    assert call.started + call.seconds <= root.started + root.seconds
    assert not any(each.is_error for each in spans)


def test_it_is_told_by_the_conventions_and_as_the_ledger_has_it(house: House) -> None:
    spans = house.trace()
    root, call = only(spans, "server").attributes, only(spans, "client").attributes
    assert (call["gen_ai.operation.name"], call["gen_ai.provider.name"]) == ("chat", "openai")
    assert (call["gen_ai.request.model"], call["gen_ai.response.model"]) == ("demo-chat", "demo-chat")
    assert call["gen_ai.usage.input_tokens"] == root["olvido.tokens.sent"] > 0
    assert call["gen_ai.usage.output_tokens"] > 0
    assert call["gen_ai.response.finish_reasons"] == ["stop"]
    assert call["gen_ai.response.id"].startswith("chatcmpl")
    assert (call["server.address"], call["http.response.status_code"]) == ("127.0.0.1", 200)
    assert (root["olvido.source"], root["http.response.status_code"]) == ("upstream", 200)
    assert root["gen_ai.conversation.id"]


def test_no_content_and_no_key_is_told(house: House) -> None:
    told = repr(house.trace()).lower()
    assert "rosebud" not in told
    assert "sk-" not in told


def test_a_stream_ends_with_its_last_byte_and_has_its_usage(house: House) -> None:
    spans = house.trace({**PLAIN, "stream": True, "stream_options": {"include_usage": True}})
    call = only(spans, "client")
    assert call.attributes["gen_ai.request.stream"] is True
    assert call.attributes["gen_ai.response.time_to_first_chunk"] <= call.seconds
    assert call.attributes["gen_ai.usage.output_tokens"] > 0
    assert call.attributes["gen_ai.response.finish_reasons"] == ["stop"]


def test_an_upstream_gets_its_call_as_the_parent(house: House) -> None:
    house.upstream.demo.recorder.clear()
    call = only(house.trace(), "client")
    (received,) = house.upstream.demo.recorder.requests
    assert received.header("traceparent") == f"00-{call.trace}-{call.id}-01"


def test_an_error_of_the_upstream_is_one_of_the_call_and_of_the_request(house: House) -> None:
    spans = house.trace(headers={"x-demo-fault": "503"}, status=503)
    root, made = only(spans, "server"), calls(spans)
    assert [each.attributes["olvido.upstream"] for each in made] == ["demo", "demo", "spare"]
    assert [each.attributes["error.type"] for each in made] == ["503"] * 3
    assert [each.attributes.get("http.request.resend_count") for each in made] == [None, 1, 1]
    assert root.is_error
    assert root.attributes["http.response.status_code"] == 503


def test_a_retry_that_succeeds_is_a_second_call(house: House) -> None:
    spans = house.trace(headers={"x-demo-fault": "503x1", "x-demo-fault-key": secrets.token_hex(4)})
    first, second = calls(spans)
    assert (first.is_error, second.is_error) == (True, False)
    assert second.attributes["http.request.resend_count"] == 1
    assert second.attributes["gen_ai.usage.input_tokens"] > 0
    assert not only(spans, "server").is_error


def test_a_fallback_is_told_by_its_own_name(house: House) -> None:
    spans = house.trace(headers={"x-demo-fault": "503x2", "x-demo-fault-key": secrets.token_hex(4)})
    assert [each.attributes["olvido.upstream"] for each in calls(spans)] == ["demo", "demo", "spare"]
    assert [each.is_error for each in calls(spans)] == [True, True, False]


def test_a_stream_that_breaks_off_is_an_error(house: House) -> None:
    trace = secrets.token_hex(16)
    headers = {"x-demo-fault": "cut=3", "traceparent": f"00-{trace}-{'b' * 16}-01"}
    with (
        pytest.raises(httpx.RemoteProtocolError),
        house.http.stream("POST", CHAT, json={**PLAIN, "stream": True}, headers=headers) as answer,
    ):
        answer.read()
    spans = house.spans(trace)
    assert only(spans, "client").attributes["error.type"] == "upstream_broken"
    assert only(spans, "server").is_error


def test_a_client_that_leaves_is_told_of(house: House) -> None:
    trace = secrets.token_hex(16)
    headers = {"x-demo-fault": "stall=3", "traceparent": f"00-{trace}-{'b' * 16}-01"}
    with house.http.stream("POST", CHAT, json={**PLAIN, "stream": True}, headers=headers) as answer:
        next(answer.iter_raw())
    spans = house.spans(trace)
    assert only(spans, "client").attributes["error.type"] == "client_gone"
    assert only(spans, "server").attributes["error.type"] == "client_gone"


def test_a_request_that_we_refuse_is_a_span_without_a_call(house: House) -> None:
    trace = secrets.token_hex(16)
    answer = house.http.post(CHAT, content=b"[no json", headers={"traceparent": f"00-{trace}-{'b' * 16}-01"})
    assert answer.status_code == 400
    root = only(house.collector.of(trace), "server")
    assert root.attributes["http.response.status_code"] == 400


def test_what_passes_through_is_a_span_and_the_parent_of_what_the_upstream_does(house: House) -> None:
    house.upstream.demo.recorder.clear()
    trace = secrets.token_hex(16)
    house.http.get("/v1/models/demo-chat", headers={"traceparent": f"00-{trace}-{'b' * 16}-01"}).raise_for_status()
    root = only(house.collector.of(trace), "server")
    assert root.name.startswith("GET /v1/models")
    assert "demo-chat" not in root.name  # of few names, whatever is asked for
    assert root.attributes["http.response.status_code"] == 200
    (received,) = house.upstream.demo.recorder.requests
    assert received.header("traceparent") == f"00-{trace}-{root.id}-01"


def test_an_answer_from_memory_has_no_call(house: House) -> None:
    body = {**PLAIN, "temperature": 0, "messages": [{"role": "user", "content": f"Say: {secrets.token_hex(4)}"}]}
    assert calls(house.trace(body))
    again = house.trace(body)
    assert calls(again) == []
    assert only(again, "server").attributes["olvido.source"] == "exact"


def test_a_request_that_its_caller_does_not_trace_is_not_traced_and_its_header_passes(house: House) -> None:
    house.upstream.demo.recorder.clear()
    told = f"00-{secrets.token_hex(16)}-{'b' * 16}-00"
    house.http.post(CHAT, json=PLAIN, headers={"traceparent": told}).raise_for_status()
    (received,) = house.upstream.demo.recorder.requests
    assert received.header("traceparent") == told
    house.trace()  # whatever was to come before it has come
    assert [each for each in house.collector.spans if each.trace == told.split("-")[1]] == []


def test_a_share_of_what_has_no_caller_is_traced(collector: Collector, upstream: proxied.Upstream) -> None:
    with run_house(collector, upstream, observe=tracing(collector, 1.0)) as house:
        collector.spans.clear()
        upstream.demo.recorder.clear()
        house.http.post(CHAT, json=PLAIN).raise_for_status()
        eventually(lambda: any(each.kind == "server" for each in collector.spans))
        spans = house.spans(collector.newest())
        assert only(spans, "server").parent == ""
        assert upstream.demo.recorder.requests[0].header("traceparent") is not None


def test_a_collector_that_is_away_costs_no_answer_and_is_counted(upstream: proxied.Upstream) -> None:
    away = {"tracing": {"endpoint": "http://127.0.0.1:9", "sample": 1.0, "timeout": "200ms"}}
    with run_house(Collector(), upstream, observe=away, admin={}) as house:
        for _ in range(20):
            assert house.http.post(CHAT, json=PLAIN).status_code == 200

        def failed() -> bool:
            lines = house.http.get("/metrics").text.splitlines()
            told = {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("olvido_spans_total")}
            return told['olvido_spans_total{result="failed"}'] > 0

        eventually(failed, 20)


@pytest.fixture(scope="module")
def rounds() -> Iterator[Upstream]:
    with run_rounds() as running:
        yield running


def test_rounds_of_tools_are_calls_of_their_own_with_the_tools_between(collector: Collector, rounds: Upstream) -> None:
    entry = {"name": "rounds", "base_url": f"{rounds.url}/v1", "dialect": "openai", "retries": 0}
    settings = {
        "upstreams": [entry],
        "memory": {"tools": {"enabled": True, "offer": "first"}},
        "context": {"mode": "on"},
    }
    with proxied.run_upstream() as unused, run_house(collector, unused, **settings) as house:
        rounds.will(Spoken("Hello."))  # before that nobody has answered this key, and nothing is kept of it
        house.http.post(CHAT, json=PLAIN, headers={"x-olvido-session": "s"}).raise_for_status()
        rounds.will(Spoken(calls=(REMEMBER,)), Spoken("Done."))
        spans = house.trace(headers={"x-olvido-session": "s"})
        first, second = calls(spans)
        tool = next(each for each in spans if each.name.startswith("execute_tool"))
        assert tool.attributes["gen_ai.tool.name"] == "remember"
        assert first.started + first.seconds <= tool.started <= second.started
        assert all(each.attributes["gen_ai.usage.input_tokens"] > 0 for each in (first, second))
