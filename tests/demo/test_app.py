"""The demonstration's upstream over a real socket, by the official SDK."""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.demo.app import (
    Chat,
    Choice,
    Completion,
    PromptCache,
    body,
    chunks,
    completion_tokens,
    create_app,
    cut,
    prompt_tokens,
    slices,
)
from proxy.demo.script import Scripted, ToolCall
from proxy.types import PrefixCache
from tests.scripted.config import four_bytes_a_token
from tests.servers import run_app


@pytest.fixture(scope="module")
def sdk() -> Iterator[openai.OpenAI]:
    with (
        run_app(create_app(four_bytes_a_token)) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key="sk-test", max_retries=0) as client,
    ):
        yield client


def test_a_stream_adds_up_to_the_same_answer(sdk: openai.OpenAI) -> None:
    whole = sdk.chat.completions.create(model="demo-chat", messages=[{"role": "user", "content": "Hello."}])
    pieces = sdk.chat.completions.create(
        model="demo-chat", messages=[{"role": "user", "content": "Hello."}], stream=True
    )
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == whole.choices[0].message.content


def test_it_has_every_model_that_the_programs_of_the_documents_name(sdk: openai.OpenAI) -> None:
    documents = (Path("README.md"), Path("deploy/docs/clients.md"))
    programs = re.compile(r"""\bmodel\b\W+"(?:openai/)?([a-z0-9.-]+)""")
    named = {name for path in documents for name in programs.findall(path.read_text(encoding="utf-8"))}
    assert {"kimi-k2.6", "gpt-6-luna"} <= named
    assert named - {"gpt-5.1"} <= {model.id for model in sdk.models.list()}  # that one is of a client's own settings


def test_its_models_are_listed_and_others_unknown(sdk: openai.OpenAI) -> None:
    assert "demo-chat" in [model.id for model in sdk.models.list()]
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        sdk.chat.completions.create(model="gpt-9", messages=[{"role": "user", "content": "Hello."}])


