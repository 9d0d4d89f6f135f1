import pytest

from proxy.memory.kinds import kinds, read, shares
from proxy.memory.predictions import KINDS


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


def test_the_shares_of_a_fact_stand_in_the_order_of_the_kinds() -> None:
    value = "my daughter Una is six"
    assert dict(zip(KINDS, shares(value).tolist(), strict=True)) == {**dict.fromkeys(KINDS, 0.0), **kinds(value)}


def test_values_are_read_one_a_step() -> None:
    assert len(list(read(["uso Linux", "vivo en Salta"]))) == 2
