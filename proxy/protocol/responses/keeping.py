"""Records of responses, kept for a while and by scope, so that a later request can go on from one, and a client can ask
for it again: its object, the items that were new with its request, and the response before it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proxy.protocol.origin import Origin, elements
from proxy.protocol.responses.request import own_items
from proxy.types import Json

KEY = "response:"  # begins the key of a kept response
LONGEST = 1_000  # responses in a chain

_encode = msgspec.json.Encoder().encode


class KeptResponse(msgspec.Struct, frozen=True):
    """A response as it is kept."""

    response: msgspec.Raw
    items: msgspec.Raw  # an array: the input of its own request
    previous: str  # id of the response before it; "": it began the chain

    def output(self) -> bytes:
        """Returns the items of its output, joined by commas."""
        values = msgspec.json.decode(self.response, type=dict[str, msgspec.Raw])
        return b",".join(elements(values.get("output", msgspec.Raw(b"[]"))))


def kept(origin: Origin, given: bytes, response: Mapping[str, Json]) -> bytes:
    """Returns a response as the bytes to be kept. `given`: the input of its request, as the client wrote it."""
    items = b"[" + own_items(given) + b"]"
    record = KeptResponse(msgspec.Raw(_encode(response)), msgspec.Raw(items), origin.chain)
    return _encode(record)


def read(data: bytes) -> KeptResponse | None:
    """Reads what was kept; None if it is nothing of the kind."""
    try:
        return msgspec.json.decode(data, type=KeptResponse)
    except (ValueError, RecursionError):
        return None


def before(chain: Sequence[KeptResponse]) -> bytes:
    """Returns all items of a chain, oldest response first, joined by commas: what a request that goes on from it has in
    front of its own."""
    parts = [part for each in chain for part in (b",".join(elements(each.items)), each.output())]
    return b",".join(filter(None, parts))


def listed(joined: bytes) -> dict[str, Any]:
    """Returns input items (joined by commas, oldest first) as the list that the API gives, newest first."""
    data = msgspec.json.decode(b"[" + joined + b"]", type=list[dict[str, Any]])
    for at, item in enumerate(data):
        item.setdefault("id", f"item_{at}")
        item.setdefault("type", "message")
        if item["type"] == "message" and isinstance(item.get("content"), str):
            kind = "output_text" if item.get("role") == "assistant" else "input_text"
            item["content"] = [{"type": kind, "text": item["content"]}]
    data.reverse()
    ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {"first_id": None, "last_id": None}
    return {"object": "list", "data": data, "has_more": False, **ends}
