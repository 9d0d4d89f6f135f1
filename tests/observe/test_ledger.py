"""What is read of the ledger when metrics are looked at: from a real database, in time or not at all."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from proxy.observe.ledger import DAY, SETTLED, KeyAccounts, LedgerTotals
from proxy.observe.metrics import Metrics
from proxy.storage.accounts import Accounts
from proxy.storage.base import Ledger, StorageError
from proxy.storage.postgres.accounts import PostgresAccounts
from proxy.storage.postgres.ledger import PostgresLedger
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.keys import SqliteKeys
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.tasks import Tasks
from proxy.types import Bucket
from proxy.types.keys import ApiKey, TenantName
from tests.builders import TENANT, ledger_row
from tests.postgres import opened

TODAY = 1_700_006_400.0  # the beginning of a day
NOW = TODAY + 10 * 3_600 + 125

Numbers = dict[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class Kept:
    ledger: Ledger
    accounts: Accounts


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Kept]:
    database = Database(folder / "olvido.sqlite3", Tasks())
    try:
        yield Kept(SqliteLedger(database), SqliteAccounts(database))
    finally:
        await database.close()


@asynccontextmanager
async def memory(folder: Path) -> AsyncIterator[Kept]:
    database = Database(None, Tasks())
    try:
        yield Kept(SqliteLedger(database), SqliteAccounts(database))
    finally:
        await database.close()


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[Kept]:
    async with opened(folder) as database:
        yield Kept(PostgresLedger(database), PostgresAccounts(database))


BACKENDS: dict[str, Callable[[Path], AbstractAsyncContextManager[Kept]]] = {
    "file": sqlite,
    "memory": memory,
    "postgres": postgres,
}


@pytest.fixture(params=BACKENDS)
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    async with BACKENDS[request.param](tmp_path) as found:
        yield found


class Clock:
    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def reader(accounts: Any, metrics: Metrics, clock: Clock, fresh: float = 2.0, deadline: float = 0.5) -> LedgerTotals:
    return LedgerTotals(accounts, metrics, Tasks(), "led9e700", clock=clock, fresh=fresh, deadline=deadline)


def told(metrics: Metrics, name: str, *labels: str) -> Numbers:
    """The series of a metric by the values of `labels`."""
    families = text_string_to_metric_families(metrics.exposition().decode())
    return {
        tuple(sample.labels[each] for each in labels): sample.value
        for family in families
        for sample in family.samples
        if sample.name == name
    }


async def test_what_the_ledger_has_counted_is_told_by_model_whenever_that_was(kept: Kept) -> None:
    ages = {"m": (40 * DAY, 2 * DAY, 0.0), "young": (3_600.0,)}
    for model, seconds in ages.items():
        for age in seconds:
            row = ledger_row(request_id=f"{model}{age}", at=NOW - age, model=model, cost=0.25)
            kept.ledger.append(row)
    kept.ledger.append(
        ledger_row(request_id="again", at=NOW, source="exact", cost=0.0, cost_saved=0.5, tokens_sent=0, model="m")
    )
    await kept.ledger.flush()
    metrics = Metrics()
    await reader(kept.accounts, metrics, Clock(), deadline=10).refresh()
    assert told(metrics, "olvido_ledger_requests", "ledger", "model", "source") == {
        ("led9e700", "m", "upstream"): 3,
        ("led9e700", "m", "exact"): 1,
        ("led9e700", "m", "intent"): 0,
        ("led9e700", "young", "upstream"): 1,
        ("led9e700", "young", "exact"): 0,
        ("led9e700", "young", "intent"): 0,
        **{("led9e700", "other", source): 0 for source in ("upstream", "exact", "intent")},
    }
    assert told(metrics, "olvido_ledger_cost_dollars", "model") == {("m",): 0.75, ("young",): 0.25, ("other",): 0}
    assert told(metrics, "olvido_ledger_saved_cost_dollars", "mechanism", "model")["exact", "m"] == 0.5
    assert told(metrics, "olvido_ledger_tokens", "kind", "model")["original", "m"] == 400
    assert told(metrics, "olvido_ledger_reused_tokens", "model")[("m",)] == 120


async def test_a_beginning_is_told_to_the_minute_while_it_is_new(kept: Kept) -> None:
    kept.ledger.append(ledger_row(at=NOW))
    await kept.ledger.flush()
    metrics = Metrics()
    await reader(kept.accounts, metrics, Clock(), deadline=10).refresh()
    assert told(metrics, "olvido_ledger_since_seconds", "model")[("m",)] == NOW - NOW % 60


async def test_what_is_configured_is_told_at_0_but_nothing_before_the_ledger_was_read(kept: Kept) -> None:
    metrics = Metrics()
    metrics.expect({"up": ["named"]})
    assert told(metrics, "olvido_ledger_cost_dollars", "model") == {}
    await reader(kept.accounts, metrics, Clock(), deadline=10).refresh()
    assert told(metrics, "olvido_ledger_cost_dollars", "model") == {("named",): 0, ("other",): 0}


class Recording:
    """Accounts that note what they are asked for, and can be slow or fail."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, int]] = []
        self.found: list[Bucket] = []
        self.error: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def buckets(self, start: float, end: float, width: int, scope: str | None = None, by: str = "") -> Any:
        self.asked.append((start, width))
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return self.found

    def settled(self) -> int:
        return sum(start == 0 for start, _ in self.asked)


