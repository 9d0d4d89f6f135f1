"""Fields of a request: what passes as it came, what can be translated, what an answer depends on."""

import typing
from typing import Any

import pytest
from anthropic.types import message_create_params
from anthropic.types.beta import message_create_params as beta_params

from proxy.protocol.messages.fields import foreign, hands_off, unexpressed

Json = Any
LOOK = {"name": "look", "input_schema": {"type": "object"}}
KEEPS_THINKING = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}  # of Claude Code


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"context_management": KEEPS_THINKING}, ""),
        ({"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}, ""),
        ({"context_management": {"edits": []}}, ""),
        ({"context_management": {"edits": [{"type": "compact_20260112"}]}}, "context_management"),
        ({"context_management": {"edits": [*KEEPS_THINKING["edits"], 5]}}, "context_management"),
        ({"context_management": {**KEEPS_THINKING, "enabled": True}}, "context_management"),
        ({"context_management": 5}, "context_management"),
        ({"output_format": {"type": "json_schema", "schema": {}}}, ""),
        ({"user_profile_id": "u", "workspace_id": "w", "metadata": {"user_id": "u"}}, ""),
        ({"thread": {"type": "create"}}, "thread"),
        ({"fallbacks": "default"}, "fallbacks"),
        ({"fallbacks": []}, ""),
        ({"system": 5}, "system"),
        ({"system": {"type": "text", "text": "x"}}, "system"),
        ({"system": [{"type": "image"}]}, "system"),
        ({"system": [5]}, "system"),
        ({"system": [{"type": "text", "text": "x"}]}, ""),
        ({"tools": 5}, "tools"),
        ({"tools": None, "system": None, "tool_choice": None}, ""),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"tool_choice": {"type": "tool"}}, "tool_choice"),
        ({"tool_choice": {"type": "something_new"}}, "tool_choice"),
    ],
)
def test_what_no_chat_completion_can_express_is_named(fields: Json, named: str) -> None:
    assert foreign(fields) == named


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"context_management": KEEPS_THINKING}, "context_management"),
        ({"thread": {"type": "continue"}}, "thread"),
        ({"compaction": {}}, ""),
        ({"compaction": {"x": 1}}, "compaction"),
        ({"fallback_credit_token": "t"}, "fallback_credit_token"),
        ({"something_new": 1}, ""),
    ],
)
def test_what_is_at_the_provider_is_named(fields: Json, named: str) -> None:
    assert hands_off(fields) == named


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"something_new": 1}),
        ({"something_new": 1}, {"something_new": 2}),
        ({"thinking": {"type": "disabled"}}, {"thinking": {"type": "adaptive"}}),
        ({"tools": [LOOK]}, {"tools": [{**LOOK, "strict": True}]}),
        ({"tools": [LOOK, LOOK]}, {"tools": [{**LOOK, "strict": True}, LOOK]}),
    ],
)
def test_requests_that_may_be_answered_otherwise_are_two(one: Json, other: Json) -> None:
    assert unexpressed(one) != unexpressed(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"metadata": {"user_id": "u"}, "cache_control": {"type": "ephemeral"}}),
        ({"tools": [LOOK]}, {"tools": [{**LOOK, "type": "custom", "cache_control": {"type": "ephemeral"}}]}),
        ({}, {"thinking": None}),
    ],
)
def test_requests_that_differ_in_labels_are_one(one: Json, other: Json) -> None:
    assert unexpressed(one) == unexpressed(other)


def test_every_field_of_the_sdk_is_known_here_or_passes_as_it_came() -> None:
    names: set[str] = set()
    for params in (message_create_params, beta_params):
        names |= set(typing.get_type_hints(params.MessageCreateParamsBase))
    unknown = {name for name in names if foreign({name: {"x": 1}}) == name and not hands_off({name: {"x": 1}})}
    assert unknown == {"system", "tools", "tool_choice", "billing_policy"}  # of another form, or not translated
