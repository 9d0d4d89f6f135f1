"""The sample of requests that are traced: a share of them, and those whose callers trace them.

A caller's decision is followed, so that a trace that began elsewhere goes on here: OpenTelemetry's ParentBased sampler.
But anybody can send a `traceparent`, and W3C's recommendation (Trace Context, "Denial of service") asks for a bound. A
caller's yes counts so many times a minute, and above that the share decides: by lot then, and not by the trace's number
as for a trace of our own, since a caller has chosen that, too.
"""

from collections.abc import Callable
from random import random
from time import monotonic

_MASK = 2**64 - 1
_MINUTE = 60.0  # seconds


class Sampler:
    """Decides whether a request is traced."""

    def __init__(self, ratio: float, followed: int, clock: Callable[[], float] = monotonic) -> None:
        """`ratio`: share of the requests that no caller has decided about. `followed`: requests a minute that are
        traced because their callers say so, as many at once after a minute without."""
        self._ratio = ratio
        self._most = float(followed)
        self._left = self._most
        self._clock = clock
        self._at = clock()

    def begun_here(self, trace: int) -> bool:
        """Returns whether a trace of our own is sampled: by its number, so that every service that samples the same
        share has the same traces."""
        return (trace & _MASK) < self._ratio * 2**64

    def handed_on(self, *, is_sampled: bool) -> bool:
        """Returns whether a caller's trace is sampled here. `is_sampled`: what the caller says."""
        return is_sampled and (self._takes() or random() < self._ratio)  # noqa: S311 (a sample, no secret)

    def _takes(self) -> bool:
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._most / _MINUTE)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
