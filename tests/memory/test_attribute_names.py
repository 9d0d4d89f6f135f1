"""Names of what people tell of themselves."""

from proxy.memory.attribute_names import ATTRIBUTE_NAMES
from proxy.memory.signals import folded
from proxy.memory.subject_words import KIN_NAMES


def test_both_languages_name_an_attribute_the_same() -> None:
    for one, other in (("salary", "sueldo"), ("rent", "alquiler"), ("nickname", "apodo"), ("pregnant", "embarazada")):
        assert ATTRIBUTE_NAMES[one] == ATTRIBUTE_NAMES[other]


def test_the_words_are_folded_and_name_no_relative() -> None:
    assert [word for word in ATTRIBUTE_NAMES if folded(word) != word or word in KIN_NAMES] == []
