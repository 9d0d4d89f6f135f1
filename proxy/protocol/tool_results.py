"""Follow-up messages of an answer whose tools the proxy runs: the model's message as it goes back upstream, results of
its calls, and the body of the next round.

The model's message goes back as the model wrote it, its reasoning included: Kimi and DeepSeek refuse one whose
reasoning is missing. What is null or an empty list is left out, as SDKs do it. Ids of calls stay as the upstream gave
them; some upstreams give none, then they are made: nine letters and digits, which every dialect takes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from proxy.protocol.calls import arguments_in
from proxy.protocol.message import message
from proxy.types import Json, Message, ToolCall

_ID_DIGITS = 9
_NO_ARGUMENTS = "{}"

_top_level = msgspec.json.Decoder(dict[str, msgspec.Raw])
_array = msgspec.json.Decoder(list[msgspec.Raw])
_object = msgspec.json.Decoder(dict[str, Any])
_encoder = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Said:
    """The model's message of one round."""

    message: Message  # as it goes back upstream
    ours: tuple[ToolCall, ...]  # its calls that are answered here, their arguments as the model wrote them
    rest: Message  # the same message without these calls


def said_in(completion: Mapping[str, Json], ours: Collection[int]) -> Said | None:
    """Returns the assistant's message of a completion; None if there is none. `ours`: positions of the calls that are
    answered here. If their arguments are no JSON object, they go back without any: an upstream that puts the calls into
    a template would refuse the whole request."""
    choices: Json = completion.get("choices")
    match choices:
        case [{"message": dict() as said}, *_]:
            kept = {name: value for name, value in said.items() if name == "content" or value not in (None, [])}
            written = message(kept).tool_calls
            if isinstance(calls := kept.get("tool_calls"), list):
                kept["tool_calls"] = [_sound(call, at) if at in ours else call for at, call in enumerate(calls)]
            sound = message({"role": "assistant", **kept})
            pairs = enumerate(zip(sound.tool_calls, written, strict=True))
            called = tuple(ToolCall(a.id, a.name, b.arguments) for at, (a, b) in pairs if at in ours)
            return Said(sound, called, without_calls(sound, ours) if ours else sound)
        case _:
            return None


def without_calls(said: Message, positions: Collection[int]) -> Message:
    """Returns the assistant's message without the calls at these positions."""
    data = dict(said.data)
    calls = [call for at, call in enumerate(data.pop("tool_calls", None) or ()) if at not in positions]
    return message({**data, "tool_calls": calls} if calls else data)


def result(call: ToolCall, content: str) -> Message:
    """Returns the result of a call as a message."""
    return message({"role": "tool", "tool_call_id": call.id, "content": content})


def followed(body: bytes, more: Sequence[Message]) -> bytes:
    """Returns a request's body with `more` behind its messages; every other byte stays. Raises ValueError if it is no
    request with messages."""
    parts: dict[str, msgspec.Raw] = _top_level.decode(body)
    if "messages" not in parts or not _array.decode(parts["messages"]):
        raise ValueError("a body without messages cannot be continued")
    messages = bytes(parts["messages"]).rstrip().removesuffix(b"]").rstrip()
    parts["messages"] = msgspec.Raw(b"%b,%b]" % (messages, b",".join([said.raw for said in more])))
    return _encoder.encode(parts)


def _sound(call: Json, position: int) -> Json:
    if not isinstance(call, dict):
        return call
    sound = dict(call)
    function = call.get("function")
    if isinstance(function, dict):
        arguments = arguments_in(function)
        sound["function"] = {**function, "arguments": arguments if is_object(arguments) else _NO_ARGUMENTS}
    if sound.get("id") in (None, ""):
        sound["id"] = call_id_of(position, function)
    return sound


def call_id_of(position: int, call: Json) -> str:
    """Makes an id for a call that has none."""
    return blake2b(_encoder.encode((position, call)), digest_size=16).hexdigest()[:_ID_DIGITS]


def is_object(arguments: Json) -> bool:
    """True for arguments that are a JSON object."""
    try:
        _object.decode(arguments)
    except (ValueError, TypeError, RecursionError):
        return False
    return True
