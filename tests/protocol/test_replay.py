"""A replayed answer adds up to the stored one: by our own reading, and by the official SDK's."""

from itertools import pairwise
from typing import Any, TypeAlias

import httpx2
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import APIError, AsyncOpenAI
from openai.lib.streaming.chat import AsyncChatCompletionStream

from proxy.protocol.accumulate import Accumulator
from proxy.protocol.replay import as_json, as_sse
from proxy.protocol.sse import DONE, SseParser, error_event

Body: TypeAlias = dict[str, Any]

USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14, "prompt_tokens_details": {"cached_tokens": 4}}
LONG = "El ñandú 🧉 corre; " * 40


def completion(*choices: Body, **fields: Any) -> Body:
    head = {"id": "c1", "object": "chat.completion", "created": 7, "model": "m", "system_fingerprint": "fp"}
    return {**head, "choices": list(choices), "usage": USAGE, **fields}


def answer(index: int = 0, /, finish: str = "stop", logprobs: Any = None, **message: Any) -> Body:
    message = {"role": "assistant", "content": None, "refusal": None, **message}
    return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": finish}


def tool_call(number: int, **fields: Any) -> Body:
    function = {"name": f"tool_{number}", "arguments": f'{{"n":{number}}}'}
    return {"id": f"call_{number}", "type": "function", "function": function, **fields}


LOGPROBS: Body = {
    "content": [{"token": t, "bytes": None, "logprob": -0.5, "top_logprobs": []} for t in "ab"],
    "refusal": None,
}
ANSWERS = {
    "short": completion(answer(content="Hola")),
    "long": completion(answer(content=LONG)),
    "empty": completion(answer(content="")),
    "refusal": completion(answer(refusal="No puedo ayudar con eso. " * 20)),
    "tools": completion(answer(finish="tool_calls", tool_calls=[tool_call(0), tool_call(1)])),
    "text and tools": completion(answer(finish="tool_calls", content=LONG, tool_calls=[tool_call(0)])),
    "two choices": completion(answer(0, content=LONG), answer(1, content="otra")),
    "reasoning": completion(answer(content="42", reasoning_content=LONG)),
    "logprobs": completion(answer(content="ab", logprobs=LOGPROBS)),
    "function_call": completion(answer(finish="function_call", function_call={"name": "f", "arguments": "{}"})),
    "unknown fields": completion(
        answer(content="x", annotations=[{"type": "url_citation", "url_citation": {"url": "u"}}], note={"a": [1, None]})
        | {"content_filter_results": {"hate": {"filtered": False}}},
        citations=["a", "b"],
        service_tier="default",
    ),
    "gemini": completion(
        answer(
            tool_calls=[tool_call(0, extra_content={"google": {"thought_signature": "S"}})], extra_content={"k": "v"}
        )
    ),
}
every_answer = pytest.mark.parametrize("stored", ANSWERS.values(), ids=ANSWERS.keys())


def accumulate(*chunks: bytes) -> Accumulator:
    parser, accumulator = SseParser(), Accumulator()
    for event in [event for chunk in chunks for event in parser.feed(chunk)] + parser.flush():
        accumulator.feed(event.data or b"")
    return accumulator


def chunks_of(events: list[bytes]) -> list[Body]:
    assert events[-1] == DONE
    parser = SseParser()
    return [msgspec.json.decode(event.data or b"") for event in parser.feed(b"".join(events[:-1]))]


# --- by our own reading ---------------------------------------------------------------------------------------------

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(["", LONG, "a\nb\r\n\u2028"])
_leaves = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | _text
)
_json = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text | st.just("index"), inner, max_size=3),
    max_leaves=8,
)


def unknown_fields(*known: str) -> st.SearchStrategy[Body]:
    return st.dictionaries(_text.filter(lambda key: key not in known), _json, max_size=3)


