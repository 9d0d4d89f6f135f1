"""A completion as a message object of the Messages API, and a message object as the completion that it is; errors in
this API's shape."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.protocol.answers import parse_usage
from proxy.protocol.messages.blocks import arguments_of
from proxy.protocol.responses.output import calls_in, first_choice, reasoning_text, said_text
from proxy.types import Answer, Json

_encode = msgspec.json.Encoder().encode

_STOPS = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "model_length": "model_context_window_exceeded",  # Mistral's
}
_FINISHES = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}
# https://docs.claude.com/en/api/errors
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_STATUSES = {str(status): kind for status, kind in _ERRORS.items()}
# By which the SDK's tool runner, which asks for a thread first, knows to go on without.
_NO_THREADS = "thread_unsupported_request"
MOST_ERROR = 2_000  # characters of an error that has no shape
# How Anthropic begins this error. Clients know it by that, and make their conversation shorter.
TOO_LONG = "prompt is too long"
_TOO_LONG = re.compile(r"context.length|context window|model token limit|maximum prompt length", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Frame:
    """A message without its content: what is known of it before the upstream has said a word."""

    name: str  # of the request, unique
    model: str  # as asked for, until the upstream names it
    sent_tokens: int = 0  # of the prompt, estimated, where the upstream does not count
    stops: tuple[str, ...] = ()  # the client's stop sequences

    def message(
        self, content: Json, usage: Json, *, stop: str | None = None, sequence: str | None = None, model: str = ""
    ) -> dict[str, Any]:
        """Returns the message object. `stop`: its reason; None while it is being told. `sequence`: the stop sequence
        that was met."""
        head = {"id": f"msg_{self.name}", "type": "message", "role": "assistant", "model": model or self.model}
        return {**head, "content": content, "stop_reason": stop, "stop_sequence": sequence, "usage": usage}

    def call_id(self, given: Json, index: int) -> str:
        """Returns the id of a call, by which its result names it: the upstream's, where it gives one."""
        return given if isinstance(given, str) and given else f"toolu_{self.name}{index:02x}"


def message_of(completion: Mapping[str, Json], frame: Frame) -> dict[str, Any]:
    """Returns a completion as a message object."""
    choice = first_choice(completion)
    message = choice.get("message")
    said = message if isinstance(message, dict) else {}
    content = list(_content(said, frame))
    model = completion.get("model")
    characters = len(_encode(content))
    usage = usage_of(completion.get("usage"), frame, characters)
    has_calls = any(block["type"] == "tool_use" for block in content)
    stop, sequence = stop_of(choice, frame, has_calls=has_calls, refuses=bool(said.get("refusal")))
    return frame.message(content, usage, stop=stop, sequence=sequence, model=model if isinstance(model, str) else "")


def stop_of(
    choice: Mapping[str, Json], frame: Frame, *, has_calls: bool, refuses: bool = False
) -> tuple[str, str | None]:
    """Returns the reason why a choice has stopped, and the stop sequence that it met, where the upstream names it
    (vLLM: `stop_reason`, SGLang: `matched_stop`). An answer that calls tools waits for their results, whatever the
    upstream calls that: where a tool was forced, OpenAI's finish reason is `stop`."""
    finish = str(choice.get("finish_reason"))
    if refuses:
        return "refusal", None
    if finish in _STOPS or has_calls:
        return _STOPS.get(finish, "tool_use"), None
    met = next((met for name in ("stop_reason", "matched_stop") if (met := choice.get(name)) in frame.stops), None)
    return ("end_turn", None) if met is None else ("stop_sequence", str(met))


def _content(said: Mapping[str, Json], frame: Frame) -> Iterator[Json]:
    if thought := reasoning_text(said):
        yield {"type": "thinking", "thinking": thought, "signature": ""}
    for name in ("content", "refusal"):
        if text := said_text(said.get(name)):
            yield {"type": "text", "text": text, "citations": None}
    for index, call in enumerate(calls_in(said)):
        named = {"id": frame.call_id(call.id, index), "name": call.name}
        yield {"type": "tool_use", **named, "input": arguments_of(call.arguments)}


