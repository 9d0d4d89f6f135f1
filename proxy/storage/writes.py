"""Writes that wait for a database: their kinds, how they are applied, and how many rows of them a tenant may have
waiting, so that none makes another's disappear.

There are two lanes, so that what is many (links, turns, vectors, contents) never crowds out what is little (ledger
rows, facts). In each lane a tenant may hold as many rows as are left free in it: one alone half of the lane, two a
third each, n of them 1/(n+1) each; there is always room for the next one. (Choudhury and Hahne, Dynamic Queue Length
Thresholds for Shared-Memory Packet Switches, 1998, with alpha = 1.) Deletions are never refused: users were promised
them.
"""

import itertools
import operator
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from proxy.types import RowKind

Lane = Literal["bulk", "small", "deletion"]
Apply: TypeAlias = Callable[[Any, Sequence[Any]], object]  # gets the connection, and the `what` of some writes


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


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """A queued change of the database. It must be idempotent: after a failure it is applied again.

    `apply` runs in the writer's thread, inside a transaction, once for all writes of a batch that share it: with the
    connection, and the `what` of each in the order they were queued. So many rows can be one statement.
    """

    rows: int
    apply: Apply
    what: Any = None
    kind: Kind = field(kw_only=True)
    scope: str = field(kw_only=True)  # whose share of the queue it takes
    settled: Callable[[], object] | None = None  # called in the event loop once it is durable, or dropped
    queued_at: float = field(default_factory=time.monotonic)
    erases: bool = False  # what it deletes must not stay in a log of the database either
    in_order: bool = False  # applied after all that was queued before it, and before all that was queued after it


@dataclass(frozen=True, slots=True)
class WriterLimits:
    """Limits of the queue, and how long writes wait."""

    interval: float = 0.25  # seconds that a write may wait for others
    batch_rows: int = 2_000  # queued rows that are written without waiting
    bulk_rows: int = 80_000  # in the queue, see Shares; more are dropped: memory must not grow with a stuck disk
    small_rows: int = 20_000
    pauses: tuple[float, ...] = (0.05, 0.25, 1.0)  # seconds between the attempts for one batch, or to empty the log
    retry: float = 5.0  # seconds between the attempts while the database cannot be written


def apply_all(connection: Any, writes: Sequence[Write]) -> None:
    """Applies the writes of a batch: those that share `apply` by one call, except across one that is `in_order`."""
    for in_order, run in itertools.groupby(writes, key=operator.attrgetter("in_order")):
        if in_order:
            for write in run:
                write.apply(connection, [write.what])
        else:
            together: dict[Apply, list[Any]] = {}
            for write in run:
                together.setdefault(write.apply, []).append(write.what)
            for apply, whats in together.items():
                apply(connection, whats)


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
