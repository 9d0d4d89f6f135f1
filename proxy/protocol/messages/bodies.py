"""Bodies of the Messages API with more in them: tools of ours, and the messages of a further round. Every other byte
stays."""

from collections.abc import Sequence
from typing import Any

import msgspec

from proxy.protocol.messages import blocks
from proxy.types import Json, Message

# https://docs.claude.com/en/docs/agents-and-tools/tool-use/memory-tool: its schema is the provider's own.
BUILT_IN: Json = {"type": "memory_20250818", "name": "memory"}

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_array = msgspec.json.Decoder(list[msgspec.Raw])
_encode = msgspec.json.Encoder().encode


def with_tools(body: bytes, definitions: Sequence[Json], *, has_built_in: bool) -> bytes:
    """Returns a body with tools behind its own. `definitions`: as those of a chat completion. `has_built_in`: the
    provider has the memory tool, and gets that by its type."""
    values = _fields.decode(body)
    own = _array.decode(values["tools"]) if bytes(values.get("tools", b"null")) != b"null" else []
    made = [msgspec.Raw(_encode(_tool(each, has_built_in=has_built_in))) for each in definitions]
    values["tools"] = msgspec.Raw(_encode([*own, *made]))
    return _encode(values)


def followed(body: bytes, more: Sequence[Message]) -> bytes:
    """Returns a body with `more` behind its messages. Raises ValueError if it has none."""
    values = _fields.decode(body)
    if "messages" not in values or not _array.decode(values["messages"]):
        raise ValueError("a body without messages cannot be continued")
    messages = bytes(values["messages"]).rstrip().removesuffix(b"]").rstrip()
    values["messages"] = msgspec.Raw(b"%b,%b" % (messages, blocks.written(more).removeprefix(b"[")))
    return _encode(values)


def _tool(definition: Json, *, has_built_in: bool) -> Json:
    function: dict[str, Any] = definition["function"]
    if has_built_in and function["name"] == BUILT_IN["name"]:
        return BUILT_IN
    return {
        "name": function["name"],
        "description": function.get("description") or "",
        "input_schema": function["parameters"],
    }
