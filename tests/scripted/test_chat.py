"""From a body to a reply, with no server around it."""

import re
from typing import Any

import msgspec
import pytest

from proxy.demo.forms import Choice, Completion, body, chunks
from proxy.demo.script import Scripted
from proxy.protocol.dialects import DIALECTS
from tests.scripted.chat import ChoiceWithLogprobs, DialectChat, told_by
from tests.scripted.config import ScriptedConfig
from tests.scripted.recording import Received
from tests.scripted.refusals import Refusal
from tests.scripted.reply import DONE, Reply

HELLO = [{"role": "user", "content": "Hello there."}]
CLOCK = {"type": "function", "function": {"name": "clock"}}


def sent(chat: DialectChat, **body: Any) -> Reply | Refusal:
    encoded = msgspec.json.encode({"model": "demo-chat", "messages": HELLO, **body})
    return chat.answer(Received("POST", "/v1/chat/completions", "", (("authorization", "Bearer k"),), encoded, 0.0))


def told(chat: DialectChat, **body: Any) -> Any:
    reply = sent(chat, **body)
    assert isinstance(reply, Reply)
    return msgspec.json.decode(reply.pieces[0])


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"user": "ana"}, True),
        ({"metadata": {"a": "b"}}, True),
        ({"stream_options": {"include_usage": True}}, True),
        ({"temperature": 0}, False),
        ({"model": "gpt-4o-mini"}, False),
        ({"messages": [*HELLO, {"role": "assistant", "content": "hi"}, *HELLO]}, False),
    ],
)
def test_ids_are_the_requests_own_however_it_is_delivered(fields: dict[str, Any], *, same: bool) -> None:
    first, second = told(DialectChat(ScriptedConfig())), told(DialectChat(ScriptedConfig()), **fields)
    assert ((first["id"], first["created"]) == (second["id"], second["created"])) is same


def test_a_stream_ends_with_done() -> None:
    reply = sent(DialectChat(ScriptedConfig()), stream=True)
    assert isinstance(reply, Reply)
    assert reply.streamed
    assert reply.pieces[-1] == DONE


@pytest.mark.parametrize(
    ("dialect", "shape"), [("kimi", r"clock:0"), ("mistral", r"\w{9}"), ("openai", r"call_\w{24}")]
)
def test_call_ids_look_like_the_dialects_own(dialect: str, shape: str) -> None:
    answer = told(DialectChat(ScriptedConfig(dialect=DIALECTS[dialect])), tools=[CLOCK], tool_choice="required")
    (call,) = answer["choices"][0]["message"]["tool_calls"]
    assert re.fullmatch(shape, call["id"])


@pytest.mark.parametrize(
    ("fields", "thinks"),
    [
        ({}, False),
        ({"model": "demo-reasoner"}, True),
        ({"model": "demo-reasoner", "thinking": {"type": "disabled"}}, False),
        ({"thinking": {"type": "enabled"}}, True),
    ],
)
def test_thinking_is_the_models_unless_the_request_says_otherwise(fields: dict[str, Any], *, thinks: bool) -> None:
    assert ("reasoning_content" in told(DialectChat(ScriptedConfig()), **fields)["choices"][0]["message"]) is thinks


def test_the_order_rules_can_be_switched_off() -> None:
    orphan = [*HELLO, {"role": "tool", "tool_call_id": "x", "content": "y"}]
    assert isinstance(sent(DialectChat(ScriptedConfig()), messages=orphan), Refusal)
    assert isinstance(sent(DialectChat(ScriptedConfig(strict=False)), messages=orphan), Reply)


def test_what_is_refused_is_not_cached() -> None:
    chat = DialectChat(ScriptedConfig(dialect=DIALECTS["kimi"]))
    long = [{"role": "user", "content": "word " * 600}]
    assert isinstance(sent(chat, messages=long, model="kimi-k2.6", temperature=0), Refusal)
    assert len(chat.cache) == 0


USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


@pytest.mark.parametrize(
    ("dialect", "include_usage", "in_choice", "in_last_content_chunk", "trailing"),
    [
        ("openai", False, False, False, False),
        ("openai", True, False, False, True),
        ("kimi", False, True, False, False),
        ("kimi", True, True, False, True),
        ("mistral", False, False, True, False),
    ],
)
def test_where_each_dialect_tells_the_usage(
    dialect: str, *, include_usage: bool, in_choice: bool, in_last_content_chunk: bool, trailing: bool
) -> None:
    completion = Completion("chatcmpl-1", 1, "demo-chat", (Choice(Scripted("hi"), "stop"),), USAGE)
    told = list(told_by(DIALECTS[dialect], chunks(completion, 3, include_usage=include_usage)))
    last = next(event for event in told if event["choices"] and event["choices"][0]["finish_reason"])
    assert (last["choices"][0].get("usage") == USAGE) is in_choice
    assert (last.get("usage") == USAGE) is in_last_content_chunk
    assert (told[-1]["choices"] == [] and told[-1]["usage"] == USAGE) is trailing
    assert ("usage" in told[0]) is include_usage


def test_usage_adds_up_and_is_told_as_each_dialect_tells_it() -> None:
    openai, kimi, deepseek = (
        DialectChat(ScriptedConfig(dialect=DIALECTS[name])).usage(100, 64, 2, 7)
        for name in ("openai", "kimi", "deepseek")
    )
    assert (openai["prompt_tokens"], openai["completion_tokens"], openai["total_tokens"]) == (100, 9, 109)
    assert openai["prompt_tokens_details"]["cached_tokens"] == 64
    assert openai["completion_tokens_details"]["reasoning_tokens"] == 2
    assert kimi == {"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109, "cached_tokens": 64}
    assert (deepseek["prompt_cache_hit_tokens"], deepseek["prompt_cache_miss_tokens"]) == (64, 36)


def test_logprobs_have_a_token_for_every_piece_of_the_text() -> None:
    completion = Completion(
        "chatcmpl-1", 1, "demo-chat", (ChoiceWithLogprobs(Scripted("two words"), "stop", (), 2),), USAGE
    )
    tokens = body(completion)["choices"][0]["logprobs"]["content"]
    events = chunks(completion, 3, include_usage=False)
    streamed = [event["choices"][0].get("logprobs") for event in events]
    assert "".join(token["token"] for token in tokens) == "two words"
    assert [entry for told in streamed if told for entry in told["content"]] == tokens
    assert all(len(token["top_logprobs"]) == 2 and token["logprob"] <= 0 for token in tokens)
