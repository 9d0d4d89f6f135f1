"""The request of another API behind a neutral one: what its adapter needs to send it on in its own API, or to answer in
its shape. The neutral request is a chat completion; each of its messages knows the bytes of the items or blocks that it
was read from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from proxy.errors import BadRequest, InvalidJson
from proxy.protocol.request import refuse_too_many, refuse_too_many_fields
from proxy.types import ApiName, Breakpoints, Json

_top_level = msgspec.json.Decoder(dict[str, msgspec.Raw])
_any = msgspec.json.Decoder()
_raws = msgspec.json.Decoder(list[msgspec.Raw])

MOST_MODEL = 500  # characters; the name is stored in every row of the ledger


@dataclass(frozen=True, slots=True)
class Origin:
    """A request as it came in an API that is not chat completions."""

    api: ApiName
    raw: bytes  # the client's bytes
    values: Mapping[str, msgspec.Raw]  # its top-level values, each in the client's bytes
    fields: Mapping[str, Json]  # the same decoded, but for the conversation
    hands_off: str = ""  # why it is sent on only as it came; "": it may be rewritten
    foreign: str = ""  # the field, or part of one, that no chat completion can express; ""
    custom: frozenset[str] = frozenset()  # names of tools whose input is free text (Responses)
    breakpoints: Breakpoints | None = None  # the client's; None: the provider caches without (all but Messages)
    chain: str = ""  # the response that it goes on from, of those that the proxy keeps (Responses)
    is_unstored: bool = False  # the provider is to keep nothing of it: the whole chain is here (Responses)
    dangling: str = ""  # the call_id of an output whose call is not there; "": there is none (Responses)
    has_own: bool = False  # reasoning that the proxy has handed out itself, and no provider can read

    @property
    def previous(self) -> str:
        """The response that it says to go on from (Responses); "": none."""
        named = self.fields.get("previous_response_id")
        return named if isinstance(named, str) else ""

    @property
    def is_kept(self) -> bool:
        """False if the client asks that the answer be not stored (Responses)."""
        return self.fields.get("store") is not False

    @property
    def is_whole(self) -> bool:
        """True if its input holds all that it goes on from, so that a later request may go on from it (Responses)."""
        opaque = self.hands_off.partition(": ")[2]
        has_state = bool(self.hands_off) and (not opaque or opaque in ("item_reference", "unknown"))
        return not has_state and not self.dangling

    @property
    def is_bound(self) -> bool:
        """True if a chat completion in its place would lack something: what none can express, or the provider holds. Of
        the Messages API's fields those that pass as they came, and are not foreign, do without."""
        return bool(self.foreign) or (self.api == "responses" and bool(self.hands_off))

    @property
    def given(self) -> bytes:
        """The input in the client's bytes (Responses)."""
        return bytes(self.values.get("input", b"[]"))


def opened(body: bytes, *, may_lack_model: str = "") -> tuple[dict[str, msgspec.Raw], dict[str, Json]]:
    """Parses a body to its top-level values, as bytes and decoded. `may_lack_model`: a field with which no model's name
    is needed. Raises InvalidJson, and BadRequest without a model's name."""
    refuse_too_many(body)
    try:
        values = _top_level.decode(body)
        refuse_too_many_fields(values)
        fields: dict[str, Json] = {name: _any.decode(raw) for name, raw in values.items()}
    except msgspec.ValidationError:
        if body.lstrip()[:1] == b"{":  # a number that is out of range
            raise InvalidJson("The request body is not valid JSON.") from None
        raise BadRequest("Invalid type for the request body: expected an object.") from None
    except (ValueError, RecursionError):
        raise InvalidJson("The request body is not valid JSON.") from None
    model = fields.setdefault("model", None)
    needs_model = model is not None or not fields.get(may_lack_model)
    if needs_model and not (isinstance(model, str) and 0 < len(model) <= MOST_MODEL):
        raise BadRequest(
            f"Invalid 'model': expected a name of 1 to {MOST_MODEL} characters.",
            param="model",
        )
    if not isinstance(fields.get("stream", False), bool | None):
        raise BadRequest("Invalid type for 'stream': expected a boolean.", param="stream")
    return values, fields


def elements(raw: msgspec.Raw | bytes) -> Sequence[bytes]:
    """Returns the elements of a JSON array, each in its own bytes."""
    return [bytes(each) for each in _raws.decode(raw)]


def told_result(content: Json) -> Json:
    """Returns a tool's result as that of a chat completion: texts alone as one string, which every upstream takes."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    texts = [part["text"] for part in content if isinstance(part, dict) and set(part) == {"type", "text"}]
    return "\n".join(texts) if len(texts) == len(content) else content
