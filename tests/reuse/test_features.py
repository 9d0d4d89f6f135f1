"""What a message looks like to the learned gate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.words import plain
from proxy.reuse.cacheable import framed, lexical, shapes_of, tokens_of


def shapes(said: str) -> list[str]:
    return shapes_of(said, tokens_of(plain(said)))


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Did Nike restock the Pandas?", [".", "did", "N", "_", "the", "N", "?"]),
        ("Did Netflix cancel the Office?", [".", "did", "N", "_", "the", "N", "?"]),
        ("How do I cancel orders?", [".", "how", "do", "i", "_", "_s", "?"]),
        ("¿Llegó el tren?", ["?", "_'", "el", "_", "?"]),
        ("Llego tarde.", [".", "_", "_", "."]),
        ("Who won in 1986?", [".", "who", "_", "in", "#4", "?"]),
        ("It rains. Bring umbrellas.", [".", "it", "_s", ".", "_ing", "_s", "."]),
    ],
)
def test_grammar_stays_and_matter_becomes_its_shape(said: str, found: list[str]) -> None:
    assert shapes(said) == found


def test_two_marks_in_a_row_are_one_and_a_question_mark_wins() -> None:
    assert tokens_of(plain("Hola... ¿llueve?")) == [".", "hola", "?", "llueve", "?"]


def test_digits_are_hidden_but_not_how_many() -> None:
    assert tokens_of(plain("flight BA117 in 1999")) == [".", "flight", "000", "in", "0000", "."]


def test_words_count_as_they_are_in_pairs_and_by_their_ends() -> None:
    assert lexical([".", "reservame", "mesa", "."]) == [
        ". reservame",
        "reservame mesa",
        "mesa .",
        "reservame",
        "rese-",
        "-ame",
        "reserv-",
        "-vame",
        "mesa",
    ]


def test_a_run_of_matter_is_one_in_short_frames() -> None:
    assert "~ the _ ?" in framed(shapes("Who wrote the dusty brown book?"))


@given(st.text(max_size=200))
def test_any_text_has_features_and_none_twice(said: str) -> None:
    for found in (lexical(tokens_of(plain(said))), framed(shapes(said))):
        assert len(found) == len(set(found))
