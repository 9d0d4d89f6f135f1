"""Roots and notions of the words of personal facts."""

import pytest

from proxy.language.tables import languages, tables
from proxy.memory.claim_words import are_of_one, root, spoken_in_claims, wording
from proxy.types.memory import Language

LANGUAGES: tuple[Language, ...] = ("en", "es")
FORMS: list[tuple[Language, str]] = [
    ("es", "vivo vive vives vivis vivir vivia"),
    ("es", "tengo tiene tenes tuve tuvo tenia"),
    ("es", "conozco conoce conocer"),
    ("es", "busco busque busca"),
    ("es", "casarse casarme casar"),
    ("es", "despidieron despedido despido"),
    ("en", "work works worked working"),
    ("en", "write writes wrote written writing"),
    ("en", "organise organize organises"),
    ("en", "study studies studied"),
]


@pytest.mark.parametrize(("language", "forms"), FORMS)
def test_all_forms_of_a_verb_have_one_root(language: Language, forms: str) -> None:
    assert len({root(each, language) for each in forms.split()}) == 1


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("es", "traducir", "traduccion"), ("en", "negotiating", "negotiation"), ("es", "pesca", "pescar")],
)
def test_words_that_are_made_from_one_another_are_recognised(language: Language, one: str, other: str) -> None:
    assert are_of_one(one, other, wording(language).endings)


@pytest.mark.parametrize(("language", "one", "other"), [("es", "viola", "violin"), ("en", "java", "javascript")])
def test_words_that_only_begin_alike_are_two(language: Language, one: str, other: str) -> None:
    assert not are_of_one(one, other, wording(language).endings)


@pytest.mark.parametrize(
    ("said", "language"), [("Mide 1,82 m", "es"), ("Owns a boat", "en"), ("Come pan y queso", "es")]
)
def test_the_language_of_a_few_words_is_that_whose_tables_know_them(said: str, language: Language) -> None:
    assert spoken_in_claims(said) == language


def test_both_languages_have_the_same_sections() -> None:
    assert set(languages("claims")) == set(languages("support")) == set(LANGUAGES)
    for subject, missing in (("claims", {"times"}), ("support", set())):
        assert tables("en", subject).keys() ^ tables("es", subject).keys() == missing
