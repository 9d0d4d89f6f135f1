import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.terms import STOP, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("painted", "painting"),
        ("the libraries", "a library"),
        ("reuniones", "reunión"),
        ("cocinaban", "cocinar"),
        ("CANCIÓN", "cancion"),
        ("O'Brien", "brien"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))


@pytest.mark.parametrize("text", ["", "  \n", "¿?", "__", "what did you do with it", "¿qué es lo que hay para mí?"])
def test_what_sentences_are_made_of_has_no_terms(text: str) -> None:
    assert terms(text) == []


@pytest.mark.parametrize(("text", "term"), [("5433", "5433"), ("$41,300", "41,300"), ("a las 18:30", "18:30")])
def test_numbers_stay_as_they_are_written(text: str, term: str) -> None:
    assert term in terms(text)


def test_an_identifier_is_found_whole_and_by_its_parts() -> None:
    found = terms("codigo_publico")
    assert "codigo_publico" in found
    assert set(terms("público código")) <= set(found)


def test_a_term_comes_as_often_as_its_word_is_said() -> None:
    assert terms("boats, boat and more boats").count(terms("boat")[0]) == 3


def test_stop_words_are_written_as_they_are_compared() -> None:
    assert all(word == word.lower() and word.isalpha() and word.isascii() for word in STOP)


@given(st.text())
def test_any_text_has_terms_that_are_not_empty(text: str) -> None:
    assert all(terms(text))
