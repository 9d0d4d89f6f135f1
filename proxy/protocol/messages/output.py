"""A completion as a message object of the Messages API, and a message object as the completion that it is; errors in
this API's shape."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.protocol.messages.blocks import arguments_of
from proxy.protocol.responses.output import first_choice, reasoning_text
from proxy.types import Answer, Json

_encode = msgspec.json.Encoder().encode

_STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
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


@dataclass(frozen=True, slots=True)
class Frame:
    """A message without its content: what is known of it before the upstream has said a word."""

    name: str  # of the request, unique
    model: str  # as asked for, until the upstream names it
    sent_tokens: int = 0  # of the prompt, estimated, where the upstream does not count

    def message(self, content: Json, stop: Json, usage: Json, *, model: str = "") -> dict[str, Any]:
        """Returns the message object."""
        head = {"id": f"msg_{self.name}", "type": "message", "role": "assistant", "model": model or self.model}
        return {**head, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def message_of(completion: Mapping[str, Json], frame: Frame) -> dict[str, Any]:
    """Returns a completion as a message object."""
    choice = first_choice(completion)
    message = choice.get("message")
    said = message if isinstance(message, dict) else {}
    content = list(_content(said))
    model = completion.get("model")
    characters = len(_encode(content))
    usage = usage_of(completion.get("usage"), frame, characters)
    stop = stop_of(choice.get("finish_reason"))
    return frame.message(content, stop, usage, model=model if isinstance(model, str) else "")


def stop_of(finish_reason: Json) -> str:
    """Returns the stop reason of a finish reason."""
    return _STOPS.get(str(finish_reason), "end_turn")


def _content(said: Mapping[str, Json]) -> Iterator[Json]:
    if thought := reasoning_text(said):
        yield {"type": "thinking", "thinking": thought, "signature": ""}
    for name in ("content", "refusal"):
        if isinstance(text := said.get(name), str) and text:
            yield {"type": "text", "text": text, "citations": None}
    calls = said.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            arguments = function.get("arguments")
            given = arguments_of(arguments if isinstance(arguments, str) else None)
            yield {"type": "tool_use", "id": call.get("id"), "name": function.get("name"), "input": given}


def usage_of(usage: Json, frame: Frame, characters: int) -> dict[str, Any]:
    """Returns the usage of a completion as this API tells it: what the cache had, and what was written to it, apart
    from `input_tokens`. `characters`: of the answer, from which its tokens are estimated where the upstream has not
    counted."""
    if not isinstance(usage, dict) or not isinstance(usage.get("prompt_tokens"), int):
        return _usage(frame.sent_tokens, 0, 0, -(-characters // 4))
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or usage.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    written = details.get("cache_write_tokens") or 0
    return _usage(usage["prompt_tokens"] - cached - written, cached, written, usage.get("completion_tokens") or 0)


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
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}


def told_error(answer: Answer, request_id: str) -> Answer:
    """Returns an error answer in OpenAI's shape as one in this API's; one that has it already, or is none, as it is."""
    if not isinstance(answer.body, bytes):
        return answer
    try:
        body = msgspec.json.decode(answer.body)
    except msgspec.DecodeError:
        body = answer.body.decode("utf-8", "replace")[:2_000]
    if isinstance(body, dict) and body.get("type") == "error":
        return answer
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    told = error_of(answer.status, message if isinstance(message, str) else str(body)[:2_000], request_id)
    headers = tuple((name, value) for name, value in answer.headers if name not in ("content-type", "content-length"))
    return Answer(answer.status, (("content-type", "application/json"), *headers), _encode(told), answer.source)


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
    head = {"id": message.get("id"), "object": "chat.completion", "created": 0, "model": message.get("model")}
    completion = {**head, "choices": [choice]}
    if (usage := _chat_usage(message.get("usage"))) is not None:
        completion["usage"] = usage
    return completion


def _chat_usage(usage: Json) -> Json:
    if not isinstance(usage, dict) or not isinstance(usage.get("input_tokens"), int):
        return None
    cached, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    prompt, completion = usage["input_tokens"] + cached + written, usage.get("output_tokens") or 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        **({"cache_creation": by_lifetime} if (by_lifetime := usage.get("cache_creation")) else {}),
    }
