"""Reads completions: the assistant's messages, how they ended, whether they may be given again."""

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.protocol.request import message
from proxy.types import Json, Message


def answers_of(completion: Mapping[str, Json] | None) -> tuple[Message, ...]:
    """The message of every choice that has one."""
    return tuple(map(message, _messages(completion)))


def completion_of(said: Message | None) -> bytes:
    """A completion with this answer; None: without a choice."""
    return b'{"choices":[%s]}' % (
        b"" if said is None else b'{"index":0,"message":%s,"finish_reason":"stop"}' % said.raw
    )


def model_of(completion: Mapping[str, Json]) -> str:
    """The model that the upstream names; "" if it names none."""
    return str(completion.get("model") or "")


def has_error(completion: Mapping[str, Json] | None) -> bool:
    return bool((completion or {}).get("error"))


def said_by(completion: Mapping[str, Json]) -> str:
    """The text of the first choice; "" unless it is one string."""
    match _choices(completion):
        case [{"message": {"content": str(content)}}, *_]:
            return content
        case _:
            return ""


def generated_text(completion: Mapping[str, Json] | None) -> str:
    """All that the model wrote, thinking included: for counting what it cost."""
    parts = [
        value
        for said in _messages(completion)
        for name in ("reasoning_content", "content")
        if isinstance(value := said.get(name), str)
    ]
    return "\n".join(parts)


def is_finished(completion: Mapping[str, Json]) -> bool:
    """Every choice says something, and ended by itself or at the limit the client set, with no error told in between; a
    content filter's verdict may change tomorrow, and nothing at all is a slip of the upstream's."""
    choices = _choices(completion)
    if not choices or has_error(completion):
        return False
    return all(
        isinstance(c, dict)
        and c.get("finish_reason") in ("stop", "length", "tool_calls")
        and not c.get("error")
        and _says_something(c.get("message"))
        for c in choices
    )


def sole_text(completion: Mapping[str, Json]) -> str | None:
    """The text of an answer that is one text and nothing else, ended as the model meant to; else None."""
    match _choices(completion):
        case [{"finish_reason": "stop", "message": {"content": str(content), **rest}, **choice}]:
            extras = any(rest.get(name) for name in ("tool_calls", "function_call", "refusal", "audio"))
            return None if extras or choice.get("logprobs") is not None else content
        case _:
            return None


def _says_something(said: object) -> bool:
    """A text, a call, a refusal; what was only thought is none of them."""
    if not isinstance(said, dict):
        return False
    content = said.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text", part) if isinstance(part, dict) else part for part in parts]
    has_content = any(text.strip() if isinstance(text, str) else text for text in texts)
    return has_content or any(said.get(name) for name in ("tool_calls", "function_call", "refusal", "audio"))


def _messages(completion: Mapping[str, Json] | None) -> list[Mapping[str, Json]]:
    choices = _choices(completion or {})
    return [c["message"] for c in choices if isinstance(c, dict) and isinstance(c.get("message"), dict)]


def _choices(completion: Mapping[str, Any]) -> Sequence[Any]:
    choices = completion.get("choices")
    return choices if isinstance(choices, list) else ()
