"""Rows and sums, as they are told."""

from dataclasses import asdict, fields, replace

import msgspec
import pytest

from proxy.admin.rows import added_up, row_json, sums_json, total
from proxy.types import BreakEven, LedgerRow, Sums, Trail
from tests.builders import ledger_row

DECIDED = BreakEven(
    leave=3, reason="economic", cached=0.25, write=1.0, turns=9, standing=4_000, folded=1_000, advance=10.0,
    carried=20.0, regret=0.01, baseline=100.0, spent=80.0,
)  # fmt: skip
TRAIL = Trail(limit=4_000, turns=9, kept=6, start=7, newest=19, shift="phrase", break_even=DECIDED, profile="lean")


def test_every_field_of_a_row_is_told_and_its_number() -> None:
    row = ledger_row(mechanisms={"window": 5}, trail=TRAIL)
    line = msgspec.json.decode(msgspec.json.encode(row_json(7, row, whole=True)))
    assert set(line) == {each.name for each in fields(LedgerRow)} | {"number"}
    assert (line["number"], line["mechanisms"]) == (7, {"window": 5})
    assert line["trail"] == {**asdict(TRAIL), "recalled": [], "capped": [], "markers": []}


@pytest.mark.parametrize(
    ("trail", "small"),
    [
        (None, None),
        (TRAIL, {"turns": 9, "kept": 6, "shift": "phrase", "break_even": {"leave": 3, "reason": "economic"}}),
        (replace(TRAIL, break_even=None), {"turns": 9, "kept": 6, "shift": "phrase", "break_even": None}),
    ],
)
def test_in_a_list_the_trail_is_told_in_a_few_words(trail: Trail | None, small: object) -> None:
    assert row_json(7, ledger_row(trail=trail))["trail"] == small


def test_what_follows_from_sums_is_told_with_them() -> None:
    sums = Sums(
        requests=10, reused_exact=2, reused_intent=1, tokens_original=1_000, tokens_sent=400, tokens_reused=50,
        cost=1.0, saved_exact=0.5, saved_intent=0.25, saved_context=2.0, added_context=0.5,
    )  # fmt: skip
    line = sums_json(sums)
    assert {name: line[name] for name in line if name not in asdict(sums)} == {
        "tokens_saved": 650,
        "dollars_saved": 2.25,
        "hit_rate_exact": 0.2,
        "hit_rate_intent": 0.1,
        "passthrough_cost": 3.25,
    }
    assert {name: line[name] for name in asdict(sums)} == asdict(sums)


def test_of_nothing_every_rate_is_none() -> None:
    assert set(sums_json(Sums()).values()) == {0}


def test_memory_that_came_to_more_than_it_left_out_is_a_loss_and_told_as_one() -> None:
    assert sums_json(Sums(cost=1.0, added_context=0.25))["dollars_saved"] == -0.25


def test_sums_are_added_up_by_key() -> None:
    one, two = Sums(requests=1, cost=0.5), Sums(requests=2, tokens_sent=7)
    assert added_up([("a", one), ("b", one), ("a", two)]) == {"a": one + two, "b": one}
    assert (total([one, two, two]), total([])) == (one + two + two, Sums())
