"""Circuit breakers that processes share: one opens for all of them, and one process probes. With Redis gone each
process goes by what it sees itself."""

from collections.abc import Callable
from time import monotonic, time
from typing import Literal

from proxy.storage.redis.connection import Connection
from proxy.storage.redis.learnt import KEPT, pairs_of
from proxy.storage.shared.breakers import LocalBreaker

LEAST_PROBE = 30.0  # seconds that other processes leave a probe to the one that has it: it may be a long answer


Event = Literal["success", "failure", "probe", "abandoned"]


class RedisBreakers:
    """Breakers that hear what the upstreams did to other processes. While an upstream answers nothing is told."""

    def __init__(self, connection: Connection, clock: Callable[[], float] = time) -> None:
        self._connection = connection
        self._key = connection.names.key("breakers")
        self._clock = clock
        self._known: dict[str, list[RedisBreaker]] = {}
        connection.on_news("breaker", lambda told: self._heard(*told))
        connection.on_ready(self._read)

    def of(self, upstream: str, failures: int, open_seconds: float) -> "RedisBreaker":
        breaker = RedisBreaker(failures, open_seconds, lambda event: self._tell(upstream, event, breaker))
        self._known.setdefault(upstream, []).append(breaker)
        return breaker

    def _tell(self, upstream: str, event: Event, breaker: "RedisBreaker") -> None:
        self._connection.publish("breakers", "breaker", (upstream, event))
        if event == "success":
            self._connection.tell("breakers", "HDEL", self._key, upstream)
        elif event == "failure" and breaker.state == "open":
            until = self._clock() + breaker.retry_after
            self._connection.tell("breakers", "HSET", self._key, upstream, repr(until))
            self._connection.tell("breakers", "PEXPIRE", self._key, KEPT)

    def _heard(self, upstream: str, event: Event) -> None:
        for breaker in self._known.get(upstream, ()):
            breaker.heard(event)

    async def _read(self) -> None:
        for upstream, until in pairs_of(await self._connection.ask("breakers", "HGETALL", self._key)):
            for breaker in self._known.get(upstream.decode("utf-8", "replace"), ()):
                breaker.stay_open(float(until) - self._clock())


class RedisBreaker(LocalBreaker):
    """The breaker of one upstream. `tell` passes on what happened here. Of several processes whose breaker is half-open
    one probes: the others hear of it, and let nothing through until it has ended or its lease has."""

    def __init__(
        self,
        failures: int,
        open_seconds: float,
        tell: Callable[[Event], None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(failures, open_seconds, clock)
        self._tell = tell
        self._probed_until = 0.0  # by another process

    def allow(self) -> bool:
        if self._opened_at is not None and self._clock() < self._probed_until:
            return False
        allowed = super().allow()
        if allowed and self._probing:
            self._tell("probe")
        return allowed

    def success(self) -> None:
        had = self._failures or self._opened_at is not None
        super().success()
        if had:
            self._tell("success")

    def failure(self) -> None:
        super().failure()
        if self._limit:
            self._tell("failure")

    def abandoned(self) -> None:
        was_probing = self._probing
        super().abandoned()
        if was_probing:
            self._tell("abandoned")

    def heard(self, event: Event) -> None:
        """Takes over what happened in another process."""
        if event == "success":
            super().success()
            self._probed_until = 0.0
        elif event == "failure":
            was_probed, self._probed_until = self._clock() < self._probed_until, 0.0
            self._failures += 1
            if was_probed or (self._limit and self._failures >= self._limit):
                self._opened_at = self._clock()
        elif event == "probe":
            self._probed_until = self._clock() + max(LEAST_PROBE, self._open_seconds)
        else:
            self._probed_until = 0.0

    def stay_open(self, seconds: float) -> None:
        """Opens it for the rest of its time, as another process has found it."""
        if seconds > 0 and self._limit and self._opened_at is None:
            self._failures = self._limit
            self._opened_at = self._clock() - self._open_seconds + min(seconds, self._open_seconds)
