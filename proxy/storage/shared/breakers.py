"""Circuit breakers of upstreams, as one process knows them."""

from collections.abc import Callable
from time import monotonic

from proxy.storage.shared import BreakerState


class LocalBreakers:
    """Breakers in memory."""

    def of(self, upstream: str, failures: int, open_seconds: float) -> "LocalBreaker":  # noqa: ARG002 (its one object in this process)
        return LocalBreaker(failures, open_seconds)


class LocalBreaker:
    """The breaker of one upstream in memory. `clock` is monotonic, in seconds."""

    def __init__(self, failures: int, open_seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._limit = failures
        self._open_seconds = open_seconds
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> BreakerState:
        if self._opened_at is None:
            return "closed"
        return "half-open" if self._clock() - self._opened_at >= self._open_seconds else "open"

    @property
    def retry_after(self) -> float:
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._opened_at + self._open_seconds - self._clock())

    def allow(self) -> bool:
        if self._opened_at is None:
            return True
        if self._probing or self.state == "open":
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
        self._probing = False
