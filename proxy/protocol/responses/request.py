"""A request of the Responses API, read as the neutral request of a chat completion; a changed one, written.

A field that no chat completion can express is named in `Origin.foreign`: an upstream without this API cannot answer
such a request, and refusing it is better than answering another one. State that the provider holds is named in
`Origin.hands_off`: such a request passes as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import msgspec

from proxy.errors import BadRequest, MissingParameter
from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.message import ChatCompletionMessage, chat_message
from proxy.protocol.origin import Origin, elements, opened
from proxy.protocol.request import MAX_MESSAGES, glimpse
from proxy.protocol.responses import items
from proxy.protocol.responses.tools import can_choose, chat_tools, choose, tools_beside
from proxy.types import Json, Message, Repeats

# Fields with the same name and meaning in a chat completion.
_ALIKE = ("model", "stream", "temperature", "top_p", "parallel_tool_calls")
# Fields that say nothing to the model: the neutral request knows them, an upstream that is translated to does not get
# them.
_KNOWN = ("user", "safety_identifier", "metadata", "prompt_cache_key")
# Fields that an upstream which is translated to does without: hints of price, speed or depth, and what only concerns a
# provider that keeps responses.
_DROPPED = frozenset(
    {"store", "service_tier", "truncation", "reasoning", "max_tool_calls", "stream_options", "include", "input"}
    | {"instructions", "tools", "tool_choice", "text", "max_output_tokens", "top_logprobs", "background"}
    | {"prompt_cache_options", "prompt_cache_retention", "previous_response_id", "client_metadata"}
)
# Of these, each is of one kind: any other value cannot be told.
_KINDS: Mapping[str, type] = MappingProxyType(
    {"instructions": str, "tools": list, "text": dict, "previous_response_id": str}
)
_FOREIGN_INCLUDES = frozenset({"message.output_text.logprobs"})
# State at the provider, or work that goes on there: such a request is sent on as it is.
_HANDS_OFF = ("previous_response_id", "conversation", "context_management", "prompt")

_objects = msgspec.json.Decoder(list[dict[str, Any]])
_encode = msgspec.json.Encoder().encode


def parse(body: bytes) -> ChatCompletionRequest:
    """Parses a body. Raises BadRequest for one that no upstream could accept."""
    values, fields = opened(body, may_lack_model="prompt")
    given = values.get("input") if fields.get("input") is not None else None
    if given is None and not any(fields.get(name) for name in _HANDS_OFF):
        raise MissingParameter("Missing required parameter: 'input'.", param="input")
    read = _read_input(given)
    instructions = fields.get("instructions")
    if isinstance(instructions, str) and instructions:
        data = {"role": "system", "content": instructions}
        # Its bytes are not among those of the input: they stay in their own field.
        messages: tuple[ChatCompletionMessage, ...] = (chat_message(_encode(data), data), *read.messages)
    else:
        messages = read.messages
    hands_off = next((name for name in _HANDS_OFF if fields.get(name)), "")
    hands_off = hands_off or ("background" if fields.get("background") else "") or read.opaque
    tools, custom, foreign = chat_tools(fields.get("tools"))
    origin = Origin(
        "responses",
        body,
        values,
        {name: value for name, value in fields.items() if name != "input"},
        hands_off=hands_off,
        foreign=_foreign(fields) or foreign or read.opaque.partition(":")[0] or read.foreign,
        custom=custom,
        dangling=read.dangling,
        has_own=read.has_own and not hands_off,
    )
    chat = _chat_fields(fields, tools)
    raw = _encode(chat | {"messages": [msgspec.Raw(said.raw) for said in messages]})
    beside = {name: value for name, value in origin.fields.items() if name not in _IN_CHAT and value is not None}
    every = chat | beside | tools_beside(fields, chat)
    return ChatCompletionRequest(raw, every, messages, fields["model"] or "", fields.get("stream") is True, origin)


def glimpsed(body: bytes) -> ChatCompletionRequest | None:
    """Parses a body that `parse` cannot read and an upstream might: it may only pass as it came. None if it is not JSON
    to any parser, or no request."""
    found = glimpse(body, "input")
    return None if found is None else replace(found, origin=Origin("responses", body, {}, {}, hands_off="unreadable"))


def _read_input(given: msgspec.Raw | None) -> items.ReadItems:
    if given is None:
        return items.ReadItems(())
    raw = bytes(given)
    if raw.lstrip()[:1] == b'"':
        text = msgspec.json.decode(raw, type=str)
        data = {"role": "user", "content": text}
        return items.ReadItems((chat_message(_encode(data), data, span=_encode({"type": "message", **data})),))
    try:
        decoded = _objects.decode(raw)
    except (msgspec.ValidationError, RecursionError):
        raise BadRequest("Invalid type for 'input': expected a string or an array of objects.", param="input") from None
    if len(decoded) > MAX_MESSAGES:
        raise BadRequest(f"Invalid 'input': more than {MAX_MESSAGES} items.", param="input")
    return items.read(decoded, elements(raw))


# Fields that the neutral request holds in a chat completion's form, or that are labels of the client's. It holds every
# other one as it came: it may make a difference to the answer.
_IN_CHAT = frozenset(
    {"input", "instructions", "tools", "tool_choice", "max_output_tokens", "stream", "stream_options"}
    | {"client_metadata"}
)


def _foreign(fields: Mapping[str, Json]) -> str:
    """Returns the first field that no chat completion can express; "" if there is none."""
    for name, value in fields.items():
        if value in (None, False, [], {}) or name in _ALIKE or name in _KNOWN:
            continue
        if name in ("background", "top_logprobs") and value:
            return name
        if name == "include" and (not isinstance(value, list) or _FOREIGN_INCLUDES.intersection(map(str, value))):
            return name
        if name not in _DROPPED or not isinstance(value, _KINDS.get(name, object)):
            return name
    match fields.get("text"):
        case {"format": {"type": "text" | "json_object" | "json_schema"} | None}:
            pass
        case {"format": _}:
            return "text.format"
    return "" if can_choose(fields.get("tool_choice"), fields.get("tools")) else "tool_choice"


def _chat_fields(fields: Mapping[str, Json], tools: list[Json]) -> dict[str, Json]:
    chat = {name: fields[name] for name in (*_ALIKE, *_KNOWN) if fields.get(name) is not None}
    if fields.get("stream"):
        chat["stream_options"] = {"include_usage": True}
    if (most := fields.get("max_output_tokens")) is not None:
        chat["max_tokens"] = most
    if tools:
        chat["tools"] = tools
        choose(chat, fields.get("tool_choice"))
    if (form := _response_format(fields.get("text"))) is not None:
        chat["response_format"] = form
    return chat


def _response_format(text: Json) -> Json:
    match text:
        case {"format": {"type": "json_schema", **form}}:
            return {"type": "json_schema", "json_schema": {key: each for key, each in form.items() if each is not None}}
        case {"format": {"type": "json_object"}}:
            return {"type": "json_object"}
        case _:
            return None


# --- and back ---------------------------------------------------------------------------------------------------------


def written(
    origin: Origin, messages: Sequence[Message] | None, model: str | None, _repeats: Repeats | None = None
) -> bytes:
    """Returns the body in its own API, with these messages in place of the client's; None: as they are. All other
    values keep their bytes. `_repeats`: nothing, since the provider's prefix cache needs no breakpoints."""
    values = dict(origin.values)
    if origin.is_unstored:
        values["store"] = msgspec.Raw(b"false")
    if model is not None:
        values["model"] = msgspec.Raw(_encode(model))
    if messages is not None:
        has_instructions = isinstance(origin.fields.get("instructions"), str) and bool(origin.fields["instructions"])
        inputs = list(messages)
        if has_instructions and inputs and inputs[0].role == "system" and not inputs[0].span:
            first = inputs.pop(0)
            if first.text != origin.fields["instructions"]:
                values["instructions"] = msgspec.Raw(_encode(first.text))
        values["input"] = msgspec.Raw(b"[" + items.written(inputs, origin.custom) + b"]")
    return _encode(values)


