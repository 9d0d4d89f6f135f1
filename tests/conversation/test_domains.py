"""Which part of life a message is clearly about."""

import pytest

from proxy.conversation.domains import domain, weights


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my boss moved the meeting with the client to Monday", "work"),
        ("mi jefa pasó la reunión con el cliente al lunes", "work"),
        ("el código no compila y el test falla en la función nueva", "code"),
        ("the function fails the test after the last commit", "code"),
        ("hm, not sure", ""),
        ("", ""),
    ],
)
def test_the_domain_is_that_of_most_words(text: str, expected: str) -> None:
    assert domain(text) == expected


def test_a_tie_is_no_domain() -> None:
    assert set(weights("my boss wrote code")) == {"work", "code"}
    assert domain("my boss wrote code") == ""


def test_a_word_counts_once_however_often_it_is_said() -> None:
    assert weights("meeting meeting meeting") == weights("meeting")
