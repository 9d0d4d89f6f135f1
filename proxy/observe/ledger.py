"""The reader of the ledger's totals, for `/metrics`: from the sums by the day, which are kept for ever, in the threads
that read the database. What is before yesterday is read once an hour, the rest at each scrape; a scrape waits
`DEADLINE` at most, and then tells what was read before.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import time
from typing import Protocol

from proxy.observe.gauges import TotalGauges
from proxy.observe.metrics import Metrics
from proxy.observe.totals import KeyTotal, Total, bounded, key_totals, refined, totals
from proxy.storage.accounts import Accounts, Width
from proxy.storage.base import StorageError
from proxy.storage.keys import KeyStore
from proxy.tasks import Tasks
from proxy.types.keys import ApiKey, TenantName

DEADLINE = 0.5  # seconds that a scrape waits: a worker has one to tell its siblings
FRESH = 2.0  # seconds for which what was read is told again
SETTLED = 3_600.0  # the same, of what is before yesterday: a row that waited on a disk may still be added there
MINUTE: Width = 60
HOUR: Width = 3_600
DAY: Width = 86_400


class Keys(Protocol):
    """The keys of this proxy, and their names."""

    def tenants(self) -> Mapping[str, TenantName]:
        """Returns the names of all tenants."""

    def all(self) -> Sequence[ApiKey]:
        """Returns all keys, revoked ones included."""


@dataclass(frozen=True, slots=True)
class KeyAccounts:
    """The keys of this proxy, and the sums of their owners."""

    keys: Keys
    store: KeyStore

    async def totals(self, now: float) -> Sequence[KeyTotal]:
        """Returns the totals of all keys. Raises StorageError."""
        owners = self.keys.tenants()
        if not owners:
            return ()
        created: dict[str, float] = {}
        for key in self.keys.all():
            created[key.name] = min(key.created_at, created.get(key.name, key.created_at))
        sums = await self.store.sums_by_tenant(0, int(now // DAY) + 1)
        return key_totals(owners, created, sums)


class LedgerTotals:
    """Reads the totals when metrics are looked at, and sets their gauges."""

    def __init__(
        self,
        accounts: Accounts,
        metrics: Metrics,
        tasks: Tasks,
        name: str,
        keys: KeyAccounts | None = None,
        *,
        fresh: float = FRESH,
        deadline: float = DEADLINE,
        clock: Callable[[], float] = time,
    ) -> None:
        """`name`: of the ledger. `keys`: None where the upstream judges its clients' keys."""
        self._accounts = accounts
        self._gauges = TotalGauges(metrics)
        self._on_fail_open = metrics.failed_open
        self._tasks = tasks
        self._name = name
        self._keys = keys
        self._fresh = fresh
        self._deadline = deadline
        self._clock = clock
        self._settled: Mapping[str, Total] = {}
        self._border = 0.0  # the day before which all is settled
        self._settled_at: float | None = None
        self._read_at: float | None = None
        self._reading: asyncio.Task[None] | None = None

    async def refresh(self) -> None:
        """Sets the gauges anew, if they can be read in time; they stay as they are if not. Nothing is told before the
        first time."""
        now = self._clock()
        if self._reading is None and (self._read_at is None or not 0 <= now - self._read_at < self._fresh):
            self._reading = self._tasks.spawn(self._read(now), name="ledger totals")
        if self._reading is not None:
            done, _ = await asyncio.wait({self._reading}, timeout=self._deadline)
            if not done:
                self._on_fail_open("totals", "deadline")

    async def _read(self, now: float) -> None:
        try:
            found = bounded(await self._found(now))
            of_keys = () if self._keys is None else await self._keys.totals(now)
            self._gauges.models(self._name, found)
            self._gauges.keys(self._name, of_keys)
            self._read_at = now
        except StorageError as error:
            self._on_fail_open("totals", type(error).__name__)
        finally:
            self._reading = None

    async def _found(self, now: float) -> Mapping[str, Total]:
        border = now - now % DAY - DAY
        if self._settled_at is None or border != self._border or not 0 <= now - self._settled_at < SETTLED:
            self._settled = totals(await self._accounts.buckets(0, border, DAY, by="model"))
            self._border, self._settled_at = border, now
        end = now + DAY  # a request of another machine may be a little ahead of our clock
        found = totals(await self._accounts.buckets(border, end, DAY, by="model"), self._settled)
        found = refined(found, await self._accounts.buckets(border, end, HOUR, by="model"), DAY)
        lately = now - now % HOUR - HOUR
        return refined(found, await self._accounts.buckets(lately, end, MINUTE, by="model"), HOUR)
