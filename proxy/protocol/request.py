"""Parses the body of a chat completion request, once, and writes changed bodies. Unchanged parts keep their bytes.

`msgspec.Raw` cuts a JSON document into its values without rewriting them, so a message that we keep goes upstream with
the client's own bytes: key order, escapes, unknown keys, number formats.
"""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from proxy.errors import BadRequest, InvalidJson, MissingParameter
from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.message import chat_message, packed
from proxy.types import ChatRequest, Json, Message

_top_level = msgspec.json.Decoder(dict[str, msgspec.Raw])
_array = msgspec.json.Decoder(list[msgspec.Raw])
_object = msgspec.json.Decoder(dict[str, Any])
_objects = msgspec.json.Decoder(list[dict[str, Any]])
_any = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()

# A client that sends more than this many messages is not having a conversation; the bound keeps parsing bounded.
MAX_MESSAGES = 100_000
# A few bytes of JSON are 60 of memory or more once they are an object or array: 30 MB of `[],` took a gigabyte.
MAX_CONTAINERS = 1_000_000
ALWAYS_DECODED = 4 * 2**20  # bytes; a body of this size cannot have too many
# APIs have some dozens of fields. Each is read by itself: 300,000 of them in 5 MB held the event loop for seconds.
MAX_FIELDS = 1_000
# Characters; the name is stored in every row of the ledger.
MAX_MODEL = 500
# Fields that `glimpse` reads.
_GLIMPSED = ("model", "stream", "stream_options", "user", "safety_identifier", "prompt_cache_key", "metadata")
_STREAMING = frozenset({"stream", "stream_options"})
_OUT_OF_RANGE = "Number out of range"  # msgspec's message for a number beyond a double


def parse(body: bytes) -> ChatRequest:
    """Parses a request body. Raises BadRequest (OpenAI's shape, 400) for what no upstream could accept: not JSON, not
    an object, no model, no messages. Anything else (unknown roles, odd contents) is for the upstream to judge."""
    refuse_too_many(body)
    top = _decode(_top_level, body, "the request body")
    refuse_too_many_fields(top)
    if "model" not in top:
        raise MissingParameter("you must provide a model parameter", param="model")
    if "messages" not in top:
        raise MissingParameter("Missing required parameter: 'messages'.", param="messages")
    raw_messages = top.pop("messages")
    fields = {name: _decode(_any, raw, f"'{name}'") for name, raw in top.items()}
    if not isinstance(fields["model"], str) or not fields["model"]:
        raise BadRequest("Invalid type for 'model': expected a non-empty string.", param="model")
    if len(fields["model"]) > MAX_MODEL:
        raise BadRequest(f"Invalid 'model': longer than {MAX_MODEL} characters.", param="model")
    if "stream" in fields and not isinstance(fields["stream"], bool | None):
        raise BadRequest("Invalid type for 'stream': expected a boolean.", param="stream")
    return ChatCompletionRequest(body, fields, _messages(raw_messages), fields["model"], fields.get("stream") is True)


def refuse_too_many(body: bytes) -> None:
    """Raises BadRequest for a body with so many objects and arrays that reading it would take gigabytes."""
    if len(body) > ALWAYS_DECODED and body.count(b"{") + body.count(b"[") > MAX_CONTAINERS:
        raise BadRequest(f"The request body has more than {MAX_CONTAINERS} objects and arrays.")


def refuse_too_many_fields(top: Mapping[str, msgspec.Raw]) -> None:
    """Raises BadRequest for a body with so many top-level fields that no API has them."""
    if len(top) > MAX_FIELDS:
        raise BadRequest(f"The request body has more than {MAX_FIELDS} fields.")


def _messages(raw: msgspec.Raw) -> tuple[Message, ...]:
    elements = _decode(_array, raw, "'messages'", "expected an array of objects")
    if not elements:
        raise BadRequest("Invalid 'messages': empty array. Expected at least one message.", param="messages")
    if len(elements) > MAX_MESSAGES:
        raise BadRequest(f"Invalid 'messages': more than {MAX_MESSAGES} messages.", param="messages")
    try:
        decoded = _objects.decode(raw)
    except (ValueError, RecursionError):
        # Decoded one by one, to name the one that is wrong.
        decoded = [
            _decode(_object, element, f"'messages[{i}]'", "expected an object") for i, element in enumerate(elements)
        ]
    return tuple([chat_message(bytes(element), data) for element, data in zip(elements, decoded, strict=True)])


