"""Protocol of the store of compared answers, and of what comparing has cost. Scopes, times, writes and errors are as in
base.py.

Money is set aside before a request is sent, and corrected afterwards: what an owner that died had set aside stays so,
and two processes that share a database never pass the limit together.
"""

from typing import Protocol

from proxy.storage.base import Queued
from proxy.types.quality import HeldSums, QualityPair


class QualityStore(Queued, Protocol):
    """The pairs of all scopes. Reads see what this process has queued; a scope without a slash is a tenant, and means
    all scopes of it, for them."""

    @property
    def keeps(self) -> bool:
        """False if the store keeps nothing: then nothing is compared."""

    def put(self, pair: QualityPair) -> None:
        """Queues a pair; a second one of the same request in the same scope is ignored."""

    async def recent(
        self, *, scope: str | None = None, before: int | None = None, limit: int = 50, only_lost: bool = False
    ) -> list[tuple[int, QualityPair]]:
        """Returns pairs with their numbers, which grow as they are put: the newest before number `before`, newest
        first; with `only_lost` those whose answer has not held."""

    async def get(self, request_id: str, scope: str | None = None) -> QualityPair | None:
        """Returns the pair of a request, or None."""

    async def sums(self, start: float, end: float, scope: str | None = None) -> HeldSums:
        """Returns what the pairs within [start, end) add up to."""

    def forget(self, scope: str) -> None:
        """Queues the deletion of all texts of the scope's pairs; their numbers stay."""

    def forgets(self, scope: str) -> int:
        """Returns how often this process was told to do so."""
        ...

    async def reserve(self, dollars: float, now: float, most: float) -> int | None:
        """Sets aside what a request may cost, of at most `most` a day (UTC). Returns its number; None if too little is
        left. Raises StorageError if it is not durable."""

    async def settle(self, number: int, dollars: float) -> None:
        """Replaces what was set aside by what it has cost. Raises StorageError."""

    async def spent(self, now: float) -> float:
        """Returns the US dollars of the day of `now`, with what is set aside."""
