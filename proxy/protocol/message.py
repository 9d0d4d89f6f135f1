"""The neutral message, read from an element of `messages` of a `/v1/chat/completions` body, and changed copies of
messages and tools: all else in them stays as the client wrote it, unknown fields too."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from proxy.protocol.calls import read_call
from proxy.types import Json, Message, Part, ToolCall

INSTRUCTIONS = ("system", "developer")  # roles

# Fields of a message that is nothing but its text. Reasoning that a client sends back is the model's, not the
# conversation's; `cache_control` is about its price.
_OF_SOLE_TEXT = frozenset({"role", "content", "reasoning_content", "reasoning", "reasoning_details", "cache_control"})
_OF_TEXT_PART = frozenset({"type", "text", "cache_control"})
_OF_BARE = frozenset({"role", "content", "tool_call_id"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "thinking", "reasoning"})
# Where a schema holds schemas; `properties` holds them by name, and a name may be "description".
_NESTED = ("items", "additionalProperties")

_encoder = msgspec.json.Encoder()
_array = msgspec.json.Decoder(list[msgspec.Raw])
_object = msgspec.json.Decoder(dict[str, Any])


class ChatCompletionMessage(msgspec.Struct, frozen=True):
    """One element of `messages`; `Message` documents its properties. A msgspec struct, since there are many to a
    request: it is made in a tenth of a frozen dataclass's time. Role and text are read often, so they are read once."""

    raw: bytes
    data: Mapping[str, Json]
    role: str
    text: str
    is_plain: bool
    span: bytes = b""
    is_sealed: bool = False

    @property
    def is_bare(self) -> bool:
        return self.is_plain and _OF_BARE.issuperset(self.data)

    @property
    def texts(self) -> Sequence[str]:
        return (self.text,) if self.is_plain else _texts(self.data.get("content"))

    @property
    def has_only_text(self) -> bool:
        parts = _elements(self)
        return self.is_plain or (bool(parts) and all(_text(part) is not None for part in parts))

    @property
    def sole_text(self) -> str | None:
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
        if self.is_plain:
            return self.text
        return "\n".join(str(part.get("text") or "") for part in _elements(self) if isinstance(part, dict))

    @property
    def is_multimodal(self) -> bool:
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
        return tuple(map(_part, _elements(self)))

    @property
    def beside(self) -> Sequence[Json]:
        data = self.data
        said = [said for name in ("reasoning_content", "refusal") if isinstance(said := data.get(name), str)]
        return said + [calls for name in ("tool_calls", "function_call") if (calls := data.get(name))]

    @property
    def name(self) -> str | None:
        return name if isinstance(name := self.data.get("name"), str) else None

    @property
    def reasoning(self) -> str:
        data = self.data
        plain = [value for name in ("reasoning_content", "reasoning") if isinstance(value := data.get(name), str)]
        lists = [data.get(name) for name in ("reasoning_details", "thinking_blocks")]
        parts = [part for each in lists if isinstance(each, list) for part in each if isinstance(part, dict)]
        names = ("text", "thinking", "summary")
        blocks = [value for part in parts for name in names if isinstance(value := part.get(name), str)]
        return max(*plain, "\n".join(blocks), "", key=len)  # some providers send it twice

    @property
    def calls_tools(self) -> bool:
        return bool(self.data.get("tool_calls") or self.data.get("function_call"))

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        calls = self.data.get("tool_calls")
        return [read_call(call) for call in calls] if calls and isinstance(calls, list) else ()

    @property
    def tool_call_id(self) -> str:
        return _id(self.data.get("tool_call_id"))


def chat_message(
    raw: bytes, data: Mapping[str, Any], *, span: bytes = b"", is_sealed: bool = False
) -> ChatCompletionMessage:
    """Builds the message of the bytes `raw`, whose decoded JSON is `data`. `span`, `is_sealed`: as in `Message`."""
    role, content = data.get("role"), data.get("content")
    role = role if isinstance(role, str) else ""
    if isinstance(content, str):
        return ChatCompletionMessage(raw, data, role, content, True, span, is_sealed)
    text = "\n".join(_texts(content)) if content else ""
    return ChatCompletionMessage(raw, data, role, text, False, span, is_sealed)


def message(data: Mapping[str, Any]) -> Message:
    """Builds a message from its fields: one that we write, or an upstream's answer."""
    return chat_message(_encoder.encode(data), data)


def message_of(raw: bytes) -> Message | None:
    """Parses a JSON object as a message; None if `raw` is none."""
    try:
        return chat_message(raw, _object.decode(raw))
    except (ValueError, RecursionError):
        return None


