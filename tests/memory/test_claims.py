"""Claims: who a statement is about, what it denies, when it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.claims import Tense, claim


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("trabajo en Ford", "present"),
        ("trabajé en Ford", "past"),
        ("trabajó en Ford", "past"),
        ("va a trabajar en Ford", "future"),
        ("ha trabajado en Ford", "perfect"),
        ("tenía un perro", "past"),
        ("Works at Ford", "present"),
        ("worked at Ford", "past"),
        ("used to work at Ford", "past"),
        ("will work at Ford", "future"),
        ("has worked at Ford", "perfect"),
        ("Is retired", "present"),
        ("pays eight hundred a month", "present"),
        ("has red hair", "present"),
        ("was born in Cork", "past"),
    ],
)
def test_the_tense_is_that_of_the_first_verb(text: str, tense: Tense) -> None:
    assert claim(text).tense == tense


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        ("mi hermana vive en Lima", {"hermana"}),
        ("Su hermana vive en Lima", {"hermana"}),
        ("La hermana del usuario vive en Lima", {"hermana"}),
        ("le presto plata a mi hermana", set()),
        ("con mi prima comparto el coche", set()),
        ("My sister lives in Cork", {"sister"}),
        ("The user's sister lives in Cork", {"sister"}),
        ("I live with my sister", set()),
        ("Lives in Cork", set()),
    ],
)
def test_the_holder_is_who_stands_first_and_does_it(text: str, holder: set[str]) -> None:
    assert claim(text).holder == holder


@pytest.mark.parametrize(
    ("text", "is_denied"),
    [("no como carne", True), ("I never swim", True), ("I can't stand wool", False), ("como carne", False)],
)
def test_a_negation_that_is_part_of_a_phrase_denies_nothing(text: str, is_denied: bool) -> None:
    assert claim(text).is_denied is is_denied


def test_names_and_numbers_are_kept_apart() -> None:
    said = claim("I bought the cabin near Bergen for eighty thousand euros in May 2019")
    assert said.names == {"bergen"}
    assert {"80000", "2019", "m5"} <= set(said.numbers)


@given(st.text(max_size=120))
def test_any_text_is_read(text: str) -> None:
    assert claim(text) == claim(text)
