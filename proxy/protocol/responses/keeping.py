"""Records of responses, kept for a while and by scope, so that a later request can go on from one, and a client can ask
for it again: its object, the items that were new with its request, and the response before it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.protocol.origin import Origin, elements
from proxy.protocol.responses.items import portable
from proxy.protocol.responses.request import own_items
from proxy.types import Json

KEY = "response:"  # begins the key of a kept response
LONGEST = 1_000  # responses in a chain

# Ids that the proxy gives: of a response, and of an item in it.
_RESPONSE = re.compile(r"resp_[0-9a-f]{24}")
_ITEM = re.compile(r"[a-z]+_([0-9a-f]{24})[0-9a-f]{2,3}")

_encode = msgspec.json.Encoder().encode


class KeptResponse(msgspec.Struct, frozen=True):
    """A response as it is kept."""

    response: msgspec.Raw
    items: msgspec.Raw  # an array: the input of its own request
    previous: str  # id of the response before it; "": it began the chain

    def output(self) -> bytes:
        """Returns the items of its output, joined by commas."""
        return b",".join(self._output())

    def by_id(self) -> dict[str, bytes]:
        """Returns the items of its output by their ids, each as a later request may hold it."""
        output = self._output()
        return {msgspec.json.decode(item, type=_Named).id: portable(item) for item in output}

    def _output(self) -> Sequence[bytes]:
        values = msgspec.json.decode(self.response, type=dict[str, msgspec.Raw])
        return elements(values.get("output", msgspec.Raw(b"[]")))


class _Place(msgspec.Struct, frozen=True):
    """The response that an item stands in."""

    item_of: str


class _Named(msgspec.Struct, frozen=True):
    """An item, of which only its id is looked at."""

    id: str = ""


def is_own(response: str) -> bool:
    """True for the id of a response that the proxy has told itself, whichever upstream it may have asked."""
    return _RESPONSE.fullmatch(response) is not None


def response_of(item: str) -> str:
    """Returns the id of the response that an item of ours stands in, from its own; "" if it is none of ours."""
    found = _ITEM.fullmatch(item)
    return f"resp_{found[1]}" if found else ""


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


def place(response: str) -> bytes:
    """Returns the bytes to be kept for an item, so that it is found by its id: the response that it stands in."""
    return _encode(_Place(response))


def placed(data: bytes) -> str:
    """Returns the id of the response that an item stands in, as it was kept; "" if it is nothing of the kind."""
    try:
        return msgspec.json.decode(data, type=_Place).item_of
    except (ValueError, RecursionError):
        return ""


def before(chain: Sequence[KeptResponse]) -> bytes:
    """Returns all items of a chain, oldest response first, joined by commas: what a request that goes on from it has in
    front of its own. They have no ids: no provider knows them by these."""
    items = [item for each in chain for part in (each.items, b"[%s]" % each.output()) for item in elements(part)]
    return b",".join(map(portable, items))


def said_before(chain: Sequence[KeptResponse]) -> bytes:
    """Returns all items of a chain as they are kept, oldest response first, joined by commas."""
    parts = [part for each in chain for part in (b",".join(elements(each.items)), each.output())]
    return b",".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list."""

    limit: int = 20  # elements
    oldest_first: bool = False
    after: str = ""  # the id of the last element of the page before


def listed(joined: bytes, page: Page) -> dict[str, Any]:
    """Returns a page of input items (joined by commas, oldest first) as the API lists them."""
    data = msgspec.json.decode(b"[" + joined + b"]", type=list[dict[str, Any]])
    for at, item in enumerate(data):
        item.setdefault("id", f"item_{at}")
        item.setdefault("type", "message")
        if item["type"] == "message" and isinstance(item.get("content"), str):
            kind = "output_text" if item.get("role") == "assistant" else "input_text"
            item["content"] = [{"type": kind, "text": item["content"]}]
    if not page.oldest_first:
        data.reverse()
    begins = next((at + 1 for at, item in enumerate(data) if item["id"] == page.after), 0)
    shown, rest = data[begins : begins + page.limit], data[begins + page.limit :]
    ends = {"first_id": shown[0]["id"], "last_id": shown[-1]["id"]} if shown else {"first_id": None, "last_id": None}
    return {"object": "list", "data": shown, "has_more": bool(rest), **ends}
