"""Versions of an entry become one, in whatever order they are heard of."""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.storage.reuse import evicted, merged, with_strike
from proxy.types import Judgement, ReuseEntry

ENTRY = ReuseEntry("r-1", "a" * 32, "how?", (), "key", created_at=10.0, expires_at=20.0)

reports = st.builds(
    lambda created, lasts, cosine, strikes, served, gone, judged: replace(
        ENTRY,
        question=f"asked at {created}",  # of one time there is one question
        created_at=float(created),
        expires_at=float(created + lasts),
        min_cosine=cosine,
        strikes=strikes,
        served=served,
        evicted_at=float(gone),
        # An evicted one has none, and none has any about what it was before.
        judged=tuple(
            Judgement(f"r-{number}", judged[number], "m", float(created), strikes)
            for number in sorted(judged)
            if created > gone
        ),
    ),
    created=st.integers(1, 3),
    lasts=st.just(5),
    cosine=st.sampled_from([0.0, 0.9, 0.95]),
    strikes=st.integers(0, 2),
    served=st.integers(0, 2),
    gone=st.integers(0, 3),
    judged=st.dictionaries(st.integers(1, 2), st.booleans()),
)


@given(st.lists(reports, min_size=1, max_size=4))
def test_in_whatever_order_and_however_often_reports_come_the_same_is_known(heard: list[ReuseEntry]) -> None:
    def known(reports: Iterable[ReuseEntry]) -> ReuseEntry:
        return reduce(merged, reports)

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
        (with_strike(ENTRY, 0.9, 11.0, evict=False), 12.0, True),
        (with_strike(ENTRY, 0.9, 11.0, evict=True), 12.0, False),
        (merged(with_strike(ENTRY, 0.9, 11.0, evict=True), replace(ENTRY, created_at=11.5)), 12.0, True),
    ],
)
def test_an_entry_is_alive_until_it_expires_or_is_evicted_after_it_was_created(
    entry: ReuseEntry, now: float, alive: bool
) -> None:
    assert entry.is_alive(now) == alive
