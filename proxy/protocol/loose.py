"""Requests that are JSON to most parsers and not to a strict one: half an emoji (JavaScript cuts strings inside of a
surrogate pair), NaN, Infinity, a number beyond a double, a byte order mark.

What such a body says is the upstream's to judge: it goes there to the byte. All that is read of it is whom to ask, in
which form, and for whom.
"""

import json
from typing import Any

from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.request import MAX_MESSAGES, MAX_MODEL
from proxy.types import ChatRequest

_READ = (
    "model",
    "stream",
    "stream_options",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "metadata",
)


def glimpse(body: bytes) -> ChatRequest | None:
    """The request without its messages; None if `body` is not JSON to any parser, or no request for a completion. No
    text in it has lone surrogates, which nothing here could encode."""
    try:
        # Numbers are not looked at: one of thousands of digits would be refused.
        top = json.loads(body.decode("utf-8-sig"), parse_int=_number, parse_float=_number, parse_constant=_number)
        if not isinstance(top, dict) or not _has_messages(top.get("messages")):
            return None
        fields = {name: _encodable(top[name]) for name in _READ if name in top}
    except (ValueError, RecursionError):
        return None
    model, stream = fields.get("model"), fields.get("stream")
    if not isinstance(model, str) or not 0 < len(model) <= MAX_MODEL or not isinstance(stream, bool | None):
        return None
    return ChatCompletionRequest(body, fields, (), model, stream is True)


def _number(digits: str) -> float:  # noqa: ARG001 (what json calls)
    return 0.0


def _has_messages(messages: Any) -> bool:
    return (
        isinstance(messages, list)
        and 0 < len(messages) <= MAX_MESSAGES
        and all(isinstance(message, dict) for message in messages)
    )


def _encodable(value: Any) -> Any:
    """The same with U+FFFD for lone surrogates."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(name): _encodable(item) for name, item in value.items()}
    return value
