"""What an answer holds: numbers, names, words."""

import pytest

from proxy.quality.holdings import holdings


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It costs $18,500 in all.", {"18500"}),
        ("Son 453.600 pesos.", {"453600"}),
        ("9.5 km and 3,75 m", {"9.5", "3.75"}),
        ("At 10:30 on 14/3", {"10:30", "14/3"}),
        ("1. first\n2. second\n- 3) third", set()),
        ("fourteen of them", {"14"}),
        ("one of three", set()),
        ("the colour #0B6E4F", set()),
    ],
)
def test_numbers_are_the_same_however_they_are_written(text: str, numbers: set[str]) -> None:
    assert holdings(text).numbers == numbers


def test_small_numbers_in_words_count_but_are_not_asked_for() -> None:
    held = holdings("six of them")
    assert held.numbers == frozenset()
    assert "6" in held.counts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("You said that Nala sees Dr Ruiz.", {"nala", "dr", "ruiz"}),
        ("Bread is good. Cheese too.", set()),
        ("Run `npm ci` now.", {"npm", "ci"}),
        ("It is in src/app.ts already.", {"src", "app", "ts"}),
        ("¿Viene Lucía? Sí: Lucía y Martín.", {"lucia", "martin"}),
        ("- Uno\n- Dos", set()),
    ],
)
def test_names_are_what_prose_writes_with_a_capital_and_code_in_its_own_way(text: str, names: set[str]) -> None:
    assert holdings(text).names == names


def test_a_place_to_be_filled_in_is_seen_and_a_link_is_none() -> None:
    assert holdings("Dear [Name], hello").has_placeholder
    assert not holdings("See [Documents](https://example.com)").has_placeholder


def test_code_is_no_prose() -> None:
    held = holdings("Use this:\n```python\nx = 42\n```\nDone.")
    assert held.numbers == frozenset()
    assert held.code == "x=42"
