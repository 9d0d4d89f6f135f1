"""Makes changed copies of messages and tools. All else in them stays as the client wrote it, unknown fields too."""

from collections.abc import Callable, Mapping
from typing import Any

from proxy.protocol.request import message
from proxy.types import Json, Message


def prefixed(said: Message, block: str) -> Message:
    """Returns the message with `block` before its content: in the same string, or as a part of its own, which ends in a
    line end, since some templates put nothing between two parts."""
    content = said.data.get("content")
    if isinstance(content, list):
        return _with_content(said, [{"type": "text", "text": f"{block}\n"}, *content])
    return _with_content(said, f"{block}\n\n{said.text}")


def suffixed(said: Message, block: str) -> Message:
    """Returns the message with `block` behind its content."""
    content = said.data.get("content")
    if isinstance(content, list):
        return _with_content(said, [*content, {"type": "text", "text": block}])
    return _with_content(said, f"{said.text}\n\n{block}")


def rewritten(said: Message, rewrite: Callable[[str], str]) -> Message:
    """Returns the message with `rewrite` applied to each of its texts; itself if that changes none. A part that becomes
    empty is removed, unless all would be: a provider refuses empty parts."""
    content = said.data.get("content")
    changed: Json = content
    if said.is_plain:
        changed = rewrite(said.text)
    elif isinstance(content, list):
        changed = [after for part in content if (after := _rewritten(part, rewrite)) is not None] or content
    return said if changed == content else _with_content(said, changed)


def replaced(said: Message, text: str) -> Message:
    """Returns the message with `text` as its whole content, as a string or a part as it was before."""
    in_parts = isinstance(said.data.get("content"), list)
    return _with_content(said, [{"type": "text", "text": text}] if in_parts else text)


def instruction(text: str) -> Message:
    """Builds a system message."""
    return message({"role": "system", "content": text})


def _rewritten(part: Json, rewrite: Callable[[str], str]) -> Json:
    match part:
        case {"type": "text", "text": str(text)}:
            after = rewrite(text)
            return (part if after == text else {**part, "text": after}) if after else None
        case _:
            return part


def _with_content(said: Message, content: Json) -> Message:
    data: Mapping[str, Any] = {**said.data, "content": content}
    return message(data)


def without_descriptions(definition: Json) -> Json:
    """Returns a tool definition without the descriptions of the function and its arguments."""
    function = {name: value for name, value in definition["function"].items() if name != "description"}
    if isinstance(function.get("parameters"), dict):
        function["parameters"] = _undescribed(function["parameters"])
    return {**definition, "function": function}


def _undescribed(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    less = {name: value for name, value in schema.items() if name != "description"}
    if isinstance(less.get("properties"), dict):
        less["properties"] = {name: _undescribed(value) for name, value in less["properties"].items()}
    return {name: _undescribed(value) if name in _NESTED else value for name, value in less.items()}


# Where a schema holds schemas; `properties` holds them by name, and a name may be "description".
_NESTED = ("items", "additionalProperties")
