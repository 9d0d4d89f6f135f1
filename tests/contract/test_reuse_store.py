"""What every ReuseStore does, whatever it keeps its entries in."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage.postgres.reuse import PostgresReuse
from proxy.storage.reuse import MOST_JUDGED, ReuseStore
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.tasks import Tasks
from proxy.types import Judgement, ReuseDecision, ReuseEntry
from tests import stores
from tests.examples import examples
from tests.postgres import opened

Backend = Callable[[Path], AbstractAsyncContextManager[ReuseStore]]

NOW = 1_700_000_000.5
HOUR = 3600.0
A, B = "a" * 32, "b" * 32
VECTOR = np.array([0.5, 0.5, -0.5, 0.5], np.float32)
OTHER = np.array([0.0, 1.0, 0.0, 0.0], np.float32)

# Every value differs from every other and from its default, so that a swapped or forgotten column shows.
ENTRY = ReuseEntry(
    id="r-0123456789abcdef",
    partition=A,
    question="¿Cómo activo el modo oscuro?\0",
    context=("hola", 'un "teléfono"\n'),
    answer_key="k" * 64,
    created_at=NOW,
    expires_at=NOW + 24 * HOUR,
    min_cosine=0.25,
    strikes=3,
    served=2,
    evicted_at=7.5,
    judged=(Judgement("r-9", True, 'a "small" model', NOW, 3), Judgement("r-10", False, "another", 5.5, 4)),
)
NEW = ReuseEntry("r-1", A, "how?", (), "key", NOW, NOW + 24 * HOUR)
YES = Judgement("r-2", True, "small", NOW, 0)
NO = Judgement("r-3", False, "small", NOW, 0)
DECISION = ReuseDecision("req_1", NOW, "numbers", NEW.id, 0.875, "and 3?", "and 2?", "numbers: 2 ≠ 3")


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[ReuseStore]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield SqliteReuse(database, log_rows=5)
    finally:
        await database.close()


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[ReuseStore]:
    async with opened(folder) as database:
        yield PostgresReuse(database, log_rows=5)


def memory(folder: Path) -> AbstractAsyncContextManager[ReuseStore]:
    return sqlite(folder, name=None)


BACKENDS = {"file": sqlite, "memory": memory, "postgres": postgres}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
async def store(backend: Backend, tmp_path: Path) -> AsyncIterator[ReuseStore]:
    async with backend(tmp_path) as found:
        yield found


async def entries(
    store: ReuseStore, scope: str = "a/", partition: str = A, *, after: int = 0, now: float = NOW
) -> list[ReuseEntry]:
    await store.flush()
    return [entry for entry, _ in (await store.changes(scope, partition, after, now)).entries]


class TestReuseStore:
    async def test_an_entry_comes_back_as_it_was(self, store: ReuseStore) -> None:
        store.add("a/", ENTRY, VECTOR)
        await store.flush()
        ((entry, vector),) = (await store.changes("a/", A, 0, NOW)).entries
        assert entry == ENTRY
        assert vector.dtype == np.float32
        assert vector.tolist() == VECTOR.tolist()
        assert await store.get("a/", ENTRY.id) == ENTRY
        assert await store.find(ENTRY.id) == ("a/", ENTRY)

    async def test_an_empty_store_has_nothing(self, store: ReuseStore) -> None:
        changes = await store.changes("a/", A, 0, NOW)
        assert (changes.entries, changes.upto, changes.more) == ((), 0, False)
        assert await store.get("a/", ENTRY.id) is None
        assert await store.find(ENTRY.id) is None
        assert await store.recent("a/") == []

    async def test_what_is_not_known_can_neither_be_struck_nor_evicted_nor_served(self, store: ReuseStore) -> None:
        store.raise_threshold("a/", NEW.id, 0.9, NOW, evict=True)
        store.evict("a/", NEW.id, NOW)
        store.served("a/", NEW.id)
        assert await store.get("a/", NEW.id) is None

    async def test_of_an_entry_that_is_added_again_the_newest_counts(self, store: ReuseStore) -> None:
        newer = replace(
            NEW, question="how then?", context=("hi",), answer_key="2", created_at=NOW + 1, expires_at=NOW + 2
        )
        store.add("a/", NEW, VECTOR)
        store.add("a/", newer, OTHER)
        store.add("a/", NEW, VECTOR)
        store.add("a/", replace(newer, question="a second answer at the same time"), VECTOR)
        await store.flush()
        ((entry, vector),) = (await store.changes("a/", A, 0, NOW)).entries
        assert entry == newer
        assert vector.tolist() == OTHER.tolist()

    async def test_a_strike_raises_the_threshold_and_never_lowers_it(self, store: ReuseStore) -> None:
        store.add("a/", NEW, VECTOR)
        store.raise_threshold("a/", NEW.id, 0.9, NOW + 1, evict=False)
        store.raise_threshold("a/", NEW.id, 0.8, NOW + 2, evict=False)
        assert await store.get("a/", NEW.id) == replace(NEW, min_cosine=0.9, strikes=2)

    async def test_rulings_on_an_entry_come_back_in_their_order(self, store: ReuseStore) -> None:
        store.add("a/", NEW, VECTOR)
        (before,) = await entries(store)
        upto = (await store.changes("a/", A, 0, NOW)).upto
        store.judge("a/", NEW.id, YES)
        store.judge("a/", NEW.id, NO)
        assert await entries(store, after=upto) == [replace(before, judged=(YES, NO))]

    async def test_of_rulings_on_one_question_the_first_stays_and_there_are_so_many(self, store: ReuseStore) -> None:
        store.add("a/", NEW, VECTOR)
        for number in range(MOST_JUDGED + 3):
            store.judge("a/", NEW.id, replace(YES, asked_id=f"r-{number}"))
            store.judge("a/", NEW.id, replace(NO, asked_id=f"r-{number}"))
        found = await store.get("a/", NEW.id)
        assert found is not None
        assert [(each.asked_id, each.same) for each in found.judged] == [(f"r-{n}", True) for n in range(MOST_JUDGED)]

    @pytest.mark.parametrize(
        "ruling", [replace(YES, created_at=NOW - 1), replace(YES, strikes=1)], ids=["an older answer", "another strike"]
    )
    async def test_a_ruling_on_what_an_entry_was_is_none(self, store: ReuseStore, ruling: Judgement) -> None:
        store.add("a/", NEW, VECTOR)
        store.judge("a/", NEW.id, ruling)
        assert await store.get("a/", NEW.id) == NEW

    async def test_nobody_rules_on_another_scopes_entry(self, store: ReuseStore) -> None:
        store.add("a/", NEW, VECTOR)
        store.add("b/", NEW, VECTOR)
        store.judge("b/", NEW.id, YES)
        store.judge("c/", NEW.id, YES)
        assert await store.get("a/", NEW.id) == NEW
        assert await store.get("b/", NEW.id) == replace(NEW, judged=(YES,))

    async def test_a_strike_an_eviction_and_a_newer_answer_end_the_rulings(self, store: ReuseStore) -> None:
        ends: Sequence[Callable[[ReuseEntry], None]] = (
            lambda entry: store.raise_threshold("a/", entry.id, 0.5, NOW, evict=False),
            lambda entry: store.raise_threshold("a/", entry.id, 0.5, NOW, evict=True),
            lambda entry: store.evict("a/", entry.id, NOW),
            lambda entry: store.add("a/", replace(entry, created_at=NOW + 1), VECTOR),
        )
        for number, end in enumerate(ends):
            entry = replace(NEW, id=f"r-1{number}")
            store.add("a/", entry, VECTOR)
            store.judge("a/", entry.id, YES)
            end(entry)
            store.judge("a/", entry.id, NO)  # of what it was
            found = await store.get("a/", entry.id)
            assert found is not None
            assert found.judged == ()

    async def test_an_eviction_of_what_was_before_leaves_the_rulings(self, store: ReuseStore) -> None:
        store.add("a/", NEW, VECTOR)
        store.judge("a/", NEW.id, YES)
        store.evict("a/", NEW.id, NOW - 1)
        assert await store.get("a/", NEW.id) == replace(NEW, judged=(YES,), evicted_at=NOW - 1)

    async def test_what_is_evicted_keeps_its_strikes_and_has_them_when_it_comes_again(self, store: ReuseStore) -> None:
        store.add("a/", NEW, VECTOR)
        store.raise_threshold("a/", NEW.id, 0.9, NOW + 1, evict=True)
        gone = await store.get("a/", NEW.id)
        assert gone == replace(NEW, min_cosine=0.9, strikes=1, evicted_at=NOW + 1)
        assert not gone.is_alive(NOW + 1)
        again = replace(NEW, created_at=NOW + 2)
        store.add("a/", again, VECTOR)
        revived = await store.get("a/", NEW.id)
        assert revived == replace(again, min_cosine=0.9, strikes=1, evicted_at=NOW + 1)
        assert revived.is_alive(NOW + 2)

    async def test_an_eviction_is_no_strike_and_what_was_created_before_it_stays_away(self, store: ReuseStore) -> None:
        store.add("a/", NEW, VECTOR)
        store.evict("a/", NEW.id, NOW + 5)
        store.add("a/", replace(NEW, created_at=NOW + 4), VECTOR)
        found = await store.get("a/", NEW.id)
        assert found == replace(NEW, created_at=NOW + 4, evicted_at=NOW + 5)
        assert not found.is_alive(NOW + 6)

    async def test_it_counts_how_often_an_entry_was_served(self, store: ReuseStore) -> None:
        store.add("a/", NEW, VECTOR)
        for _ in range(3):
            store.served("a/", NEW.id)
        store.add("a/", replace(NEW, created_at=NOW + 1), VECTOR)
        found = await store.get("a/", NEW.id)
        assert found is not None
        assert found.served == 3

    async def test_a_reader_gets_what_has_changed_since_it_asked_last(self, store: ReuseStore) -> None:
        first, second, third = (replace(NEW, id=f"r-{number}") for number in range(3))
        for entry in (first, second):
            store.add("a/", entry, VECTOR)
        await store.flush()
        seen = await store.changes("a/", A, 0, NOW)
        assert [entry for entry, _ in seen.entries] == [first, second]
        assert (await store.changes("a/", A, seen.upto, NOW)).entries == ()

        store.add("a/", third, VECTOR)
        store.raise_threshold("a/", first.id, 0.9, NOW + 1, evict=True)
        store.served("a/", second.id)  # no news to whoever searches
        await store.flush()
        news = await store.changes("a/", A, seen.upto, NOW)
        assert [entry for entry, _ in news.entries] == [
            third,
            replace(first, min_cosine=0.9, strikes=1, evicted_at=NOW + 1),
        ]
        last = await store.changes("a/", A, news.upto, NOW)
        assert (last.entries, last.upto, last.more) == ((), news.upto, False)

    async def test_pages_follow_one_another(self, store: ReuseStore) -> None:
        for number in range(7):
            store.add("a/", replace(NEW, id=f"r-{number}"), VECTOR)
            store.add("a/", replace(NEW, id=f"r-other-{number}", partition=B), VECTOR)
        await store.flush()
        pages, upto, more = [], 0, True
        while more:
            changes = await store.changes("a/", A, upto, NOW, limit=3)
            pages.append([entry.id for entry, _ in changes.entries])
            upto, more = changes.upto, changes.more
        assert pages == [["r-0", "r-1", "r-2"], ["r-3", "r-4", "r-5"], ["r-6"]]

    async def test_what_has_expired_is_not_told_unless_it_has_strikes(self, store: ReuseStore) -> None:
        struck = replace(NEW, id="r-2")
        store.add("a/", NEW, VECTOR)
        store.add("a/", struck, VECTOR)
        store.raise_threshold("a/", struck.id, 0.9, NOW, evict=False)
        assert [entry.id for entry in await entries(store, now=NEW.expires_at - 1)] == [NEW.id, struck.id]
        assert [entry.id for entry in await entries(store, now=NEW.expires_at)] == [struck.id]

    async def test_another_partition_is_another_world(self, store: ReuseStore) -> None:
        store.add("a/", NEW, VECTOR)
        store.add("a/", replace(NEW, id="r-2", partition=B), VECTOR)
        assert [entry.id for entry in await entries(store)] == [NEW.id]
        assert [entry.id for entry in await entries(store, partition=B)] == ["r-2"]

    async def test_the_same_id_in_another_scope_is_another_entry(self, store: ReuseStore) -> None:
        theirs = replace(NEW, question="theirs")
        store.add("a/", NEW, VECTOR)
        store.add("b/", theirs, VECTOR)
        store.raise_threshold("c/", NEW.id, 0.9, NOW + 1, evict=True)
        store.raise_threshold("b/", NEW.id, 0.9, NOW + 1, evict=False)
        store.served("b/", NEW.id)
        assert await store.get("a/", NEW.id) == NEW
        assert await store.get("b/", NEW.id) == replace(theirs, min_cosine=0.9, strikes=1, served=1)
        assert await store.get("c/", NEW.id) is None

    async def test_the_log_comes_back_newest_first_and_limited(self, store: ReuseStore) -> None:
        lines = [replace(DECISION, request_id=f"req_{number}", at=NOW - number) for number in range(4)]
        for line in lines:
            store.log("a/", line)
        await store.flush()
        assert await store.recent("a/") == lines[::-1]
        assert await store.recent("a/", limit=2) == [lines[3], lines[2]]
        assert await store.recent("a/", limit=0) == []
        assert await store.recent("a/", limit=-1) == []

    async def test_of_each_scope_the_log_keeps_the_newest(self, store: ReuseStore) -> None:
        store.log("b/", DECISION)
        for batch in range(3):
            for number in range(4):
                store.log("a/", replace(DECISION, request_id=f"{batch}.{number}"))
            await store.flush()
        assert [line.request_id for line in await store.recent("a/")] == ["2.3", "2.2", "2.1", "2.0", "1.3"]
        assert await store.recent("b/") == [DECISION]


scopes = st.sampled_from(["", "a", "a/", "a/b", "A", "á"])
partitions = st.sampled_from([A, B])
steps = st.lists(
    st.tuples(scopes, partitions, st.integers(0, 3), st.sampled_from(["add", "strike", "log"])), max_size=15
)


@pytest.mark.parametrize("name", BACKENDS)
@given(steps=steps)
@settings(max_examples=examples(15), deadline=None)
def test_nothing_crosses_a_scope(name: str, steps: list[tuple[str, str, int, str]]) -> None:
    """Each scope has what it would have if it were alone."""

    def apply(store: ReuseStore, scope: str, partition: str, number: int, step: str) -> None:
        entry = replace(NEW, id=f"r-{partition[0]}{number}", partition=partition, question=scope)
        if step == "add":
            store.add(scope, entry, VECTOR)
        elif step == "strike":
            store.raise_threshold(scope, entry.id, 0.9, NOW + 1, evict=True)
        else:
            store.log(scope, replace(DECISION, question=scope, request_id=str(number)))

    async def state(store: ReuseStore, scope: str) -> tuple[object, ...]:
        return await entries(store, scope), await entries(store, scope, B), await store.recent(scope)

    async def play(folder: Path) -> None:
        async with BACKENDS[name](folder) as shared:
            for step in steps:
                apply(shared, *step)
            for scope in {scope for scope, *_ in steps} | {"nobody"}:
                async with memory(folder) as alone:
                    for step in steps:
                        if step[0] == scope:
                            apply(alone, *step)
                    assert await state(shared, scope) == await state(alone, scope)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


async def test_switched_off_it_knows_nothing() -> None:
    off = SqliteReuse(stores.nothing())
    off.add("a/", NEW, VECTOR)
    off.log("a/", DECISION)
    await off.flush()
    assert (await off.changes("a/", A, 4, NOW)).upto == 4
    assert await off.get("a/", NEW.id) is None
    assert await off.find(NEW.id) is None
    assert await off.recent("a/") == []
    await off.flush()
