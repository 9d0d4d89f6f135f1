"""Who may queue how much."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.observe import catalogue
from proxy.storage.writes import DELETIONS, KINDS, LEDGER, LINKS, TURNS, Kind, Shares, tenant_of


def test_the_metrics_know_every_kind() -> None:
    assert tuple(kind.name for kind in KINDS) == tuple(catalogue.ROWS)


def filled(shares: Shares, kind: Kind, scope: str) -> int:
    rows = 0
    while shares.take(kind, scope, 1):
        rows += 1
    return rows


def test_one_alone_has_half_of_a_lane_and_there_is_always_room_for_the_next() -> None:
    shares = Shares(bulk=1_000, small=100)
    assert [filled(shares, LINKS, f"{tenant}/") for tenant in "abcd"] == [500, 250, 125, 62]


def test_many_end_users_of_one_key_have_one_share() -> None:
    shares = Shares(bulk=1_000, small=100)
    assert filled(shares, LINKS, "a/one") == 500
    assert filled(shares, TURNS, "a/two~c-1") == 0


def test_what_is_many_takes_nothing_of_what_is_little() -> None:
    shares = Shares(bulk=1_000, small=100)
    filled(shares, LINKS, "a/")
    assert filled(shares, LEDGER, "a/") == 50


def test_deletions_have_no_limit() -> None:
    shares = Shares(bulk=10, small=10)
    assert all(shares.take(DELETIONS, "a/", 1_000) for _ in range(100))


@pytest.mark.parametrize("scope", ["a", "a/", "a/user", "a/user~c-1", "a/~x"])
def test_the_tenant_of_a_scope(scope: str) -> None:
    assert tenant_of(scope) == "a"


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from("abc"), st.integers(1, 50)), max_size=80))
def test_what_is_given_back_is_as_if_it_had_never_been(puts: list[tuple[Kind, str, int]]) -> None:
    shares = Shares(bulk=200, small=50)
    taken = [put for put in puts if shares.take(put[0], f"{put[1]}/", put[2])]
    for lane, limit in (("bulk", 200), ("small", 50)):
        assert sum(rows for kind, _, rows in taken if kind.lane == lane) < limit
    for kind, scope, rows in taken:
        shares.give_back(kind, f"{scope}/", rows)
    assert [filled(shares, kind, "d/") for kind in (LINKS, LEDGER)] == [100, 25]
