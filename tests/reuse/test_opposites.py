from itertools import combinations

import pytest

from proxy.language.language import Language
from proxy.reuse.guards import are_opposite
from tests.languages import EN, ES


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        (EN, "push", "pull"),
        (EN, "raise", "lower"),
        (EN, "grow", "shrink"),  # each word of a half, to each of the other
        (EN, "light", "heavy"),  # and in every line it stands in
        (EN, "light", "dark"),
        (EN, "top", "bottom"),  # the first and the last line
        (EN, "domestic", "international"),
        (EN, "mount", "unmount"),
        (EN, "obey", "disobey"),
        (ES, "subir", "bajar"),
        (ES, "subir", "descargar"),
        (ES, "dia", "noche"),
        (ES, "superior", "inferior"),
        (ES, "amar", "odiar"),
        (ES, "armar", "desarmar"),
        (ES, "util", "inutil"),
        (ES, "logico", "ilogico"),
    ],
)
def test_opposites_are_opposite_both_ways(language: Language, one: str, other: str) -> None:
    assert are_opposite(one, other, language)
    assert are_opposite(other, one, language)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        (EN, "push", "push"),
        (EN, "push", "shove"),
        (EN, "raise", "grow"),  # one half of a line
        (EN, "heavy", "dark"),  # opposite to the same word, not to each other
        (EN, "top", "descending"),  # neighbours that a bar divides
        (EN, "dark", "old"),  # neighbours that a line's end divides
        (EN, "read", "tread"),  # not every beginning reverses
        (EN, "art", "unart"),  # too short for a prefix
        (EN, "armar", "desarmar"),  # another language's prefix
        (EN, "subir", "bajar"),
        (ES, "push", "pull"),
        (ES, "subir", "cargar"),
        (ES, "oir", "desoir"),
        (ES, "mount", "unmount"),
        (ES, "canto", "encanto"),
    ],
)
def test_others_are_not(language: Language, one: str, other: str) -> None:
    assert not are_opposite(one, other, language)
    assert not are_opposite(other, one, language)


@pytest.mark.parametrize("language", [EN, ES])
def test_no_two_synonyms_are_opposite(language: Language) -> None:
    synonyms = language.lexicon.synonyms
    same = [(one, other) for one, other in combinations(synonyms, 2) if synonyms[one] == synonyms[other]]
    assert same
    assert [pair for pair in same if are_opposite(*pair, language)] == []
