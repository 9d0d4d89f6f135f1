"""What two reports of one entry become, how a vector is kept, and the bounds of what is kept in memory."""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.storage.reuse import MemoryReuse, evicted, joined, packed, struck, unpacked
from proxy.types import ReuseEntry

ENTRY = ReuseEntry("r-1", "a" * 32, "how?", (), "key", created_at=10.0, expires_at=20.0)
VECTOR = np.array([1.0, 0.0], np.float32)

reports = st.builds(
    lambda created, lasts, cosine, strikes, served, gone: replace(
        ENTRY,
        question=f"asked at {created}",  # of one time there is one question
        created_at=float(created),
        expires_at=float(created + lasts),
        min_cosine=cosine,
        strikes=strikes,
        served=served,
        evicted_at=float(gone),
    ),
    created=st.integers(1, 3),
    lasts=st.just(5),
    cosine=st.sampled_from([0.0, 0.9, 0.95]),
    strikes=st.integers(0, 2),
    served=st.integers(0, 2),
    gone=st.integers(0, 3),
)


@given(st.lists(reports, min_size=1, max_size=4))
def test_in_whatever_order_and_however_often_reports_come_the_same_is_known(heard: list[ReuseEntry]) -> None:
    def known(reports: Iterable[ReuseEntry]) -> ReuseEntry:
        return reduce(joined, reports)

    first = known(heard)
    assert all(known(order) == first for order in permutations(heard))
    assert known([*heard, *heard]) == first


@pytest.mark.parametrize(
    ("entry", "now", "alive"),
    [
        (ENTRY, 10.0, True),
        (ENTRY, 19.9, True),
        (ENTRY, 20.0, False),
        (evicted(ENTRY, 9.9), 11.0, True),
        (evicted(ENTRY, 10.0), 11.0, False),
        (struck(ENTRY, 0.9, 11.0, evict=False), 12.0, True),
        (struck(ENTRY, 0.9, 11.0, evict=True), 12.0, False),
        (joined(struck(ENTRY, 0.9, 11.0, evict=True), replace(ENTRY, created_at=11.5)), 12.0, True),
    ],
)
def test_an_entry_is_alive_until_it_expires_or_is_evicted_after_it_was_created(
    entry: ReuseEntry, now: float, alive: bool
) -> None:
    assert entry.is_alive(now) == alive


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=400), st.integers(0, 2**32 - 1))
def test_a_vector_that_was_kept_has_almost_the_same_cosines(values: list[float], seed: int) -> None:
    vector = np.array([1.0, *values], np.float32)
    vector /= np.linalg.norm(vector)
    other = np.random.default_rng(seed).standard_normal(vector.size).astype(np.float32)
    other /= np.linalg.norm(other)
    kept = unpacked(packed(vector))
    assert len(packed(vector)) == 2 * vector.size
    assert float(kept @ other) == pytest.approx(float(vector @ other), abs=0.0005)


async def test_memory_keeps_the_entries_that_changed_last() -> None:
    store = MemoryReuse(max_entries=3)
    for number in range(3):
        store.add("a/", replace(ENTRY, id=f"r-{number}"), VECTOR)
    store.raise_threshold("a/", "r-0", 0.9, 11.0, evict=False)
    store.add("b/", replace(ENTRY, id="r-3"), VECTOR)
    assert [entry.id for entry, _ in (await store.entries("a/", ENTRY.partition, 0, 12.0)).entries] == ["r-2", "r-0"]
    assert await store.get("a/", "r-1") is None
