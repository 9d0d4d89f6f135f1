"""The upstream as clients see it: the official SDK over a real socket."""

import json
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from pydantic import BaseModel

from tests.scripted.config import ScriptedConfig
from tests.scripted.conftest import Serve, Speaking, Upstream
from tests.scripted.refusals import TEXTS

HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hello there."}]
WEATHER: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CLOCK: ChatCompletionFunctionToolParam = {"type": "function", "function": {"name": "clock"}}


def test_an_answer_depends_on_the_request_only_ids_and_times_included(upstream: Upstream, speaking: Speaking) -> None:
    first = upstream.sdk.chat.completions.create(model="demo-chat", messages=HELLO)
    again = speaking("openai").sdk.chat.completions.create(model="demo-chat", messages=HELLO)
    assert first == again
    assert first.choices[0].finish_reason == "stop"
    assert first.usage is not None
    assert first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens


@pytest.mark.parametrize("model", ["demo-chat", "demo-reasoner"])
def test_a_stream_adds_up_to_the_same_answer(upstream: Upstream, model: str) -> None:
    whole = upstream.sdk.chat.completions.create(model=model, messages=HELLO)
    with upstream.sdk.chat.completions.stream(
        model=model, messages=HELLO, stream_options={"include_usage": True}
    ) as stream:
        for _ in stream:
            pass
        streamed = stream.get_final_completion()
    assert (streamed.id, streamed.created) == (whole.id, whole.created)
    assert streamed.choices[0].message.content == whole.choices[0].message.content
    assert streamed.usage == whole.usage
    assert getattr(streamed.choices[0].message, "reasoning_content", None) == getattr(
        whole.choices[0].message, "reasoning_content", None
    )


def test_the_number_of_chunks_is_chosen_by_the_client(upstream: Upstream) -> None:
    chunks = upstream.sdk.chat.completions.create(
        model="demo-chat", messages=HELLO, stream=True, extra_headers={"x-demo-chunks": "20"}
    )
    assert sum(1 for chunk in chunks if chunk.choices[0].delta.content) == 20


def test_tools_are_called_in_parallel_and_what_they_answer_is_told(upstream: Upstream) -> None:
    asked: list[ChatCompletionMessageParam] = [{"role": "user", "content": "get weather of 'Lisboa' and the clock"}]
    with upstream.sdk.chat.completions.stream(model="demo-chat", messages=asked, tools=[WEATHER, CLOCK]) as stream:
        choice = stream.until_done().get_final_completion().choices[0]
    assert choice.finish_reason == "tool_calls"
    calls = choice.message.tool_calls or []
    assert [call.function.name for call in calls] == ["get_weather", "clock"]
    assert json.loads(calls[0].function.arguments) == {"city": "Lisboa"}
    history: Any = [
        *asked,
        choice.message.model_dump(include={"role", "content", "tool_calls"}),
        *({"role": "tool", "tool_call_id": call.id, "content": f"{call.function.name}: fine"} for call in calls),
    ]
    told = upstream.sdk.chat.completions.create(model="demo-chat", messages=history, tools=[WEATHER, CLOCK])
    assert told.choices[0].message.content == "The tool answered: clock: fine"


def test_structured_answers_can_be_parsed(upstream: Upstream) -> None:
    class Stop(BaseModel):
        city: str
        nights: int

    class Trip(BaseModel):
        stops: list[Stop]
        relaxed: bool

    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "A trip to 'Lisboa' for 3 nights"}]
    trip = upstream.sdk.chat.completions.parse(model="demo-chat", messages=messages, response_format=Trip)
    assert trip.choices[0].message.parsed == Trip(stops=[Stop(city="Lisboa", nights=3)], relaxed=True)


