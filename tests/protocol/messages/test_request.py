"""Requests of the Messages API, read as chat completions and written again."""

import json
from typing import Any
from unittest.mock import ANY

import msgspec
import pytest
from hypothesis import given

from proxy.errors import BadRequest, InvalidJson, MissingParameter
from proxy.protocol.apis import chat_body, native_body
from proxy.protocol.message import instruction, prefixed, suffixed
from proxy.protocol.messages import request as adapter
from proxy.protocol.messages.blocks import UNFINISHED
from proxy.protocol.origin import Origin
from proxy.types import Repeats
from tests.other_apis import dialogues, misplaced_blocks, refusal

Json = Any
LOOK = {"name": "look", "description": "Looks", "input_schema": {"type": "object"}}
FUNCTION = {
    "type": "function",
    "function": {"name": "look", "description": "Looks", "parameters": {"type": "object"}},
}
CACHED = {"cache_control": {"type": "ephemeral"}}


def parsed(**fields: Json) -> Any:
    basic = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    return adapter.parse(json.dumps({**basic, **fields}).encode())


def chat(**fields: Json) -> Json:
    """As an upstream of chat completions gets it."""
    body = chat_body(parsed(**fields), None, tools=None, model=None, ask_usage=False, dialect="generic")
    return msgspec.json.decode(body)


def origin(**fields: Json) -> Origin:
    found = parsed(**fields).origin
    assert isinstance(found, Origin)
    return found


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, {}),
        (
            {"stop_sequences": ["a"], "temperature": 0, "top_p": 0.5, "stream": True},
            {"stop": ["a"], "temperature": 0, "top_p": 0.5, "stream": True},
        ),
        ({"tools": [LOOK]}, {"tools": [FUNCTION]}),
        (
            {
                "tools": [{**LOOK, "type": "custom", **CACHED}],
                "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
            },
            {"tools": [FUNCTION], "tool_choice": "required", "parallel_tool_calls": False},
        ),
        (
            {"tools": [LOOK], "tool_choice": {"type": "tool", "name": "look"}},
            {"tools": [FUNCTION], "tool_choice": {"type": "function", "function": {"name": "look"}}},
        ),
        ({"tools": [LOOK], "tool_choice": {"type": "none"}}, {"tools": [FUNCTION], "tool_choice": "none"}),
        ({"tools": [{**LOOK, "type": None, "strict": True}]}, {"tools": [FUNCTION]}),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {}}, "effort": "low"}},
            {"response_format": {"type": "json_schema", "json_schema": {"name": "output", "schema": {}}}},
        ),
        (
            {"output_format": {"type": "json_schema", "schema": {}}},
            {"response_format": {"type": "json_schema", "json_schema": {"name": "output", "schema": {}}}},
        ),
        ({"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}}, {}),
        (
            {
                "thinking": {"type": "enabled", "budget_tokens": 9},
                "top_k": 3,
                "metadata": {"user_id": "u"},
                "service_tier": "auto",
                **CACHED,
            },
            {},
        ),
    ],
)
def test_a_chat_completion_asks_for_the_same(fields: Json, told: Json) -> None:
    basic = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    assert chat(**fields) == basic | told


@pytest.mark.parametrize(
    ("system", "told"),
    [
        ("Be brief", ["Be brief"]),
        ([{"type": "text", "text": "One"}, {"type": "text", "text": "Two", **CACHED}], ["One\n\nTwo"]),
        ([{"type": "text", "text": "x-anthropic-billing-header: 1"}, {"type": "text", "text": "Two"}], ["Two"]),
        ("", []),
        ([], []),
        (None, []),
    ],
)
def test_instructions_are_one_message(system: Json, told: list[str]) -> None:
    assert [said["content"] for said in chat(system=system)["messages"][:-1]] == told


@pytest.mark.parametrize(
    ("user_id", "user", "session"),
    [
        ("u-1", "u-1", None),
        ("user_ab_account_cd_session_ef", "user_ab_account_cd", "ef"),
        ('{"device_id":"d","account_uuid":"a","session_id":"s"}', "d", "s"),
        ('{"account_uuid":"a","session_id":"s"}', "a", "s"),
        ("[" * 5_000, "[" * 5_000, None),
        ('{"session_id":"s","more":' + "[" * 5_000 + "]" * 5_000 + "}", ANY, None),
    ],
)
def test_user_and_session_are_read_from_the_metadata(user_id: str, user: str, session: str | None) -> None:
    request = parsed(metadata={"user_id": user_id})
    assert request.user_hint == user
    assert request.session_hint == (None if session is None else (session, "metadata"))


