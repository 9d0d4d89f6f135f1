"""A circuit breaker: after several failures in a row an upstream is left alone for a while, then probed once."""

from collections.abc import Callable
from time import monotonic
from typing import Literal

State = Literal["closed", "open", "half-open"]


class Breaker:
    """Counts only failures of the upstream as a whole (unreachable, silent, 502 to 504), never an error that one
    request may have earned (4xx, 429, 500). `failures == 0` turns it off."""

    def __init__(self, failures: int, open_seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._limit = failures
        self._open_seconds = open_seconds
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> State:
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
        """May a request go through now? In the half-open state one may, as the probe. Every request that was let
        through must end in `success`, `failure` or `abandoned`."""
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
        self._failures = 0
        self._opened_at = None
        self._probing = False

    def failure(self) -> None:
        self._failures += 1
        if self._probing or (self._limit and self._failures >= self._limit):
            self._opened_at = self._clock()
        self._probing = False

    def abandoned(self) -> None:
        """The request ended without a verdict (the client left): the next one may probe."""
        self._probing = False
