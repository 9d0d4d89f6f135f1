"""What shows that an upstream has no prefix cache, and what does not."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.types import Usage
from proxy.wire.cache_evidence import LEAST_REPEATED, MISSES, CacheEvidence

NONE, SILENT, SOME = Usage(9_000, 9, reports_none_cached=True), Usage(9_000, 9), Usage(9_000, 9, 64)
LONG, SHORT = LEAST_REPEATED, LEAST_REPEATED - 1


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ([], False),
        ([(NONE, LONG)] * (MISSES - 1), False),
        ([(NONE, LONG)] * MISSES, True),
        ([(SILENT, LONG)] * 50, False),  # whether it has one, it does not say
        ([(NONE, SHORT)] * 50, False),  # what no provider caches
        ([(NONE, 0)] * 50, False),  # the first request of a conversation, or one after an hour
        ([(NONE, LONG), (NONE, SHORT), (SILENT, LONG), (NONE, LONG), (NONE, LONG)], True),
        ([(NONE, LONG), (NONE, LONG), (SOME, 0), (NONE, LONG)], False),
        ([*[(NONE, LONG)] * 50, (SOME, LONG)], False),  # it has one after all
        ([*[(NONE, LONG)] * 50, (SOME, LONG), *[(NONE, LONG)] * MISSES], True),
    ],
)
def test_several_reports_of_nothing_where_much_was_repeated(told: Sequence[tuple[Usage, int]], *, shown: bool) -> None:
    evidence = CacheEvidence()
    for usage, repeated in told:
        evidence.observe("up", "m", usage, repeated=repeated)
    assert evidence.shows_none("up", "m") is shown
    assert not evidence.shows_none("up", "other")
    assert not evidence.shows_none("other", "m")


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([NONE, SOME, SILENT]), st.sampled_from([LONG, SHORT]))))
def test_it_is_bounded_and_what_leaves_is_assumed_again(told: Sequence[tuple[int, Usage, int]]) -> None:
    evidence = CacheEvidence(most=4)
    for number, usage, repeated in told:
        evidence.observe("up", f"m{number}", usage, repeated=repeated)
        assert len(evidence) <= 4
        assert not (usage is SOME and evidence.shows_none("up", f"m{number}"))


@given(st.lists(st.sampled_from([(NONE, SHORT), (SILENT, LONG), (SOME, LONG), (NONE, LONG)])))
def test_none_is_shown_by_the_last_reports_alone(told: Sequence[tuple[Usage, int]]) -> None:
    evidence = CacheEvidence()
    for usage, repeated in told:
        evidence.observe("up", "m", usage, repeated=repeated)
    after = max((at for at, (usage, _) in enumerate(told) if usage is SOME), default=-1) + 1
    assert evidence.shows_none("up", "m") is (list(told[after:]).count((NONE, LONG)) >= MISSES)
