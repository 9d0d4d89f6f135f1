"""The words, numbers and marks of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.linear import feature
from proxy.memory.signals import folded
from proxy.memory.tokens import MARKS, NUMBER, letters, starts, tokens, word_pairs, word_triples, words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I'm 41, ok?", ["i'm", "<n>", ",", "ok", "?"]),
        ("Está acá: 3.5kg", ["esta", "aca", ":", "<n>"]),
        ("", []),
    ],
)
def test_tokens_are_folded_and_numbers_are_all_alike(text: str, said: list[str]) -> None:
    assert list(tokens(text)) == said


@given(st.text(max_size=200))
def test_every_token_has_its_place(text: str) -> None:
    said, places = tokens(text), starts(text)
    assert len(said) == len(places)
    assert places == sorted(set(places))
    for token, start in zip(said, places, strict=True):
        assert token == NUMBER or folded(text[start]) == token[0]
        assert token == NUMBER or token in MARKS or token[0].isalnum()


def test_a_letter_is_folded_as_its_word_is_alone() -> None:
    assert tokens("\u0391\u03a3.\u0392 \u0130Z") == ("\u03b1\u03c2", ".", "\u03b2", "iZ")


def test_features_are_named_by_what_stands_in_a_row() -> None:
    said = ("i", "sew")
    assert words("w=", said) == [feature("w=i"), feature("w=sew")]
    assert word_pairs(said) == [feature("b=^ i"), feature("b=i sew"), feature("b=sew $")]
    assert word_triples(("^", *said, "$")) == [feature("t=^ i sew"), feature("t=i sew $")]
    assert set(letters(said)) >= {feature("c= i "), feature("c= sew"), feature("c=sew ")}
