"""Writes a stored completion again: as JSON, or as the stream of chunks that it was or would have been.

An SDK that reads the stream ends up with the stored completion. Two things do not survive the form: `choices[].usage`
moves to the top, and an `index` inside a stored tool call is its position again.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from proxy.protocol.sse import DONE, encode
from proxy.types import Json

_Object: TypeAlias = dict[str, Any]

_PIECE = 128  # characters a chunk: 30 chunks for a page of text
_IN_EVERY_CHUNK = ("id", "created", "model", "system_fingerprint", "service_tier")
_TEXTS = ("reasoning_content", "reasoning", "content", "refusal")  # streamed in this order

_encoder = msgspec.json.Encoder()
_object = msgspec.json.Decoder(dict[str, Any])


def as_json(completion: Mapping[str, Json] | bytes) -> bytes:
    """Encodes a completion as the body of a JSON answer."""
    return completion if isinstance(completion, bytes) else _encoder.encode(completion)


def as_sse(completion: Mapping[str, Json] | bytes, *, include_usage: bool) -> list[bytes]:
    """Encodes a completion as the events of a stream, [DONE] included. With `include_usage` a chunk without choices
    tells the usage before the end, and every other one has `usage: null`; without it there is no word of usage: both
    as OpenAI does it.

    Raises:
        ValueError: `completion` is not an object with an array of choices.
    """
    whole = _object.decode(completion) if isinstance(completion, bytes) else completion
    choices = whole.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise ValueError("a completion without choices cannot be streamed")
    usage = whole.get("usage") if include_usage else None
    head = {"object": "chat.completion.chunk"} | {key: whole[key] for key in _IN_EVERY_CHUNK if key in whole}
    if include_usage:
        head["usage"] = None
    # SDKs keep a chunk's unknown fields from the first chunk only, and a choice's from its first.
    once = {key: value for key, value in whole.items() if key not in (*head, "object", "choices", "usage")}
    parts = [part for position, choice in enumerate(choices) for part in _parts(choice, position)]
    events = [_event({**head, **once, "choices": parts[:1]})]
    common = _event(head).removesuffix(b"}\n\n")  # encoded once: half of what a piece of text costs
    events += [b'%b,"choices":[%b]}\n\n' % (common, _encoder.encode(part)) for part in parts[1:]]
    if usage is not None:
        events.append(_event({**head, "choices": [], "usage": usage}))
    return [*events, DONE]


def _event(chunk: _Object) -> bytes:
    return encode(_encoder.encode(chunk))


def _parts(choice: Mapping[str, Json], position: int) -> Iterator[_Object]:
    index = choice.get("index", position)
    message = choice.get("message")
    logprobs = choice.get("logprobs")
    opening, *deltas = _deltas(message if isinstance(message, dict) else {})
    fields = {key: value for key, value in choice.items() if key not in ("message", "delta", "usage")}
    if logprobs is not None:
        fields["logprobs"] = None
    yield {**fields, "index": index, "delta": opening, "finish_reason": None}
    for delta in deltas:
        yield {"index": index, "delta": delta, "finish_reason": None}
    if logprobs is not None:
        yield {"index": index, "delta": {}, "logprobs": logprobs, "finish_reason": None}
    yield {"index": index, "delta": {}, "finish_reason": choice.get("finish_reason")}


def _deltas(message: Mapping[str, Json]) -> Iterator[_Object]:
    """The role first, with whatever is null or empty; then thought, answer, refusal in pieces; the rest whole."""
    opening = {"role": message.get("role", "assistant")}
    opening |= {key: value for key, value in message.items() if value is None or value == ""}
    texts = [key for key in _TEXTS if key not in opening and isinstance(message.get(key), str)]
    yield opening | ({"content": ""} if "content" in texts else {})
    for key in texts:
        text = message[key]
        for start in range(0, len(text), _PIECE):
            yield {key: text[start : start + _PIECE]}
    for key, value in message.items():
        if key in opening or key in texts:
            continue
        if key == "tool_calls" and isinstance(value, list) and all(isinstance(call, dict) for call in value):
            yield {"tool_calls": []} if not value else {"tool_calls": [{**value[0], "index": 0}]}
            for number, call in enumerate(value[1:], start=1):
                yield {"tool_calls": [{**call, "index": number}]}
        else:
            yield {key: value}
