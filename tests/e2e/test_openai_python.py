"""The official Python SDK, directly against the upstream and through the proxy: what it sees must be equal."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from tests.e2e.running import Demo, Proxy, chat

Json = Any
Case = Callable[[openai.OpenAI], Json]
AsyncCase = Callable[[openai.AsyncOpenAI], Awaitable[Json]]

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}
CLOCK = {
    "type": "function",
    "function": {"name": "get_time", "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}}},
}
STRICT_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


class Trip(BaseModel):
    city: str
    days: int
    note: str | None


def dumped(value: BaseModel) -> Json:
    """Every field, unknown ones too, set or not. (A parsed answer is of a class that pydantic doesn't expect there.)"""
    fields = value.model_dump(mode="json", warnings="none")
    return {"kind": type(value).__name__, "fields": fields, "set": sorted(value.model_fields_set)}


# --- answers ------------------------------------------------------------------------------------------------------


def completion(client: openai.OpenAI) -> Json:
    answer = client.chat.completions.create(**chat("say: ¡Qué mañana! 🌵 \\u00e9"))
    assert answer.choices[0].message.content == "¡Qué mañana! 🌵 \\u00e9"
    assert answer.usage is not None
    return dumped(answer)


def every_field_of_a_request(client: openai.OpenAI) -> Json:
    answer = client.chat.completions.create(
        model="demo-chat",
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "say: one two three four STOP five"}], "name": "ana"},
        ],
        temperature=0.3,
        top_p=0.9,
        frequency_penalty=0.1,
        presence_penalty=0.2,
        logit_bias={"42": 1},
        max_completion_tokens=50,
        stop=["STOP"],
        seed=7,
        user="ana",
        metadata={"kind": "test"},
        service_tier="auto",
        store=False,
        extra_body={"not_in_any_sdk": {"deep": [1, None, 1.50]}},
        extra_query={"api-version": "1"},
        extra_headers={"x-custom": "1"},
    )
    assert answer.choices[0].message.content == "one two three four "
    return dumped(answer)


def several_choices(client: openai.OpenAI) -> Json:
    answer = client.chat.completions.create(**chat("tell me a thing", n=3))
    assert len({choice.message.content for choice in answer.choices}) == 3
    return dumped(answer)


def logprobs(client: openai.OpenAI) -> Json:
    answer = client.chat.completions.create(**chat("say: a b ñ", logprobs=True, top_logprobs=2))
    assert answer.choices[0].logprobs is not None
    assert answer.choices[0].logprobs.content is not None
    assert len(answer.choices[0].logprobs.content) == 3
    return dumped(answer)


def refusal(client: openai.OpenAI) -> Json:
    answer = client.chat.completions.create(**chat("refuse to help"))
    assert answer.choices[0].message.refusal
    return dumped(answer)


def reasoning(client: openai.OpenAI) -> Json:
    answer = client.chat.completions.create(**chat("say: thought through", model="demo-reasoner"))
    assert "reasoning_content" in dumped(answer)["fields"]["choices"][0]["message"]
    return dumped(answer)


def parallel_tool_calls(client: openai.OpenAI) -> Json:
    asked = chat("get_weather in Rosario for 3 days and get_time", tools=[WEATHER, CLOCK])
    answer = client.chat.completions.create(**asked)
    message = answer.choices[0].message
    assert message.tool_calls is not None
    assert len(message.tool_calls) == 2
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": f"result {number}"}
        for number, call in enumerate(message.tool_calls)
    ]
    asked["messages"] += [message.model_dump(exclude_none=True), *results]
    told = client.chat.completions.create(**asked)
    assert told.choices[0].message.content == "The tool answered: result 1"
    return [dumped(answer), dumped(told)]


def parsed_answer(client: openai.OpenAI) -> Json:
    answer = client.chat.completions.parse(**chat("A trip to 'Rosario' for 3 days"), response_format=Trip)
    assert isinstance(answer.choices[0].message.parsed, Trip)
    assert answer.choices[0].message.parsed.city == "Rosario"
    return dumped(answer)


def parsed_tool_call(client: openai.OpenAI) -> Json:
    answer = client.chat.completions.parse(**chat("get_weather in 'Rosario'", tools=[STRICT_WEATHER]))
    calls = answer.choices[0].message.tool_calls
    assert calls is not None
    assert calls[0].function.parsed_arguments == {"city": "Rosario"}
    return dumped(answer)


