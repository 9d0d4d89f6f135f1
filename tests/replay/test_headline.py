"""The first sentences of a replay, which are true in every case."""

from typing import Any

import pytest

from proxy.replay.headline import money, sentences, skipped_line
from proxy.replay.reading import Skipped
from proxy.replay.report import Costs, Report
from tests.replay.test_report import replayed_one


def report(*requests: Any) -> Report:
    return Report(tuple(requests), {}, "")


def one(ours: float, full: float = 115_000, **more: Any) -> Any:
    return replayed_one(**{"costs": Costs(full, full, ours), "price": 1.0, **more})


@pytest.mark.parametrize(
    ("requests", "first"),
    [
        ([one(60_000)], "You would have paid $0.060 instead of $0.115: 48 % less."),
        ([one(120_000)], "You would have paid $0.120 instead of $0.115: 4 % more."),
        ([one(115_000)], "You would have paid the same: $0.115."),
        ([one(114_700)], "You would have paid the same: $0.115."),
        ([one(114_400)], "You would have paid $0.114 instead of $0.115: 1 % less."),
        (
            [one(9_990_000, 10_000_000)],
            "You would have paid $9.99 instead of $10.00: the same, within half a per cent.",
        ),
        ([one(0, 0)], "You would have paid the same: $0.00."),
        ([one(60_000), one(1, model="free", price=0.0)], "You would have paid $0.060 instead of $0.115: 48 % less."),
    ],
)
def test_it_begins_with_what_would_have_been_paid(requests: list[Any], first: str) -> None:
    assert sentences(report(*requests))[0] == first


def test_without_a_price_it_says_so_and_tells_the_share() -> None:
    found = sentences(report(one(60_000, model="mine", price=0.0)))
    assert found[0].startswith("Your prompts would have cost 48 % less. In dollars that is not known")
    assert "mine (1 request)" in found[0]
    assert "$" not in " ".join(found)


def test_models_without_a_price_beside_others_are_named_and_not_counted() -> None:
    found = " ".join(sentences(report(one(60_000), one(1, model="free", price=0.0), one(2, model="free", price=0.0))))
    assert "Not counted, for nobody knows their prices: free (2 requests)." in found


def test_where_most_has_no_price_the_share_of_all_comes_first() -> None:
    free = [one(60_000, model="free", price=0.0), one(60_000, model="free", price=0.0)]
    first, *rest = sentences(report(one(115_000), *free))
    assert first.startswith("Your prompts would have cost 32 % less. Of ")
    assert first.endswith(" (1 request) alone: You would have paid the same: $0.115.")
    assert "nobody knows their prices: free (2 requests)" in " ".join(rest)


def test_what_it_counts_is_said() -> None:
    (_, second, *_) = sentences(report(one(60_000)))
    assert "prompts of 1 request in 1 conversation: 40 tokens instead of 100 (60 % less)" in second
    assert "What was generated costs the same." in second


def test_a_conversation_that_was_dearer_for_a_while_is_told() -> None:
    requests = [one(130, 100, line=1), one(100, 1_000, line=2)]
    told = " ".join(sentences(report(*requests)))
    assert "30 % more at its dearest moment: as much as 130 input tokens instead of 100." in told
    assert "dearest" not in " ".join(sentences(report(one(60_000))))


def test_short_conversations_are_told_to_be_why_nothing_was_saved() -> None:
    assert "short enough" in " ".join(sentences(report(one(115_000, kind="untouched"))))
    assert "short enough" not in " ".join(sentences(report(one(115_000, kind="untouched"), one(1))))


def test_requests_that_failed_open_are_told() -> None:
    assert "1 request would have been passed on" in " ".join(sentences(report(one(1, kind="fail-open"))))


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        ((1234.5, 2000.0), ["$1,234", "$2,000"]),
        ((1.5, 12.0), ["$1.50", "$12.00"]),
        ((0.06, 0.115), ["$0.060", "$0.115"]),
        ((0.012, 0.05), ["$0.0120", "$0.0500"]),
        ((0.000012, 0.00005), ["$0.000012", "$0.000050"]),
        ((0.009379, 0.009379), ["$0.00938", "$0.00938"]),
    ],
)
def test_dollars_have_as_many_digits_as_are_worth_comparing(costs: tuple[float, ...], told: list[str]) -> None:
    assert money(costs) == told


def test_what_was_skipped_is_one_line_with_its_reasons_commonest_first() -> None:
    skipped = [Skipped(3, "no JSON object"), Skipped(4, "other"), Skipped(9, "no JSON object")]
    assert skipped_line(skipped, 7) == (
        "3 of 10 entries skipped: no JSON object (2, first in line 3); other (in line 4)"
    )
    assert skipped_line([], 7) == ""


def test_many_reasons_are_not_all_told_and_no_terminal_obeys_them() -> None:
    found = skipped_line([Skipped(n, f"why\x1b[31m {n}") for n in range(1, 9)], 1)
    assert found.endswith("3 other reasons")
    assert "\x1b" not in found
