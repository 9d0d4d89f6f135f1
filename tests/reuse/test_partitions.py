"""A search sees at once what this process did, within a refresh what others did, and nothing of another scope."""

import asyncio
import math
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.reuse.partitions import PARTITION_OVERHEAD, Partitions
from proxy.storage.pending import WriterLimits
from proxy.storage.reuse import ReuseChanges, ReuseStore
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.tasks import Tasks
from proxy.types import Candidate, ReuseEntry, Vector
from tests import stores
from tests.builders import Executor
from tests.examples import examples
from tests.stores import AtOnce, ForeignWriter

LAZY = WriterLimits(interval=60)  # nothing is written until something asks for it
NOW = 1000.0
HOUR = 3600.0
A, B = "a" * 32, "b" * 32
ENTRY = ReuseEntry("r-1", A, "how?", (), "key", NOW, NOW + HOUR)


def towards(degrees: float) -> Vector:
    angle = math.radians(degrees)
    return np.array([math.cos(angle), math.sin(angle), 0.0, 0.0], np.float32)


NORTH = towards(0)


@pytest.fixture
def executor() -> Iterator[Executor]:
    with Executor() as opened:
        yield opened


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = Database(tmp_path / "olvido.sqlite3", Tasks(), LAZY)
    yield opened
    await opened.close()


async def nearest(
    partitions: Partitions,
    scope: str = "a/",
    partition: str = A,
    *,
    k: int = 5,
    at_least: float = 0.8,
    now: float = NOW,
) -> list[Candidate]:
    return await partitions.nearest(scope, partition, NORTH, k, at_least, now)


async def ids(
    partitions: Partitions, scope: str = "a/", partition: str = A, *, k: int = 5, now: float = NOW
) -> list[str]:
    return [candidate.entry.id for candidate in await nearest(partitions, scope, partition, k=k, now=now)]


