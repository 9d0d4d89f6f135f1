"""Numbers, times and dates, however they are written."""

import pytest

from proxy.language.words import fold
from proxy.memory.claim_numbers import counted
from proxy.memory.claim_words import wording
from proxy.types.memory import Language

SAME: list[tuple[Language, str, str]] = [
    ("en", "ninety one", "91"),
    ("en", "eighty thousand", "80k"),
    ("en", "two hundred and forty", "240"),
    ("en", "1,200", "twelve hundred"),
    ("en", "half past three", "3:30"),
    ("en", "7am", "7:00"),
    ("en", "5 pm", "17:00"),
    ("en", "twice", "two times"),
    ("en", "3 september 1988", "3rd september 1988"),
    ("en", "10 km", "10km"),
    ("es", "treinta y cinco", "35"),
    ("es", "tres y media de la tarde", "15:30"),
    ("es", "un metro ochenta y dos", "1,82 m"),
    ("es", "28.000", "28 mil"),
    ("es", "3/11/1979", "3 de noviembre de 1979"),
    ("es", "23/11", "23 de noviembre"),
    ("es", "novecientos cincuenta", "950"),
]


def figures(said: str, language: Language) -> list[str]:
    found = counted([fold(each) for each in said.split()], wording(language))
    return sorted(each for numbers, _ in found.values() for each in numbers if each not in {"m", "times"})


@pytest.mark.parametrize(("language", "one", "other"), SAME)
def test_a_number_is_the_same_however_it_is_written(language: Language, one: str, other: str) -> None:
    assert figures(one, language) == figures(other, language) != []


@pytest.mark.parametrize(
    ("language", "said"), [("en", "one of us"), ("es", "un perro"), ("en", "may i"), ("en", "8/11 and no year or day")]
)
def test_an_article_and_a_verb_are_no_numbers(language: Language, said: str) -> None:
    assert all(each == "8/11" for each in figures(said, language))
