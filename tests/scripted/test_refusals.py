from typing import Any

import pytest

from proxy.protocol.dialects import DIALECTS, Rule, Violation
from tests.scripted import refusals


@pytest.mark.parametrize(
    ("dialect", "rule", "rest"),
    [
        ("openai", "unanswered_call", {"type": "invalid_request_error", "param": "messages.[3].role", "code": None}),
        ("openai", "no_messages", {"type": "invalid_request_error", "param": "messages", "code": "empty_array"}),
        (
            "openai",
            "too_many_tools",
            {"type": "invalid_request_error", "param": "tools", "code": "array_above_max_length"},
        ),
        (
            "openai",
            "repeated_result",
            {"type": "invalid_request_error", "param": "messages.[3].tool_call_id", "code": None},
        ),
        ("generic", "orphan_result", {"type": "invalid_request_error", "param": "messages.[3].role", "code": None}),
        ("kimi", "empty_content", {"type": "invalid_request_error"}),
        (
            "deepseek",
            "missing_reasoning",
            {"type": "invalid_request_error", "param": None, "code": "invalid_request_error"},
        ),
        ("vllm", "late_system", {"type": "BadRequestError", "param": None, "code": 400}),
    ],
)
def test_an_error_object_in_the_upstreams_shape(dialect: str, rule: Rule, rest: dict[str, Any]) -> None:
    refusal = refusals.order(Violation(rule, 3), DIALECTS[dialect], "no")
    assert (refusal.status, refusal.body) == (400, {"error": {"message": "no", **rest}})


@pytest.mark.parametrize(
    ("rule", "kind", "code"),
    [
        ("role_order", "invalid_request_message_order", "3230"),
        ("call_id", "invalid_function_call", "3280"),
        ("empty_content", "invalid_request_assistant_message", "3240"),
    ],
)
def test_mistral_has_a_shape_and_numbers_of_its_own(rule: Rule, kind: str, code: str) -> None:
    body = refusals.order(Violation(rule, 0), DIALECTS["mistral"], "no").body
    assert body == {"object": "error", "message": "no", "type": kind, "param": None, "code": code}


def test_a_wrong_key_is_not_repeated_in_full() -> None:
    message = refusals.wrong_key("sk-secret-secret-1234").body["error"]["message"]
    assert "secret-secret" not in message
    assert "1234" in message
