"""A sync is shown as the lines that it has added, changed and removed."""

import pytest

from proxy.files.diffs import Difference, difference
from proxy.files.document import parse


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("- a\n- b", "- a\n- b", Difference()),
        ("- a\n- b", "- a\n- c\n- b", Difference(added=("c",))),
        ("- a\n- b", "- b", Difference(removed=("a",))),
        ("- a\n- b\n- c", "- a\n- x\n- c", Difference(changed=(("b", "x"),))),
        ("- a\n- b", "- x\n- y\n- z", Difference(("z",), (("a", "x"), ("b", "y")))),
        ("a note", "another", Difference()),
    ],
)
def test_facts_that_came_went_and_changed(before: str, after: str, told: Difference) -> None:
    assert difference(parse(before), parse(after)) == told
