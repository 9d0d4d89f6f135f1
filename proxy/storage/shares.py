"""Shares of the write queue: how many rows a tenant may have waiting, so that none makes another's disappear.

There are two lanes, so that what is many (links, turns, vectors, contents) never crowds out what is little (ledger
rows, facts). In each lane a tenant may hold as many rows as are left free in it: one alone half of the lane, two a
third each, n of them 1/(n+1) each; there is always room for the next one. (Choudhury and Hahne, Dynamic Queue Length
Thresholds for Shared-Memory Packet Switches, 1998, with alpha = 1.) Deletions are never refused: users were promised
them.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from proxy.types import RowKind

Lane = Literal["bulk", "small", "deletion"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows, as the metrics name it, and its lane."""

    name: RowKind
    lane: Lane


LINKS = Kind("links", "bulk")
CUT_LINKS = Kind("cut_links", "bulk")  # of a history that is longer than what one request may write of it
TURNS = Kind("turns", "bulk")
STATES = Kind("states", "bulk")
CONTENTS = Kind("contents", "bulk")
REUSE = Kind("reuse", "bulk")
LEDGER = Kind("ledger", "small")
FACTS = Kind("facts", "small")
DELETIONS = Kind("deletions", "deletion")

KINDS = (LINKS, CUT_LINKS, TURNS, STATES, CONTENTS, REUSE, LEDGER, FACTS, DELETIONS)


def tenant_of(scope: str) -> str:
    """Returns the tenant of a scope: all users of one API key have one share, however many end users they name."""
    return scope.partition("/")[0]


@dataclass(slots=True)
class _Held:
    """Rows of one lane that are queued."""

    limit: int
    total: int = 0
    by_tenant: Counter[str] = field(default_factory=Counter)


class Shares:
    """The counts of queued rows, by lane and tenant; `bulk` and `small` are the most of a lane. Tenants without rows
    take no memory."""

    def __init__(self, bulk: int, small: int) -> None:
        self._lanes = {"bulk": _Held(bulk), "small": _Held(small)}

    def take(self, kind: Kind, scope: str, rows: int) -> bool:
        """Returns True if these rows may be queued; then they are counted until they are given back."""
        if (lane := self._lanes.get(kind.lane)) is None:
            return True
        tenant = tenant_of(scope)
        if lane.by_tenant.get(tenant, 0) + rows > lane.limit - lane.total - rows:
            return False
        lane.by_tenant[tenant] += rows
        lane.total += rows
        return True

    def give_back(self, kind: Kind, scope: str, rows: int) -> None:
        """Takes these rows off the count."""
        if (lane := self._lanes.get(kind.lane)) is None:
            return
        tenant = tenant_of(scope)
        lane.total -= rows
        lane.by_tenant[tenant] -= rows
        if lane.by_tenant[tenant] <= 0:
            del lane.by_tenant[tenant]