def raw_answer(client: openai.OpenAI) -> Json:
    raw = client.chat.completions.with_raw_response.create(**chat("say: raw"))
    assert raw.headers["content-type"] == "application/json"
    return [raw.status_code, raw.content.decode(), dumped(raw.parse())]


def streamed_raw_answer(client: openai.OpenAI) -> Json:
    with client.chat.completions.with_streaming_response.create(**chat("40 words", stream=True)) as raw:
        lines = list(raw.iter_lines())
    assert "data: [DONE]" in lines
    return [raw.status_code, lines]


# --- streams ------------------------------------------------------------------------------------------------------


def streamed(content: str, **fields: Json) -> Case:
    def case(client: openai.OpenAI) -> Json:
        with client.chat.completions.create(**chat(content, **fields), stream=True) as stream:
            chunks = [dumped(chunk) for chunk in stream]
        assert len(chunks) > 2
        return chunks

    return case


def streamed_usage(client: openai.OpenAI) -> Json:
    chunks = streamed("40 words", stream_options={"include_usage": True})(client)
    assert chunks[-1]["fields"]["choices"] == []
    assert chunks[-1]["fields"]["usage"]["completion_tokens"] > 0
    return chunks


def stream_without_usage(client: openai.OpenAI) -> Json:
    chunks = streamed("40 words")(client)
    assert all(chunk["fields"]["usage"] is None for chunk in chunks)
    return chunks


def stream_helper(content: str, **fields: Json) -> Case:
    def case(client: openai.OpenAI) -> Json:
        with client.chat.completions.stream(**chat(content, **fields)) as stream:
            seen = [dumped(event) for event in stream]
            final = stream.get_final_completion()
        assert {"ChunkEvent"} < {event["kind"] for event in seen}
        return [seen, dumped(final)]

    return case


# --- errors -------------------------------------------------------------------------------------------------------


def failure(error: type[openai.APIError], call: Callable[[openai.OpenAI], object]) -> Case:
    def case(client: openai.OpenAI) -> Json:
        with pytest.raises(error) as raised:
            call(client)
        told: Json = {"type": type(raised.value).__name__, "message": raised.value.message, "body": raised.value.body}
        if isinstance(raised.value, openai.APIStatusError):
            told |= {
                "status": raised.value.status_code,
                "request_id": raised.value.request_id,
                "code": raised.value.code,
            }
            told |= {
                "content": raised.value.response.text,
                "retry_after": raised.value.response.headers.get("retry-after"),
            }
        return told

    return case


def faulty(fault: str, **fields: Json) -> Callable[[openai.OpenAI], object]:
    return lambda client: client.chat.completions.create(
        **chat("say: x", **fields), extra_headers={"x-demo-fault": fault}
    )


def read_all(fault: str) -> Callable[[openai.OpenAI], object]:
    def call(client: openai.OpenAI) -> object:
        headers = {"x-demo-fault": fault}
        with client.chat.completions.create(**chat("40 words"), stream=True, extra_headers=headers) as stream:
            return list(stream)

    return call


def orphan(client: openai.OpenAI) -> object:
    messages: Json = [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "x", "content": "y"}]
    return client.chat.completions.create(model="demo-chat", messages=messages)


def no_key(client: openai.OpenAI) -> object:
    return client.chat.completions.create(**chat("hi"), extra_headers={"authorization": "Basic eDp5"})


def unknown_model(client: openai.OpenAI) -> object:
    return client.chat.completions.create(**chat("hi", model="demo-nope"))


def retried_by_the_sdk(client: openai.OpenAI) -> Json:
    patient = client.with_options(max_retries=3)
    raw = patient.chat.completions.with_raw_response.create(
        **chat("say: at last"), extra_headers={"x-demo-fault": "429=0.01x2", "x-demo-fault-key": client.api_key}
    )
    assert raw.retries_taken == 2
    return [raw.retries_taken, dumped(raw.parse())]


def timed_out(client: openai.OpenAI) -> Json:
    with pytest.raises(openai.APITimeoutError) as raised:
        faulty("slow-first-byte")(client.with_options(timeout=0.2))
    return type(raised.value).__name__


