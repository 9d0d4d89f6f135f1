"""What is left of a statement when all that says nothing is left out."""

import pytest

from proxy.memory.claim_terms import terms_of, words_of
from proxy.memory.claim_words import wording
from proxy.types.memory import Language


def said(text: str, language: Language) -> list[str]:
    table = wording(language)
    return [term.said for term in terms_of(words_of(text, table), table)]


@pytest.mark.parametrize(
    ("language", "text", "left"),
    [
        ("en", "So yeah, basically I'm an only child", ["only child"]),
        ("en", "The user's neighbour", ["neighbour"]),
        ("es", "mira, te cuento, soy zurdo", ["zurdo"]),
        ("es", "La madre del usuario", ["madre"]),
        ("es", "Su dentista es la doctora Olga Pizarro", ["dentista", "olga", "pizarro"]),
    ],
)
def test_fillers_titles_and_the_user_are_left_out(language: Language, text: str, left: list[str]) -> None:
    assert said(text, language) == left


def test_a_phrase_is_one_term() -> None:
    assert said("She can't stand coriander", "en") == ["can not stand", "coriander"]


def test_a_negation_and_a_preposition_are_noted_with_the_term_behind_them() -> None:
    table = wording("en")
    swims, river = terms_of(words_of("He does not swim in rivers", table), table)
    assert (swims.is_denied, river.behind) == (True, "in")
    assert not river.is_denied
