"""The bill of a play: what was billed and nothing else, and the tables of two of them."""

import pytest

from proxy.demo.bill import Bill, growth, table
from proxy.types import Usage


def test_a_bill_adds_up_what_was_billed_and_nothing_else() -> None:
    bill = Bill()
    bill.add(Usage(1_000_000, 500_000, cached_tokens=400_000), reused=False)
    bill.add(Usage(1_000_000, 500_000), reused=True)
    bill.add(None, reused=False)
    assert (bill.requests, bill.reused) == (3, 1)
    assert (bill.prompt, bill.cached, bill.completion) == (1_000_000, 400_000, 500_000)
    assert bill.cost == pytest.approx(0.6 * 0.95 + 0.4 * 0.16 + 0.5 * 4.0)


@pytest.mark.parametrize(
    ("answer", "remembered"),
    [("It is 200.", 1), ("I don't know.", 0), ("It was 100.", 0), ("It was 100 and is 200.", 0)],
)
def test_what_holds_is_remembered_and_what_held_before_is_not(answer: str, remembered: int) -> None:
    bill = Bill()
    bill.check(answer, "200", "100")
    bill.check(answer, "", "")
    assert (bill.asked, bill.remembered) == (1, remembered)


def test_a_mark_stays_as_it_was() -> None:
    bill = Bill(prompt=1_000)
    bill.mark(20)
    bill.prompt += 1_000
    bill.mark(60)
    assert [(turns, mark.prompt) for turns, mark in bill.marks.items()] == [(20, 1_000), (60, 2_000)]


def test_the_tables_tell_both_plays_and_their_difference() -> None:
    direct, proxied = Bill(prompt=2_000), Bill(prompt=1_000, recalled=300)
    direct.mark(20)
    proxied.mark(20)
    assert growth(direct.marks, proxied.marks).splitlines()[-1].split() == [
        "20", "2,000", "1,000", "300", "0.0019", "0.0009", "-50%",
    ]  # fmt: skip
    assert "50.0%" in table(direct, proxied)


def test_questions_that_came_too_early_are_told() -> None:
    assert "busy" not in table(Bill(), Bill())
    assert "3 questions were asked before the index was ready" in table(Bill(), Bill(early=3))