def _decode(decoder: msgspec.json.Decoder[Any], data: bytes | msgspec.Raw, what: str, expected: str = "") -> Any:
    param = what.strip("'") if what.startswith("'") else None
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        if str(error).startswith(_OUT_OF_RANGE):  # whatever type is expected
            raise InvalidJson(f"{what} is not valid JSON: {_shorten(error)}.", param=param) from None
        raise BadRequest(f"Invalid type for {what}: {expected or _shorten(error)}.", param=param) from None
    except RecursionError:
        raise InvalidJson(f"{what} is nested too deeply.", param=param) from None
    except ValueError as error:  # not JSON, not UTF-8, a lone surrogate
        raise InvalidJson(f"{what} is not valid JSON: {_shorten(error)}.", param=param) from None


def _shorten(error: Exception) -> str:
    # A decoding error may quote the input; what is quoted stays out of the answer.
    return "it is not valid UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)[:120].rstrip(".")


def with_messages(request: ChatRequest, messages: Sequence[Message]) -> ChatRequest:
    """Returns the request with these messages in place of the client's; every other byte stays."""
    raw = with_changes(request, messages=messages)
    return ChatCompletionRequest(
        raw, request.fields, tuple(messages), request.model, request.stream, request.origin, is_rewritten=True
    )


def with_view(request: ChatRequest, messages: Sequence[Message]) -> ChatRequest:
    """Returns the request with these messages to be read in place of the client's. Its body stays the client's: it is
    not to be sent."""
    return ChatCompletionRequest(
        request.raw, request.fields, tuple(messages), request.model, request.stream, request.origin
    )


def with_changes(
    request: ChatRequest,
    *,
    messages: Sequence[Message] | None = None,
    tools: Sequence[Json] | None = None,
    model: str | None = None,
    ask_usage: bool = False,
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """Returns the body with the given values in place of the client's; `ask_usage`: streamed with a usage chunk;
    `renamed`: fields with their new names. Other values keep their bytes, and fields their order; a duplicate key keeps
    its last value, as every JSON parser in use reads it."""
    decoded = _top_level.decode(request.raw)
    parts: dict[str, msgspec.Raw] = {renamed.get(name, name): value for name, value in decoded.items()}
    if messages is not None:
        parts["messages"] = msgspec.Raw(packed(messages))
    if tools is not None:
        parts["tools"] = msgspec.Raw(_encoder.encode(tools))
    if model is not None:
        parts["model"] = msgspec.Raw(_encoder.encode(model))
    if ask_usage:
        options = request.fields.get("stream_options")
        asking = {**(options if isinstance(options, dict) else {}), "include_usage": True}
        parts["stream_options"] = msgspec.Raw(_encoder.encode(asking))
    return _encoder.encode(parts)


def without(body: bytes, names: Sequence[str]) -> bytes:
    """Returns a body without the fields of these names."""
    return _encoder.encode({name: value for name, value in _top_level.decode(body).items() if name not in names})


def unstreamed(request: ChatRequest) -> ChatRequest:
    """Returns the request for its whole answer at once; every other byte stays."""
    if not request.stream:
        return request
    parts = {name: raw for name, raw in _top_level.decode(request.raw).items() if name not in _STREAMING}
    fields = {name: value for name, value in request.fields.items() if name not in _STREAMING}
    raw = _encoder.encode(parts)
    return ChatCompletionRequest(
        raw, fields, tuple(request.messages), request.model, stream=False, origin=request.origin
    )


def glimpse(body: bytes, conversation: str = "messages") -> ChatCompletionRequest | None:
    """Parses a body that `parse` refuses, leniently and without its messages; None if it is not JSON to any parser, or
    no request for a completion. No text in it has lone surrogates, which nothing here could encode. `conversation`: the
    field that holds it."""
    try:
        # Numbers are not looked at: one of thousands of digits would be refused.
        top = json.loads(body.decode("utf-8-sig"), parse_int=_number, parse_float=_number, parse_constant=_number)
        if not isinstance(top, dict) or not _has_messages(top.get(conversation), or_text=conversation == "input"):
            return None
        fields = {name: _encodable(top[name]) for name in _GLIMPSED if name in top}
    except (ValueError, RecursionError):
        return None
    model, stream = fields.get("model"), fields.get("stream")
    if not isinstance(model, str) or not 0 < len(model) <= MAX_MODEL or not isinstance(stream, bool | None):
        return None
    return ChatCompletionRequest(body, fields, (), model, stream is True)


def _number(digits: str) -> float:  # noqa: ARG001 (what json calls)
    return 0.0


def _has_messages(messages: Any, *, or_text: bool) -> bool:
    return (or_text and isinstance(messages, str)) or (
        isinstance(messages, list)
        and 0 < len(messages) <= MAX_MESSAGES
        and all(isinstance(message, dict) for message in messages)
    )


def _encodable(value: Any) -> Any:
    """Replaces lone surrogates with U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(name): _encodable(item) for name, item in value.items()}
    return value