@pytest.mark.parametrize(
    ("fields", "finish_reason", "content"),
    [
        ({"stop": " two"}, "stop", "one"),
        ({"stop": ["three", " two"]}, "stop", "one"),
        ({"max_tokens": 1}, "length", "one "),
        ({"max_completion_tokens": 2}, "length", "one two "),
        ({"n": 2}, "stop", "one two three"),
        ({"logprobs": True, "top_logprobs": 1}, "stop", "one two three"),
    ],
)
def test_the_usual_parameters(upstream: Upstream, fields: dict[str, Any], finish_reason: str, content: str) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "say: one two three"}]
    answer = upstream.sdk.chat.completions.create(model="demo-chat", messages=messages, **fields)
    assert [choice.finish_reason for choice in answer.choices] == [finish_reason] * fields.get("n", 1)
    assert answer.choices[0].message.content == content
    assert (answer.choices[0].logprobs is not None) is ("logprobs" in fields)


def test_refuses_in_the_refusal_field(upstream: Upstream) -> None:
    answer = upstream.sdk.chat.completions.create(
        model="demo-chat", messages=[{"role": "user", "content": "Refuse to answer."}]
    )
    assert answer.choices[0].message.refusal == "I can't help with that."
    assert answer.choices[0].message.content is None


@pytest.mark.parametrize("dialect", ["openai", "kimi"])
def test_the_prefix_cache_grows_with_the_conversation_and_is_told_as_the_dialect_tells_it(
    speaking: Speaking, dialect: str
) -> None:
    sdk = speaking(dialect).sdk
    history: list[ChatCompletionMessageParam] = [{"role": "user", "content": "word " * 600}]
    cached = []
    for _ in range(3):
        usage = sdk.chat.completions.create(model="demo-chat", messages=history).usage
        assert usage is not None
        details = usage.prompt_tokens_details
        cached.append(getattr(usage, "cached_tokens", None) if dialect == "kimi" else details and details.cached_tokens)
        assert (cached[-1] or 0) <= usage.prompt_tokens
        history += [{"role": "assistant", "content": "ok"}, {"role": "user", "content": "more " * 300}]
    assert cached == [0, 512, 1024]
    other = sdk.with_options(api_key="sk-other").chat.completions.create(model="demo-chat", messages=history).usage
    assert other is not None
    assert (getattr(other, "cached_tokens", 0) or 0) == 0


def test_headers_are_like_the_real_ones(upstream: Upstream) -> None:
    answer = upstream.sdk.chat.completions.with_raw_response.create(model="demo-chat", messages=HELLO)
    assert (answer.headers["x-request-id"] or "").startswith("req_")
    assert answer.headers["openai-organization"] == "demo-org"
    assert answer.headers["openai-processing-ms"] == "42"
    assert answer.headers["x-ratelimit-remaining-requests"] == "9999"


def test_without_a_good_key_nothing_is_answered(serve: Serve) -> None:
    client = serve(ScriptedConfig(api_keys=frozenset({"sk-right"}))).http
    for authorization in ("", "Basic c2s=", "Bearer sk-wrong-key"):
        for path in ("/v1/models", "/v1/nowhere"):
            answer = client.get(path, headers={"authorization": authorization})
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
    assert client.get("/v1/models", headers={"authorization": "Bearer sk-right"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, None),
        (b'"text"', 400, None),
        (b"\xff", 400, None),
        (b"{}", 400, None),
        (b'{"model":"demo-chat"}', 400, "missing_required_parameter"),
        (b'{"model":"demo-chat","messages":[]}', 400, "empty_array"),
        (b'{"model":"demo-chat","messages":["hi"]}', 400, "missing_required_parameter"),
        (b'{"model":"gpt-9","messages":[]}', 404, "model_not_found"),
    ],
)
def test_a_body_that_makes_no_sense_is_refused_in_openais_shape(
    upstream: Upstream, body: bytes, status: int, code: str | None
) -> None:
    answer = upstream.http.post("/v1/chat/completions", content=body)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert answer.json()["error"]["code"] == code


def test_an_unknown_model_and_an_unknown_url_are_the_sdks_own_errors(upstream: Upstream) -> None:
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        upstream.sdk.chat.completions.create(model="gpt-9", messages=HELLO)
    assert upstream.http.get("/v1/nowhere").json()["error"]["message"] == "Invalid URL (GET /v1/nowhere)"


ORPHAN = [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "aaaaaaaaa", "content": "x"}]
KIMI_EMPTY = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": ""}, {"role": "user", "content": "?"}]


