"""What counts as an event, wherever the chunks are cut; and that no byte is lost."""

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
from proxy.protocol.sse import (
    DONE,
    DONE_DATA,
    Event,
    EventTooLargeError,
    SseParser,
    as_sse,
    encode,
    error_event,
)
from tests.examples import examples

# The pieces that streams are made of, and that go wrong when cut or put side by side.
_FIELDS = [b"data: ", b"data:", b"data", b"event: error", b"id: 7", b"retry: 10", b": ping"]
_LINE_ENDS = [b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n"]
_VALUES = [b'{"a":1}', "ñandú 🧉".encode(), b"[DONE]", b"\xef\xbb\xbf", b"\xff", b":", b" ", b"x"]
_fragments = st.sampled_from([*_FIELDS, *_LINE_ENDS, *_VALUES])
streams = st.lists(_fragments, max_size=30).map(b"".join)


def parse(*chunks: bytes) -> list[Event]:
    parser = SseParser()
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.flush()


def data_of(*chunks: bytes) -> list[bytes | None]:
    return [event.data for event in parse(*chunks)]


def feed_all(parser: SseParser, chunks: list[bytes]) -> None:
    for chunk in chunks:
        parser.feed(chunk)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[start:stop] for start, stop in pairwise(edges)]


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"data: a\n\n", [b"a"]),
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\n\r\ndata: b\r\n\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data: a\r\ndata: b\r\n\r\n", [b"a\nb"]),
        (b"data\n\n", [b""]),
        (b"data:\n\n", [b""]),
        (b"data: a: b\n\n", [b"a: b"]),
        (b": OPENROUTER PROCESSING\n\ndata: a\n\n", [None, b"a"]),
        (b": ping\ndata: a\n\n", [b"a"]),
        (b"id: 1\nretry: 10\ndata: a\n\n", [b"a"]),
        (b"id: 1\n\n", [None]),
        (b"database: a\n\n", [None]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [b"a", None]),
        (b"data: a\n\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\n\ndata: [DONE]", [b"a", b"[DONE]"]),
        (b"data: [DONE]\n", [b"[DONE]"]),
        (b"data: a\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8b\n\n", [b"a\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8b"]),
        (b"", []),
    ],
)
def test_a_stream_holds_these_events(stream: bytes, data: list[bytes | None]) -> None:
    assert data_of(stream) == data


def test_an_event_is_told_with_its_bytes() -> None:
    stream = b": hm\r\nevent: error\r\ndata: {}\r\n\r\n"
    assert parse(stream) == [Event(raw=stream, data=b"{}")]


def test_an_event_is_given_out_as_soon_as_its_blank_line_is_there() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\n") == []
    assert parser.feed(b"\ndata: b") == [Event(b"data: a\n\n", b"a")]
    assert parser.feed(b"\r\n\r\n") == [Event(b"data: b\r\n\r\n", b"b")]
    assert parser.feed(b"data: c\n\ndata: d\n\n") == [Event(b"data: c\n\n", b"c"), Event(b"data: d\n\n", b"d")]
    assert parser.flush() == []


def test_a_line_end_cut_in_two_is_one_line_end() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\r\n\r") == []
    assert parser.feed(b"\ndata: b\r\n\r\n") == [Event(b"data: a\r\n\r\n", b"a"), Event(b"data: b\r\n\r\n", b"b")]


@given(streams)
def test_no_byte_is_lost(stream: bytes) -> None:
    assert b"".join(event.raw for event in parse(stream)) == stream


@given(streams, st.lists(st.integers(0, 10_000), max_size=12))
def test_the_cuts_do_not_matter(stream: bytes, cuts: list[int]) -> None:
    assert parse(*pieces(stream, cuts)) == parse(stream)


@given(streams)
def test_nor_does_feeding_byte_by_byte(stream: bytes) -> None:
    assert parse(*(stream[i : i + 1] for i in range(len(stream)))) == parse(stream)


@given(st.lists(st.text(alphabet=st.sampled_from("añ🧉{}: \n\r"), max_size=20), max_size=5))
def test_what_was_written_is_read_again(texts: list[str]) -> None:
    stream = b"".join(encode(text.encode()) for text in texts)
    line_ends_as_lf = [text.replace("\r\n", "\n").replace("\r", "\n").encode() for text in texts]
    assert data_of(stream) == line_ends_as_lf


@pytest.mark.parametrize(
    "chunks", [[b"data: " + b"x" * 100], [b"data: ", b"x" * 100], [b"data: " + b"x" * 100 + b"\n\n"]]
)
def test_an_event_beyond_the_bound_is_refused_and_its_bytes_can_be_passed_on(chunks: list[bytes]) -> None:
    parser = SseParser(max_event_bytes=64)
    passed_on = parser.feed(b"data: a\n\n")[0].raw
    with pytest.raises(EventTooLargeError):
        feed_all(parser, chunks)
    assert passed_on + parser.rest() == b"data: a\n\n" + b"".join(chunks)


def test_a_chunk_beyond_the_bound_made_of_small_events_is_fine() -> None:
    stream = b"data: x\n\n" * 100
    assert len(SseParser(max_event_bytes=64).feed(stream)) == 100


def test_the_events_before_one_too_large_are_not_lost_when_they_share_its_chunk() -> None:
    parser = SseParser(max_event_bytes=64)
    chunk = b"data: a\n\ndata: " + b"x" * 100
    with pytest.raises(EventTooLargeError):
        parser.feed(chunk)
    assert parser.rest() == chunk


def test_the_end_of_a_stream_is_one_event() -> None:
    assert parse(DONE) == [Event(DONE, DONE_DATA)]


def test_an_error_event_is_one_unnamed_event() -> None:
    assert parse(error_event(b'{"error":{}}')) == [Event(b'data: {"error":{}}\n\n', b'{"error":{}}')]


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


@settings(max_examples=examples(40))
@given(_completions)
def test_a_replayed_completion_adds_up_to_the_stored_one(stored: Body) -> None:
    accumulator = accumulate(*as_sse(stored, include_usage=True))
    assert accumulator.completion() == stored
    assert accumulator.complete


@settings(max_examples=examples(40))
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
