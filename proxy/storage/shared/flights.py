"""Concurrent identical requests of one process, which share an upstream call."""

import asyncio
import itertools
from dataclasses import dataclass

from proxy.types import Answer, StoredAnswer

MOST_FAILURES = 2  # of leaders in a row, after which all who wait get the error


@dataclass(frozen=True, slots=True)
class _Flight:
    lead: int
    failures: int  # of the leaders before this one, in a row
    # A number: it came to nothing after so many failures in a row, and one of those who wait leads next.
    brought: "asyncio.Future[StoredAnswer | Answer | int | None]"


class LocalSingleFlight:
    """The flights of this process.

    If a leader failed, or its client left, one of those waiting leads next while the others go on waiting; after
    `MOST_FAILURES` in a row they are all told what the last one was told. So a failing upstream sees a few of them, one
    after the other, and not all at once.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, _Flight] = {}
        self._numbers = itertools.count(1)
        self.landed = 0  # how many have brought an answer

    def __len__(self) -> int:
        return len(self._under_way)

    async def lead_or_wait(self, key: str, seconds: float) -> int | StoredAnswer | Answer | None:
        loop = asyncio.get_running_loop()
        deadline, failures = loop.time() + seconds, 0
        while (flight := self._under_way.get(key)) is not None:
            done, _ = await asyncio.wait({flight.brought}, timeout=max(0.0, deadline - loop.time()))
            if not done:
                return None
            brought = flight.brought.result()
            if not isinstance(brought, int):
                return brought
            failures = brought
        lead = next(self._numbers)
        self._under_way[key] = _Flight(lead, failures, loop.create_future())
        return lead

    def share(self, key: str, lead: int | None, answer: StoredAnswer) -> None:
        flight = self._under_way.get(key)
        if flight is not None and flight.lead == lead and not flight.brought.done():
            flight.brought.set_result(answer)

    def land(self, key: str, lead: int | None, answer: StoredAnswer | None) -> None:
        self.landed += answer is not None
        if (flight := self._take(key, lead)) is not None:
            flight.brought.set_result(answer)

    def abandon(self, key: str, lead: int | None) -> None:
        if (flight := self._take(key, lead)) is not None:
            flight.brought.set_result(flight.failures)

    def fail(self, key: str, lead: int | None, told: Answer) -> None:
        if (flight := self._take(key, lead)) is not None:
            failures = flight.failures + 1
            flight.brought.set_result(told if failures >= MOST_FAILURES else failures)

    def _take(self, key: str, lead: int | None) -> _Flight | None:
        """The flight with this number, unless it has landed before."""
        flight = self._under_way.get(key)
        if flight is None or flight.lead != lead:
            return None
        del self._under_way[key]
        return None if flight.brought.done() else flight
