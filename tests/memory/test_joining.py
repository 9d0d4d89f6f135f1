"""Which clauses make one statement. Whole messages: test_extract.py."""

import pytest

from proxy.memory.joining import LONGEST, runs, runs_of_order
from proxy.memory.passages import read, read_ordered


def joined(said: str) -> list[str]:
    return [run.text for run in runs(read(said), said)]


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (
            "I'm Yusuf, I teach chemistry and I live in Leeds.",
            ["I'm Yusuf", "I teach chemistry", "I live in Leeds"],
        ),
        (
            "My mum lives with us in Ballarat, and she has type 2 diabetes.",
            ["My mum lives with us in Ballarat", "My mum \u2026 she has type 2 diabetes"],
        ),
        ("We've decided: the wedding is on the 14th of June.", ["We've decided: the wedding is on the 14th of June"]),
    ],
)
def test_a_clause_goes_on_from_the_one_without_which_it_means_nothing(said: str, texts: list[str]) -> None:
    assert [each.removeprefix("and ").rstrip(",.") for each in joined(said)] == texts


def test_of_an_order_each_clause_that_stands_alone_is_a_statement() -> None:
    ordered = read_ordered("I live in Leeds, my dog is called Rex and I bake bread", is_rule=False)
    assert len(runs_of_order(ordered)) == 3


def test_no_statement_is_joined_beyond_its_longest() -> None:
    said = "my list is this, " + ", ".join(f"{'x' * 60} and {number}" for number in range(20))
    assert all(len(run.text) <= LONGEST for run in runs_of_order(read_ordered(said, is_rule=False)))
