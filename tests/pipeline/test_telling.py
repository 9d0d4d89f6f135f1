"""Whatever an upstream of chat completions answers, it is told in the client's API: as an answer, or as an error, and
never half an answer as a whole one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from starlette.types import Receive, Scope, Send

from proxy.protocol.accumulate import Accumulator
from proxy.protocol.messages.reading import MessageReader
from tests.builders import config
from tests.other_apis import events_of, misplaced_message_events
from tests.servers import run_app, run_proxy

Json = Any
KEY = {"authorization": "Bearer sk-a"}
ASKED: Json = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "Hello"}],
    "stop_sequences": ["END"],
}
EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


class Upstream:
    """An ASGI application that answers what it is told to."""

    def __init__(self) -> None:
        self.body, self.status, self.kind = b"", 200, b"application/json"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-type", self.kind), (b"retry-after", b"7"), (b"x-ratelimit-remaining-requests", b"0")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})

    def says(self, body: bytes, kind: bytes = b"application/json", status: int = 200) -> None:
        self.body, self.kind, self.status = body, kind, status


@contextmanager
def proxied(upstream: Upstream) -> Iterator[httpx.Client]:
    with run_app(upstream) as url:
        entry = {"name": "up", "base_url": f"{url}/v1", "apis": ["chat"], "retries": 0, "breaker": {"failures": 0}}
        sections: Json = {"storage": {"kind": "memory"}, "server": {"port": 0, "drain": 5}}
        made = config(upstreams=[entry], embedding={"enabled": False}, **sections)
        with run_proxy(made) as base, httpx.Client(base_url=base, timeout=120, trust_env=False) as http:
            yield http


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Upstream, httpx.Client]]:
    upstream = Upstream()
    with proxied(upstream) as http:
        yield upstream, http


Both = tuple[Upstream, httpx.Client]
USAGE = {"prompt_tokens": 3, "completion_tokens": 2}


def whole(message: Json, finish: str = "stop", usage: Json = USAGE, **of_choice: Json) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, **of_choice}
    return json.dumps({"id": "c", "model": "mm", "choices": [choice], "usage": usage}).encode()


def stream(*chunks: Json | bytes, done: bool = True) -> bytes:
    datas = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in chunks]
    return b"".join(b"data: %b\n\n" % data for data in [*datas, *([b"[DONE]"] if done else [])])


def chunk(delta: Json, finish: str | None = None, **more: Json) -> Json:
    return {"id": "c", "model": "mm", "choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]}


def call(**more: Json) -> Json:
    return {"index": 0, "id": "t", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}, **more}


def asked(http: httpx.Client, **fields: Json) -> httpx.Response:
    return http.post("/v1/messages", json={**ASKED, **fields}, headers=KEY)


DEEP = "[" * 5_000


@pytest.mark.parametrize(
    ("body", "stop", "kinds"),
    [
        (whole({"content": "Hi"}), "end_turn", ["text"]),
        (whole({"content": ""}), "end_turn", []),
        (whole({"content": None, "tool_calls": [call()]}, "stop"), "tool_use", ["tool_use"]),  # a forced tool
        (whole({"content": "Hi"}, "tool_calls"), "end_turn", ["text"]),  # nothing to wait for
        (whole({"tool_calls": [call(id=None)]}, "tool_calls"), "tool_use", ["tool_use"]),
        (whole({"tool_calls": [call(function={"name": "look", "arguments": {"q": 1}})]}), "tool_use", ["tool_use"]),
        (whole({"tool_calls": [call(function={"name": None, "arguments": DEEP})]}), "tool_use", ["tool_use"]),
        (
            whole({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "text"}]}),
            "end_turn",
            ["thinking"],
        ),
        (whole({"content": [{"type": "text", "text": "Hi"}]}), "end_turn", ["text"]),
        (whole({"content": None, "refusal": "No."}), "refusal", ["text"]),
        (whole({"content": "Hi"}, "content_filter"), "refusal", ["text"]),
        (whole({"content": "Hi"}, "length"), "max_tokens", ["text"]),
        (whole({"content": "Hi"}, stop_reason="END"), "stop_sequence", ["text"]),
        (whole({"content": "Hi"}, matched_stop="END"), "stop_sequence", ["text"]),
        (whole({"content": "Hi"}, matched_stop=151645), "end_turn", ["text"]),
        (whole({"content": "Hi"}, stop_reason="another"), "end_turn", ["text"]),
        (whole({"content": "Hi"}, usage=[1]), "end_turn", ["text"]),
        (whole({"content": "Hi"}, usage={**USAGE, "prompt_tokens_details": [1]}), "end_turn", ["text"]),
        (whole({"content": "Hi"}, usage={**USAGE, "cached_tokens": "x"}), "end_turn", ["text"]),
        (whole({"content": "Hi"}, usage={**USAGE, "completion_tokens": "x"}), "end_turn", ["text"]),
    ],
)
def test_a_whole_answer_is_a_message_of_the_sdks_types(both: Both, body: bytes, stop: str, kinds: list[str]) -> None:
    upstream, http = both
    upstream.says(body)
    answer = asked(http)
    assert answer.status_code == 200, answer.text
    message = Message.model_validate_json(answer.content, strict=True)
    assert [block.type for block in message.content] == kinds
    assert (message.stop_reason, message.stop_sequence) == (stop, "END" if stop == "stop_sequence" else None)
    assert all(block.id for block in message.content if block.type == "tool_use")
    assert answer.headers["request-id"] == answer.headers["x-olvido-request"]


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (b'{"error":{"message":"No more","code":429}}', 429, "rate_limit_error"),
        (b'{"error":"boom"}', 502, "api_error"),
        (b'{"error":{"message":"odd","code":7}}', 502, "api_error"),
        (b'{"choices":[]}', 502, "api_error"),
        (b'{"choices":null}', 502, "api_error"),
        (b'{"choices":[5]}', 502, "api_error"),
        (b"[]", 502, "api_error"),
        (b"<html>", 502, "api_error"),
        (DEEP.encode(), 502, "api_error"),
        (whole({"content": "Hal"}, "error"), 502, "api_error"),
        (whole({"content": "Hal"}, "insufficient_system_resource"), 502, "api_error"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_what_is_no_answer_is_an_error(both: Both, body: bytes, status: int, kind: str, streamed: bool) -> None:
    upstream, http = both
    upstream.says(body)
    answer = asked(http, stream=streamed)
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)
    assert answer.json()["request_id"] == answer.headers["request-id"]


@pytest.mark.parametrize(
    ("chunks", "stop"),
    [
        ([chunk({"content": "Hi"}), chunk({}, "stop")], "end_turn"),
        ([chunk({"content": "Hi"})], "end_turn"),  # [DONE] is an end
        ([chunk({"tool_calls": [call()]}), chunk({}, "stop")], "tool_use"),
        ([chunk({"tool_calls": [call(id=None)]}), chunk({}, "tool_calls")], "tool_use"),
        ([chunk({"content": [{"type": "text", "text": "Hi"}]}), chunk({}, "stop")], "end_turn"),
        ([chunk({"refusal": "No."}), chunk({}, "stop")], "refusal"),
        ([chunk({"content": "Hi"}), chunk({}, "stop", stop_reason="END")], "stop_sequence"),
        ([chunk({"content": "Hi"}), chunk({}, "stop") | {"usage": {**USAGE, "cached_tokens": "x"}}], "end_turn"),
        ([{"choices": 5}, {"choices": [{"delta": 5}]}, chunk({"tool_calls": [5], "content": 5}, "stop")], "end_turn"),
    ],
)
def test_a_stream_is_events_of_the_sdks_types(both: Both, chunks: list[Json], stop: str) -> None:
    upstream, http = both
    upstream.says(stream(*chunks), b"text/event-stream")
    events = events_of(asked(http, stream=True).content)
    assert misplaced_message_events(events) == []
    for event in events:
        EVENT.validate_json(json.dumps(event), strict=True)
    assert events[-2]["delta"] == {
        "stop_reason": stop,
        "stop_sequence": "END" if stop == "stop_sequence" else None,
    }


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (stream(), "api_error"),
        (b"", "api_error"),
        (b": keep\n\n", "api_error"),
        (stream({"choices": [], "usage": USAGE}), "api_error"),
        (stream(chunk({"content": "Hi"}), {"error": {"message": "x", "code": 429}}), "rate_limit_error"),
        (stream(chunk({"content": "Hi"}), {"error": {"message": "x", "type": "overloaded_error"}}), "overloaded_error"),
        (stream(chunk({"content": "Hi"}), {"error": "boom"}), "api_error"),
        (stream(chunk({"content": "Hi"}), chunk({}, "error")), "api_error"),
        (stream(chunk({"content": "Hi"}), b"{no json", chunk({}, "stop")), "api_error"),
        # without the blank line behind it
        (stream(chunk({"content": "Hi"}), done=False) + b'data: {"error":{"message":"x"}}', "api_error"),
    ],
)
def test_a_stream_that_broke_off_ends_with_an_error(both: Both, body: bytes, kind: str) -> None:
    upstream, http = both
    upstream.says(body, b"text/event-stream")
    raw = asked(http, stream=True).content
    events = events_of(raw.removeprefix(b": keep\n\n"))
    assert (events[-1]["type"], events[-1]["error"]["type"]) == ("error", kind)
    assert "message_stop" not in [event["type"] for event in events]


THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
LOOK: Json = {"name": "look", "arguments": {"at": "x"}}
WAYS: list[tuple[list[Json], list[Json]]] = [  # deltas, blocks
    ([{"tool_calls": [call(function=LOOK)]}], [{"type": "tool_use", "id": "t", "name": "look", "input": {"at": "x"}}]),
    (
        [{"tool_calls": [call(function={"name": "lo"})]}, {"tool_calls": [call(function={**LOOK, "name": "ok"})]}],
        [{"type": "tool_use", "id": "t", "name": "look", "input": {"at": "x"}}],
    ),
    (
        [{"tool_calls": [{"index": 0, "id": "t", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]}],
        [{"type": "tool_use", "id": "t", "name": "sh", "input": {"input": "ls"}}],
    ),
    (
        [{"content": ""}, {"content": [THOUGHT]}, {"content": "Yes"}, {"content": " no"}],
        [{"type": "thinking", "thinking": "Hm", "signature": ""}, {"type": "text", "text": "Yes no"}],
    ),
]


def spoken(http: httpx.Client, api: str, *, streamed: bool) -> list[Json]:
    """The blocks of an answer in an API."""
    asks: Json = ASKED if api == "messages" else {"model": "m", "input": "Hello", "store": False}
    answer = http.post(f"/v1/{api}", json={**asks, "stream": streamed}, headers=KEY)
    assert answer.status_code == 200, answer.text
    events = events_of(answer.content) if streamed else []
    if api == "responses":
        output = (events[-1]["response"] if streamed else answer.json())["output"]
        return [block for item in output for block in _block_of(item)]
    if not streamed:
        return [{key: value for key, value in each.items() if key != "citations"} for each in answer.json()["content"]]
    reader = MessageReader()
    reader.feed_all([json.dumps(event).encode() for event in events])
    return [{key: value for key, value in each.items() if key != "citations"} for each in reader.content()]


def _block_of(item: Json) -> Iterator[Json]:
    match item["type"]:
        case "function_call":
            given = json.loads(item["arguments"])
            yield {"type": "tool_use", "id": item["call_id"], "name": item["name"], "input": given}
        case "reasoning":
            yield {"type": "thinking", "thinking": item["summary"][0]["text"], "signature": ""}
        case _:
            yield {"type": "text", "text": item["content"][0]["text"]}


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("as_events", [True, False])
@pytest.mark.parametrize("api", ["messages", "responses"])
@pytest.mark.parametrize(("deltas", "expected"), WAYS)
def test_an_answer_is_the_same_however_it_is_written_and_told(
    both: Both, deltas: list[Json], expected: list[Json], api: str, as_events: bool, streamed: bool
) -> None:
    upstream, http = both
    chunks = [*map(chunk, deltas), chunk({}, "stop")]
    if as_events:
        upstream.says(stream(*chunks), b"text/event-stream")
    else:
        summed = Accumulator()
        summed.feed_all([json.dumps(each).encode() for each in chunks])
        upstream.says(json.dumps(summed.completion()).encode())
    assert spoken(http, api, streamed=streamed) == expected


@pytest.mark.parametrize("odd", [b"hello", b'{"choices":[{"delta":{"content":"\xff"}}]}', b"[" * 5_000])
def test_a_stream_that_is_told_whole_lacks_nothing(both: Both, odd: bytes) -> None:
    upstream, http = both
    upstream.says(stream(chunk({"content": "Hi"}), odd, chunk({}, "stop")), b"text/event-stream")
    answer = asked(http)
    assert (answer.status_code, answer.json()["error"]["type"]) == (502, "api_error")


def test_a_stream_that_is_cut_ends_with_an_error_and_unclean(both: Both) -> None:
    upstream, http = both
    upstream.says(stream(chunk({"content": "Hi"}), done=False), b"text/event-stream")
    read: list[bytes] = []
    with http.stream("POST", "/v1/messages", json={**ASKED, "stream": True}, headers=KEY) as answer:
        pieces = answer.iter_bytes()
        with pytest.raises(httpx.RemoteProtocolError):
            read.extend(pieces)
    assert events_of(b"".join(read))[-1]["error"]["type"] == "api_error"


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (
            400,
            b'{"error":{"message":"Maximum context length is 8","code":"context_length_exceeded"}}',
            "invalid_request_error",
            "prompt is too long: Maximum context length is 8",
        ),
        (
            400,
            b'{"object":"error","message":"exceeded model token limit: 8"}',
            "invalid_request_error",
            "prompt is too long: exceeded model token limit: 8",
        ),
        (400, b'{"error":{"message":"Odd"}}', "invalid_request_error", "Odd"),
        (401, b'{"error":"Who?"}', "authentication_error", "Who?"),
        (404, b'{"detail":"Not Found"}', "not_found_error", "Not Found"),
        (422, b'{"detail":[{"msg":"m"}]}', "invalid_request_error", '{"detail":[{"msg":"m"}]}'),
        (429, b'{"error":{"message":"Slow"}}', "rate_limit_error", "Slow"),
        (500, b"<html>", "api_error", "<html>"),
        (400, DEEP.encode(), "invalid_request_error", "[" * 2_000),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_an_error_of_the_upstream_has_this_apis_shape(
    both: Both, status: int, body: bytes, kind: str, message: str, streamed: bool
) -> None:
    upstream, http = both
    for content_type in (b"application/json", b"text/event-stream"):
        upstream.says(body, content_type, status)
        answer = asked(http, stream=streamed)
        assert answer.status_code == status
        assert answer.json()["error"] == {"type": kind, "message": message}
        assert (answer.headers["retry-after"], answer.headers["x-ratelimit-remaining-requests"]) == ("7", "0")
        assert answer.headers["request-id"] == answer.json()["request_id"]


ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**70) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "type"]), inner, max_size=2),
    max_leaves=4,
)
NAMES = ["content", "refusal", "reasoning_content", "tool_calls", "function_call", "role"]
SAID = st.dictionaries(st.sampled_from(NAMES), ODD | st.text(max_size=4) | st.just([call()]), max_size=4)
COUNTS = st.dictionaries(
    st.sampled_from(["prompt_tokens", "completion_tokens", "cached_tokens", "prompt_tokens_details"]), ODD, max_size=3
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(said=SAID, finish=ODD | st.sampled_from(["stop", "length", "tool_calls"]), usage=COUNTS | ODD, more=ODD)
def test_no_answer_of_an_upstream_makes_an_error_of_ours(
    both: Both, said: Json, finish: Json, usage: Json, more: Json
) -> None:
    upstream, http = both
    upstream.says(whole(said, finish, usage, stop_reason=more))
    answer = asked(http)
    assert answer.status_code in (200, 502), answer.text
    if answer.status_code == 200:
        Message.model_validate_json(answer.content, strict=True)
    upstream.says(stream(chunk(said, finish, stop_reason=more) | {"usage": usage}), b"text/event-stream")
    events = events_of(asked(http, stream=True).content)
    assert events[-1]["type"] in ("message_stop", "error")
    for event in events:
        if event["type"] != "error":
            EVENT.validate_json(json.dumps(event), strict=True)