# --- the rest of the API --------------------------------------------------------------------------------------------


def models(client: openai.OpenAI) -> Json:
    listed = [dumped(model) for model in client.models.list()]
    assert listed
    return [listed, dumped(client.models.retrieve("demo-chat"))]


def embeddings(client: openai.OpenAI) -> Json:
    as_base64 = client.embeddings.create(model="text-embedding-3-small", input=["uno", "two"])
    as_floats = client.embeddings.create(model="text-embedding-3-small", input="uno", encoding_format="float")
    assert len(as_base64.data) == 2
    return [dumped(as_base64), dumped(as_floats)]


def files(client: openai.OpenAI) -> Json:
    content = hashlib.shake_128(b"a file").digest(3_000_000)
    uploaded = client.files.create(file=("notas ñ.bin", content), purpose="assistants")
    assert uploaded.bytes == len(content)
    assert client.files.content(uploaded.id).content == content
    with client.files.with_streaming_response.content(uploaded.id) as streaming:
        assert hashlib.sha256(b"".join(streaming.iter_bytes())).digest() == hashlib.sha256(content).digest()
    deleted = client.files.delete(uploaded.id)
    return [dumped(uploaded), dumped(deleted)]


def wrong_file(client: openai.OpenAI) -> object:
    return client.files.content("file-none")


CASES: dict[str, Case] = {
    "completion": completion,
    "every field of a request": every_field_of_a_request,
    "several choices": several_choices,
    "logprobs": logprobs,
    "refusal": refusal,
    "reasoning": reasoning,
    "parallel tool calls and their results": parallel_tool_calls,
    "parsed answer": parsed_answer,
    "parsed tool call": parsed_tool_call,
    "raw answer": raw_answer,
    "streamed raw answer": streamed_raw_answer,
    "length limit": lambda client: dumped(client.chat.completions.create(**chat("90 words", max_tokens=9))),
    "streamed usage": streamed_usage,
    "stream without usage": stream_without_usage,
    "streamed logprobs": streamed("say: a b ñ", logprobs=True, top_logprobs=1),
    "streamed refusal": streamed("refuse to help"),
    "streamed reasoning": streamed("say: thought through", model="demo-reasoner"),
    "streamed choices": streamed("tell me a thing", n=2),
    "streamed tool calls": streamed("get_weather in 'Rosario' for 12 days and get_time", tools=[WEATHER, CLOCK]),
    "stream of length limit": streamed("90 words", max_tokens=9),
    "stream helper": stream_helper("¿40 palabras? 40 palabras"),
    "stream helper with usage": stream_helper("40 words", stream_options={"include_usage": True}),
    "stream helper with logprobs": stream_helper("say: a b", logprobs=True),
    "stream helper with refusal": stream_helper("refuse to help"),
    "stream helper with tools": stream_helper("get_weather in 'Rosario'", tools=[STRICT_WEATHER]),
    "stream helper with format": stream_helper("A trip to 'Rosario' for 3 days", response_format=Trip),
    "stream helper with choices": stream_helper("tell me a thing", n=2),
    "wrong order": failure(openai.BadRequestError, orphan),
    "no key": failure(openai.AuthenticationError, no_key),
    "unknown model": failure(openai.NotFoundError, unknown_model),
    "unknown file": failure(openai.NotFoundError, wrong_file),
    "rate limit": failure(openai.RateLimitError, faulty("429=7")),
    "rate limit of a stream": failure(openai.RateLimitError, faulty("429=7", stream=True)),
    "server error": failure(openai.InternalServerError, faulty("500")),
    "bad gateway page": failure(openai.InternalServerError, faulty("502")),
    "overloaded": failure(openai.InternalServerError, faulty("503")),
    "error event": failure(openai.APIError, read_all("error-event=3")),
    "retried by the SDK": retried_by_the_sdk,
    "timed out": timed_out,
    "models": models,
    "embeddings": embeddings,
    "files": files,
}


@pytest.fixture(scope="module")
def direct(running_demo: Demo) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=running_demo.base_url, api_key="sk-direct", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def proxied(proxy: Proxy) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=proxy.base_url, api_key="sk-proxied", max_retries=0) as client:
        yield client


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_through_the_proxy_it_is_as_directly(case: Case, direct: openai.OpenAI, proxied: openai.OpenAI) -> None:
    assert case(proxied) == case(direct)


