"""What a message says, whichever of the two ways it is written: a string, or a list of parts."""

from collections.abc import Mapping
from typing import Any

from proxy.types import Message
from proxy.wire.request import message


def text(data: Mapping[str, Any]) -> str:
    """The text of a message, its text parts joined by line ends; "" if it has none."""
    content = data.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(said for part in content if (said := _part(part)))


def texts(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The text parts of a message, each by itself."""
    content = data.get("content")
    if isinstance(content, str):
        return (content,)
    return tuple(said for part in content if (said := _part(part))) if isinstance(content, list) else ()


def has_only_text(data: Mapping[str, Any]) -> bool:
    content = data.get("content")
    return isinstance(content, str) or (
        isinstance(content, list) and bool(content) and all(_part(part) is not None for part in content)
    )


def prefixed(said: Message, block: str) -> Message:
    """The message with `block` before its own content, which stays verbatim: as text, or as a part of its own."""
    content = said.data.get("content")
    changed = (
        [{"type": "text", "text": block}, *content]
        if isinstance(content, list)
        else f"{block}\n\n{content if isinstance(content, str) else ''}"
    )
    return message({**said.data, "content": changed})


def suffixed(said: Message, block: str) -> Message:
    """The same behind its own content."""
    content = said.data.get("content")
    changed = (
        [*content, {"type": "text", "text": block}]
        if isinstance(content, list)
        else f"{content if isinstance(content, str) else ''}\n\n{block}"
    )
    return message({**said.data, "content": changed})


def _part(part: Any) -> str | None:
    match part:
        case {"type": "text", "text": str(said)}:
            return said
        case _:
            return None
