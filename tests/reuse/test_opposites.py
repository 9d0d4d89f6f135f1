from itertools import combinations

import pytest

from proxy.reuse.lexicon import Language, lexicon
from proxy.reuse.opposites import are_opposite


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "push", "pull"),
        ("en", "raise", "lower"),
        ("en", "grow", "shrink"),  # each word of a half, to each of the other
        ("en", "light", "heavy"),  # and in every line it stands in
        ("en", "light", "dark"),
        ("en", "top", "bottom"),  # the first and the last line
        ("en", "domestic", "international"),
        ("en", "mount", "unmount"),
        ("en", "obey", "disobey"),
        ("es", "subir", "bajar"),
        ("es", "subir", "descargar"),
        ("es", "dia", "noche"),
        ("es", "superior", "inferior"),
        ("es", "amar", "odiar"),
        ("es", "armar", "desarmar"),
        ("es", "util", "inutil"),
        ("es", "logico", "ilogico"),
    ],
)
def test_opposites_are_opposite_both_ways(language: Language, one: str, other: str) -> None:
    assert are_opposite(one, other, language)
    assert are_opposite(other, one, language)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "push", "push"),
        ("en", "push", "shove"),
        ("en", "raise", "grow"),  # one half of a line
        ("en", "heavy", "dark"),  # opposite to the same word, not to each other
        ("en", "top", "descending"),  # neighbours that a bar divides
        ("en", "dark", "old"),  # neighbours that a line's end divides
        ("en", "read", "tread"),  # not every beginning reverses
        ("en", "art", "unart"),  # too short for a prefix
        ("en", "armar", "desarmar"),  # another language's prefix
        ("en", "subir", "bajar"),
        ("es", "push", "pull"),
        ("es", "subir", "cargar"),
        ("es", "oir", "desoir"),
        ("es", "mount", "unmount"),
        ("es", "canto", "encanto"),
    ],
)
def test_others_are_not(language: Language, one: str, other: str) -> None:
    assert not are_opposite(one, other, language)
    assert not are_opposite(other, one, language)


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_two_synonyms_are_opposite(language: Language) -> None:
    synonyms = lexicon(language).synonyms
    same = [(one, other) for one, other in combinations(synonyms, 2) if synonyms[one] == synonyms[other]]
    assert same
    assert [pair for pair in same if are_opposite(*pair, language)] == []
