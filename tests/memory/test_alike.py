"""The nearest facts to a value, and those that say the same: found cheaply, as if each had been compared in full."""

import json
from itertools import count
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.language.words import terms
from proxy.memory.alike import COMPARED, Told
from proxy.memory.facts import is_one_fact, sayable
from proxy.types import SELF_CORRECTION, Fact
from tests.builders import NOW

WHO = ("", "I ", "My sister ", "Mi hermana ", "No ", "the user ", "el usuario ")
DOES = (
    *("vivo en", "vive en", "vivía en", "reside en", "trabaja en", "trabajó en", "is a", "works as a", "worked as a"),
    *("has a", "has had", "toca el", "juega al", "plays the", "is afraid of", "has a fear of", "traduce", "prefers"),
)
WHAT = (
    *("Rosario", "Rosarío", "Google", "Royal Air Force", "RAF", "Dr. Rosa Paz", "Paz", "trombone", "trombonist", "42"),
    *(
        "fear",
        "dogs",
        "dog",
        "drums",
        "drummer",
        "traducción",
        "traductora",
        "novels",
        "1 novel",
        "two novels",
        "cello",
    ),
    *("novelas", "novlas", "50 dollars", "50", "31 years old", "31", "not spicy food", "1,82 m", "1.82 m", "biologist"),
)
WHEN = ("", " since 2019", " desde 2019", " sometimes", " a veces", ", que es de mi madre", ". Gracias", " el martes")
values = st.builds(lambda who, *rest: f"{who}{' '.join(rest)}".strip(), *map(st.sampled_from, (WHO, DOES, WHAT, WHEN)))
any_values = values | st.tuples(values, values).map(" y ".join) | st.text(min_size=1, max_size=30).filter(str.strip)


def fact(number: int, value: str, at: float = NOW, domain: str = "personal") -> Fact:
    return Fact(f"f-{number:016x}", domain, "k", value, "medium", "explicit", "s", 1, NOW, at)


def is_one(known: str, value: str) -> bool:
    return Told(()).is_one(fact(1, known), value)


# --- those that say the same -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "value"),
    [
        ("vivo en Rosario", "Reside en Rosario"),
        ("is afraid of dogs", "has a fear of dogs"),
        ("lee novelas policiales", "lee novlas policiales"),
    ],
)
def test_what_says_the_same_in_other_words_is_one(known: str, value: str) -> None:
    assert is_one(known, value)


@pytest.mark.parametrize(
    ("known", "value"),
    [
        ("vivo en Rosario", "vivo en Salta"),
        ("come carne", "no come carne"),
        ("trabaja en Google", "trabajó en Google"),
        ("has 2 cats", "has 3 cats"),
        ("likes hiking with Ana", "likes hiking with Olga"),
        ("Rosario", "Rosario"),
    ],
)
def test_what_differs_in_a_word_is_not(known: str, value: str) -> None:
    assert not is_one(known, value)


def test_nor_where_the_facts_are_peoples() -> None:
    lines = (Path(__file__).parents[1] / "bench" / "fact_pairs_dev.jsonl").read_text("utf-8").splitlines()
    pairs = [(pair["a"], pair["b"]) for pair in map(json.loads, lines)]
    expected = [is_one_fact(*pair) for pair in pairs]
    assert [is_one(*pair) for pair in pairs] == expected
    assert sum(expected) > len(pairs) / 4  # it is tried


@given(any_values, any_values)
@example("has a fear of dogs", "is afraid of dogs since 2019")
@example("He works at the Royal Air Force", "He works at the RAF")
def test_no_cheap_reason_ever_speaks_against_what_is_one_fact(known: str, value: str) -> None:
    assert is_one(known, value) is is_one_fact(known, value)


# --- the nearest ------------------------------------------------------------------------------------------------------

WORDS = ["gato", "perro", "casa", "Rosario", "novela", "cello", "barco"]
of_few_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
facts_of_few_words = st.lists(
    st.tuples(of_few_words, st.integers(0, 3), st.sampled_from(["personal", "personal", SELF_CORRECTION])), max_size=70
).map(lambda told: [fact(number, value, NOW + at, domain) for number, (value, at, domain) in zip(count(), told)])


def nearest(facts: list[Fact], value: str) -> list[Fact]:
    """The nearest ones, each compared by itself."""
    words = frozenset(terms(value))
    shared = {each.id: len(words & sayable(each)) for each in facts if each.domain != SELF_CORRECTION}
    found = [each for each in facts if shared.get(each.id) and each.value != value]
    return sorted(found, key=lambda each: (-shared[each.id], -each.last_confirmed_at, each.id))[:COMPARED]


@given(facts_of_few_words, of_few_words)
def test_the_nearest_share_most_words_and_of_those_the_last_confirmed(facts: list[Fact], value: str) -> None:
    assert Told(facts).near("personal", value) == nearest(facts, value)
    assert Told(facts).near(SELF_CORRECTION, value) == []


def test_of_many_only_so_many_are_compared() -> None:
    facts = [fact(number, f"tiene el gato {number}", NOW + number) for number in range(3 * COMPARED)]
    found = Told(facts).near("personal", "compró un gato")
    assert [each.id for each in found] == [each.id for each in facts[: -COMPARED - 1 : -1]]
