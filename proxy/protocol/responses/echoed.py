"""The echo of a request in its response: the client's own, where another one was sent in its place."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from proxy.protocol.origin import Origin, elements
from proxy.types import Json

Values = dict[str, msgspec.Raw]

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode = msgspec.json.Decoder(dict[str, Any]).decode
_any = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Echo:
    """Fields of the client's request that the upstream may have been sent otherwise, as a response is to tell them."""

    values: Mapping[str, Json] = field(default_factory=dict)

    def unsaid(self, response: Mapping[str, msgspec.Raw], ours: Collection[str]) -> Values:
        """Returns the values of a response that differ from what the client is to see. `ours`: names of tools that the
        client has not sent."""
        changed: Values = {}
        for name, value in self.values.items():
            if name in response and _any(response[name]) != value:
                changed[name] = msgspec.Raw(_encode(value))
        tools = bytes(response.get("tools", b"null"))
        if ours and tools.lstrip()[:1] == b"[":
            given = elements(tools)
            kept = [each for each in given if not _is_ours(each, ours)]
            if len(kept) < len(given):
                changed["tools"] = msgspec.Raw(b"[%b]" % b",".join(kept))
        return changed

    def told(self, response: bytes) -> bytes:
        """Returns a response that passes as it came, as the client is to see it. Raises ValueError for what is none."""
        values = _fields(response)
        changed = self.unsaid(values, ())
        return _encode({**values, **changed}) if changed else response

    def told_in(self, event: bytes) -> bytes:
        """Returns the data of an event with the response that it may hold as the client is to see it."""
        if b'"response"' not in event:
            return event
        try:
            values = _fields(event)
            given = bytes(values["response"])
            response = self.told(given)
        except (ValueError, KeyError, RecursionError):
            return event  # none that holds a response, or none at all
        return event if response is given else _encode({**values, "response": msgspec.Raw(response)})


NOTHING = Echo()


def echo_of(origin: Origin) -> Echo:
    """Returns what responses to a request are to repeat of it."""
    values: dict[str, Json] = {"instructions": origin.fields.get("instructions")}
    if origin.is_unstored and origin.is_kept:
        values["store"] = True
    if origin.chain:
        values["previous_response_id"] = origin.chain
    return Echo(values)


def _is_ours(tool: bytes, ours: Collection[str]) -> bool:
    try:
        given = _decode(tool)
    except ValueError:
        return False
    return given.get("type") == "function" and given.get("name") in ours
