"""What a question enumerates: numbers without an order, things that are told apart."""

import pytest

from proxy.language.language import Language
from proxy.reuse.guards import are_only_listed, numbers, things_told_apart
from proxy.reuse.question import analyse
from tests.languages import EN, ES


@pytest.mark.parametrize(
    ("language", "one", "other", "alike"),
    [
        (EN, "Are 21 and 23 primes?", "Are 23 and 21 primes?", True),
        (EN, "Are 21, 22 and 23 primes?", "Are 23, 21 and 22 primes?", True),
        (EN, "Are the 500 & 1,000 notes gone?", "Are the 1000 or 500 notes gone?", True),
        (ES, "¿Son primos el 21 y 23?", "¿Son primos el 23 y 21?", True),
        (EN, "Are 21 and 23 primes?", "Are 21 and 29 primes?", False),
        (EN, "Is it from 21 to 23?", "Is it from 23 to 21?", False),
        (EN, "Is 21 less than 23?", "Is 23 less than 21?", False),
        (EN, "What is the ratio of 4 and 6?", "What is the ratio of 6 and 4?", False),
        (EN, "If I divide 4 and 6?", "If I divide 6 and 4?", False),
        (ES, "¿Cuál es la razón de 4 y 6?", "¿Cuál es la razón de 6 y 4?", False),
    ],
)
def test_numbers_that_are_only_listed_have_no_order(language: Language, one: str, other: str, alike: bool) -> None:
    asked, earlier = analyse(one, language), analyse(other, language)
    assert are_only_listed(asked, earlier) is are_only_listed(earlier, asked) is alike
    assert (numbers(asked, earlier) == "") is alike


@pytest.mark.parametrize(
    ("language", "text", "things"),
    [
        (EN, "What is the difference between jam and jelly?", 2),
        (EN, "What is the difference between jam, jelly, and curd?", 3),
        (EN, "How do jam and jelly differ?", 2),
        (EN, "Is jam like jelly and curd?", 0),
        (ES, "¿Qué diferencia hay entre acta y minuta?", 2),
        (ES, "¿Qué diferencia hay entre acta, minuta y nota?", 3),
        (ES, "¿Qué son un acta y una minuta?", 0),
    ],
)
def test_the_things_that_are_told_apart_are_counted(language: Language, text: str, things: int) -> None:
    assert things_told_apart(analyse(text, language)) == things