@pytest.mark.parametrize(
    ("fields", "hands_off", "foreign"),
    [
        ({"context_management": {"edits": [{"type": "compact_20260112"}]}}, *["context_management"] * 2),
        ({"context_management": {"edits": [{"type": "clear_thinking_20251015"}]}}, "context_management", ""),
        ({"mcp_servers": [{"url": "x"}]}, "mcp_servers", "mcp_servers"),
        ({"container": "c"}, "container", "container"),
        ({"tools": [LOOK, {"type": "web_search_20250305", "name": "web_search"}]}, "tools[1]", "tools[1]"),
        (
            {"messages": [{"role": "user", "content": [{"type": "document"}]}]},
            "messages[0].content[0]: document",
            "messages[0].content[0]",
        ),
        ({"something_new": 1}, "", "something_new"),
        ({"mcp_servers": [], "container": None}, "", ""),
    ],
)
def test_what_is_the_providers_alone_is_named(fields: Json, hands_off: str, foreign: str) -> None:
    found = origin(**fields)
    assert (found.hands_off, found.foreign) == (hands_off, foreign)


@given(dialogues())
def test_an_unchanged_request_keeps_its_blocks(messages: list[Json]) -> None:
    body = json.dumps({"model": "m", "messages": messages, "max_tokens": 1.50}, ensure_ascii=False).encode()
    request = adapter.parse(body)
    assert isinstance(request.origin, Origin)
    assert request.origin.raw == body
    again = msgspec.json.decode(adapter.written(request.origin, request.messages, None))
    assert misplaced_blocks(again["messages"]) == misplaced_blocks(messages)
    assert len(again["messages"]) == len(messages)


def test_changed_messages_stand_in_the_body_and_nothing_else_changes() -> None:
    system = [{"type": "text", "text": "x-anthropic-billing-header: 1"}, {"type": "text", "text": "Be brief", **CACHED}]
    request = parsed(system=system, tools=[LOOK])
    instructions, user = request.messages
    changed = [suffixed(instructions, "More"), prefixed(user, "Facts")]
    again = msgspec.json.decode(adapter.written(request.origin, changed, "n"))
    assert again == {
        "model": "n",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Facts\n\nHello"}]}],
        "system": [*system, {"type": "text", "text": "More"}],
        "tools": [LOOK],
    }


ACCOUNT = {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1;"}


@pytest.mark.parametrize(
    ("system", "first", "told"),
    [
        ([ACCOUNT], "Facts", [ACCOUNT, {"type": "text", "text": "Facts"}]),
        ([ACCOUNT, {"type": "text", "text": "Be brief"}], "Short", [ACCOUNT, {"type": "text", "text": "Short"}]),
        ([{"type": "text", "text": "Be brief"}], "Short", "Short"),
        (None, "Facts", "Facts"),
    ],
)
def test_a_line_for_the_providers_accounts_stays_first_and_apart(system: Json, first: str, told: Json) -> None:
    request = parsed(system=system)
    user = request.messages[-1]
    again = msgspec.json.decode(adapter.written(request.origin, [instruction(first), user], None))
    assert again["system"] == told


def block(said: str, **more: Json) -> Json:
    return {"type": "text", "text": said, **more}


def test_what_is_added_behind_instructions_is_a_block_of_its_own_behind_the_breakpoint() -> None:
    request = parsed(system="Be brief", messages=[{"role": "user", "content": [block("Hello")]}])
    instructions, said = request.messages
    again = msgspec.json.decode(
        adapter.written(request.origin, [suffixed(instructions, "Likes tea"), said], None, Repeats(2, True, 0))
    )
    assert again["system"] == [block("Be brief", **CACHED), block("Likes tea")]
    assert again["messages"] == [{"role": "user", "content": [block("Hello", **CACHED)]}]
    assert msgspec.json.decode(adapter.written(request.origin, [instructions, said], None))["system"] == "Be brief"


@pytest.mark.parametrize(
    ("body", "error", "param"),
    [
        (b"{", InvalidJson, None),
        (b'{"messages":[]}', BadRequest, "model"),
        (b'{"model":"m"}', MissingParameter, "messages"),
        (b'{"model":"m","messages":[]}', BadRequest, "messages"),
        (b'{"model":"m","messages":"x"}', BadRequest, "messages"),
        (b'{"model":"m","messages":[1]}', BadRequest, "messages"),
    ],
)
def test_what_no_upstream_could_accept_is_refused(body: bytes, error: type[BadRequest], param: str | None) -> None:
    assert refusal(adapter.parse, body) == (error, param)


def test_thinking_that_was_broken_off_goes_to_no_provider_and_all_else_stays() -> None:
    half = {"type": "thinking", "thinking": "Hm", "signature": UNFINISHED}
    said = [{"type": "text", "text": "So."}]
    talk = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": [half, *said]}]
    body = native_body(parsed(messages=[*talk, {"role": "user", "content": "On"}], top_k=3), None, None)
    assert body is not None
    sent = msgspec.json.decode(body)
    assert [each["content"] for each in sent.pop("messages")][1] == said
    assert sent == {"model": "m", "max_tokens": 9, "top_k": 3}
