import pytest

from proxy.language.language import Language
from proxy.language.words import are_kin, is_form_of, is_known, is_typo, lemma, root, sound, stem, warm
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
    ("language", "one", "other"),
    [
        (EN, "fermentation", "ferment"),
        (EN, "movement", "move"),
        (EN, "ionizer", "ionize"),
        (ES, "activar", "activacion"),
        (ES, "fundicion", "fundir"),
        (ES, "cocina", "cocinar"),
    ],
)
def test_words_of_a_family_share_their_root(language: Language, one: str, other: str) -> None:
    assert root(one, language) == root(other, language)


@pytest.mark.parametrize(("language", "one", "other"), [(EN, "age", "aging"), (EN, "ion", "ions"), (ES, "uso", "usar")])
def test_a_root_too_short_to_tell_is_the_word_itself(language: Language, one: str, other: str) -> None:
    assert (root(one, language), root(other, language)) == (one, other)


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
    ("language", "one", "other", "kin"),
    [
        (EN, "prune", "pruner", True),
        (EN, "ferment", "fermentation", True),
        (EN, "lute", "flute", False),
        (EN, "dish", "disk", False),
        (ES, "podar", "poda", True),
        (ES, "hacha", "acha", False),
    ],
)
def test_kin_have_one_stem_or_one_root(language: Language, one: str, other: str, kin: bool) -> None:
    assert are_kin(one, other, language) is kin


@pytest.mark.parametrize("language", [EN, ES])
def test_no_word_of_the_tables_loses_its_first_letter(language: Language) -> None:
    tables = language.lexicon
    for word in (*tables.synonyms, *tables.function, *tables.optional, "dying", "skis", "yes", "quiero"):
        assert stem(word, language)[0] == root(word, language)[0] == word[0]


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
    words = ES.comparison
    assert words.regular is not None
    assert words.infinitive is not None
    assert is_form_of(word, infinitive, words.regular, words.infinitive) is is_form


@pytest.mark.parametrize(
    ("language", "one", "other", "typo"),
    [
        (EN, "chisel", "chissel", True),
        (EN, "chisel", "chsiel", True),
        (EN, "elephant", "eelphnat", True),  # two slips in a long word
        (EN, "owl", "owll", True),  # three letters that sound alike
        (EN, "owl", "owk", False),
        (EN, "otter", "otres", False),
        (EN, "zorbax", "zorbiq", False),  # neither is a word
        (EN, "form", "farm", False),  # both are
        (EN, "lettuce", "lantern", False),
        (ES, "vecino", "becino", True),
        (ES, "zanahoria", "sanaorya", True),
        (ES, "martillo", "marrtiyo", True),
        (ES, "sal", "zal", True),
        (ES, "lechuga", "lechuza", False),
        (ES, "perro", "pero", False),
        (ES, "zorbano", "zorbeqo", False),
    ],
)
def test_a_typo_is_near_a_word_and_none_itself(language: Language, one: str, other: str, typo: bool) -> None:
    known, other_known = is_known(one, language), is_known(other, language)
    both, either = known and other_known, known or other_known
    assert is_typo(one, other, language, both_known=both, one_known=either) is typo
    assert is_typo(other, one, language, both_known=both, one_known=either) is typo


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
