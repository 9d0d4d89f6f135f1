"""Spans that somebody else says. What follows for the author's words: test_own_words.py."""

import re

import pytest

from proxy.memory.other_speakers import (
    BEARERS,
    LICENSED,
    ORDERS,
    SAID_BEHIND,
    SPEAKS,
    WORKS,
    attributed,
    speaks_of_text,
)
from proxy.memory.shapes import TAKEN


def test_behind_what_is_enclosed_the_author_goes_on() -> None:
    assert attributed(f"My neighbour writes: {TAKEN * 30} I live in Cork.") == []


def test_of_later_paragraphs_it_is_not_sure() -> None:
    found = attributed("My horoscope: I live in Oslo.\n\nI live in Cork.")
    assert [each.is_sure for each in found] == [True, True, False]


@pytest.mark.parametrize(
    ("said", "speaks"),
    [("my neighbour says hi", True), ("translate it", True), ("mi carta", True), ("I live in Cork.", False)],
)
def test_whether_a_message_speaks_of_a_text(said: str, speaks: bool) -> None:
    assert speaks_of_text(said) is speaks


@pytest.mark.parametrize(
    ("table", "found", "not_found"),
    [
        (SPEAKS, ("my neighbour writes", "he goes", "mi hermano dice"), ("i wrote", "se puso", "te aviso")),
        (BEARERS, ("my horoscope", "la etiqueta", "her dating profile"), ("my knee", "mi gato")),
        (WORKS, ("translate", "please rewrite", "corregi"), ("i translate", "my work")),
        (ORDERS, ("remove the adjectives", "ponle titulo"), ("titulo", "about the move", "actually the")),
        (
            LICENSED,
            ("about me", "my details", "mis datos", "so you should know"),
            ("my horoscope", "de mi primo"),
        ),
        (SAID_BEHIND, (", says my neighbour", ", dice mi vecino"), ("says hello", "it is fine")),
    ],
)
def test_each_table_finds_its_words_and_no_look_alike(
    table: re.Pattern[str], found: tuple[str, ...], not_found: tuple[str, ...]
) -> None:
    assert [each for each in found if table.search(each) is None] == []
    assert [each for each in not_found if table.search(each) is not None] == []
