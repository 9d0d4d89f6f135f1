"""From a body to a reply, with no server around it."""

import re
from typing import Any

import msgspec
import pytest

from proxy.demo.chat import Chat
from proxy.demo.config import DemoConfig
from proxy.demo.recording import Received
from proxy.demo.refusals import Refusal
from proxy.demo.reply import DONE, Reply
from proxy.wire.dialects import DIALECTS

HELLO = [{"role": "user", "content": "Hello there."}]
CLOCK = {"type": "function", "function": {"name": "clock"}}


def sent(chat: Chat, **body: Any) -> Reply | Refusal:
    encoded = msgspec.json.encode({"model": "demo-chat", "messages": HELLO, **body})
    return chat.answer(Received("POST", "/v1/chat/completions", "", (("authorization", "Bearer k"),), encoded, 0.0))


def told(chat: Chat, **body: Any) -> Any:
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
    first, second = told(Chat(DemoConfig())), told(Chat(DemoConfig()), **fields)
    assert ((first["id"], first["created"]) == (second["id"], second["created"])) is same


def test_a_stream_ends_with_done() -> None:
    reply = sent(Chat(DemoConfig()), stream=True)
    assert isinstance(reply, Reply)
    assert reply.streamed
    assert reply.pieces[-1] == DONE


@pytest.mark.parametrize(
    ("dialect", "shape"), [("kimi", r"clock:0"), ("mistral", r"\w{9}"), ("openai", r"call_\w{24}")]
)
def test_call_ids_look_like_the_dialects_own(dialect: str, shape: str) -> None:
    answer = told(Chat(DemoConfig(dialect=DIALECTS[dialect])), tools=[CLOCK], tool_choice="required")
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
    assert ("reasoning_content" in told(Chat(DemoConfig()), **fields)["choices"][0]["message"]) is thinks


def test_the_order_rules_can_be_switched_off() -> None:
    orphan = [*HELLO, {"role": "tool", "tool_call_id": "x", "content": "y"}]
    assert isinstance(sent(Chat(DemoConfig()), messages=orphan), Refusal)
    assert isinstance(sent(Chat(DemoConfig(strict=False)), messages=orphan), Reply)


def test_what_is_refused_is_not_cached() -> None:
    chat = Chat(DemoConfig(dialect=DIALECTS["kimi"]))
    long = [{"role": "user", "content": "word " * 600}]
    assert isinstance(sent(chat, messages=long, model="kimi-k2.6", temperature=0), Refusal)
    assert len(chat.cache) == 0
