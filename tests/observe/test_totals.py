"""Totals by model, as they are added up, bounded, and dated."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.observe.totals import KeyTotal, Total, added, bounded, key_totals, ledger_name, refined, totals
from proxy.storage.accounts import OTHER
from proxy.types import Bucket, Sums
from proxy.types.keys import KeySums, TenantName

DAY, HOUR = 86_400.0, 3_600.0


def bucket(at: float, name: str, requests: int = 1) -> Bucket:
    return Bucket(at, name, Sums(requests=requests, cost=requests / 4))


def test_the_buckets_of_a_model_are_added_up_from_its_first_on() -> None:
    found = totals([bucket(2 * DAY, "a", 2), bucket(DAY, "b"), bucket(DAY, "a", 3)])
    assert found == {"a": Total(DAY, Sums(requests=5, cost=1.25)), "b": Total(DAY, Sums(requests=1, cost=0.25))}


def test_later_buckets_are_added_to_earlier_totals_and_leave_these_as_they_are() -> None:
    before = totals([bucket(DAY, "a", 3)])
    after = totals([bucket(2 * DAY, "a", 2), bucket(2 * DAY, "b")], before)
    assert after == totals([bucket(DAY, "a", 3), bucket(2 * DAY, "a", 2), bucket(2 * DAY, "b")])
    assert before == totals([bucket(DAY, "a", 3)])


@pytest.mark.parametrize(
    ("since", "hours", "expected"),
    [
        (DAY, [DAY + 2 * HOUR, DAY + 5 * HOUR], DAY + 2 * HOUR),
        (DAY, [DAY], DAY),
        (DAY, [2 * DAY + HOUR], DAY),  # what is known by the hour is later than its first day
        (DAY, [], DAY),
    ],
)
def test_a_beginning_is_as_fine_as_what_is_known(since: float, hours: Sequence[float], expected: float) -> None:
    found = {"a": Total(since, Sums(requests=1))}
    assert refined(found, [bucket(at, "a") for at in hours], DAY)["a"].since == expected


def test_beyond_the_limit_those_that_came_first_are_told_and_one_of_all_others() -> None:
    found = totals([bucket(3, "new", 8), bucket(1, "old"), bucket(2, "second"), bucket(2, OTHER, 4)])
    assert bounded(found, 2) == {
        "old": found["old"],
        "second": found["second"],
        OTHER: Total(2, Sums(requests=12, cost=3.0)),
    }
    assert bounded(totals([bucket(1, "old")]), 2).keys() == {"old"}


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from(["a", "b", "c", OTHER])), max_size=30))
def test_nothing_is_lost_by_the_limit_and_no_total_falls_when_time_goes_on(seen: list[tuple[int, str]]) -> None:
    ordered = [bucket(at, name) for at, name in sorted(seen)]
    last: dict[str, int] = {}
    for number in range(len(ordered) + 1):
        told = {name: total.sums.requests for name, total in bounded(totals(ordered[:number]), 2).items()}
        assert sum(told.values()) == number
        assert all(told[name] >= count for name, count in last.items())
        last = told


def test_sums_are_added_field_by_field() -> None:
    assert added(Sums(requests=1, cost=0.5), Sums(requests=2, desk=3)) == Sums(requests=3, cost=0.5, desk=3)


def test_a_ledger_has_one_name_for_all_that_share_its_storage_and_tells_nothing_of_its_secret() -> None:
    one, other = bytes(range(32)), bytes(32)
    assert ledger_name(one) == ledger_name(one) != ledger_name(other)
    assert len(ledger_name(one)) == 8
    assert ledger_name(one) not in one.hex()


OWNERS = {"t1": TenantName("ana", "north"), "t2": TenantName("luis"), "t3": TenantName("new", "north")}


def test_every_key_is_told_used_or_not_and_nobody_else() -> None:
    sums = [("t1", KeySums(3, 30, 0.5, -0.25)), ("unanswered", KeySums(9, 9, 9.0, 9.0))]
    assert key_totals(OWNERS, {"new": 5.0}, sums) == [
        KeyTotal("ana", "north", 0.0, KeySums(3, 30, 0.5, -0.25)),
        KeyTotal("luis", "", 0.0, KeySums()),
        KeyTotal("new", "north", 5.0, KeySums()),
    ]


def test_beyond_their_limit_the_oldest_keys_are_told_and_one_of_all_others() -> None:
    sums = [("t1", KeySums(1, 10, 0.5, 0.0)), ("t2", KeySums(2, 20, 0.25, 0.5)), ("t3", KeySums(4, 40, 1.0, 0.0))]
    assert key_totals(OWNERS, {"ana": 9.0, "luis": 7.0, "new": 5.0}, sums, most=1) == [
        KeyTotal("new", "north", 5.0, KeySums(4, 40, 1.0, 0.0)),
        KeyTotal(OTHER, "", 0.0, KeySums(3, 30, 0.75, 0.5)),
    ]