def continued(origin: Origin, before: bytes, named: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
    """Returns the body of a request that goes on from responses which the proxy has kept, with the items `before`
    (joined by commas) in front of its own, and items that it only names in place. `named`: these by their ids."""
    values = {name: value for name, value in origin.values.items() if not before or name != "previous_response_id"}
    own = own_items(origin.given)
    if named:
        own = b",".join([named.get(_named(each), each) for each in elements(b"[%s]" % own)])
    values["input"] = msgspec.Raw(b"[" + b",".join(filter(None, (before, own))) + b"]")
    return _encode(values)


def referred(given: bytes) -> list[str]:
    """Returns the ids of items that an input only names."""
    if given.lstrip()[:1] != b"[":
        return []
    return [name for each in elements(given) if (name := _named(each))]


def _named(item: bytes) -> str:
    """Returns the id by which an item names another one; "" if it is an item itself."""
    match msgspec.json.decode(item):
        case {"type": "item_reference", "id": str(name)}:
            return name
        case _:
            return ""


def own_items(given: bytes) -> bytes:
    """Returns an input as items joined by commas."""
    if given == b"null":
        return b""
    if given.lstrip()[:1] == b'"':
        return _encode({"type": "message", "role": "user", "content": msgspec.Raw(given)})
    return b",".join(elements(given))


def chained(request: ChatCompletionRequest, chain: str, *, is_unstored: bool) -> ChatCompletionRequest:
    """Returns a request that says which kept response it goes on from. `is_unstored`: the provider is to store nothing
    of it, since the chain goes on here."""
    return replace(request, origin=replace(origin_of(request), chain=chain, is_unstored=is_unstored))


def origin_of(request: ChatCompletionRequest) -> Origin:
    """Returns the request as it came."""
    assert isinstance(request.origin, Origin)
    return request.origin
