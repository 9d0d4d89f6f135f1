import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.observe import labels
from proxy.storage.base import KnownPrefix
from proxy.storage.pending import (
    DELETIONS,
    KINDS,
    LEDGER,
    LINKS,
    TURNS,
    Kind,
    Link,
    Pending,
    Recent,
    Shares,
    tenant_of,
)

A, B, C = b"a" * 16, b"b" * 16, b"c" * 16


@pytest.mark.parametrize(
    ("earlier", "later", "merged"),
    [
        ((), (), ()),
        ((), (("s", 1),), (("s", 1),)),
        ((("s", 1),), (), (("s", 1),)),
        ((("s", 1),), (("t", 2),), (("t", 2), ("s", 1))),
        ((("s", 2),), (("t", 1),), (("s", 2), ("t", 1))),
        ((("s", 1),), (("s", 2),), (("s", 2),)),
        ((("s", 2),), (("s", 1),), (("s", 2),)),  # late news make nothing older
        ((("s", 1),), (("t", 1),), (("s", 1), ("t", 1))),  # at the same time, who was here stays first
        ((("s", 3), ("t", 1)), (("u", 2),), (("s", 3), ("u", 2))),
        ((("s", 3), ("t", 2)), (("u", 1),), (("s", 3), ("t", 2))),
        ((("s", 3), ("t", 2)), (("t", 4),), (("t", 4), ("s", 3))),
        ((("s", 3), ("t", 2)), (("u", 5), ("v", 4)), (("u", 5), ("v", 4))),
    ],
)
def test_merging_keeps_the_two_newest_sessions(
    earlier: tuple[tuple[str, float], ...],
    later: tuple[tuple[str, float], ...],
    merged: tuple[tuple[str, float], ...],
) -> None:
    assert Link(earlier).merged(Link(later)).sessions == merged


@pytest.mark.parametrize(("one", "other"), [(True, False), (False, True), (True, True)])
def test_a_merged_link_went_on_if_either_did(one: bool, other: bool) -> None:
    assert Link((("s", 1),), one).merged(Link((("t", 2),), other)).went_on
    assert Link((("s", 1),), one).merged(Link((), other)).went_on


def test_pending_is_forgotten_with_the_last_write_that_touches_it() -> None:
    pending = Pending()
    pending.add(("a/", A), Link((("s", 1),)))
    pending.add(("a/", A), Link((), went_on=True))
    pending.settle([("a/", A)])
    assert pending.get(("a/", A)) == Link((("s", 1),), went_on=True)
    pending.settle([("a/", A)])
    assert pending.get(("a/", A)) is None


def test_a_conversation_is_recognised_at_its_tip_and_at_its_end() -> None:
    recent = Recent(10)
    recent.put(("a/", A), (7, Link((("s", 1),))))
    recent.follow([(("a/", A), Link(went_on=True)), (("a/", B), Link((("s", 2),)))], 7, new=True)
    assert recent.find("a/", [A, B, C], 7) == KnownPrefix(2, ("s",), is_tip=True)
    assert recent.find("a/", [A], 7) == KnownPrefix(1, ("s",), is_tip=False)


def test_what_may_go_on_elsewhere_is_left_to_the_database() -> None:
    recent = Recent(10)
    recent.put(("a/", A), (7, Link((("s", 1),), went_on=True)))
    assert recent.find("a/", [A, C], 7) is None


def test_links_that_the_database_may_know_more_about_are_not_kept() -> None:
    recent = Recent(10)
    recent.follow([(("a/", A), Link(went_on=True)), (("a/", B), Link((("s", 2),)))], 7, new=False)
    assert recent.find("a/", [A, B], 7) is None


def test_what_was_read_before_another_process_wrote_is_as_if_it_were_not_here() -> None:
    recent, tip = Recent(10), Link((("s", 1),))
    recent.put(("a/", A), (7, tip))
    changes = [(("a/", A), Link(went_on=True)), (("a/", B), tip)]
    assert (recent.find("a/", [A], 8), recent.holds([(("a/", A), tip)], 7), recent.holds([(("a/", A), tip)], 8)) == (
        None,
        True,
        False,
    )
    recent.follow(changes, 8, new=False)
    assert (recent.find("a/", [A, B], 8), recent.find("a/", [A], 7)) == (None, KnownPrefix(1, ("s",), is_tip=True))
    recent.follow(changes, 8, new=True)
    assert recent.find("a/", [A, B], 8) == KnownPrefix(2, ("s",), is_tip=True)


def test_the_links_used_last_are_kept() -> None:
    recent = Recent(2)
    recent.put(("a/", A), (7, Link((("s", 1),))))
    recent.put(("a/", B), (7, Link((("t", 1),))))
    assert recent.find("a/", [A], 7)
    recent.put(("a/", C), (7, Link((("u", 1),))))
    assert [bool(recent.find("a/", [link], 7)) for link in (A, B, C)] == [True, False, True]


def test_the_metrics_know_every_kind() -> None:
    assert tuple(kind.name for kind in KINDS) == tuple(labels.ROWS)


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