async def test_it_is_read_once_for_looks_in_a_row_and_what_is_settled_once_an_hour() -> None:
    accounts, clock = Recording(), Clock()
    totals = reader(accounts, Metrics(), clock, fresh=2.0)
    for _ in range(3):
        await totals.refresh()
    assert len(accounts.asked) == 4
    clock.now += 3
    await totals.refresh()
    assert (len(accounts.asked), accounts.settled()) == (7, 1)
    clock.now += SETTLED
    await totals.refresh()
    assert accounts.settled() == 2
    clock.now += DAY  # yesterday is another day now
    await totals.refresh()
    assert accounts.settled() == 3


async def test_a_slow_database_costs_a_look_its_deadline_and_the_next_one_has_the_numbers() -> None:
    accounts, metrics = Recording(), Metrics()
    accounts.gate.clear()
    totals = reader(accounts, metrics, Clock(), deadline=0.001)
    await totals.refresh()
    assert told(metrics, "olvido_fail_open_total", "stage", "reason") == {("totals", "deadline"): 1}
    assert told(metrics, "olvido_ledger_cost_dollars", "model") == {}
    await totals.refresh()
    assert len(accounts.asked) == 1  # the same read, not another one
    accounts.gate.set()
    patient = reader(accounts, metrics, Clock(), deadline=10)
    await patient.refresh()
    assert told(metrics, "olvido_ledger_cost_dollars", "model") == {("other",): 0}


async def test_a_database_that_fails_is_counted_and_what_was_told_stays() -> None:
    accounts, metrics, clock = Recording(), Metrics(), Clock()
    totals = reader(accounts, metrics, clock)
    await totals.refresh()
    accounts.error = StorageError("gone")
    clock.now += 60
    await totals.refresh()
    assert told(metrics, "olvido_fail_open_total", "stage", "reason") == {("totals", "StorageError"): 1}
    assert told(metrics, "olvido_ledger_cost_dollars", "model") == {("other",): 0}


class Book:
    """Keys as a process knows them."""

    def tenants(self) -> dict[str, TenantName]:
        return {TENANT: TenantName("ana", "north")}

    def all(self) -> list[ApiKey]:
        return [ApiKey("2", "ana", b"", created_at=9.0), ApiKey("1", "ana", b"", created_at=5.0)]


async def test_the_owner_of_a_key_is_told_with_all_its_requests_and_since_its_first_key(tmp_path: Path) -> None:
    database = Database(tmp_path / "olvido.sqlite3", Tasks())
    try:
        ledger, metrics = SqliteLedger(database), Metrics()
        for number, at in enumerate((NOW, NOW - 40 * DAY)):
            ledger.append(ledger_row(request_id=f"r{number}", at=at, scope=f"{TENANT}/{number}", cost=0.25))
        await ledger.flush()
        keys = KeyAccounts(Book(), SqliteKeys(database))
        totals = LedgerTotals(SqliteAccounts(database), metrics, Tasks(), "l", keys, deadline=10, clock=Clock())
        await totals.refresh()
    finally:
        await database.close()
    labels = ("ledger", "key", "team")
    assert told(metrics, "olvido_ledger_key_requests", *labels) == {("l", "ana", "north"): 2}
    assert told(metrics, "olvido_ledger_key_cost_dollars", *labels) == {("l", "ana", "north"): 0.5}
    assert told(metrics, "olvido_ledger_key_since_seconds", *labels) == {("l", "ana", "north"): 5.0}
