"""The words by which a quotation is judged."""

import pytest

from proxy.language.tables import tables
from proxy.memory.support_marks import marks
from proxy.types.memory import Language


@pytest.mark.parametrize(
    ("text", "conditional"),
    [("Sí, soy zurda", False), ("Si, yo, vivo acá", False), ("no sé si llueve", False), ("si llueve, no voy", True)],
)
def test_an_affirmation_is_no_condition(text: str, conditional: bool) -> None:
    assert marks("es").has("conditions", marks("es").without_affirmation(text)) == conditional


def test_a_negation_that_denies_nothing_is_left_out() -> None:
    assert "nada" not in marks("es").plainly("dos hornallas nada más")
    assert "not" in marks("en").plainly("I don't smoke")


def test_a_noun_is_anothers_by_the_genitive() -> None:
    assert marks("en").is_possessed("parrot", "my neighbour's old parrot")
    assert not marks("en").is_possessed("parrot", "it's my parrot")
    assert marks("es").is_possessed("jardin", "riego el jardin de mi tia")
    assert not marks("es").is_possessed("jardin", "riego mi jardin")


def test_both_languages_have_the_same_tables() -> None:
    codes: tuple[Language, ...] = ("es", "en")
    one, other = (tables(code, "support").keys() for code in codes)
    assert one == other
    assert all(marks(code).patterns.keys() < one for code in codes)
