"""Parses server-sent events, without losing a byte, and writes a stored completion as the stream that it was or would
have been.

Follows https://html.spec.whatwg.org/multipage/server-sent-events.html (comments, `data` over several lines, LF, CRLF
and CR, a byte order mark), except that bytes left over at the end of the stream count as an event: some upstreams end
on `data: [DONE]` with no blank line after it.

The `raw` of all events, joined, is the stream. So a filter passes on the `raw` of what it lets through, keep-alive
comments included. Whoever stops a stream with `error_event` must have passed on whole events only: inside a half-sent
one, a client would read the error as the rest of a broken JSON document.

An SDK that reads a written stream ends up with the stored completion. Two things do not survive the form:
`choices[].usage` moves to the top, and an `index` inside a stored tool call is its position again.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from proxy.types import Json

_Object: TypeAlias = dict[str, Any]

DONE_DATA = b"[DONE]"
DONE = b"data: [DONE]\n\n"

# A CR is a line end of its own unless an LF follows; the alternative that takes both stands first.
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))")
_LONGEST_BLANK_LINE = len(b"\r\n\r\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CR = ord("\r")

_PIECE = 128  # characters a chunk: 30 chunks for a page of text
_IN_EVERY_CHUNK = ("id", "created", "model", "system_fingerprint", "service_tier")
_TEXTS = ("reasoning_content", "reasoning", "content", "refusal")  # streamed in this order

_encoder = msgspec.json.Encoder()
_object = msgspec.json.Decoder(dict[str, Any])


class EventTooLargeError(ValueError):
    """An event is larger than the parser may hold. `SseParser.rest` has the bytes not yet given out."""


class Event(msgspec.Struct, frozen=True, gc=False):
    """One event or comment of the stream, up to and with its blank line. A msgspec struct, for there is one per token:
    it costs 0.1 µs to make where a frozen dataclass costs 0.8."""

    raw: bytes
    data: bytes | None  # the lines joined by LF; None: a comment or a block without a `data` field


class SseParser:
    """Parses a stream of server-sent events, fed in chunks cut anywhere. The events do not depend on where the cuts
    were: one that ends in CR is given out with the next chunk, which may begin with the LF that belongs to it."""

    def __init__(self, max_event_bytes: int = 16 * 2**20) -> None:
        self._max_event_bytes = max_event_bytes
        self._pending = bytearray()
        self._scan = 0  # no blank line begins before this index of `_pending`
        self._at_start = True

    def feed(self, chunk: bytes) -> list[Event]:
        """Returns the events that this chunk completes. Raises EventTooLargeError, and then gives out none of them:
        they are in `rest`."""
        if self._pending or b"\r" in chunk or len(chunk) > self._max_event_bytes:
            return self._feed_anything(chunk)
        *blocks, tail = chunk.split(b"\n\n")
        if tail:
            self._pending += tail
            self._scan = len(tail) - 1
        events = []
        for block in blocks:
            if block.startswith(b"data: ") and b"\n" not in block:
                self._at_start = False
                events.append(Event(block + b"\n\n", block[6:]))
            else:
                events.append(self._parse(block + b"\n\n"))
        return events

    def flush(self) -> list[Event]:
        """Returns the bytes that no blank line has ended as one event, at the end of the stream."""
        raw = self.rest()
        return [self._parse(raw)] if raw else []

    def rest(self) -> bytes:
        """Returns the bytes not yet given out, for a caller that gives up parsing and passes them on as they are."""
        raw = bytes(self._pending)
        self._pending.clear()
        self._scan = 0
        return raw

    def _feed_anything(self, chunk: bytes) -> list[Event]:
        pending = self._pending
        pending += chunk
        events = []
        start = 0
        scan = self._scan
        while match := _BLANK_LINE.search(pending, scan):
            end = match.end()
            if end == len(pending) and pending[-1] == _CR:
                scan = match.start()
                break
            self._check_size(end - start)
            events.append(self._parse(bytes(pending[start:end])))
            start = scan = end
        else:
            scan = max(start, len(pending) - _LONGEST_BLANK_LINE + 1)
        self._check_size(len(pending) - start)
        del pending[:start]
        self._scan = scan - start
        return events

    def _check_size(self, size: int) -> None:
        if size > self._max_event_bytes:
            raise EventTooLargeError(f"an event of the stream exceeds {self._max_event_bytes} bytes")

    def _parse(self, raw: bytes) -> Event:
        text = raw.removeprefix(_BYTE_ORDER_MARK) if self._at_start else raw
        self._at_start = False
        data: list[bytes] = []
        for line in text.splitlines():  # of bytes: at LF, CRLF and CR only
            field, _, value = line.partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
        return Event(raw, b"\n".join(data) if data else None)


def encode(data: bytes) -> bytes:
    """Encodes one event. Line ends inside `data` become further `data` lines, which a reader joins by LF."""
    if b"\n" in data or b"\r" in data:
        return b"".join(b"data: " + line + b"\n" for line in re.split(rb"\r\n|\n|\r", data)) + b"\n"
    return b"data: " + data + b"\n\n"


def error_event(body: bytes) -> bytes:
    """The event that makes official SDKs raise `APIError`: `body` is `{"error": {...}}`. Unnamed, as OpenAI sends it,
    and never followed by `DONE`: that would be a clean end."""
    return encode(body)


def as_sse(completion: Mapping[str, Json] | bytes, *, include_usage: bool) -> list[bytes]:
    """Encodes a completion as the events of a stream, [DONE] included. With `include_usage` a chunk without choices
    tells the usage before the end, and every other one has `usage: null`; without it there is no word of usage: both
    as OpenAI does it. Raises ValueError if `completion` is not an object with an array of choices."""
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
    # The stop sequence that was met is known at the end (vLLM), with the finish reason.
    ending = {"stop_reason": fields.pop("stop_reason")} if fields.get("stop_reason") else {}
    yield {**fields, "index": index, "delta": opening, "finish_reason": None}
    for delta in deltas:
        yield {"index": index, "delta": delta, "finish_reason": None}
    if logprobs is not None:
        yield {"index": index, "delta": {}, "logprobs": logprobs, "finish_reason": None}
    yield {"index": index, "delta": {}, **ending, "finish_reason": choice.get("finish_reason")}


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
