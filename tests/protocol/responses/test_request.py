"""Requests of the Responses API, read as chat completions and written again."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

from proxy.errors import BadRequest, InvalidJson, MissingParameter
from proxy.protocol.apis import chat_body
from proxy.protocol.message import prefixed, suffixed
from proxy.protocol.origin import Origin
from proxy.protocol.responses import request as adapter
from tests.other_apis import inputs, refusal

Json = Any
LOOK = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": None}
PATCH = {
    "type": "custom",
    "name": "patch",
    "description": "A patch",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"},
}


def parsed(**fields: Json) -> Any:
    return adapter.parse(json.dumps({"model": "m", "input": "Hello", **fields}).encode())


def chat(**fields: Json) -> Json:
    """As an upstream of chat completions gets it."""
    body = chat_body(parsed(**fields), None, tools=None, model=None, ask_usage=False, dialect="generic")
    return msgspec.json.decode(body)


def origin(**fields: Json) -> Origin:
    found = parsed(**fields).origin
    assert isinstance(found, Origin)
    return found


def function(name: str, **more: Json) -> Json:
    return {"type": "function", "function": {"name": name, **more}}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, {}),
        (
            {"instructions": "Be brief"},
            {"messages": [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hello"}]},
        ),
        ({"max_output_tokens": 9, "temperature": 0, "top_p": 0.5}, {"max_tokens": 9, "temperature": 0, "top_p": 0.5}),
        ({"tools": [LOOK]}, {"tools": [function("look", parameters={"type": "object"})]}),
        (
            {"tools": [LOOK], "tool_choice": {"type": "function", "name": "look"}},
            {"tools": [function("look", parameters={"type": "object"})], "tool_choice": function("look")},
        ),
        (
            {"tools": [LOOK], "tool_choice": "required", "parallel_tool_calls": False},
            {
                "tools": [function("look", parameters={"type": "object"})],
                "tool_choice": "required",
                "parallel_tool_calls": False,
            },
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "a", "schema": {}, "strict": True}}},
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "strict": True}}},
        ),
        ({"text": {"format": {"type": "json_object"}}}, {"response_format": {"type": "json_object"}}),
        ({"text": {"format": {"type": "text"}, "verbosity": "low"}}, {}),
        ({"stream": True}, {"stream": True}),
        ({"user": "u", "metadata": {"a": "b"}, "prompt_cache_key": "k", "store": False, "truncation": "auto"}, {}),
        ({"reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"], "service_tier": "auto"}, {}),
    ],
)
def test_a_chat_completion_asks_for_the_same(fields: Json, told: Json) -> None:
    assert chat(**fields) == {"model": "m", "messages": [{"role": "user", "content": "Hello"}], **told}


def test_a_tool_with_free_text_is_a_function_with_one() -> None:
    (tool,) = chat(tools=[PATCH])["tools"]
    assert tool["function"]["parameters"]["required"] == ["input"]
    assert tool["function"]["description"] == "A patch\n\nThe input follows this grammar (lark):\nstart: x"
    assert origin(tools=[PATCH]).custom == {"patch"}


def test_allowed_tools_are_the_only_ones() -> None:
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "look"}]}
    told = chat(tools=[LOOK, PATCH], tool_choice=allowed)
    assert ([tool["function"]["name"] for tool in told["tools"]], told["tool_choice"]) == (["look"], "required")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"background": True}, "background"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"context_management": [{"type": "compaction"}]}, "context_management"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"include": ["message.output_text.logprobs"]}, "include"),
        ({"tools": [LOOK, {"type": "web_search"}]}, "tools[1]"),
        ({"tool_choice": {"type": "mcp", "server_label": "x"}}, "tool_choice"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0]"),
        ({"something_new": 1}, "something_new"),
        (
            {
                "input": [
                    {"type": "additional_tools", "role": "developer", "tools": []},
                    {"role": "user", "content": "x"},
                ]
            },
            "input[0]",
        ),
        ({"client_metadata": {"a": "b"}}, ""),
        ({"background": False, "conversation": None, "top_logprobs": 0, "include": []}, ""),
    ],
)
def test_a_field_that_no_chat_completion_can_express_is_named(fields: Json, named: str) -> None:
    assert origin(**fields).foreign == named


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"background": True}, "background"),
        ({"context_management": [{}]}, "context_management"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"input": [{"type": "compaction", "id": "x"}]}, "input[0]: compaction"),
        ({"tools": [{"type": "web_search"}], "store": True}, ""),
    ],
)
def test_state_of_the_provider_is_left_alone(fields: Json, named: str) -> None:
    assert origin(**fields).hands_off == named


@given(inputs())
def test_an_unchanged_request_keeps_its_bytes(items: list[Json]) -> None:
    body = json.dumps({"input": items, "model": "m", "custom": {"b": 1.50}}, ensure_ascii=False).encode()
    request = adapter.parse(body)
    assert isinstance(request.origin, Origin)
    assert request.origin.raw == body
    again = adapter.written(request.origin, request.messages, None)
    assert msgspec.json.decode(again) == msgspec.json.decode(body)
    assert all(json.dumps(item, ensure_ascii=False).encode() in again for item in items)


def test_changed_messages_stand_in_the_body_and_nothing_else_changes() -> None:
    request = parsed(instructions="Be brief", tools=[LOOK], store=True)
    system, user = request.messages
    again = msgspec.json.decode(
        adapter.written(request.origin, [suffixed(system, "More"), prefixed(user, "Facts")], "n")
    )
    assert again == {
        "model": "n",
        "input": [{"type": "message", "role": "user", "content": "Facts\n\nHello"}],
        "instructions": "Be brief\n\nMore",
        "tools": [LOOK],
        "store": True,
    }


def test_a_request_goes_on_from_a_kept_response() -> None:
    found = origin(previous_response_id="resp_1", temperature=1)
    before = b'{"role":"user","content":"One"}'
    whole = adapter.parse(adapter.continued(found, before))
    assert [said.text for said in whole.messages] == ["One", "Hello"]
    chained = adapter.chained(whole, "resp_1", is_unstored=True).origin
    assert isinstance(chained, Origin)
    assert (chained.chain, chained.hands_off) == ("resp_1", "")
    assert msgspec.json.decode(adapter.written(chained, None, None))["store"] is False


@pytest.mark.parametrize(
    ("body", "error", "param"),
    [
        (b"{", InvalidJson, None),
        (b"[]", BadRequest, None),
        (b'{"input":"x"}', BadRequest, "model"),
        (b'{"model":"","input":"x"}', BadRequest, "model"),
        (b'{"model":"m"}', MissingParameter, "input"),
        (b'{"model":"m","input":7}', BadRequest, "input"),
        (b'{"model":"m","input":["x"]}', BadRequest, "input"),
        (b'{"model":"m","input":"x","stream":1}', BadRequest, "stream"),
    ],
)
def test_what_no_upstream_could_accept_is_refused(body: bytes, error: type[BadRequest], param: str | None) -> None:
    assert refusal(adapter.parse, body) == (error, param)