def joined(*parts: st.SearchStrategy[Body]) -> st.SearchStrategy[Body]:
    return st.tuples(*parts).map(lambda dicts: {key: value for part in dicts for key, value in part.items()})


_calls = st.lists(
    joined(
        unknown_fields("index", "id", "function", "type"),
        st.fixed_dictionaries(
            {"id": _text, "function": st.fixed_dictionaries({"name": _text, "arguments": _text})},
            optional={"type": st.just("function"), "extra_content": _json},
        ),
    ),
    max_size=3,
)
_messages = joined(
    unknown_fields("tool_calls", "role"),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | _text},
        optional={
            "refusal": st.none() | _text,
            "reasoning_content": st.none() | _text,
            "reasoning": _text,
            "tool_calls": st.none() | _calls,
            "function_call": st.none() | st.fixed_dictionaries({"name": _text, "arguments": _text}),
            "audio": st.none() | st.fixed_dictionaries({"id": _text, "data": _text, "expires_at": st.integers(0, 9)}),
            "reasoning_details": st.lists(
                st.fixed_dictionaries({"index": st.integers(0, 2), "text": _text}), max_size=3
            ),
        },
    ),
)
_tokens = st.none() | st.lists(st.fixed_dictionaries({"token": _text, "logprob": st.floats(-9, 0)}), max_size=3)
_choice = joined(
    unknown_fields("index", "message", "delta", "usage", "finish_reason", "logprobs"),
    st.fixed_dictionaries(
        {"message": _messages, "finish_reason": st.sampled_from(["stop", "length", "tool_calls"])},
        optional={"logprobs": st.none() | st.fixed_dictionaries({"content": _tokens, "refusal": _tokens})},
    ),
)
_completions = joined(
    unknown_fields("choices", "usage", "object", "error", "obfuscation"),
    st.fixed_dictionaries(
        {
            "object": st.just("chat.completion"),
            "choices": st.lists(_choice, min_size=1, max_size=3).map(
                lambda choices: [{**choice, "index": index} for index, choice in enumerate(choices)]
            ),
        },
        optional={
            "id": _text,
            "created": st.integers(0, 2**40),
            "model": _text,
            "system_fingerprint": st.none() | _text,
            "service_tier": st.none() | _text,
            "usage": st.fixed_dictionaries({"prompt_tokens": st.integers(0, 99)}, optional={"more": _json}),
        },
    ),
)


@settings(max_examples=40)
@given(_completions)
def test_a_replayed_completion_adds_up_to_the_stored_one(stored: Body) -> None:
    accumulator = accumulate(*as_sse(stored, include_usage=True))
    assert accumulator.completion() == stored
    assert accumulator.complete


@settings(max_examples=40)
@given(_completions, st.lists(st.integers(0, 100_000), max_size=8))
def test_wherever_its_bytes_are_cut(stored: Body, cuts: list[int]) -> None:
    stream = b"".join(as_sse(msgspec.json.encode(stored), include_usage=True))
    edges = [0, *sorted(cut % len(stream) for cut in cuts), len(stream)]
    chunks = [stream[start:stop] for start, stop in pairwise(edges)]
    assert accumulate(*chunks).completion() == stored


@every_answer
def test_without_usage_only_usage_is_missing(stored: Body) -> None:
    events = as_sse(stored, include_usage=False)
    assert not any("usage" in chunk or not chunk["choices"] for chunk in chunks_of(events))
    assert accumulate(*events).completion() == {key: value for key, value in stored.items() if key != "usage"}


@every_answer
def test_with_usage_it_is_told_last_and_nowhere_else(stored: Body) -> None:
    *others, last = chunks_of(as_sse(stored, include_usage=True))
    assert last["choices"] == []
    assert last["usage"] == USAGE
    assert all(chunk["usage"] is None and len(chunk["choices"]) == 1 for chunk in others)


