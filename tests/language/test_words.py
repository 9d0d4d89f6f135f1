import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.language.words import STOP, is_form_of, is_known, lemma, sound, stem, terms, warm
from tests.languages import EN, ES


@pytest.mark.parametrize(
    ("language", "word", "base"),
    [
        (EN, "mice", "mouse"),
        (EN, "wrote", "write"),
        (EN, "boiling", "boil"),
        (EN, "zorbax", "zorbax"),
        (ES, "pingüinos", "pinguino"),
        (ES, "camión", "camion"),
        (ES, "hervimos", "hervir"),
        (ES, "hirviendo", "hervir"),
    ],
)
def test_a_lemma_is_the_folded_dictionary_form(language: Language, word: str, base: str) -> None:
    assert lemma(word, language) == base


@pytest.mark.parametrize(
    ("language", "word", "known"),
    [
        (EN, "lettuces", True),
        (EN, "lettucs", False),
        (EN, "lechugas", False),
        (ES, "lechugas", True),
        (ES, "lechugaz", False),
        (ES, "mice", False),
    ],
)
def test_a_word_is_known_in_its_own_language(language: Language, word: str, known: bool) -> None:
    assert is_known(word, language) is known


@pytest.mark.parametrize(
    ("language", "one", "other", "same"),
    [
        (EN, "pruned", "pruning", True),
        (EN, "happiness", "happy", True),
        (EN, "lute", "flute", False),
        (ES, "podando", "podamos", True),
        (ES, "lechugas", "lechuga", True),
        (ES, "podando", "pudiendo", False),
        (EN, "podando", "podamos", False),
    ],
)
def test_a_stem_is_that_of_the_language(language: Language, one: str, other: str, same: bool) -> None:
    assert (stem(one, language) == stem(other, language)) is same


@pytest.mark.parametrize(
    ("language", "one", "other", "same"),
    [
        (EN, "fotograf", "photograph", True),
        (EN, "nok", "knock", True),
        (EN, "rench", "wrench", True),
        (EN, "balloon", "baloon", True),
        (EN, "owl", "eel", False),
        (EN, "ball", "bowl", False),
        (ES, "becino", "vecino", True),
        (ES, "kaiman", "caiman", True),
        (ES, "llema", "yema", True),
        (ES, "uebo", "huevo", True),
        (ES, "gerra", "guerra", True),
        (ES, "chala", "cala", False),
        (ES, "queso", "seso", False),
    ],
)
def test_what_is_written_for_each_other_sounds_alike(language: Language, one: str, other: str, same: bool) -> None:
    assert (sound(one, language) == sound(other, language)) is same


@pytest.mark.parametrize(
    ("word", "infinitive", "is_form"),
    [
        ("saco", "sacar", True),
        ("sacaba", "sacar", False),
        ("pasame", "pasar", True),
        ("pasamelo", "pasar", True),
        ("bebiendo", "beber", True),
        ("vivimos", "vivir", True),
        ("sacudo", "sacar", False),
        ("riega", "regar", False),
        ("pelota", "pelar", False),
        ("casa", "cazar", False),
        ("mesa", "mesada", False),  # no infinitive
        ("va", "ir", False),  # no stem to speak of
        (ES, "ir", False),
    ],
)
def test_a_regular_form_is_a_stem_with_an_ending(word: str, infinitive: str, is_form: bool) -> None:
    words = ES.licences
    assert words.regular is not None
    assert words.infinitive is not None
    assert is_form_of(word, infinitive, words.regular, words.infinitive) is is_form


def test_warming_twice_loads_nothing_twice() -> None:
    remembered = (lemma, is_known, stem)
    for table in remembered:
        table.cache_clear()
    warm([EN, ES])
    loaded = [table.cache_info().misses for table in remembered]
    warm([EN, ES])
    assert loaded == [2, 2, 2]  # once for each language
    assert [table.cache_info().misses for table in remembered] == loaded


def test_warming_one_language_leaves_the_other_alone() -> None:
    stem.cache_clear()
    warm([ES])
    assert stem.cache_info().misses == 1


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
