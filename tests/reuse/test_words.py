import pytest

from proxy.reuse.lexicon import Language, lexicon
from proxy.reuse.words import are_kin, is_form_of, is_known, is_typo, lemma, root, sound, stem, warm


@pytest.mark.parametrize(
    ("language", "word", "base"),
    [
        ("en", "mice", "mouse"),
        ("en", "wrote", "write"),
        ("en", "boiling", "boil"),
        ("en", "zorbax", "zorbax"),
        ("es", "pingüinos", "pinguino"),
        ("es", "camión", "camion"),
        ("es", "hervimos", "hervir"),
        ("es", "hirviendo", "hervir"),
    ],
)
def test_a_lemma_is_the_folded_dictionary_form(language: Language, word: str, base: str) -> None:
    assert lemma(word, language) == base


@pytest.mark.parametrize(
    ("language", "word", "known"),
    [
        ("en", "lettuces", True),
        ("en", "lettucs", False),
        ("en", "lechugas", False),
        ("es", "lechugas", True),
        ("es", "lechugaz", False),
        ("es", "mice", False),
    ],
)
def test_a_word_is_known_in_its_own_language(language: Language, word: str, known: bool) -> None:
    assert is_known(word, language) is known


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "fermentation", "ferment"),
        ("en", "movement", "move"),
        ("en", "ionizer", "ionize"),
        ("es", "activar", "activacion"),
        ("es", "fundicion", "fundir"),
        ("es", "cocina", "cocinar"),
    ],
)
def test_words_of_a_family_share_their_root(language: Language, one: str, other: str) -> None:
    assert root(one, language) == root(other, language)


@pytest.mark.parametrize(
    ("language", "one", "other"), [("en", "age", "aging"), ("en", "ion", "ions"), ("es", "uso", "usar")]
)
def test_a_root_too_short_to_tell_is_the_word_itself(language: Language, one: str, other: str) -> None:
    assert (root(one, language), root(other, language)) == (one, other)


@pytest.mark.parametrize(
    ("language", "one", "other", "same"),
    [
        ("en", "pruned", "pruning", True),
        ("en", "happiness", "happy", True),
        ("en", "lute", "flute", False),
        ("es", "podando", "podamos", True),
        ("es", "lechugas", "lechuga", True),
        ("es", "podando", "pudiendo", False),
        ("en", "podando", "podamos", False),
    ],
)
def test_a_stem_is_that_of_the_language(language: Language, one: str, other: str, same: bool) -> None:
    assert (stem(one, language) == stem(other, language)) is same


@pytest.mark.parametrize(
    ("language", "one", "other", "kin"),
    [
        ("en", "prune", "pruner", True),
        ("en", "ferment", "fermentation", True),
        ("en", "lute", "flute", False),
        ("en", "dish", "disk", False),
        ("es", "podar", "poda", True),
        ("es", "hacha", "acha", False),
    ],
)
def test_kin_have_one_stem_or_one_root(language: Language, one: str, other: str, kin: bool) -> None:
    assert are_kin(one, other, language) is kin


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_word_of_the_tables_loses_its_first_letter(language: Language) -> None:
    tables = lexicon(language)
    for word in (*tables.synonyms, *tables.function, *tables.optional, "dying", "skis", "yes", "quiero"):
        assert stem(word, language)[0] == root(word, language)[0] == word[0]


@pytest.mark.parametrize(
    ("language", "one", "other", "same"),
    [
        ("en", "fotograf", "photograph", True),
        ("en", "nok", "knock", True),
        ("en", "rench", "wrench", True),
        ("en", "balloon", "baloon", True),
        ("en", "owl", "eel", False),
        ("en", "ball", "bowl", False),
        ("es", "becino", "vecino", True),
        ("es", "kaiman", "caiman", True),
        ("es", "llema", "yema", True),
        ("es", "uebo", "huevo", True),
        ("es", "gerra", "guerra", True),
        ("es", "chala", "cala", False),
        ("es", "queso", "seso", False),
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
        ("es", "ir", False),
    ],
)
def test_a_regular_form_is_a_stem_with_an_ending(word: str, infinitive: str, is_form: bool) -> None:
    assert is_form_of(word, infinitive) is is_form


@pytest.mark.parametrize(
    ("language", "one", "other", "typo"),
    [
        ("en", "chisel", "chissel", True),
        ("en", "chisel", "chsiel", True),
        ("en", "elephant", "eelphnat", True),  # two slips in a long word
        ("en", "owl", "owll", True),  # three letters that sound alike
        ("en", "owl", "owk", False),
        ("en", "otter", "otres", False),
        ("en", "zorbax", "zorbiq", False),  # neither is a word
        ("en", "form", "farm", False),  # both are
        ("en", "lettuce", "lantern", False),
        ("es", "vecino", "becino", True),
        ("es", "zanahoria", "sanaorya", True),
        ("es", "martillo", "marrtiyo", True),
        ("es", "sal", "zal", True),
        ("es", "lechuga", "lechuza", False),
        ("es", "perro", "pero", False),
        ("es", "zorbano", "zorbeqo", False),
    ],
)
def test_a_typo_is_near_a_word_and_none_itself(language: Language, one: str, other: str, typo: bool) -> None:
    known, other_known = is_known(one, language), is_known(other, language)
    both, either = known and other_known, known or other_known
    assert is_typo(one, other, language, both_known=both, one_known=either) is typo
    assert is_typo(other, one, language, both_known=both, one_known=either) is typo


def test_warming_twice_loads_nothing_twice() -> None:
    remembered = (lexicon, lemma, is_known, stem)
    for table in remembered:
        table.cache_clear()
    warm()
    loaded = [table.cache_info().misses for table in remembered]
    tables = lexicon("en"), lexicon("es")
    warm()
    assert loaded == [2, 2, 2, 2]  # once for each language
    assert [table.cache_info().misses for table in remembered] == loaded
    assert (lexicon("en"), lexicon("es")) == tables


def test_warming_one_language_leaves_the_other_alone() -> None:
    stem.cache_clear()
    warm(["es"])
    assert stem.cache_info().misses == 1
