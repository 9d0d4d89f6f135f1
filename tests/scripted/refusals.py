"""Error bodies as each upstream shapes them. Which text is said is not decided here (see wire/dialects.py)."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from proxy.protocol.dialects import Dialect, Rule
from proxy.protocol.order import Violation

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


def order(violation: Violation, dialect: Dialect) -> Refusal:
    """The 400 that answers a message array in the wrong order."""
    rule, text = violation.rule, violation.text
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