async def test_what_was_just_added_is_found_nearest_first(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    assert await nearest(partitions) == []
    for number, degrees in enumerate((20, 60, 0, 10)):
        partitions.add("a/", replace(ENTRY, id=f"r-{number}"), towards(degrees))
    found = await nearest(partitions)
    assert [candidate.entry.id for candidate in found] == ["r-2", "r-3", "r-0"]
    assert [candidate.cosine for candidate in found] == pytest.approx([1, math.cos(math.pi / 18), 0.9397], abs=5e-4)
    assert await ids(partitions, k=1) == ["r-2"]
    assert database.writer.depth == 4


async def test_what_was_added_before_the_first_search_is_found_with_what_the_store_had(
    database: Database, executor: Executor
) -> None:
    store = SqliteReuse(database)
    store.add("a/", ENTRY, towards(10))
    await store.flush()
    partitions = Partitions(store, executor)
    partitions.add("a/", replace(ENTRY, id="r-2"), NORTH)
    assert await ids(partitions) == ["r-2", "r-1"]


async def test_it_survives_a_restart(tmp_path: Path, executor: Executor) -> None:
    first = Database(tmp_path / "olvido.sqlite3", Tasks())
    Partitions(SqliteReuse(first), executor).add("a/", ENTRY, NORTH)
    await first.close()
    again = Database(tmp_path / "olvido.sqlite3", Tasks())
    (found,) = await nearest(Partitions(SqliteReuse(again), executor))
    assert found == Candidate(ENTRY, 1.0)
    await again.close()


@pytest.mark.parametrize("searched_before", [True, False])
async def test_an_eviction_counts_at_once_and_is_not_undone_by_what_is_not_written_yet(
    database: Database, executor: Executor, searched_before: bool
) -> None:
    store = SqliteReuse(database)
    store.add("a/", ENTRY, NORTH)
    store.add("a/", replace(ENTRY, id="r-2"), NORTH)
    await store.flush()
    partitions = Partitions(store, executor, foreign_writes=ForeignWriter())
    if searched_before:
        assert await ids(partitions) == ["r-1", "r-2"]
    partitions.raise_threshold("a/", ENTRY, 0.9, NOW + 1, evict=True)
    partitions.evict("a/", replace(ENTRY, id="r-2"), NOW + 1)
    for _ in range(2):
        assert await ids(partitions) == []
    await store.flush()
    assert await ids(partitions) == []


async def test_a_raised_threshold_is_told_at_once_and_stays_when_the_question_is_asked_again(
    database: Database, executor: Executor
) -> None:
    partitions = Partitions(SqliteReuse(database), executor, foreign_writes=ForeignWriter())
    partitions.add("a/", ENTRY, NORTH)
    partitions.raise_threshold("a/", ENTRY, 0.95, NOW + 1, evict=False)
    assert [(found.entry.min_cosine, found.entry.strikes) for found in await nearest(partitions)] == [(0.95, 1)]
    partitions.raise_threshold("a/", ENTRY, 0.9, NOW + 2, evict=True)
    assert await nearest(partitions) == []
    partitions.add("a/", replace(ENTRY, created_at=NOW + 3), NORTH)
    for _ in range(2):
        assert [(found.entry.min_cosine, found.entry.strikes) for found in await nearest(partitions)] == [(0.95, 2)]
        await database.writer.flush()


async def test_what_another_process_does_is_seen_once_it_is_known_to_have_written(
    tmp_path: Path, executor: Executor
) -> None:
    databases = [Database(tmp_path / "olvido.sqlite3", Tasks(), LAZY) for _ in range(2)]
    store, foreign = (SqliteReuse(database) for database in databases)
    store.add("a/", ENTRY, NORTH)
    await store.flush()
    prompt, patient = (
        Partitions(store, executor, foreign_writes=ForeignWriter()),
        Partitions(store, executor),
    )
    assert await ids(prompt) == await ids(patient) == ["r-1"]
    foreign.evict("a/", "r-1", NOW + 1)
    foreign.add("a/", replace(ENTRY, id="r-2"), NORTH)
    await foreign.flush()
    assert await ids(prompt) == ["r-2"]
    assert await ids(patient) == ["r-1"]
    for database in databases:
        await database.close()


class Gated(SqliteReuse):
    """Every page waits for `open`, and is counted."""

    def __init__(self) -> None:
        super().__init__(AtOnce())
        self.asked = 0
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def changes(self, scope: str, partition: str, after: int, now: float, limit: int = 1) -> ReuseChanges:
        self.asked += 1
        changes = await super().changes(scope, partition, after, now, limit)
        self.reached.set()
        await self.open.wait()
        return changes


async def test_all_that_come_while_it_loads_wait_for_the_one_load(executor: Executor) -> None:
    store = Gated()
    store.add("a/", ENTRY, NORTH)
    partitions = Partitions(store, executor)
    async with asyncio.TaskGroup() as group:
        searches = [group.create_task(ids(partitions)) for _ in range(5)]
        await store.reached.wait()
        store.open.set()
    assert [search.result() for search in searches] == [["r-1"]] * 5
    assert store.asked == 2  # a full page, and that it was the last


async def test_who_is_cancelled_while_loading_leaves_the_rest_to_the_next(executor: Executor) -> None:
    store = Gated()
    store.add("a/", ENTRY, NORTH)
    partitions = Partitions(store, executor)
    async with asyncio.TaskGroup() as group:
        leaving = group.create_task(ids(partitions))
        await store.reached.wait()
        staying = group.create_task(ids(partitions))
        leaving.cancel()
        store.open.set()
    assert staying.result() == ["r-1"]


async def test_while_it_loads_others_may_come_and_go(executor: Executor) -> None:
    store = Gated()
    for number in range(3):
        store.add("a/", replace(ENTRY, id=f"r-{number}"), NORTH)
    partitions = Partitions(store, executor, max_bytes=2 * PARTITION_OVERHEAD + 1_700)
    async with asyncio.TaskGroup() as group:
        search = group.create_task(ids(partitions))
        await store.reached.wait()
        for number in range(3):
            partitions.add("b/", replace(ENTRY, id=f"r-other-{number}"), NORTH)
        store.open.set()
    assert search.result() == ["r-0", "r-1", "r-2"]
    alone = Partitions(store, executor)
    assert await ids(alone) == await ids(partitions) == ["r-0", "r-1", "r-2"]
    assert (partitions.partitions, partitions.entries, partitions.bytes) == (1, 3, alone.bytes)


async def test_what_happens_during_a_load_is_newer_than_what_is_loaded(executor: Executor) -> None:
    store = Gated()
    store.add("a/", ENTRY, NORTH)
    partitions = Partitions(store, executor)
    async with asyncio.TaskGroup() as group:
        search = group.create_task(ids(partitions))
        await store.reached.wait()
        partitions.evict("a/", ENTRY, NOW + 1)
        partitions.add("a/", replace(ENTRY, id="r-2"), NORTH)
        store.open.set()
    assert search.result() == ["r-2"]


async def test_what_has_expired_is_not_found_and_not_kept(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    partitions.add("a/", ENTRY, NORTH)
    partitions.add("a/", replace(ENTRY, id="r-2", expires_at=NOW + 2 * HOUR), NORTH)
    before = partitions.bytes
    assert await ids(partitions, now=NOW + HOUR - 1) == ["r-1", "r-2"]
    assert await ids(partitions, now=NOW + HOUR) == ["r-2"]
    assert partitions.entries == 1
    assert partitions.bytes < before


async def test_it_can_tell_that_there_is_nothing_to_find(database: Database, executor: Executor) -> None:
    store = SqliteReuse(database)
    store.add("a/", ENTRY, NORTH)
    await store.flush()
    partitions = Partitions(store, executor)
    assert await partitions.holds_any("a/", A, NOW)
    assert not await partitions.holds_any("a/", B, NOW)
    assert not await partitions.holds_any("b/", A, NOW)
    assert not await partitions.holds_any("a/", A, NOW + HOUR)


async def test_what_was_evicted_takes_no_place_from_what_is_alive(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    partitions.add("a/", ENTRY, NORTH)
    partitions.add("a/", replace(ENTRY, id="r-2"), towards(10))
    partitions.evict("a/", ENTRY, NOW + 1)
    assert await ids(partitions, k=1) == ["r-2"]
    assert partitions.entries == 1


async def test_asked_again_in_other_words_an_entry_is_where_these_are(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor, foreign_writes=ForeignWriter())
    partitions.add("a/", ENTRY, towards(90))
    partitions.add("a/", replace(ENTRY, created_at=NOW + 1), NORTH)
    partitions.add("a/", ENTRY, towards(90))
    for _ in range(2):
        assert await ids(partitions) == ["r-1"]
        await database.writer.flush()


async def test_asked_again_before_its_end_it_lasts_longer(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    partitions.add("a/", ENTRY, NORTH)
    partitions.add("a/", replace(ENTRY, created_at=NOW + 1, expires_at=NOW + HOUR + 1), NORTH)
    assert await ids(partitions, now=NOW + HOUR) == ["r-1"]
    assert await ids(partitions, now=NOW + HOUR + 1) == []


async def test_strikes_outlast_the_end_of_an_entry(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    partitions.add("a/", ENTRY, NORTH)
    partitions.raise_threshold("a/", ENTRY, 0.95, NOW + 1, evict=False)
    tomorrow = NOW + 2 * HOUR
    assert await nearest(partitions, now=tomorrow) == []
    partitions.add("a/", replace(ENTRY, created_at=tomorrow, expires_at=tomorrow + HOUR), NORTH)
    assert [found.entry.min_cosine for found in await nearest(partitions, now=tomorrow)] == [0.95]


@pytest.mark.parametrize("limit", ["bytes", "number"])
async def test_the_partition_that_was_not_used_for_longest_leaves_and_comes_back_from_the_store(
    limit: str, executor: Executor
) -> None:
    store = Gated()
    store.open.set()
    for number in range(3):
        store.add("a/", replace(ENTRY, id=f"r-{number}", partition=str(number)), NORTH)
    one = Partitions(store, executor)
    await ids(one, partition="0")
    bounds: dict[str, Any] = {"max_bytes": 2 * one.bytes} if limit == "bytes" else {"max_partitions": 2}
    partitions = Partitions(store, executor, **bounds)
    loads = []
    for number in (0, 1, 0, 2, 0, 1, 2, 2):
        asked = store.asked
        assert await ids(partitions, partition=str(number)) == [f"r-{number}"]
        loads.append(store.asked > asked)
    assert loads == [True, True, False, True, False, True, True, False]
    assert (partitions.partitions, partitions.entries, partitions.bytes) == (2, 2, 2 * one.bytes)


async def test_of_a_partition_too_large_for_all_memory_the_newest_entries_stay(executor: Executor) -> None:
    store = stores.reuse()
    for number in range(20):
        store.add("a/", replace(ENTRY, id=f"r-{number}", question="?" * 1_000), NORTH)
    partitions = Partitions(store, executor, max_bytes=8_000 + PARTITION_OVERHEAD)
    assert sorted(await ids(partitions)) == ["r-16", "r-17", "r-18", "r-19"]
    assert partitions.bytes <= 8_000 + PARTITION_OVERHEAD
    partitions.add("a/", replace(ENTRY, id="r-20", question="?" * 1_000), NORTH)
    assert sorted(await ids(partitions)) == ["r-17", "r-18", "r-19", "r-20"]


async def test_partitions_with_nothing_in_them_have_a_limit_too(executor: Executor) -> None:
    partitions = Partitions(stores.reuse(), executor, max_bytes=3 * PARTITION_OVERHEAD)
    for number in range(10):
        assert await ids(partitions, partition=str(number)) == []
    assert (partitions.partitions, partitions.entries, partitions.bytes) == (3, 0, 3 * PARTITION_OVERHEAD)


@pytest.mark.parametrize(("inline_rows", "submitted"), [(3, 0), (2, 1)])
async def test_a_search_among_many_is_done_in_a_thread(executor: Executor, inline_rows: int, submitted: int) -> None:
    partitions = Partitions(stores.reuse(), executor, inline_rows=inline_rows)
    for number in range(3):
        partitions.add("a/", replace(ENTRY, id=f"r-{number}"), towards(number))
    assert await ids(partitions) == ["r-0", "r-1", "r-2"]
    assert executor.submitted == submitted


Step = tuple[int, str, str, int, int, str]
steps = st.lists(
    st.tuples(
        st.integers(0, 1),  # who
        st.sampled_from(["a/", "b/"]),
        st.sampled_from([A, B]),
        st.integers(0, 3),  # which entry
        st.integers(0, 35),  # in which direction, in tens of degrees
        st.sampled_from(["add", "add", "strike", "evict", "search"]),
    ),
    max_size=25,
)


@given(steps=steps)
@settings(max_examples=examples(60), deadline=None)
def test_two_workers_find_what_is_alive_in_this_scope_and_partition_and_nothing_else(steps: Sequence[Step]) -> None:
    asyncio.run(play(steps))


async def play(steps: Sequence[Step]) -> None:
    store: ReuseStore = stores.reuse()
    alive: dict[tuple[str, str], dict[str, Vector]] = {}
    with Executor() as executor:
        room = 5 * PARTITION_OVERHEAD  # so that some partitions leave
        workers = [Partitions(store, executor, foreign_writes=ForeignWriter(), max_bytes=room) for _ in range(2)]
        for at, (who, scope, partition, number, direction, step) in enumerate(steps, int(NOW)):
            worker, there = workers[who], alive.setdefault((scope, partition), {})
            entry = replace(ENTRY, id=f"r-{partition[0]}{number}", partition=partition, created_at=float(at))
            if step == "add":
                worker.add(scope, entry, towards(10 * direction))
                there[entry.id] = towards(10 * direction)
            elif step == "strike":
                worker.raise_threshold(scope, entry, 0.9, at, evict=True)
                there.pop(entry.id, None)
            elif step == "evict":
                worker.evict(scope, entry, at)
                there.pop(entry.id, None)
            else:
                found = await nearest(worker, scope, partition, k=9, at_least=-1.0)
                cosines = {candidate.entry.id: candidate.cosine for candidate in found}
                assert cosines == pytest.approx(
                    {name: float(vector @ NORTH) for name, vector in there.items()}, abs=5e-4
                )


EN, ES = "[Answer retrieved from an earlier conversation]", "[Respuesta recuperada de conversación anterior]"
