"""State that all processes of one proxy share: a Protocol per need, gathered in `SharedState`. `../redis/` keeps it for
several processes.

local.py     all of it in this process, as one `SharedState`; of it, wrong admin tokens
flights.py   of it, single flight
learnt.py    of it, hit rates, calibrations, evidence of prefix caches; open turns, and what was served last
breakers.py  of it, breakers of upstreams
counters.py  of it, counts of what is limited: in this process, or in a file that the workers of a machine share

Rules for every backend, which `tests/contract/test_shared.py` tests:

- Keys are strings, values are bytes, numbers or frozen records of them: no caller gets an object that another changes.
- An `async` method may ask another process. Its caller sets a deadline, and goes on without an answer.
- Any other method answers at once from what this process knows. A change is seen here at once, and by others as soon
  as a backend has passed it on; nothing waits for that, so it may be called where nothing can be awaited.
- Leading a flight and probing an upstream are leases: numbered or named, and ended by their holder. A backend that
  outlives a process gives them an end of their own.
- Times are passed in, in Unix seconds, or are durations. No two processes need to agree on a monotonic clock.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from proxy.types import Answer, OpenTurn, Served, StoredAnswer, Usage
from proxy.types.keys import Counted, Use

BreakerState = Literal["closed", "open", "half-open"]


class SingleFlight(Protocol):
    """Concurrent identical requests share one upstream call: the first one leads, the others wait for its result.

    The leader must end its flight (`land`, `abandon` or `fail`) under the number that it was given; under another
    number these do nothing. After a flight that was abandoned or failed one of those waiting leads next.
    """

    def __len__(self) -> int:
        """Returns the number of flights of this process that are under way."""

    @property
    def landed(self) -> int:
        """Counts the flights that brought an answer. If it has changed since a look-up in a cache, look again."""

    async def lead_or_wait(self, key: str, seconds: float) -> int | StoredAnswer | Answer | None:
        """Starts a flight and returns its number, or waits for the flight under way and returns its result: the answer;
        or an error for the client; or None: go upstream alone. None also after `seconds` in all: the leader may have
        a client that does not read."""

    def share(self, key: str, lead: int | None, answer: StoredAnswer) -> None:
        """Hands the answer to those who wait, and to those who come until it has landed: storing it may take a
        while."""

    def land(self, key: str, lead: int | None, answer: StoredAnswer | None) -> None:
        """Ends the flight with its answer; None: it cannot be shared, and each goes upstream alone."""

    def abandon(self, key: str, lead: int | None) -> None:
        """Ends the flight without a result, since the leader's client left."""

    def fail(self, key: str, lead: int | None, told: Answer) -> None:
        """Ends the flight after a failure of the upstream. `told`: the error answer for its client, which those who
        wait get too after several failures in a row."""


class OpenTurns(Protocol):
    """The turns whose last answer waits for tool results, by memory scope and session. Bounded: the newest."""

    async def get(self, scope: str, session: str) -> OpenTurn | None:
        """Returns the open turn of a session, or None. One without messages names the last turn of another process."""

    def put(self, scope: str, session: str, turn: OpenTurn | None) -> None:
        """Sets the open turn of a session; None, or one without messages: it has ended."""

    def drop(self, scope: str) -> None:
        """Removes what this process has of a scope that was erased, and of its single conversations."""


class LastServed(Protocol):
    """The last reuse by intent of each session, which its next question may show to have been wrong. Bounded."""

    def note(self, scope: str, session: str, served: Served) -> None:
        """Sets the last reuse of a session."""

    async def take(self, scope: str, session: str) -> Served | None:
        """Returns and removes the last reuse of a session, or None."""

    def drop(self, scope: str) -> None:
        """Removes what this process has of a scope that was erased."""


class HitRates(Protocol):
    """The hit rates of reuse by intent: per partition, the entries that answered its last different questions. Reuse
    stops for a while where one entry answers too many: the embeddings or the guards have failed there."""

    def is_open(self, partition: str, now: float) -> bool:
        """Returns True while reuse is stopped in the partition."""

    def open_partitions(self, now: float) -> int:
        """Returns the number of partitions that are stopped."""

    def note(self, partition: str, question: str, entry_id: str | None, now: float) -> None:
        """Records the entry that answered `question`; None: no entry did."""


