"""Notions of the words of personal facts."""

import pytest

from proxy.language.tables import languages, tables
from proxy.memory.claim_words import longest, spoken_in_claims, wording
from proxy.types.memory import Language

LANGUAGES: tuple[Language, ...] = ("en", "es")


@pytest.mark.parametrize(
    ("said", "language"), [("Mide 1,82 m", "es"), ("Owns a boat", "en"), ("Come pan y queso", "es")]
)
def test_the_language_of_a_few_words_is_that_whose_tables_know_them(said: str, language: Language) -> None:
    assert spoken_in_claims(said) == language


def test_both_languages_have_the_same_sections() -> None:
    assert set(languages("claims")) == set(languages("support")) == set(LANGUAGES)
    for subject, missing in (("claims", {"times"}), ("support", set())):
        assert tables("en", subject).keys() ^ tables("es", subject).keys() == missing


def test_the_longest_phrase_is_found_over_what_may_stand_between_its_words() -> None:
    table = wording("en").phrases
    first, known = next((first, known) for first, known in table.items() if len(known[0].roots) == 2)
    phrase = known[0]
    said = (first, "my", *phrase.roots[1:])
    assert longest(table, said, 0, (False, True, False)) == (phrase, 3)
    assert longest(table, said, 0, (False, False, False)) is None
