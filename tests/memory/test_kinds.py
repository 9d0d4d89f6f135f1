"""The kinds of needs that a fact answers."""

import pytest

from proxy.memory.kinds import kinds


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("I'm allergic to nuts", "diet"),
        ("soy alérgica al maní", "diet"),
        ("my daughter Una is six", "child"),
        ("mi marido es celíaco", "partner"),
        ("I live in Cork", "residence"),
        ("trabajo en un banco", "work"),
    ],
)
def test_a_fact_is_of_the_kinds_that_questions_need(value: str, kind: str) -> None:
    assert kinds(value)[kind] == 1.0


def test_an_order_on_answers_surely_answers_none() -> None:
    assert max(kinds("answer in short lists").values(), default=0.0) < 1.0
