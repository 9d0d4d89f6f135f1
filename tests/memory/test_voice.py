"""Whose words the pieces of a message are."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.voice import Piece, pieces, voices


def cut(text: str) -> list[str]:
    return [text[piece.start : piece.end].strip() for piece in pieces(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I live in Cork. It rains.", ["I live in Cork.", "It rains."]),
        ("one\ntwo\n\nthree", ["one", "two", "three"]),
        ("Translate: I live in Oslo", ["Translate:", "I live in Oslo"]),
        ("in French -> I live in Oslo", ["in French ->", "I live in Oslo"]),
        ("Vivo acá. ¿Llueve?", ["Vivo acá.", "¿Llueve?"]),
        ("Is 'I am living here' right?", ["Is", "'I am living here'", "right?"]),
        ("Dr. Poe is my vet.", ["Dr. Poe is my vet."]),
        ("", []),
        ("...", []),
    ],
)
def test_where_a_piece_ends(text: str, found: list[str]) -> None:
    assert cut(text) == found


def test_what_is_enclosed_is_one_piece_and_never_the_authors() -> None:
    text = "I live in Cork. What is wrong?\n```\nI live in Oslo.\nMy name is Ana.\n```"
    closed = [(piece, likely) for piece, likely in voices(text) if piece.is_enclosed]
    assert [likely for _, likely in closed] == [0.0]
    assert "Ana" in text[closed[0][0].start : closed[0][0].end]


@pytest.mark.parametrize(
    ("text", "own", "other"),
    [
        ("I live in Cork and my dog is called Petrel.", "I live in Cork", None),
        ("Vivo en Tandil con mi perra Lola.", "Vivo en Tandil", None),
        (
            "Please translate this to French: I live in Oslo and I have three cats.",
            "Please translate",
            "I live in Oslo",
        ),
        ("Traducí esto al inglés: vivo en Oslo y tengo tres gatos.", "Traducí", "vivo en Oslo"),
        ("Summarise this mail.\n\nDear Ana,\nI live in Oslo now.\nKind regards,\nTom", "Summarise", "I live in Oslo"),
        ("Resumime este mail.\n\nHola Ana:\nvivo en Oslo ahora.\nSaludos,\nTomás", "Resumime", "vivo en Oslo"),
    ],
)
def test_the_authors_own_is_likelier(text: str, own: str, other: str | None) -> None:
    likely = {text[piece.start : piece.end].strip(): says for piece, says in voices(text)}
    assert next(says for said, says in likely.items() if said.startswith(own)) > 0.5
    if other is not None:
        assert next(says for said, says in likely.items() if said.startswith(other)) < 0.5


@given(st.text(max_size=300))
def test_pieces_are_in_order_and_likelihoods_are_shares(text: str) -> None:
    found = voices(text)
    assert all(0.0 <= likely <= 1.0 for _, likely in found)
    assert [piece for piece, _ in found] == pieces(text)
    assert all(isinstance(piece, Piece) and piece.start < piece.end for piece, _ in found)
    assert all(one[0].end <= other[0].start for one, other in pairwise(found))