# --- asynchronous -----------------------------------------------------------------------------------------------------


async def async_completions(client: openai.AsyncOpenAI) -> Json:
    asked = (client.chat.completions.create(**chat(f"say: number {number}")) for number in range(8))
    answers = await asyncio.gather(*asked)
    assert [answer.choices[0].message.content for answer in answers] == [f"number {number}" for number in range(8)]
    return [dumped(answer) for answer in answers]


async def async_streams(client: openai.AsyncOpenAI) -> Json:
    async def read(number: int) -> Json:
        async with await client.chat.completions.create(**chat(f"4{number} words"), stream=True) as stream:
            return [dumped(chunk) async for chunk in stream]

    return await asyncio.gather(*(read(number) for number in range(8)))


async def async_stream_helper(client: openai.AsyncOpenAI) -> Json:
    asked = chat("get_weather in 'Rosario'", tools=[STRICT_WEATHER])
    async with client.chat.completions.stream(**asked) as stream:
        seen = [dumped(event) async for event in stream]
        final = await stream.get_final_completion()
    assert final.choices[0].message.tool_calls
    return [seen, dumped(final)]


async def async_parsed_answer(client: openai.AsyncOpenAI) -> Json:
    answer = await client.chat.completions.parse(**chat("A trip to 'Rosario' for 3 days"), response_format=Trip)
    assert answer.choices[0].message.parsed is not None
    return dumped(answer)


async def async_failure(client: openai.AsyncOpenAI) -> Json:
    with pytest.raises(openai.RateLimitError) as raised:
        await client.chat.completions.create(**chat("say: x"), extra_headers={"x-demo-fault": "429=7"})
    return [raised.value.message, raised.value.body, raised.value.request_id]


ASYNC_CASES: dict[str, AsyncCase] = {
    "completions": async_completions,
    "streams": async_streams,
    "stream helper": async_stream_helper,
    "parsed answer": async_parsed_answer,
    "failure": async_failure,
}


@pytest.mark.parametrize("case", ASYNC_CASES.values(), ids=ASYNC_CASES)
async def test_through_the_proxy_it_is_as_directly_for_the_async_client(
    case: AsyncCase, running_demo: Demo, proxy: Proxy
) -> None:
    async with (
        openai.AsyncOpenAI(base_url=running_demo.base_url, api_key="sk-direct", max_retries=0) as direct,
        openai.AsyncOpenAI(base_url=proxy.base_url, api_key="sk-proxied", max_retries=0) as proxied,
    ):
        assert await case(proxied) == await case(direct)


# --- headers --------------------------------------------------------------------------------------------------------


@pytest.mark.note("7 NO/8", "v2 Migración/1")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("fault", ["", "429=3", "502"])
def test_every_header_of_the_upstream_passes_and_only_ours_are_added(
    fault: str, stream: bool, direct: openai.OpenAI, proxied: openai.OpenAI
) -> None:
    def headers(client: openai.OpenAI) -> dict[str, str]:
        asked = chat("say: headers", stream=stream)
        try:
            raw = client.chat.completions.with_raw_response.create(**asked, extra_headers={"x-demo-fault": fault})
        except openai.APIStatusError as error:
            return dict(error.response.headers)
        else:
            received = dict(raw.headers)
            raw.http_response.close()
            return received

    from_upstream, from_proxy = headers(direct), headers(proxied)
    ours = {name for name in from_proxy if name.startswith("x-olvido-")}
    assert {"x-request-id", "openai-version", "x-ratelimit-remaining-tokens"} < from_upstream.keys()
    assert {name: value for name, value in from_proxy.items() if name not in ours} == from_upstream
    assert {"x-olvido-source", "x-olvido-session", "x-olvido-request", "x-olvido-plan"} <= ours


def test_the_sdk_sees_what_the_proxy_did(proxied: openai.OpenAI) -> None:
    raw = proxied.chat.completions.with_raw_response.create(**chat("say: labels"))
    assert raw.headers["x-olvido-source"] == "upstream"
    assert raw.headers["x-olvido-plan"] == "untouched"
    assert int(raw.headers["x-olvido-tokens-original"]) == int(raw.headers["x-olvido-tokens-sent"]) > 0
