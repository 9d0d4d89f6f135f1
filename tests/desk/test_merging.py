"""Tests of the three-way merge of documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.desk.merging import merged


@pytest.mark.note("SMMA 4/5")
@pytest.mark.parametrize(
    ("base", "model", "person", "both"),
    [
        ("a\nb\nc", "a\nB\nc", "a\nb\nC", "a\nB\nC"),
        ("a\nb", "a\nmodel\nb", "a\nperson\nb", "a\nperson\nmodel\nb"),
        ("a\nb", "a\nnew\nb", "a\nnew\nb", "a\nnew\nb"),
        ("a\nb\nc", "a\nmodel\nc", "a\nperson\nc", "a\nperson\nc"),  # the same line: the person's stays
        ("a\nb\nc", "a\nc", "a\nb\nc\nd\n", "a\nc\nd\n"),
        ("", "model", "person", "person\nmodel"),
        ("a\nb\nc", "", "a\nb\nc", ""),
        ("a\nb\nc", "a\nb\nc", "", ""),
    ],
)
def test_both_changes_stay_and_the_person_wins(base: str, model: str, person: str, both: str) -> None:
    assert merged(base, model, person) == both


_TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=8).map("\n".join)


@pytest.mark.note("SMMA 4/5")
@given(_TEXTS, _TEXTS, _TEXTS)
def test_no_line_that_a_person_added_is_lost(base: str, model: str, person: str) -> None:
    after = merged(base, model, person).splitlines()
    # The text of one empty line is the text of none.
    added = set(person.splitlines()) - set(base.splitlines()) - {""}
    assert added <= set(after)


@given(_TEXTS, _TEXTS)
def test_what_one_alone_has_changed_is_the_result(base: str, text: str) -> None:
    assert merged(base, text, base) == text
    assert merged(base, base, text) == text
    assert merged(base, text, text) == text