@every_answer
def test_every_chunk_says_whose_it_is_and_every_choice_begins_with_its_role(stored: Body) -> None:
    chunks = chunks_of(as_sse(stored, include_usage=False))
    assert all(
        (c["id"], c["object"], c["created"], c["model"]) == ("c1", "chat.completion.chunk", 7, "m") for c in chunks
    )
    seen: set[int] = set()
    for chunk in chunks:
        (choice,) = chunk["choices"]
        assert (choice["delta"].get("role") == "assistant") is (choice["index"] not in seen)
        seen.add(choice["index"])


def test_long_text_comes_in_pieces_with_the_thought_first() -> None:
    chunks = chunks_of(as_sse(completion(answer(content=LONG, reasoning_content=LONG)), include_usage=False))
    told = [key for chunk in chunks for key in chunk["choices"][0]["delta"] if chunk["choices"][0]["delta"][key]]
    assert told.count("content") > 3
    assert told == [
        "role",
        *["reasoning_content"] * told.count("reasoning_content"),
        *["content"] * told.count("content"),
    ]


def test_a_completion_without_choices_is_only_its_head() -> None:
    assert accumulate(*as_sse(completion(), include_usage=True)).completion() == completion()


@pytest.mark.parametrize("stored", [{}, {"choices": None}, {"choices": [None]}, b"[]", b"{"])
def test_what_is_no_completion_is_refused(stored: Body | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        as_sse(stored, include_usage=True)


@pytest.mark.parametrize(
    "message", [None, "text", {}, {"content": [{"type": "text"}]}, {"tool_calls": "x"}, {"tool_calls": [1]}]
)
def test_an_odd_message_is_replayed_as_far_as_it_goes(message: Any) -> None:
    told = accumulate(
        *as_sse(completion({"index": 0, "message": message, "finish_reason": "stop"}), include_usage=True)
    )
    fields = message if isinstance(message, dict) else {}
    assert told.completion()["choices"][0]["message"] == {"role": "assistant", **fields}


def test_as_json_gives_stored_bytes_as_they_are() -> None:
    assert as_json(b'{ "id" : 1 }') == b'{ "id" : 1 }'
    assert msgspec.json.decode(as_json(ANSWERS["tools"])) == ANSWERS["tools"]


# --- by the official SDK's reading ----------------------------------------------------------------------------------


def sdk(stream: bytes) -> AsyncOpenAI:
    def handler(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream)

    transport = httpx2.MockTransport(handler)
    return AsyncOpenAI(api_key="k", base_url="http://test/v1", http_client=httpx2.AsyncClient(transport=transport))


async def told_to_sdk(stream: bytes) -> Body:
    async with (
        sdk(stream) as client,
        client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "hola"}]) as events,
    ):
        assert isinstance(events, AsyncChatCompletionStream)
        final = await events.get_final_completion()
    return final.to_dict(exclude_unset=True, mode="json")


def bare(value: Any) -> Any:
    """Without what the SDK adds when it parses, and without nulls, which it adds and drops freely."""
    if isinstance(value, dict):
        added = {"parsed", "parsed_arguments"}
        return {key: bare(item) for key, item in value.items() if key not in added and item is not None}
    return [bare(item) for item in value] if isinstance(value, list) else value


@every_answer
async def test_the_sdk_ends_up_with_the_stored_completion(stored: Body) -> None:
    told = await told_to_sdk(b"".join(as_sse(stored, include_usage=True)))
    for choice in told["choices"]:
        for call in choice["message"].get("tool_calls") or ():
            call.pop("index")  # kept from the chunks by the SDK; the position says the same
    assert bare(told) == bare(stored)


async def test_the_sdk_raises_at_an_error_event() -> None:
    stream = b"".join(as_sse(ANSWERS["long"], include_usage=True)[:4]) + error_event(
        b'{"error":{"message":"upstream broke"}}'
    )
    with pytest.raises(APIError, match="upstream broke"):
        await told_to_sdk(stream)
