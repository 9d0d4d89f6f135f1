import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.language.words import STOP, fold, is_form_of, is_known, lemma, plain, sentence, sound, stem, terms, warm
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", " . "),
        ("...", " . "),
        ("Well... yes", " . well . yes . "),
        ("Hola", " . hola . "),
        ("¿Qué MAÑANA?", " . ? que manana ? . "),
        ("man\u0303ana", " . manana . "),
        ("a.b datetime.now() 9.500", " . a.b datetime.now( , 9.500 . "),
        ("(now) now()", " . ( now , now( , . "),
        ("One. Two.", " . one . two . "),
        ("It\u2019s", " . it's . "),
        ("**hoy**", " . hoy . "),
        ('What does "today" mean?', " . what does quoted mean ? . "),
        ("¿Qué significa «hoy»?", " . ? que significa quoted ? . "),
        ("don't say 'now', won't you", " . don't say quoted , won't you . "),
    ],
)
def test_plain(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.text(max_size=200))
def test_plain_text_has_single_spaces_and_stands_between_marks(text: str) -> None:
    result = plain(text)
    assert "  " not in result
    assert result.startswith(" . ")
    assert result.endswith(" . ")


def test_a_sentence_is_what_stands_between_marks() -> None:
    text = plain("Hola. ¿Qué es hoy? Chau.")
    assert sentence(text, text.index(" hoy")) == " que es hoy "
    assert sentence(text, text.index(" hola")) == " hola "
    assert sentence(text, text.index(" chau")) == " chau "


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("OWLS", "owls"),
        ("¿Cuándo?", "¿cuando?"),
        ("PINGÜINO", "pinguino"),
        ("Ñandú", "nandu"),
        ("cafe\u0301", "cafe"),  # the accent as a character of its own
        ("café 24°", "cafe 24°"),
        ("", ""),
    ],
)
def test_folding_takes_capitals_and_accents(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_what_is_folded_has_no_accents_and_stays_as_it_is(text: str) -> None:
    folded = fold(text)
    assert not any(map(unicodedata.combining, folded))
    assert fold(folded) == folded
