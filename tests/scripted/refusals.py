"""Refusals in the words and the shape of each upstream; their rules are in proxy/protocol/dialects.py."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeAlias

from proxy.protocol.dialects import Dialect, Rule, Violation
from proxy.types import Message

Json: TypeAlias = dict[str, Any]

NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API "
    "from your browser and are prompted for a username and password. You can obtain an API key from "
    "https://platform.openai.com/account/api-keys."
)
NOT_JSON = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library "
    "correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble "
    "figuring out how to fix this, please contact us through our help center at help.openai.com.)"
)
SERVER_ERROR = "The server had an error while processing your request. Sorry about that!"
OVERLOADED = "The engine is currently overloaded, please try again later"
BAD_GATEWAY = b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1>\
</center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n"

# Mistral's type and numeric code, by rule.
_MISTRAL_KINDS: dict[Rule, tuple[str, str]] = {
    "call_id": ("invalid_function_call", "3280"),
    "empty_content": ("invalid_request_assistant_message", "3240"),
    "prefill_followed": ("invalid_request_assistant_message", "3240"),
}
_OPENAI_PARAMS: dict[Rule, tuple[str, str | None]] = {
    "no_messages": ("messages", "empty_array"),
    "too_many_tools": ("tools", "array_above_max_length"),
    "repeated_result": ("messages.[{index}].tool_call_id", None),
}

_CALLS_ANSWERED = (
    "must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: {ids}"
)

_OPENAI: dict[Rule, str] = {
    "no_messages": "Invalid 'messages': empty array. "
    "Expected an array with minimum length 1, but got an empty array instead.",
    "too_many_tools": "Invalid 'tools': array too long. "
    "Expected an array with maximum length 128, but got an array with length {count} instead.",
    "orphan_result": "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
    "with 'tool_calls'.",
    "unanswered_call": f"An assistant message with 'tool_calls' {_CALLS_ANSWERED}",
    "repeated_result": "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', "
    "in messages[{previous}] and messages[{position}].",
}
# The text with which each upstream refuses, as users reported it or as its own source has it (looked up November 2026;
# sources: proxy/protocol/dialects.py). Two were found nowhere and say the rule in its upstream's manner: Kimi's
# `too_many_tools` and `prefill_followed`. Placeholders are filled in by `text_of`.
TEXTS: dict[str, dict[Rule, str]] = {
    "kimi": {
        "no_messages": "Invalid request: messages must not be empty",
        "too_many_tools": "Invalid request: at most 128 tools are supported, got {count}",
        # The gap is theirs: the id is missing from the text.
        "orphan_result": "Invalid request: tool_call_id  is not found",
        "unanswered_call": f"an assistant message with 'tool_calls' {_CALLS_ANSWERED}",
        "empty_content": "Invalid request: the message at position {position} with role '{role}' must not be empty",
        "missing_reasoning": "thinking is enabled but reasoning_content is missing in assistant tool call message "
        "at index {position}",
        "prefill_followed": "Invalid request: partial is only supported on the last message, "
        "but it is set at position {position}",
    },
    "openai": _OPENAI,
    "deepseek": {
        "no_messages": "Empty input messages",
        "too_many_tools": _OPENAI["too_many_tools"],
        "orphan_result": "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        "unanswered_call": "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
        "missing_reasoning": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    },
    "mistral": {
        "no_messages": "Conversation must have at least one message",
        "orphan_result": "Not the same number of function calls and responses",
        "unanswered_call": "Not the same number of function calls and responses",
        "empty_content": "Assistant message must have either content or tool_calls, but not none.",
        "prefill_followed": "Assistant message with prefix True must be last message",
        "role_order": "Unexpected role '{role}' after role '{previous}'",
        "last_role": "Expected last role User or Tool (or Assistant with prefix True) for serving but got {role}",
        "call_id": "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
    },
    "vllm": {
        "no_messages": _OPENAI["no_messages"],
        "orphan_result": "Message has tool role, but there was no previous assistant message with a tool call!",
        "unanswered_call": "Not the same number of function calls and responses",
        "late_system": "System message must be at the beginning.",
        "alternation": "After the optional system message, conversation roles must alternate user and assistant "
        "roles except for tool calls and results.",
    },
    "anthropic": {
        "no_messages": "messages: at least one message is required",
        "orphan_result": "messages.{position}: `tool_result` block(s) that have no corresponding `tool_use` block in "
        "the previous message.",
        "unanswered_call": "messages.{position}: `tool_use` ids were found without `tool_result` blocks immediately "
        "after: {ids}.",
        "repeated_result": "messages.{position}: each tool_use must have a single result. Found multiple `tool_result` "
        "blocks with id: {id}",
    },
    "generic": {rule: text for rule, text in _OPENAI.items() if rule not in ("too_many_tools", "repeated_result")},
}
# Sampling fields that its thinking models accept with one value only.
FIXED_SAMPLING: dict[str, dict[str, float]] = {
    "kimi": {"temperature": 1.0, "top_p": 0.95, "n": 1, "presence_penalty": 0.0, "frequency_penalty": 0.0}
}


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    body: Json


def openai_error(
    message: str, *, kind: str = "invalid_request_error", param: str | None = None, code: str | None = None
) -> Json:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def no_key() -> Refusal:
    return Refusal(401, openai_error(NO_KEY, code="invalid_api_key"))


def wrong_key(api_key: str) -> Refusal:
    shown = f"{api_key[:7]}{'*' * 8}{api_key[-4:]}"
    message = f"Incorrect API key provided: {shown}. You can find your API key at https://platform.openai.com/account/api-keys."
    return Refusal(401, openai_error(message, code="invalid_api_key"))


def unknown_model(model: str) -> Refusal:
    message = f"The model `{model}` does not exist or you do not have access to it."
    return Refusal(404, openai_error(message, code="model_not_found"))


def unknown_url(method: str, path: str) -> Refusal:
    return Refusal(404, openai_error(f"Invalid URL ({method} {path})"))


def missing(param: str) -> Refusal:
    message = f"Missing required parameter: '{param}'."
    return Refusal(400, openai_error(message, param=param, code="missing_required_parameter"))


def fixed_sampling(name: str, allowed: float) -> Refusal:
    """Kimi's thinking models take one value only."""
    message = f"invalid {name}: only {allowed:g} is allowed for this model"
    return Refusal(400, {"error": {"message": message, "type": "invalid_request_error"}})


