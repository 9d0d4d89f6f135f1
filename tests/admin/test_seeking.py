"""Search in texts as a person means it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.admin.seeking import AROUND, MOST_WORDS, Sought, plain_line

TEXTS = ("¿Cuál es la CANCIÓN del verano?", "It is “La Bamba”.")


@pytest.mark.parametrize(
    ("words", "is_in"),
    [
        ("cancion", True), ("canción", True), ("CANCION verano", True), ("verano bamba", True), ("  bamba  ", True),
        ("canc", True), ("bamba otoño", False), ("canciones", False), ("", True),
    ],
)  # fmt: skip
def test_every_word_is_somewhere(words: str, is_in: bool) -> None:
    assert Sought.of(words).is_in(*TEXTS) is is_in


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("the booking\n\ncode  is QX7", "the booking code is QX7"), ("nothing", None), ("", None),
        ("a " * 100 + "code" + " b" * 100, f"…{('a ' * 100)[-AROUND:]}code{(' b' * 100)[: 2 * AROUND - 4]}…"),
    ],
)  # fmt: skip
def test_the_place_is_a_line_around_the_first_word(text: str, place: str | None) -> None:
    assert Sought.of("zzz code").place_in(text) == place


@given(st.text(), st.text())
def test_no_text_is_a_failure(words: str, text: str) -> None:
    sought = Sought.of(words)
    assert len(sought.words) <= MOST_WORDS
    place = sought.place_in(text)
    assert place is None or "\n" not in place
    assert plain_line(text) == plain_line(plain_line(text))
    assert Sought.of(text).is_in(text) or len(text.split()) > 0