def usage_of(usage: Json, frame: Frame, characters: int) -> dict[str, Any]:
    """Returns the usage of a completion as this API tells it: what the cache had, and what was written to it, apart
    from `input_tokens`. `characters`: of the answer, from which its tokens are estimated where the upstream has not
    counted."""
    told = parse_usage(usage)
    if told is None:
        return _usage(frame.sent_tokens, 0, 0, -(-characters // 4))
    prompt, written = told.prompt_tokens or frame.sent_tokens, told.written_tokens or 0
    return _usage(prompt - told.cached_tokens - written, told.cached_tokens, written, told.completion_tokens)


def _usage(fresh: int, cached: int, written: int, completion: int) -> dict[str, Any]:
    return {
        "input_tokens": max(fresh, 0),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": completion,
    }


def error_of(status: int, message: str, request_id: str) -> dict[str, Any]:
    """Returns an error in this API's shape."""
    kind = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    if status < 500 and _TOO_LONG.search(message) and not message.startswith(TOO_LONG):
        message = f"{TOO_LONG}: {message}"
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}


def kind_of(error: Mapping[str, Json]) -> str:
    """Returns the type of an error in OpenAI's shape that stands in a stream, where no status tells it."""
    code, kind = str(error.get("code")), f"{error.get('type')} {error.get('code')}"
    if code in _STATUSES:
        return _STATUSES[code]
    if "rate_limit" in kind:
        return _ERRORS[429]
    return _ERRORS[529] if "overloaded" in kind or "unavailable" in kind else "api_error"


def told_error(answer: Answer, request_id: str) -> Answer:
    """Returns an error answer in OpenAI's shape as one in this API's; one that has it already, or is none, as it is."""
    if not isinstance(answer.body, bytes):
        return answer
    try:
        body = msgspec.json.decode(answer.body)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict) and body.get("type") == "error":
        return answer
    told = error_of(answer.status, _message(body) or answer.body.decode("utf-8", "replace")[:MOST_ERROR], request_id)
    match body:
        case {"error": {"param": "thread"}}:
            told["error"]["details"] = {"error_code": _NO_THREADS, "unsupported": ["thread"]}
    dropped = ("content-type", "content-length", "request-id")
    headers = tuple((name, value) for name, value in answer.headers if name not in dropped)
    ours = (("content-type", "application/json"), ("request-id", request_id))
    return Answer(answer.status, (*ours, *headers), _encode(told), answer.source)


def _message(body: Json) -> str:
    """Returns the message of an error, in any of the shapes that upstreams have; "": it has none."""
    match body:
        case {"error": {"message": str(message)}} | {"error": str(message)} | {"message": str(message)}:
            return message
        case {"detail": str(message)}:
            return message
        case _:
            return ""


# --- and back ---------------------------------------------------------------------------------------------------------


def completion_of(message: Mapping[str, Json]) -> dict[str, Any]:
    """Returns a message object as a completion. One that holds what a completion cannot express has a finish reason of
    its own, by which it is not kept for reuse."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Json] = []
    is_expressed = True
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "text", "text": str(text), **more}:
                texts.append(text)
                is_expressed = is_expressed and not more.get("citations")
            case {"type": "thinking", "thinking": str(thought), **more}:
                thoughts.append(thought)
                is_expressed = is_expressed and not more.get("signature")
            case {"type": "tool_use", "id": id_, "name": name, **more}:
                arguments = _encode(more.get("input", {})).decode()
                calls.append({"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}})
            case _:
                is_expressed = False
    said: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(texts) if texts else None}
    if thoughts:
        said["reasoning_content"] = "\n\n".join(thoughts)
    if calls:
        said["tool_calls"] = calls
    finish = _FINISHES.get(str(message.get("stop_reason")), "untranslated") if is_expressed else "untranslated"
    choice = {"index": 0, "message": said, "finish_reason": finish, "logprobs": None}
    if isinstance(met := message.get("stop_sequence"), str):
        choice["stop_reason"] = met  # as vLLM names it, so that a stored answer tells it again
    head = {"id": message.get("id"), "object": "chat.completion", "created": 0, "model": message.get("model")}
    completion = {**head, "choices": [choice]}
    if (usage := _chat_usage(message.get("usage"))) is not None:
        completion["usage"] = usage
    return completion


def _chat_usage(usage: Json) -> Json:
    if not isinstance(usage, dict) or not isinstance(usage.get("input_tokens"), int):
        return None
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    fresh, cached, written, completion = (value if isinstance(value := usage.get(name), int) else 0 for name in names)
    prompt = fresh + cached + written
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        **({"cache_creation": by_lifetime} if (by_lifetime := usage.get("cache_creation")) else {}),
    }
