"""What can go wrong upstream, on demand: `x-demo-fault: NAME[=VALUE][xTIMES]`.

    429=SECONDS          rate limited, with Retry-After; 401, 500, 502 (an HTML page), 503
    slow-first-byte=S    nothing for S seconds, or until released
    stall=K              after K pieces nothing more, until released or the client leaves
    cut=K                after K pieces the connection ends without the last chunk
    reset=K              after K pieces (default 0: before the status line) a TCP reset
    garbage=K            piece K is neither SSE nor JSON
    oversized=BYTES      a very large answer
    no-done              the stream ends without `[DONE]`
    error-event=K        after K pieces an error object as an event, then a clean end
    crlf comments multiline no-space split odd      framings that a reader of SSE must take; odd is all of them
    gzip                 the body is compressed

With xTIMES only the first so many attempts fail; they are told apart by `x-demo-fault-key`, else by the idempotency
key, else by the request itself. A body that is not streamed has two pieces, its halves.
"""

import re
from collections import Counter
from dataclasses import dataclass

_SPEC = re.compile(r"(?P<name>\d{3}|[a-z-]+?)(?:=(?P<value>\d+(?:\.\d+)?))?(?:x(?P<times>\d+))?")

STATUSES = frozenset({"401", "429", "500", "502", "503"})
FRAMINGS = frozenset({"crlf", "comments", "multiline", "no-space", "split", "odd"})
NAMES = STATUSES | FRAMINGS | {
    "slow-first-byte", "stall", "cut", "reset", "garbage", "oversized", "no-done", "error-event", "gzip",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    value: float | None = None
    times: int | None = None  # attempts that fail; None: every one

    def at(self, default: int = 1) -> int:
        """The number of pieces that get out before it happens."""
        return default if self.value is None else int(self.value)


def parse(spec: str) -> Fault:
    """The fault that `spec` names. Raises ValueError for anything else."""
    match = _SPEC.fullmatch(spec.strip())
    if match is None or match["name"] not in NAMES:
        raise ValueError(f"no such fault: {spec!r}")
    value, times = match["value"], match["times"]
    return Fault(match["name"], float(value) if value else None, int(times) if times else None)


class FaultCounter:
    """Which attempt is this, and how often has each fault happened?"""

    def __init__(self) -> None:
        self.happened: Counter[str] = Counter()
        self._attempts: Counter[tuple[str, str]] = Counter()

    def next(self, spec: str, key: str) -> Fault | None:
        """The fault of this attempt, or None if it is to succeed."""
        if not spec:
            return None
        fault = parse(spec)
        self._attempts[spec, key] += 1
        if fault.times is not None and self._attempts[spec, key] > fault.times:
            return None
        self.happened[fault.name] += 1
        return fault

    def clear(self) -> None:
        self.happened.clear()
        self._attempts.clear()


def reframe(event: bytes, framing: str) -> bytes:
    """One SSE event (`data: …` and a blank line) as another server would write it."""
    if framing in ("multiline", "odd"):
        # A line break is allowed after the brace that opens the object, and SSE puts one between two data lines.
        event = event.replace(b"data: {", b"data: {\ndata: ", 1)
    if framing in ("no-space", "odd"):
        event = event.replace(b"data: ", b"data:")
    if framing in ("comments", "odd"):
        event = b": keep-alive\n\n" + event.replace(b"\n\n", b"\n: between\nretry: 3000\n\n")
    if framing in ("crlf", "odd"):
        event = event.replace(b"\n", b"\r\n")
    return event
