import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.text import fold, plain, sentence


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