class Calibration(Protocol):
    """The ratio of the upstream's own token count to ours, per upstream and model. Worker threads read it."""

    def factor(self, upstream: str, model: str) -> float | None:
        """Returns the ratio; None until the upstream has reported a count for this model."""

    def observe(self, upstream: str, model: str, *, counted: int, measured: int) -> None:
        """Records that the upstream counted `measured` prompt tokens where we count `counted`."""


class CacheEvidence(Protocol):
    """Evidence that an upstream has no prefix cache for a model. Worker threads read it.

    A provider that does not report cached tokens proves nothing; one that reports none of them, time and again, for
    prompts whose beginning it had just seen, has none. It is kept by upstream and model, never by tenant.
    """

    def shows_none(self, upstream: str, model: str) -> bool:
        """Returns True if the reports show that there is no prefix cache."""

    def observe(self, upstream: str, model: str, usage: Usage, *, repeated: int) -> None:
        """Records a report. `repeated`: tokens of the prompt's beginning that the upstream had seen so
        lately that every cache holds it; 0 if the prompt is shorter than what it caches."""


@dataclass(frozen=True, slots=True)
class Calibrations:
    """Calibrations of token counts, and evidence of prefix caches, from the usage that upstreams report."""

    rough: Calibration  # of the estimate by characters
    exact: Calibration  # of the count by the o200k ranks
    caches: CacheEvidence


class Breaker(Protocol):
    """The circuit breaker of an upstream. It counts only failures of the upstream as a whole (unreachable, silent, 502
    to 504), never an error that one request may have earned (4xx, 429, 500)."""

    @property
    def state(self) -> BreakerState:
        """The state; open: no request goes through; half-open: one may, as the probe."""

    @property
    def retry_after(self) -> float:
        """Seconds until the next probe is let through."""

    def allow(self) -> bool:
        """Returns True if a request may go through now. Every request that was let through must end in `success`,
        `failure` or `abandoned`."""

    def success(self) -> None:
        """Records that the upstream answered: the breaker closes."""

    def failure(self) -> None:
        """Records that the upstream failed as a whole."""

    def abandoned(self) -> None:
        """Records that a request ended without a result (the client left): the next one may probe."""


class Breakers(Protocol):
    """The circuit breaker of each upstream: after several failures in a row it is left alone, then probed once."""

    def of(self, upstream: str, failures: int, open_seconds: float) -> Breaker:
        """Returns the breaker of an upstream, which opens for `open_seconds` after `failures` in a row; 0: never."""


class Throttle(Protocol):
    """A throttle of wrong tokens, by the address that sent them: beyond a few they are refused unread."""

    async def wait(self, client: str, now: float) -> float:
        """Returns the seconds until this address may try again; 0: now."""

    async def note(self, client: str, now: float) -> None:
        """Counts a wrong token."""


class Logouts(Protocol):
    """Admin cookies that were logged out before their time, by their ids."""

    def has(self, cookie_id: str) -> bool:
        """Returns True if the cookie of this id has ended, as of the last `refresh`."""

    async def add(self, cookie_id: str, expires: int) -> None:
        """Ends a cookie, durably when this returns, if the disk takes it. `expires`: when it would have ended by
        itself, in Unix seconds."""

    async def refresh(self) -> None:
        """Reads what other processes, or earlier ones, have ended, once a second at most."""


class Counters(Protocol):
    """Counts of what is used of limits, by an owner: a key, or an end user of one."""

    async def add(self, owner: str, use: Use, since: float) -> Counted:
        """Counts a use that begins, or what is added to one of the same id, and returns what is counted with it.
        `since`: requests that have ended before have been added to the sums that the caller has."""

    def settle(self, owner: str, use: Use, tokens: int, dollars: float, now: float) -> None:
        """Ends a use, with what it came to."""

    def withdraw(self, owner: str, use: Use) -> None:
        """Takes a use back, as if it had never been."""


@dataclass(frozen=True, slots=True)
class SharedState:
    """All shared state of a process: built once by `services`, passed on in parts."""

    flights: SingleFlight
    open_turns: OpenTurns
    last_served: LastServed
    hit_rates: HitRates
    calibrations: Calibrations
    breakers: Breakers
    throttle: Throttle
    logouts: Logouts
    counters: Counters
