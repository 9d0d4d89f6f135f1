"""Bodies of the Responses API with more in them: tools of ours, and the items of a further round. Every other byte
stays."""

from collections.abc import Sequence

import msgspec

from proxy.protocol.responses import items
from proxy.protocol.responses.request import own_items
from proxy.types import Json, Message

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_array = msgspec.json.Decoder(list[msgspec.Raw])
_encode = msgspec.json.Encoder().encode


def with_tools(body: bytes, definitions: Sequence[Json]) -> bytes:
    """Returns a body with tools behind its own. `definitions`: as those of a chat completion."""
    values = _fields.decode(body)
    own = _array.decode(values["tools"]) if bytes(values.get("tools", b"null")) != b"null" else []
    values["tools"] = msgspec.Raw(_encode([*own, *(msgspec.Raw(_encode(_tool(each))) for each in definitions)]))
    return _encode(values)


def followed(body: bytes, more: Sequence[Message]) -> bytes:
    """Returns a body with `more` behind its input. Raises ValueError if it has none."""
    values = _fields.decode(body)
    own = own_items(bytes(values.get("input", b"null")))
    if not own:
        raise ValueError("a body without input cannot be continued")
    values["input"] = msgspec.Raw(b"[%b,%b]" % (own, items.written(more, frozenset())))
    return _encode(values)


def _tool(definition: Json) -> Json:
    function = definition["function"]
    return {
        "type": "function",
        "name": function["name"],
        "description": function.get("description") or "",
        "parameters": function["parameters"],
        "strict": False,  # this API's default is true, for which an argument cannot be left out
    }