@pytest.mark.parametrize(
    ("dialect", "body", "status", "error"),
    [
        (
            "openai",
            {"messages": ORPHAN},
            400,
            {
                "error": {
                    "message": TEXTS["openai"]["orphan_result"],
                    "type": "invalid_request_error",
                    "param": "messages.[1].role",
                    "code": None,
                }
            },
        ),
        (
            "kimi",
            {"messages": KIMI_EMPTY},
            400,
            {
                "error": {
                    "message": "Invalid request: the message at position 1 with role 'assistant' must not be empty",
                    "type": "invalid_request_error",
                }
            },
        ),
        (
            "kimi",
            {"messages": HELLO, "model": "kimi-k2.6", "temperature": 0},
            400,
            {
                "error": {
                    "message": "invalid temperature: only 1 is allowed for this model",
                    "type": "invalid_request_error",
                }
            },
        ),
        (
            "kimi",
            {"messages": HELLO, "model": "kimi-k2.6", "temperature": 1, "thinking": {"type": "disabled"}},
            400,
            {
                "error": {
                    "message": "invalid temperature: only 0.6 is allowed for this model",
                    "type": "invalid_request_error",
                }
            },
        ),
        (
            "mistral",
            {"messages": ORPHAN},
            400,
            {
                "object": "error",
                "message": "Not the same number of function calls and responses",
                "type": "invalid_request_message_order",
                "param": None,
                "code": "3230",
            },
        ),
        (
            "mistral",
            {"messages": HELLO, "stream": True, "stream_options": {"include_usage": True}},
            422,
            {
                "object": "error",
                "message": {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "stream_options", "include_usage"],
                            "msg": "Extra inputs are not permitted",
                            "input": True,
                        }
                    ]
                },
                "type": "invalid_request_error",
                "param": None,
                "code": None,
            },
        ),
        (
            "vllm",
            {"messages": [*HELLO, *HELLO]},
            400,
            {
                "error": {
                    "message": TEXTS["vllm"]["alternation"],
                    "type": "BadRequestError",
                    "param": None,
                    "code": 400,
                }
            },
        ),
    ],
)
def test_each_dialect_refuses_in_its_own_shape(
    speaking: Speaking, dialect: str, body: dict[str, Any], status: int, error: Any
) -> None:
    client = speaking(dialect).http
    answer = client.post("/v1/chat/completions", json={"model": "demo-chat", **body})
    assert (answer.status_code, answer.json()) == (status, error)


def test_kimi_takes_the_values_that_it_allows_and_no_temperature_at_all(speaking: Speaking) -> None:
    sdk = speaking("kimi").sdk
    for fields in (
        {},
        {"temperature": 1, "top_p": 0.95},
        {"temperature": 0.6, "extra_body": {"thinking": {"type": "disabled"}}},
    ):
        create: Any = sdk.chat.completions.create
        assert create(model="kimi-k2.6", messages=HELLO, **fields).choices[0].message.content


def test_what_arrived_is_recorded_to_the_byte_and_can_be_read_and_reset(serve: Serve) -> None:
    upstream = serve(ScriptedConfig(record=True))
    body = b'{ "model" : "demo-chat", "messages":[{"content":"hol\\u00e1","role":"user"}], "x": 1.0 }'
    upstream.http.post("/v1/chat/completions?trace=1", content=body, headers={"X-Client-Request-Id": "abc"})
    (received,) = upstream.demo.recorder.requests
    assert (received.body, received.query, received.header("x-client-request-id")) == (body, "trace=1", "abc")
    assert (received.status, received.finished, received.closed_early) == (200, True, False)
    told = upstream.http.get("/__demo/requests").json()
    assert told["received"] == 1
    assert told["requests"] == [json.loads(json.dumps(received.as_json()))]
    assert upstream.http.delete("/__demo/requests").status_code == 204
    assert upstream.http.get("/__demo/requests").json()["requests"] == []


def test_nothing_is_kept_unless_asked(speaking: Speaking) -> None:
    upstream = speaking("openai")
    received = upstream.demo.recorder.received
    upstream.http.get("/v1/models")
    assert (upstream.demo.recorder.received, upstream.demo.recorder.requests) == (received + 1, ())
