"""Shares of the write queue: how many rows a tenant may have waiting, so that none makes another's disappear.

There are two lanes, so that what is many (links, turns, vectors, contents) never crowds out what is little (ledger
rows, facts). In each lane a tenant may hold as many rows as are left free in it: one alone half of the lane, two a
third each, n of them 1/(n+1) each; there is always room for who comes next. (Choudhury and Hahne, Dynamic Queue Length
Thresholds for Shared-Memory Packet Switches, 1998, with alpha = 1.) Deletions are never refused: somebody was promised
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
    """Everybody who uses one key: naming many end users buys no second share."""
    return scope.partition("/")[0]


@dataclass(slots=True)
class _Held:
    """Rows of one lane that are queued."""

    limit: int
    total: int = 0
    by_tenant: Counter[str] = field(default_factory=Counter)


class Shares:
    """Rows that are queued, by lane and tenant. Nothing is kept of a tenant that has none."""

    def __init__(self, bulk: int, small: int) -> None:
        self._lanes = {"bulk": _Held(bulk), "small": _Held(small)}

    def take(self, kind: Kind, scope: str, rows: int) -> bool:
        """May these rows be queued? If so they are counted, until they are given back."""
        if (lane := self._lanes.get(kind.lane)) is None:
            return True
        tenant = tenant_of(scope)
        if lane.by_tenant.get(tenant, 0) + rows > lane.limit - lane.total - rows:
            return False
        lane.by_tenant[tenant] += rows
        lane.total += rows
        return True

    def give_back(self, kind: Kind, scope: str, rows: int) -> None:
        if (lane := self._lanes.get(kind.lane)) is None:
            return
        tenant = tenant_of(scope)
        lane.total -= rows
        lane.by_tenant[tenant] -= rows
        if lane.by_tenant[tenant] <= 0:
            del lane.by_tenant[tenant]
