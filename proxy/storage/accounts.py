"""The reader of ledger, sums and conversations, for administration."""

from collections.abc import Collection, Mapping
from typing import Literal, Protocol

from proxy.types import ANY_ROW, Bucket, LedgerRow, RowFilter, SessionCard, Sums, TurnCard

Width = Literal[60, 3_600, 86_400]  # seconds of a bucket
Dimension = Literal["", "model", "upstream", "source", "plan", "route"]  # by which sums are grouped; "": not at all
# The group of requests for models that no upstream has answered for: clients can invent as many names as they like.
OTHER = "other"
LONGEST_NAME = 100  # characters; a model with a longer name is in that group too


class Accounts(Protocol):
    """The reader of ledger, sums and conversations, for administration: of all scopes where `scope` is None. A scope
    without a slash is a tenant: all scopes of it. It does not see rows that are queued."""

    async def buckets(
        self, start: float, end: float, width: Width, scope: str | None = None, by: Dimension = ""
    ) -> list[Bucket]:
        """Returns the buckets of `width` seconds that begin within [start, end) and are not empty, oldest first. With
        `by`, each is split into one bucket per name, sorted by name."""

    async def scopes(
        self, limit: int = 200, before: float | None = None, tenant: str | None = None
    ) -> list[tuple[str, float]]:
        """Returns scopes, of a tenant if one is given, with the time of their last request, if that was before
        `before`, latest first."""

    async def rows(
        self,
        *,
        scope: str | None = None,
        session: str | None = None,
        before: int | None = None,
        limit: int = 100,
        like: RowFilter = ANY_ROW,
        first: int = 0,
    ) -> list[tuple[int, LedgerRow]]:
        """Returns ledger rows with their numbers, which grow as rows are written: the newest before number `before`,
        newest first. `like`: those alone. `first`: none below this number is looked at."""

    async def number_at(self, at: float) -> int:
        """Returns the number of the first row from `at` on, as far as rows are written in the order of time; the number
        after the newest if there is none."""

    async def row(self, request_id: str, scope: str | None = None) -> LedgerRow | None:
        """Returns the row of a request, or None."""

    async def between(self, scope: str, session: str, start: float, end: float) -> list[LedgerRow]:
        """Returns the rows of a conversation that came within [start, end], oldest first."""

    async def until(self, scope: str, session: str, end: float) -> Sums:
        """Returns the sums of a conversation's rows that came by `end`."""

    async def last(self) -> int:
        """Returns the number of the newest row; 0 if there is none."""

    async def sessions(
        self, *, scope: str | None = None, before: float | None = None, limit: int = 50
    ) -> list[SessionCard]:
        """Returns conversations whose last request was before `before`, latest first."""

    async def questions(self, sessions: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
        """Returns the beginning of the first question of each conversation (scope, session) that has one in the
        archive."""

    async def turns(self, scope: str, session: str, limit: int = 2_000) -> list[TurnCard]:
        """Returns the newest `limit` archived turns of a conversation, of all its branches, oldest first."""
