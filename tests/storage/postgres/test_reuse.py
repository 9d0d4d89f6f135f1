"""Reuse entries in PostgreSQL: what leaves and when, and what several processes see."""

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.reuse import PostgresReuse, Stored, changed
from proxy.storage.reuse import KEPT_AFTER_EXPIRY
from proxy.storage.stores.reuse import ReuseChange
from proxy.types import Judgement, ReuseDecision, ReuseEntry
from tests.postgres import processes

HOUR = 3600.0
ENTRY = ReuseEntry("r-1", "a" * 32, "how?", (), "key", created_at=1000.0, expires_at=1000.0 + HOUR)
VECTOR = np.array([0.0, 1.0], np.float32)
YES = Judgement("r-2", True, "small", ENTRY.created_at, 0)
STORED = Stored(ENTRY, b"vector", 7)


def change(operation: Any, **differing: Any) -> ReuseChange:
    return ReuseChange(operation, "a/", ENTRY.id, **differing)


@pytest.mark.parametrize(
    ("of", "after"),
    [
        (change("served"), replace(STORED, entry=replace(ENTRY, served=1))),
        (change("strike", strikes=1, min_cosine=0.9),
         Stored(replace(ENTRY, strikes=1, min_cosine=0.9), b"vector", None)),
        (change("strike", at=1000.0), Stored(replace(ENTRY, evicted_at=1000.0), b"vector", None)),
        (change("judge", judgement=YES), Stored(replace(ENTRY, judged=(YES,)), b"vector", None)),
        (change("judge", judgement=replace(YES, strikes=1)), None),
        (change("add", entry=ENTRY, vector=b"new"), None),
        (change("add", entry=replace(ENTRY, created_at=1001.0), vector=b"new"),
         Stored(replace(ENTRY, created_at=1001.0), b"new", None)),
    ],
)  # fmt: skip
def test_what_searches_ask_for_gets_a_new_number_and_what_changes_nothing_is_not_written(
    of: ReuseChange, after: Stored | None
) -> None:
    assert changed(STORED, of) == after
    assert (changed(None, of) is None) is (of.entry is None)


def later(entry_id: str, seconds: float) -> ReuseEntry:
    at = ENTRY.created_at + seconds
    return replace(ENTRY, id=entry_id, created_at=at, expires_at=at + HOUR)


def kept(connection: Connection) -> list[str]:
    return [entry_id for (entry_id,) in connection.execute("SELECT id FROM reuse_entries ORDER BY id")]


async def test_what_has_expired_leaves_when_something_is_added_and_what_has_strikes_a_month_later() -> None:
    async with processes(1) as (database,):
        store = PostgresReuse(database)
        for scope, entry, left in (
            ("a/", ENTRY, ["r-1"]),
            ("b/", later("r-2", 1), ["r-1", "r-2"]),
            ("c/", later("r-3", HOUR), ["r-2", "r-3"]),
            ("c/", later("r-4", HOUR + KEPT_AFTER_EXPIRY), ["r-2", "r-4"]),
            ("c/", later("r-5", HOUR + KEPT_AFTER_EXPIRY + 1), ["r-4", "r-5"]),
        ):
            store.add(scope, entry, VECTOR)
            if entry.id == "r-2":
                store.raise_threshold("b/", "r-2", 0.9, 1002.0, evict=True)
            await store.flush()
            assert await database.read(kept) == left


async def test_a_reader_misses_nothing_of_what_processes_write_at_once() -> None:
    async with processes(5) as databases:
        stores = [PostgresReuse(each) for each in databases]
        everything = 5 * 40
        seen: dict[str, ReuseEntry] = {}

        async def write(place: int) -> None:
            for number in range(40):
                own = f"r-{place}.{number}"
                stores[place].add("a/", replace(ENTRY, id=own), VECTOR)
                stores[place].add("b/", ENTRY, VECTOR)  # everybody's
                stores[place].raise_threshold("b/", ENTRY.id, 0.5, 1001.0, evict=False)
                stores[place].log("a/", ReuseDecision(own, 1000.0, "hit", own, 1.0, "how?", "how?"))
                if number % 3 == 0:
                    await stores[place].flush()
            await stores[place].flush()

        async def follow() -> None:
            upto = 0
            while len(seen) < everything:
                found = await stores[0].changes("a/", ENTRY.partition, upto, 1000.0)
                seen.update({entry.id: entry for entry, _ in found.entries})
                upto = found.upto

        async with asyncio.timeout(60):
            await asyncio.gather(follow(), *map(write, range(5)))
        assert await stores[0].get("b/", ENTRY.id) == replace(ENTRY, strikes=everything, min_cosine=0.5)
        assert len(await stores[0].recent("a/", limit=1_000)) == everything
