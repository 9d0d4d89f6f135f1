"""Decisions about an upstream that fails, before the first byte has gone to the client: try again, fall back, give up;
and, by a circuit breaker, leave it alone for a while."""

import email.utils
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from time import monotonic
from typing import Literal

from proxy.types import Headers
from proxy.wire import headers as wire_headers

# The upstream as a whole, as far as one can tell: gateways, Cloudflare's 520 to 524, Anthropic's "overloaded".
UPSTREAM_DOWN = frozenset({502, 503, 504, 520, 521, 522, 523, 524, 529})

FIRST_DELAY = 0.5  # seconds; as in the official SDKs, doubled each time up to the longest, jittered down by a quarter
LONGEST_DELAY = 8.0

Failure = Literal["connect", "broken", "timeout"]
State = Literal["closed", "open", "half-open"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The next step after a failure."""

    action: Literal["retry", "fall_back", "give_up"]
    delay: float = 0.0  # seconds before a retry


def after_status(
    status: int,
    headers: Headers,
    *,
    attempt: int,
    retries: int,
    max_wait: float,
    has_fallback: bool,
    now: float,
    jitter: Callable[[], float],
) -> Decision:
    """Decides what to do about an answer. `attempt` counts from 0; `jitter` returns [0, 1). An upstream that asks for
    a longer pause than `max_wait` isn't waited for: its answer, Retry-After included, goes to the fallback or to the
    client."""
    if status != 429 and not 500 <= status < 600:
        return Decision("give_up")
    otherwise = Decision("fall_back" if has_fallback else "give_up")
    if attempt >= retries or wire_headers.get(headers, "x-should-retry") == "false":
        return otherwise
    asked = retry_after(headers, now)
    if asked is None:
        return Decision("retry", backoff(attempt, jitter))
    return Decision("retry", asked) if asked <= max_wait else otherwise


def after_failure(
    failure: Failure, *, attempt: int, retries: int, has_fallback: bool, jitter: Callable[[], float]
) -> Decision:
    """Decides what to do when no answer came. A timeout isn't retried at the same upstream: it may still be working on
    (and billing) the request. The first retry of a broken connection is immediate: most often it was a kept-alive
    connection that the upstream had just closed."""
    otherwise = Decision("fall_back" if has_fallback else "give_up")
    if failure == "timeout" or attempt >= retries:
        return otherwise
    return Decision("retry", 0.0 if failure == "broken" and attempt == 0 else backoff(attempt, jitter))


def backoff(attempt: int, jitter: Callable[[], float]) -> float:
    """Seconds before the next attempt."""
    return float(min(FIRST_DELAY * 2**attempt, LONGEST_DELAY) * (1 - 0.25 * jitter()))


def retry_after(headers: Headers, now: float) -> float | None:
    """Seconds the upstream asks us to wait: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date."""
    milliseconds = _number(wire_headers.get(headers, "retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = wire_headers.get(headers, "retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        date = email.utils.parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # the latter for a time zone of many digits
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else -1.0
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


class Breaker:
    """A circuit breaker: after several failures in a row an upstream is left alone for a while, then probed once. Only
    failures of the upstream as a whole count (unreachable, silent, 502 to 504), never an error that one request may
    have earned (4xx, 429, 500). `failures == 0` turns it off."""

    def __init__(self, failures: int, open_seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._limit = failures
        self._open_seconds = open_seconds
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> State:
        """Open: nothing goes through; half-open: a probe may."""
        if self._opened_at is None:
            return "closed"
        return "half-open" if self._clock() - self._opened_at >= self._open_seconds else "open"

    @property
    def retry_after(self) -> float:
        """Seconds until the next probe is let through."""
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._opened_at + self._open_seconds - self._clock())

    def allow(self) -> bool:
        """Whether a request may go through now. In the half-open state one may, as the probe. Every request that was
        let through must end in `success`, `failure` or `abandoned`."""
        match self.state:
            case "closed":
                return True
            case "open":
                return False
            case _:
                if self._probing:
                    return False
                self._probing = True
                return True

    def success(self) -> None:
        """The upstream answered."""
        self._failures = 0
        self._opened_at = None
        self._probing = False

    def failure(self) -> None:
        """The upstream failed as a whole."""
        self._failures += 1
        if self._probing or (self._limit and self._failures >= self._limit):
            self._opened_at = self._clock()
        self._probing = False

    def abandoned(self) -> None:
        """The request ended without a verdict (the client left): the next one may probe."""
        self._probing = False
