"""The neutral message, read from an element of `messages` of a `/v1/chat/completions` body."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proxy.types import Json, Part, ToolCall

# Fields of a message that is nothing but its text. Reasoning that a client sends back is the model's, not the
# conversation's; `cache_control` is about its price.
_OF_SOLE_TEXT = frozenset({"role", "content", "reasoning_content", "reasoning", "reasoning_details", "cache_control"})
_OF_TEXT_PART = frozenset({"type", "text", "cache_control"})
_OF_BARE = frozenset({"role", "content", "tool_call_id"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "thinking", "reasoning"})


class ChatCompletionMessage(msgspec.Struct, frozen=True):
    """One element of `messages`. A msgspec struct, since there are many to a request: it is made in a tenth of a frozen
    dataclass's time. Role and text are read often, so they are read once."""

    raw: bytes
    data: Mapping[str, Json]
    role: str
    text: str
    is_plain: bool

    @property
    def is_bare(self) -> bool:
        """True if nothing but the role and one string costs tokens."""
        return self.is_plain and _OF_BARE.issuperset(self.data)

    @property
    def texts(self) -> Sequence[str]:
        """The text parts, each by itself."""
        return (self.text,) if self.is_plain else _texts(self.data.get("content"))

    @property
    def has_only_text(self) -> bool:
        """True if the content is nothing but text: one string, or text parts."""
        content = self.data.get("content")
        return self.is_plain or (
            isinstance(content, list) and bool(content) and all(_text(part) is not None for part in content)
        )

    @property
    def sole_text(self) -> str | None:
        """The text; None if the message carries anything else, or an unknown field."""
        if any(value for name, value in self.data.items() if name not in _OF_SOLE_TEXT):
            return None
        content = self.data.get("content")
        if self.is_plain:
            return self.text
        if not isinstance(content, list) or not all(map(_is_nothing_but_text, content)):
            return None
        return "\n".join(part["text"] for part in content)

    @property
    def written(self) -> str:
        """The text of all parts, those in another API's form included."""
        if self.is_plain:
            return self.text
        content = self.data.get("content")
        parts = content if isinstance(content, list) else ()
        return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))

    @property
    def is_multimodal(self) -> bool:
        """True if the message has an image, sound, a file, or a part of unknown type."""
        content = self.data.get("content")
        if self.data.get("audio") is not None:
            return True
        if self.is_plain or content is None:
            return False
        return not isinstance(content, list) or not all(
            isinstance(part, dict) and isinstance(kind := part.get("type"), str) and kind in _TEXT_TYPES
            for part in content
        )

    @property
    def parts(self) -> Sequence[Part]:
        """The elements of a content that is a list; empty for any other content."""
        content = self.data.get("content")
        return tuple(map(_part, content)) if isinstance(content, list) else ()

    @property
    def beside(self) -> Sequence[Json]:
        """Texts and JSON values beside the content that cost tokens: reasoning, a refusal, calls."""
        data = self.data
        said = [said for name in ("reasoning_content", "refusal") if isinstance(said := data.get(name), str)]
        return said + [calls for name in ("tool_calls", "function_call") if (calls := data.get(name))]

    @property
    def name(self) -> str | None:
        """The `name` of the speaker; None if absent."""
        return name if isinstance(name := self.data.get("name"), str) else None

    @property
    def reasoning(self) -> str:
        """The reasoning text of an assistant message, from each provider's own field; "" if there is none."""
        data = self.data
        plain = [value for name in ("reasoning_content", "reasoning") if isinstance(value := data.get(name), str)]
        lists = [data.get(name) for name in ("reasoning_details", "thinking_blocks")]
        parts = [part for each in lists if isinstance(each, list) for part in each if isinstance(part, dict)]
        names = ("text", "thinking", "summary")
        blocks = [value for part in parts for name in names if isinstance(value := part.get(name), str)]
        return max(*plain, "\n".join(blocks), "", key=len)  # some providers send it twice

    @property
    def calls_tools(self) -> bool:
        """True if the message calls a tool or a function."""
        return bool(self.data.get("tool_calls") or self.data.get("function_call"))

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """The tool calls of an assistant message."""
        calls = self.data.get("tool_calls")
        return [_call(call) for call in calls] if calls and isinstance(calls, list) else ()

    @property
    def tool_call_id(self) -> str:
        """The id of the call that a tool's result answers; "" if absent."""
        return "" if (id_ := self.data.get("tool_call_id")) is None else str(id_)


def chat_message(raw: bytes, data: Mapping[str, Any]) -> ChatCompletionMessage:
    """Builds the message of the bytes `raw`, whose decoded JSON is `data`."""
    role, content = data.get("role"), data.get("content")
    role = role if isinstance(role, str) else ""
    if isinstance(content, str):
        return ChatCompletionMessage(raw, data, role, content, is_plain=True)
    return ChatCompletionMessage(raw, data, role, "\n".join(_texts(content)) if content else "", is_plain=False)


def _texts(content: Json) -> Sequence[str]:
    return tuple(said for part in content if (said := _text(part))) if isinstance(content, list) else ()


def _text(part: Json) -> str | None:
    match part:
        case {"type": "text", "text": str(said)}:
            return said
        case _:
            return None


def _is_nothing_but_text(part: Json) -> bool:
    return _text(part) is not None and not any(value for name, value in part.items() if name not in _OF_TEXT_PART)


def _part(part: Json) -> Part:
    match part:
        case {"type": "image_url", **rest}:
            match rest:
                case {"image_url": {"detail": "low"}}:
                    return Part("image", "", is_low=True, definition=part)
            return Part("image", "", is_low=False, definition=part)
        case {"type": "input_audio" | "file" | "video_url"}:
            return Part("media", "", is_low=False, definition=part)
        case {"text": str(text)}:
            return Part("text", text, is_low=False, definition=part)
        case _:
            return Part("other", "", is_low=False, definition=part)


def _call(call: Json) -> ToolCall:
    if not isinstance(call, dict):
        return ToolCall("", "", None)
    function = call.get("function")
    name, arguments = (function.get("name"), function.get("arguments")) if isinstance(function, dict) else (None, None)
    return ToolCall(
        "" if (id_ := call.get("id")) is None else str(id_),
        name if isinstance(name, str) else "",
        arguments if isinstance(arguments, str) else None,
    )
