"""Decisions about an upstream that fails before the first byte has gone to the client: retry, fall back, or give up."""

import email.utils
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from typing import Literal

from proxy.protocol import headers as wire_headers
from proxy.types import Headers

# The upstream as a whole, as far as one can tell: gateways, Cloudflare's 520 to 524, Anthropic's "overloaded".
UPSTREAM_DOWN = frozenset({502, 503, 504, 520, 521, 522, 523, 524, 529})

FIRST_DELAY = 0.5  # seconds; as in the official SDKs, doubled each time up to the longest, jittered down by a quarter
LONGEST_DELAY = 8.0

Failure = Literal["connect", "broken", "timeout"]


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
    """Returns what to do about an answer. `attempt` counts from 0; `jitter` returns [0, 1). If the upstream asks for a
    longer pause than `max_wait` seconds, its answer, Retry-After included, goes to the fallback or to the client."""
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
    """Returns what to do when no answer came. A timeout isn't retried at the same upstream: it may still be working on
    (and billing) the request. The first retry of a broken connection is immediate: most often it was a kept-alive
    connection that the upstream had just closed."""
    otherwise = Decision("fall_back" if has_fallback else "give_up")
    if failure == "timeout" or attempt >= retries:
        return otherwise
    return Decision("retry", 0.0 if failure == "broken" and attempt == 0 else backoff(attempt, jitter))


def backoff(attempt: int, jitter: Callable[[], float]) -> float:
    """Returns the seconds before the next attempt."""
    return float(min(FIRST_DELAY * 2**attempt, LONGEST_DELAY) * (1 - 0.25 * jitter()))


def retry_after(headers: Headers, now: float) -> float | None:
    """Returns the seconds that the upstream asks to wait (`retry-after-ms`, or `retry-after` as seconds or HTTP date);
    None if it does not."""
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
