import pytest

from proxy.language.language import Language
from proxy.language.words import is_form_of, is_known, lemma, sound, stem, warm
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
