"""Words that lead over to somebody else's words, and look-alikes."""

import re

import pytest

from proxy.memory import lead_words


@pytest.mark.parametrize(
    ("table", "found", "not_found"),
    [
        (lead_words.SPEAKS, ("my neighbour writes", "he goes", "mi hermano dice"), ("i wrote", "se puso", "te aviso")),
        (lead_words.BEARERS, ("my horoscope", "la etiqueta", "her dating profile"), ("my knee", "mi gato")),
        (lead_words.WORKS, ("translate", "please rewrite", "corregi"), ("i translate", "my work")),
        (lead_words.ORDERS, ("remove the adjectives", "ponle titulo"), ("titulo", "about the move", "actually the")),
        (
            lead_words.LICENSED,
            ("about me", "my details", "mis datos", "so you should know"),
            ("my horoscope", "de mi primo"),
        ),
        (lead_words.SAID_BEHIND, (", says my neighbour", ", dice mi vecino"), ("says hello", "it is fine")),
    ],
)
def test_each_table_finds_its_words_and_no_look_alike(
    table: re.Pattern[str], found: tuple[str, ...], not_found: tuple[str, ...]
) -> None:
    assert [each for each in found if table.search(each) is None] == []
    assert [each for each in not_found if table.search(each) is not None] == []