@pytest.mark.parametrize("body", [b"{", b"\xff", b'"text"', b"{}", b'{"model":"demo-chat"}', b'{"messages":[]}'])
def test_what_is_no_request_is_refused(sdk: openai.OpenAI, body: bytes) -> None:
    answer = httpx.post(f"{sdk.base_url}chat/completions", content=body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


LONG = [{"role": "user", "content": "get weather " + "word " * 600}]
WEATHER = {"type": "function", "function": {"name": "get_weather"}}


def told(chat: Chat, **fields: Any) -> Any:
    return body(chat.complete({"model": "demo-chat", **fields}, LONG, "sk-1"))


def test_ids_come_from_the_request_and_calls_are_named_as_kimi_names_them() -> None:
    first, again, other = (
        told(Chat(four_bytes_a_token), tools=[WEATHER]),
        told(Chat(four_bytes_a_token), tools=[WEATHER], user="ana"),
        told(Chat(four_bytes_a_token)),
    )
    assert first == again
    assert first["id"] != other["id"]
    assert [call["id"] for call in first["choices"][0]["message"]["tool_calls"]] == ["get_weather:0"]


def test_what_was_sent_before_is_billed_as_cached() -> None:
    chat = Chat(four_bytes_a_token)
    first, again = told(chat)["usage"], told(chat)["usage"]
    assert (first["cached_tokens"], again["cached_tokens"]) == (0, 512)
    assert first["total_tokens"] == first["prompt_tokens"] + first["completion_tokens"]


CALLING = Choice(Scripted(calls=(ToolCall("clock", '{"zone":"UTC"}'),)), "tool_calls", ("call_1",))
USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


def completion(*choices: Choice) -> Completion:
    return Completion("chatcmpl-1", 1, "demo-chat", choices, USAGE)


def letters(text: str) -> Sequence[int]:
    return [ord(letter) for letter in text]


def events(*choices: Choice, include_usage: bool = False, count: int = 3) -> list[Any]:
    return list(chunks(completion(*choices), count, include_usage=include_usage))


@given(st.text(max_size=50), st.integers(1, 60))
def test_slices_add_up_to_the_text_and_none_is_empty(text: str, count: int) -> None:
    pieces = slices(text, count)
    assert "".join(pieces) == text
    assert len(pieces) == min(count, len(text))
    assert all(pieces)


@pytest.mark.parametrize(
    ("said", "stop", "limit", "content", "reason"),
    [
        (Scripted("one two three"), [], None, "one two three", "stop"),
        (Scripted("one two three"), [" two"], None, "one", "stop"),
        (Scripted("one two three"), ["three", "two"], None, "one ", "stop"),
        (Scripted("one two three"), [], 5, "one t", "length"),
        (Scripted("one two three"), [], 13, "one two three", "stop"),
        (Scripted("one two three"), [" two"], 2, "on", "length"),
        (Scripted("answer", reasoning="hmm"), [], 5, "an", "length"),
        (Scripted("answer", reasoning="hmm"), [], 2, "", "length"),
    ],
)
def test_an_answer_ends_where_it_is_told_to(
    said: Scripted, stop: list[str], limit: int | None, content: str, reason: str
) -> None:
    left, why = cut(said, stop, limit, letters)
    assert (left.content, why) == (content, reason)


def test_streamed_choices_take_turns_and_add_up_to_the_whole() -> None:
    choices = [Choice(Scripted("first", reasoning="hm"), "stop"), Choice(Scripted("second"), "length"), CALLING]
    texts: dict[int, dict[str, str]] = {}
    for event in events(*choices):
        for choice in event["choices"]:
            told = texts.setdefault(choice["index"], {"content": "", "reasoning_content": "", "arguments": ""})
            delta = choice["delta"]
            told["content"] += delta.get("content") or ""
            told["reasoning_content"] += delta.get("reasoning_content", "")
            told["arguments"] += "".join(call["function"]["arguments"] for call in delta.get("tool_calls", ()))
            if choice["finish_reason"]:
                told["finish_reason"] = choice["finish_reason"]
    whole = body(completion(*choices))["choices"]
    assert [texts[at]["content"] for at in range(3)] == [choice["message"]["content"] or "" for choice in whole]
    assert [texts[at]["finish_reason"] for at in range(3)] == [choice["finish_reason"] for choice in whole]
    assert texts[0]["reasoning_content"] == whole[0]["message"]["reasoning_content"]
    assert texts[2]["arguments"] == whole[2]["message"]["tool_calls"][0]["function"]["arguments"]


def test_only_the_first_piece_of_a_call_has_its_id_and_name() -> None:
    calls = [event["choices"][0]["delta"].get("tool_calls", [None])[0] for event in events(CALLING)]
    calls = [call for call in calls if call]
    assert [set(call) for call in calls] == [{"index", "id", "type", "function"}] + [{"index", "function"}] * 3
    assert calls[0]["function"] == {"name": "clock", "arguments": ""}


@pytest.mark.parametrize("include_usage", [False, True])
def test_the_usage_is_in_the_last_choice_and_in_a_chunk_of_its_own_if_asked_for(*, include_usage: bool) -> None:
    told = events(Choice(Scripted("hi"), "stop"), include_usage=include_usage)
    last = next(event for event in told if event["choices"] and event["choices"][0]["finish_reason"])
    assert last["choices"][0]["usage"] == USAGE
    assert (told[-1]["choices"] == [] and told[-1]["usage"] == USAGE) is include_usage
    assert ("usage" in told[0]) is include_usage


def test_tokens_are_counted_of_thinking_and_of_all_that_was_said_or_called() -> None:
    said = [Scripted("four", reasoning="hm"), Scripted(calls=(ToolCall("f", "{}"),))]
    assert completion_tokens(said, letters) == (2, 7)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def cache(clock: Clock | None = None, bound: int = 1000, **spec: Any) -> PromptCache:
    return PromptCache(PrefixCache(**{"ttl": 300.0, "block": 4, **spec}), clock or Clock(), bound)


def test_the_first_time_nothing_is_cached_and_the_second_time_every_whole_block_is() -> None:
    known = cache()
    assert known.admit("key", "model", range(11)) == 0
    assert known.admit("key", "model", range(11)) == 8


@pytest.mark.parametrize(
    ("second", "cached"),
    [
        ([*range(12), 99, 98, 97, 96], 12),  # goes on: the old prompt is the prefix
        ([*range(8), 99, 98, 97, 96], 8),  # differs in the third block
        ([*range(7), 99, *range(8, 12)], 4),  # differs in the second: the third is the same, but no prefix
        ([99, *range(1, 12)], 0),
        ([*range(3)], 0),  # shorter than a block
    ],
)
def test_a_prefix_counts_up_to_the_first_block_that_differs(second: list[int], cached: int) -> None:
    known = cache()
    known.admit("key", "model", range(12))
    assert known.admit("key", "model", second) == cached


@pytest.mark.parametrize(("key", "model"), [("other", "model"), ("key", "other")])
def test_nothing_crosses_keys_or_models(key: str, model: str) -> None:
    known = cache()
    known.admit("key", "model", range(12))
    assert known.admit(key, model, range(12)) == 0


def test_a_block_is_forgotten_when_it_has_been_idle_for_the_ttl_and_each_use_renews_it() -> None:
    clock = Clock()
    known = cache(clock)
    known.admit("key", "model", range(8))
    clock.now += 299
    assert known.admit("key", "model", range(8)) == 8
    clock.now += 299
    assert known.admit("key", "model", range(8)) == 8
    clock.now += 300
    assert known.admit("key", "model", range(8)) == 0


def test_the_least_recently_used_blocks_leave_when_the_bound_is_reached() -> None:
    known = cache(bound=4)
    known.admit("key", "a", range(8))
    known.admit("key", "b", range(8))
    assert known.admit("key", "a", range(8)) == 8
    known.admit("key", "c", range(8))
    assert len(known) == 4
    assert known.admit("key", "b", range(8)) == 0


def test_short_prompts_are_not_cached_below_the_minimum() -> None:
    known = cache(minimum=12)
    known.admit("key", "model", range(11))
    assert known.admit("key", "model", range(11)) == 0
    known.admit("key", "model", range(12))
    assert known.admit("key", "model", range(12)) == 12


@pytest.mark.parametrize(("ttl", "cached"), [(0.0, 0), (math.inf, 8)])
def test_without_a_ttl_there_is_no_cache_and_with_an_endless_one_it_stays(ttl: float, cached: int) -> None:
    known = cache(ttl=ttl)
    known.admit("key", "model", range(8))
    assert known.admit("key", "model", range(8)) == cached


def test_a_conversation_that_goes_on_begins_with_its_own_tokens() -> None:
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "hola"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x"}]},
    ]
    longer = [*history, {"role": "tool", "tool_call_id": "x", "content": [{"type": "text", "text": "12:00"}]}]
    fields = {"tools": [{"type": "function", "function": {"name": "clock"}}]}
    short, long = (prompt_tokens(fields, messages, four_bytes_a_token) for messages in (history, longer))
    assert long[: len(short)] == short
    assert len(long) > len(short)
    assert prompt_tokens({}, history, four_bytes_a_token)[: len(short)] != short
