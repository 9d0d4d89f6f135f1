"""State that all processes of one proxy would share: a Protocol per need, gathered in `SharedState`.

single_flight.py   one upstream call for concurrent identical requests
local.py           everything else in this process, and all of it as one `SharedState`
logouts.py         admin cookies that have ended, in a file of the storage folder

What another backend has to keep to, and `tests/contract/test_shared.py` tests:

- Keys are strings, values are bytes, numbers or frozen records of them. Nobody is handed what another one may change.
- An `async` method may ask another process. Whoever calls it sets a deadline, and goes on without an answer.
- Any other method answers at once from what this process knows. What it is told is known here at once, and to others as
  soon as a backend has passed it on; nothing waits for that, so it may be called where nothing can be awaited.
- Leading a flight and probing an upstream are leases: numbered or named, ended by whoever holds them. A backend that
  outlives a process gives them an end of their own.
- Times are passed in, in Unix seconds, or are durations. No two processes need to agree on a monotonic clock.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from proxy.types import Answer, OpenTurn, Served, StoredAnswer, Usage

BreakerState = Literal["closed", "open", "half-open"]


class SingleFlight(Protocol):
    """Concurrent identical requests share one upstream call: the first leads, the others wait for what it brings.

    Whoever leads must end its flight (`land`, `abandon` or `fail`) under the number it was given; under another number
    these do nothing. After a flight that was abandoned or failed one of those waiting leads next.
    """

    def __len__(self) -> int:
        """Flights of this process that are under way."""
        ...

    @property
    def landed(self) -> int:
        """Changes when a flight has brought an answer: whoever looked for one before may have looked too early."""
        ...

    async def lead_or_wait(self, key: str, seconds: float) -> int | StoredAnswer | Answer | None:
        """A number: you lead, and land under it. Otherwise what the leader brought: its answer; an error, as the client
        is told it; or None: go upstream on your own, which is also what happens after `seconds` in all: a leader may
        have a client that does not read."""
        ...

    def share(self, key: str, lead: int | None, answer: StoredAnswer) -> None:
        """The answer is here, but not in the store yet: give it to those who wait, and to those who come until it has
        landed, for a disk may be slow."""
        ...

    def land(self, key: str, lead: int | None, answer: StoredAnswer | None) -> None:
        """The answer; None: there is nothing to share, and each goes on its own."""
        ...

    def abandon(self, key: str, lead: int | None) -> None:
        """The leader's client left: nobody knows yet what the answer would have been."""
        ...

    def fail(self, key: str, lead: int | None, told: Answer) -> None:
        """The upstream refused, broke off or was not there. `told`: what a client to which nothing has gone yet is told
        of it, and so are all who wait after several failures in a row."""
        ...


class OpenTurns(Protocol):
    """Turns that wait for the results of calls, by memory scope and session; the newest of them. Bounded."""

    async def get(self, scope: str, session: str) -> OpenTurn | None: ...

    def put(self, scope: str, session: str, turn: OpenTurn | None) -> None:
        """None: the turn is over."""
        ...


class LastServed(Protocol):
    """The last reuse by intent of each session, which its next question may show to have been wrong. Bounded."""

    def note(self, scope: str, session: str, served: Served) -> None: ...

    async def take(self, scope: str, session: str) -> Served | None:
        """The reuse that the session's next question follows. It is told once."""
        ...


class HitRates(Protocol):
    """Per partition, which entry answered each of the last different questions. A model that embeds everything alike,
    or a guard that lets everything pass, shows here first."""

    @property
    def tripped(self) -> int:
        """How often a partition was stopped."""
        ...

    def is_open(self, partition: str, now: float) -> bool:
        """Tells whether reuse is stopped in this partition."""
        ...

    def open_partitions(self, now: float) -> int:
        """How many are stopped."""
        ...

    def note(self, partition: str, question: str, entry_id: str | None, now: float) -> None:
        """`question` was answered by this entry, or by none."""
        ...


class Calibration(Protocol):
    """The factor between a count of ours and the upstream's own, per upstream and model. Worker threads read it."""

    def factor(self, upstream: str, model: str) -> float | None:
        """None until the upstream has told us what it counted for this model."""
        ...

    def observe(self, upstream: str, model: str, *, counted: int, measured: int) -> None:
        """The upstream counted `measured` prompt tokens where we count `counted`."""
        ...


class CacheEvidence(Protocol):
    """Whether an upstream has shown, for a model, that it has no prefix cache. Worker threads read it.

    A provider that does not report cached tokens shows nothing; one that reports none of them, time and again, for
    prompts whose beginning it had just seen, has none. What is known is of an upstream and a model, never of who asked.
    """

    def shows_none(self, upstream: str, model: str) -> bool: ...

    def observe(self, upstream: str, model: str, usage: Usage, *, repeated: int) -> None:
        """`repeated`: tokens of the prompt's beginning that the upstream had seen within `MOST_IDLE`; 0 if the prompt
        is shorter than what it caches."""
        ...


@dataclass(frozen=True, slots=True)
class Calibrations:
    """What usage has taught of each upstream and model."""

    rough: Calibration
    exact: Calibration  # by the ranks
    caches: CacheEvidence


class Breaker(Protocol):
    """The circuit breaker of an upstream. It counts only failures of the upstream as a whole (unreachable, silent, 502
    to 504), never an error that one request may have earned (4xx, 429, 500)."""

    @property
    def state(self) -> BreakerState:
        """Open: nothing goes through; half-open: a probe may."""
        ...

    @property
    def retry_after(self) -> float:
        """Seconds until the next probe is let through."""
        ...

    def allow(self) -> bool:
        """Whether a request may go through now. In the half-open state one may, as the probe. Every request that was
        let through must end in `success`, `failure` or `abandoned`."""
        ...

    def success(self) -> None:
        """The upstream answered."""
        ...

    def failure(self) -> None:
        """The upstream failed as a whole."""
        ...

    def abandoned(self) -> None:
        """The request ended without a verdict (the client left): the next one may probe."""
        ...


class Breakers(Protocol):
    """The circuit breaker of each upstream: after several failures in a row it is left alone, then probed once."""

    def of(self, upstream: str, failures: int, open_seconds: float) -> Breaker:
        """`failures` in a row open it for `open_seconds`; 0: it never opens."""
        ...


class Throttle(Protocol):
    """A throttle of wrong tokens, by the address that sent them: beyond a few they are refused unread."""

    async def wait(self, client: str, now: float) -> float:
        """Seconds until this address may try again; 0: now."""
        ...

    async def note(self, client: str, now: float) -> None:
        """Counts a wrong token."""
        ...


class Logouts(Protocol):
    """Admin cookies that were logged out before their time, by their ids."""

    def has(self, cookie_id: str) -> bool:
        """Whether the cookie of this id has ended, as far as is known since the last `refresh`."""
        ...

    async def add(self, cookie_id: str, expires: int) -> None:
        """Ends a cookie, durably when this returns, if the disk takes it. `expires`: when it would have ended by
        itself, in Unix seconds."""
        ...

    async def refresh(self) -> None:
        """Reads what other processes, or earlier ones, have ended, once a second at most."""
        ...


@dataclass(frozen=True, slots=True)
class SharedState:
    """Built once by `services`, and passed to whoever needs a part of it."""

    flights: SingleFlight
    open_turns: OpenTurns
    last_served: LastServed
    hit_rates: HitRates
    calibrations: Calibrations
    breakers: Breakers
    throttle: Throttle
    logouts: Logouts
