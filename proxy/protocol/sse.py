"""Parses and writes server-sent events, without losing a byte.

Follows https://html.spec.whatwg.org/multipage/server-sent-events.html (comments, `data` over several lines, LF, CRLF
and CR, a byte order mark), except that bytes left over at the end of the stream count as an event: some upstreams end
on `data: [DONE]` with no blank line after it.

The `raw` of all events, joined, is the stream. So a filter passes on the `raw` of what it lets through, keep-alive
comments included. Whoever stops a stream with `error_event` must have passed on whole events only: inside a half-sent
one, a client would read the error as the rest of a broken JSON document.
"""

import re

import msgspec

DONE_DATA = b"[DONE]"
DONE = b"data: [DONE]\n\n"

# A CR is a line end of its own unless an LF follows; the alternative that takes both stands first.
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))")
_LONGEST_BLANK_LINE = len(b"\r\n\r\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CR = ord("\r")


class EventTooLargeError(ValueError):
    """An event is larger than the parser may hold. `SseParser.rest` has the bytes not yet given out."""


class Event(msgspec.Struct, frozen=True, gc=False):
    """One event or comment of the stream, up to and with its blank line. A msgspec struct, for there is one per token:
    it costs 0.1 µs to make where a frozen dataclass costs 0.8."""

    raw: bytes
    data: bytes | None  # the lines joined by LF; None: a comment or a block without a `data` field
    name: bytes = b""  # the `event` field


class SseParser:
    """Parses a stream of server-sent events, fed in chunks cut anywhere. The events do not depend on where the cuts
    were.

    An event that ends in CR is given out with the next chunk, which may begin with the LF that belongs to it.
    """

    def __init__(self, max_event_bytes: int = 16 * 2**20) -> None:
        self._max_event_bytes = max_event_bytes
        self._pending = bytearray()
        self._scan = 0  # no blank line begins before this index of `_pending`
        self._at_start = True

    def feed(self, chunk: bytes) -> list[Event]:
        """Returns the events that this chunk completes.

        Raises:
            EventTooLargeError: and then none of the chunk's events is given out; they are in `rest`.
        """
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
        name = b""
        for line in text.splitlines():  # of bytes: at LF, CRLF and CR only
            field, _, value = line.partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif field == b"event":
                name = value.removeprefix(b" ")
        return Event(raw, b"\n".join(data) if data else None, name)


def encode(data: bytes) -> bytes:
    """Encodes one event. Line ends inside `data` become further `data` lines, which a reader joins by LF."""
    if b"\n" in data or b"\r" in data:
        return b"".join(b"data: " + line + b"\n" for line in re.split(rb"\r\n|\n|\r", data)) + b"\n"
    return b"data: " + data + b"\n\n"


def error_event(body: bytes) -> bytes:
    """The event that makes official SDKs raise `APIError`: `body` is `{"error": {...}}`.

    Unnamed, as OpenAI sends it, and never followed by `DONE`: that would be a clean end.
    """
    return encode(body)