def unknown_field(*path: str) -> Refusal:
    """Mistral refuses fields that it does not know."""
    detail = [
        {"type": "extra_forbidden", "loc": ["body", *path], "msg": "Extra inputs are not permitted", "input": True}
    ]
    body = {
        "object": "error",
        "message": {"detail": detail},
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }
    return Refusal(422, body)


def text_of(violation: Violation, dialect: Dialect, messages: Sequence[Message], tools: int = 0) -> str:
    """The upstream's words for a rule that these messages break."""
    at = violation.index
    return TEXTS[dialect.name][violation.rule].format(
        position=at,
        count=tools,
        role=messages[at].role if messages else "",
        id=_id_at_fault(violation, messages),
        ids=", ".join(_unanswered(messages, at)),
        previous=messages[at - 1].role if violation.rule == "role_order" else _earlier_result(messages, at),
    )


def _id_at_fault(violation: Violation, messages: Sequence[Message]) -> str:
    if not messages or messages[violation.index].role == "tool":
        return messages[violation.index].tool_call_id if messages else ""
    return next((call.id for call in messages[violation.index].tool_calls if not re.fullmatch(r"\w{9}", call.id)), "")


def _unanswered(messages: Sequence[Message], at: int) -> list[str]:
    results = {said.tool_call_id for said in takewhile(lambda said: said.role == "tool", messages[at + 1 :])}
    return [call.id for call in messages[at].tool_calls if call.id not in results] if messages else []


def _earlier_result(messages: Sequence[Message], at: int) -> int:
    """The first of the results in a row up to this one that answers the same call."""
    row = list(takewhile(lambda index: messages[index].role == "tool", range(at, -1, -1))) if messages else []
    return min((index for index in row if messages[index].tool_call_id == messages[at].tool_call_id), default=at)


def order(violation: Violation, dialect: Dialect, text: str) -> Refusal:
    """The 400 that answers a message array in the wrong order."""
    rule = violation.rule
    match dialect.name:
        case "kimi":
            body: Json = {"error": {"message": text, "type": "invalid_request_error"}}
        case "deepseek":
            body = openai_error(text, code="invalid_request_error")
        case "mistral":
            kind, code = _MISTRAL_KINDS.get(rule, ("invalid_request_message_order", "3230"))
            body = {"object": "error", "message": text, "type": kind, "param": None, "code": code}
        case "vllm":
            body = {"error": {"message": text, "type": "BadRequestError", "param": None, "code": 400}}
        case _:
            param, openai_code = _OPENAI_PARAMS.get(rule, ("messages.[{index}].role", None))
            body = openai_error(text, param=param.format(index=violation.index), code=openai_code)
    return Refusal(400, body)
