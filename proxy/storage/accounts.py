"""What the page and the admin API read: sums, lists of requests and sessions, and what requests said.

Sums come from rollups, which are written with the rows that they add up: never from a walk through the ledger.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from proxy.types import Bucket, Contents, LedgerRow, SessionCard, TurnCard

Width = Literal[60, 3_600, 86_400]  # seconds of a bucket
Dimension = Literal["", "model", "upstream", "source", "plan"]  # what sums are told by; "": by nothing
OTHER = (
    "other"  # the model of requests for one that no upstream has answered for: clients can invent as many as they like
)
LONGEST_NAME = 100  # characters of a model that has a name of its own


class Accounts(Protocol):
    """Read across scopes if none is named: only for whoever runs the proxy. What is queued may be missing."""

    async def buckets(
        self, start: float, end: float, width: Width, scope: str | None = None, by: Dimension = ""
    ) -> list[Bucket]:
        """Every bucket that begins within [start, end) and is not empty, oldest first; of each a bucket for every name,
        in their order, if sums are told `by` something."""
        ...

    async def scopes(self, limit: int = 200, before: float | None = None) -> list[tuple[str, float]]:
        """Scopes and when each was last heard of, if that was before `before`, latest first."""
        ...

    async def rows(
        self,
        *,
        scope: str | None = None,
        session: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> list[tuple[int, LedgerRow]]:
        """Rows with their numbers, which grow as rows are written. The newest first; with `after`, those that were
        written after that one, oldest first."""
        ...

    async def row(self, request_id: str, scope: str | None = None) -> LedgerRow | None: ...

    async def last(self) -> int:
        """The number of the newest row; 0 if there is none."""
        ...

    async def sessions(
        self, *, scope: str | None = None, before: float | None = None, limit: int = 50
    ) -> list[SessionCard]:
        """Conversations whose last request was before `before`, latest first."""
        ...

    async def turns(self, scope: str, session: str, limit: int = 2_000) -> list[TurnCard]:
        """The newest archived turns of a conversation, all its branches, oldest first."""
        ...


class ContentStore(Protocol):
    """Bodies of requests, for a while (`storage.keep`)."""

    @property
    def keeps(self) -> bool:
        """Is anything kept here? Where not, nobody need put it together."""
        ...

    def put(self, contents: Contents) -> None:
        """Queue. One that is larger than its share is not kept."""
        ...

    async def get(self, scope: str, request_id: str) -> Contents | None: ...

    async def recent(self, limit: int, *, scope: str | None = None, session: str | None = None) -> Sequence[Contents]:
        """The newest ones, oldest first."""
        ...

    def forget(self, scope: str) -> None:
        """Queue the end of everything that this scope said."""
        ...
