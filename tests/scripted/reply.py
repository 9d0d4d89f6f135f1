"""What is to be sent, and the faults that are in its bytes."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from tests.scripted.faults import FRAMINGS, Fault, reframe

DONE = b"data: [DONE]\n\n"
_EVENT_STREAM = "text/event-stream; charset=utf-8"
_ERROR_EVENT = (
    b'data: {"error": {"message": "The server had an error while processing your request. Sorry about that!", '
    b'"type": "server_error", "param": null, "code": null}}\n\n'
)
_OVERSIZED = 40_000_000  # characters, unless the fault says how many
_DELTA = 64 * 1024  # of them in one chunk


@dataclass(frozen=True, slots=True)
class Reply:
    """A stream of events goes out chunked, anything else with its length."""

    status: int
    pieces: Sequence[bytes]
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0  # seconds between two pieces

    @property
    def streamed(self) -> bool:
        return self.content_type == _EVENT_STREAM


def event_stream(events: Sequence[bytes], delay: float) -> Reply:
    return Reply(200, [b"data: " + event + b"\n\n" for event in events] + [DONE], _EVENT_STREAM, delay=delay)


def spoil(reply: Reply, fault: Fault | None) -> Reply:
    """The reply as the fault leaves it; what it does to the connection is the delivery's."""
    if fault is None:
        return reply
    if reply.streamed:
        return replace(reply, pieces=_spoiled_stream(list(reply.pieces), fault))
    return _spoiled_body(reply, fault)


def _spoiled_stream(pieces: list[bytes], fault: Fault) -> list[bytes]:
    match fault.name:
        case "garbage":
            return [*pieces[: fault.at()], b'data: {"choices": [{"delta"\x00 \xff\xfe}\n\n', *pieces[fault.at() :]]
        case "error-event":
            return [*pieces[: fault.at()], _ERROR_EVENT]
        case "no-done":
            return pieces[:-1]
        case "oversized":
            event = msgspec.json.decode(pieces[0].removeprefix(b"data: "))
            size = int(fault.value or _OVERSIZED)
            event["choices"][0]["delta"] = {"content": "x" * min(_DELTA, size)}
            delta = b"data: " + msgspec.json.encode(event) + b"\n\n"
            return [pieces[0], *[delta] * -(-size // _DELTA), *pieces[1:]]
        case name if name in FRAMINGS:
            pieces = [reframe(piece, name) for piece in pieces]
            whole = b"".join(pieces)
            return [whole[at : at + 7] for at in range(0, len(whole), 7)] if name in ("split", "odd") else pieces
        case _:
            return pieces


def _spoiled_body(reply: Reply, fault: Fault) -> Reply:
    whole = b"".join(reply.pieces)
    match fault.name:
        case "garbage":
            return replace(reply, pieces=[b'{"id": "chatcmpl-1", "choices": [{"ind\x00'])
        case "oversized":
            answer = msgspec.json.decode(whole)
            if isinstance(answer, dict) and "choices" in answer:
                answer["choices"][0]["message"]["content"] = "x" * int(fault.value or _OVERSIZED)
            return replace(reply, pieces=[msgspec.json.encode(answer)])
        case "gzip":
            headers = {**reply.headers, "content-encoding": "gzip"}
            return replace(reply, pieces=[gzip.compress(whole, mtime=0)], headers=headers)
        case "stall" | "cut" | "reset" if len(reply.pieces) == 1:
            return replace(reply, pieces=[whole[: len(whole) // 2], whole[len(whole) // 2 :]])
        case _:
            return reply
