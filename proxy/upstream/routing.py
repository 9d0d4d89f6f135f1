"""Decisions about upstreams: the one that serves a model, and its fallbacks; after a failure before the first byte has
gone to the client: to retry, to fall back, or to give up."""

import email.utils
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

from proxy.config import Upstream as UpstreamConfig
from proxy.errors import UnknownModel, UpstreamBroken, UpstreamError, UpstreamTimeout
from proxy.protocol import headers as wire_headers
from proxy.types import Headers
from proxy.upstream.client import Upstream

# The upstream as a whole, as far as one can tell: gateways, Cloudflare's 520 to 524, Anthropic's "overloaded".
UPSTREAM_DOWN = frozenset({502, 503, 504, 520, 521, 522, 523, 524, 529})

FIRST_DELAY = 0.5  # seconds; as in the official SDKs, doubled each time up to the longest, jittered down by a quarter
LONGEST_DELAY = 8.0


@dataclass(frozen=True, slots=True)
class Route:
    """An upstream and its fallbacks, in order."""

    upstream: Upstream
    fallbacks: tuple[Upstream, ...] = ()

    @property
    def candidates(self) -> tuple[Upstream, ...]:
        """The upstream and its fallbacks, in order."""
        return (self.upstream, *self.fallbacks)


class Router:
    """Routes a model to the first configured upstream with a matching pattern."""

    def __init__(self, upstreams: Sequence[Upstream], *, reject_unknown: bool) -> None:
        self.upstreams = tuple(upstreams)
        self._by_name: Mapping[str, Upstream] = {upstream.name: upstream for upstream in upstreams}
        self._reject_unknown = reject_unknown
        self.route = lru_cache(maxsize=256)(self._route)

    def _route(self, model: str) -> Route:
        """Returns the route of a model. Raises UnknownModel, which lists the served models, if no pattern matches and
        the configuration says so; otherwise the first upstream serves it."""
        chosen = next((each for each in self.upstreams if _serves(each, model)), None)
        if chosen is None and self._reject_unknown:
            served = ", ".join(
                f"{pattern} ({upstream.name})" for upstream in self.upstreams for pattern in upstream.config.models
            )
            # The model's name is the client's own text; quote a bounded part of it.
            raise UnknownModel(f"The model {model[:100]!r} is not served here. Served: {served}.", param="model")
        candidates = [chosen or self.default]
        while (name := candidates[-1].config.fallback) is not None:  # the configuration refuses cycles
            candidates.append(self._by_name[name])
        return Route(candidates[0], tuple(candidates[1:]))

    @property
    def default(self) -> Upstream:
        """The upstream of requests that name no model."""
        return self.upstreams[0]

    def named(self, name: str) -> Upstream:
        """Returns the upstream of this name. Raises KeyError."""
        return self._by_name[name]


def _serves(upstream: Upstream, model: str) -> bool:
    return any(fnmatchcase(model, pattern) for pattern in upstream.config.models)


@dataclass(frozen=True, slots=True)
class Decision:
    """The next step after a failure."""

    action: Literal["retry", "fall_back", "give_up"]
    delay: float = 0.0  # seconds before a retry


def after_status(
    status: int,
    headers: Headers,
    attempt: int,
    settings: UpstreamConfig,
    *,
    has_fallback: bool,
    now: float,
    jitter: Callable[[], float] = random.random,
) -> Decision:
    """Returns what to do about an answer. `attempt` counts from 0; `jitter` returns [0, 1). If the upstream asks for a
    longer pause than the settings allow, its answer, Retry-After included, goes to the fallback or to the client."""
    if status != 429 and not 500 <= status < 600:
        return Decision("give_up")
    otherwise = Decision("fall_back" if has_fallback else "give_up")
    if attempt >= settings.retries or wire_headers.get(headers, "x-should-retry") == "false":
        return otherwise
    asked = retry_after(headers, now)
    if asked is None:
        return Decision("retry", backoff(attempt, jitter))
    return Decision("retry", asked) if asked <= settings.max_retry_wait else otherwise


def after_failure(
    error: UpstreamError,
    attempt: int,
    settings: UpstreamConfig,
    *,
    has_fallback: bool,
    jitter: Callable[[], float] = random.random,
) -> Decision:
    """Returns what to do when no answer came. A timeout isn't retried at the same upstream: it may still be working on
    (and billing) the request. The first retry of a broken connection is immediate: most often it was a kept-alive
    connection that the upstream had just closed."""
    if isinstance(error, UpstreamTimeout) or attempt >= settings.retries:
        return Decision("fall_back" if has_fallback else "give_up")
    return Decision("retry", 0.0 if isinstance(error, UpstreamBroken) and attempt == 0 else backoff(attempt, jitter))


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