def spanned(said: Message, span: bytes, *, is_sealed: bool) -> Message:
    """Returns the message with its bytes in another API than chat completions. `span`, `is_sealed`: as in `Message`."""
    return chat_message(said.raw, said.data, span=span, is_sealed=is_sealed)


def bare(said: Message) -> Message:
    """Returns the message without its bytes in another API than chat completions."""
    return chat_message(said.raw, said.data)


def unpacked(array: bytes) -> tuple[Message, ...]:
    """Parses a JSON array of messages; each keeps its own bytes."""
    return tuple([chat_message(bytes(raw), _object.decode(raw)) for raw in _array.decode(array)])


def packed(messages: Iterable[Message]) -> bytes:
    """Encodes messages as a JSON array; the inverse of `unpacked`."""
    return b"[" + b",".join([said.raw for said in messages]) + b"]"


def prefixed(said: Message, block: str) -> Message:
    """Returns the message with `block` before its content: in the same string, or as a part of its own, which ends in a
    line end, since some templates put nothing between two parts."""
    if _is_list(said):
        return _with_content(said, [_text_part(f"{block}\n"), *said.data["content"]])
    return _with_content(said, f"{block}\n\n{said.text}")


def suffixed(said: Message, block: str) -> Message:
    """Returns the message with `block` behind its content."""
    if _is_list(said):
        return _with_content(said, [*said.data["content"], _text_part(block)])
    return _with_content(said, f"{said.text}\n\n{block}")


def rewritten(said: Message, rewrite: Callable[[str], str]) -> Message:
    """Returns the message with `rewrite` applied to each of its texts; itself if that changes none, or if it is sealed.
    A part that becomes empty is removed, unless all would be: a provider refuses empty parts."""
    if said.is_sealed:
        return said
    content = said.data.get("content")
    changed: Json = content
    if said.is_plain:
        changed = rewrite(said.text)
    elif isinstance(content, list):
        changed = [after for part in content if (after := _rewritten(part, rewrite)) is not None] or content
    return said if changed == content else _with_content(said, changed)


def replaced(said: Message, text: str) -> Message:
    """Returns the message with `text` as its whole content, as a string or a part as it was before; itself if it is
    sealed."""
    if said.is_sealed:
        return said
    return _with_content(said, [_text_part(text)] if _is_list(said) else text)


def instruction(text: str) -> Message:
    """Builds a system message."""
    return message({"role": "system", "content": text})


def without_descriptions(definition: Json) -> Json:
    """Returns a tool definition without the descriptions of the function and its arguments."""
    function = {name: value for name, value in definition["function"].items() if name != "description"}
    if isinstance(function.get("parameters"), dict):
        function["parameters"] = _undescribed(function["parameters"])
    return {**definition, "function": function}


def _texts(content: Json) -> Sequence[str]:
    return tuple(said for part in content if (said := _text(part))) if isinstance(content, list) else ()


def _elements(said: Message) -> Sequence[Json]:
    """Returns the parts of a content that is a list, as the client wrote them; () for any other content."""
    content = said.data.get("content")
    return content if isinstance(content, list) else ()


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
        case {"type": "image_url", "image_url": {"detail": "low"}}:
            return Part("image", part, is_low=True)
        case {"type": "image_url"}:
            return Part("image", part)
        case {"type": "input_audio" | "file" | "video_url"}:
            return Part("media", part)
        case {"text": str(text)}:
            return Part("text", part, text)
        case _:
            return Part("other", part)


def _id(value: Json) -> str:
    return "" if value is None else str(value)


def _rewritten(part: Json, rewrite: Callable[[str], str]) -> Json:
    match part:
        case {"type": "text", "text": str(text)}:
            after = rewrite(text)
            return (part if after == text else {**part, "text": after}) if after else None
        case _:
            return part


def _with_content(said: Message, content: Json) -> Message:
    data = {**said.data, "content": content}
    # Without its bytes: a seal that is broken can be told by that.
    return chat_message(_encoder.encode(data), data, is_sealed=said.is_sealed)


def _is_list(said: Message) -> bool:
    return isinstance(said.data.get("content"), list)


def _text_part(text: str) -> Json:
    return {"type": "text", "text": text}


def _undescribed(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    less = {name: value for name, value in schema.items() if name != "description"}
    if isinstance(less.get("properties"), dict):
        less["properties"] = {name: _undescribed(value) for name, value in less["properties"].items()}
    return {name: _undescribed(value) if name in _NESTED else value for name, value in less.items()}
