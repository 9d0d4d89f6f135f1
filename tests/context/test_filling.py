from collections.abc import Sequence

import pytest

from proxy.context.cuts import Kind
from proxy.context.filling import PlacedPiece, filled, forms, weighed
from proxy.context.pieces import Piece
from proxy.types.memory import Language


def words(said: Sequence[PlacedPiece]) -> int:
    return sum(len(each.piece.text.split()) for each in said)


def said(*pieces: tuple[int, str, float]) -> list[PlacedPiece]:
    """Turn, text and worth of each."""
    return [PlacedPiece(turn, at, Piece(text, "statement", worth)) for at, (turn, text, worth) in enumerate(pieces)]


def texts(found: Sequence[PlacedPiece]) -> list[str]:
    return [each.piece.text for each in found]


@pytest.mark.parametrize(
    ("kind", "language", "text", "shorter"),
    [
        (
            "request",
            "en",
            "I'm trying to move our read replica to Oregon because the reports are slow",
            [
                "move our read replica to Oregon because the reports are slow",
                "I'm trying to move our read replica to Oregon",
                "move our read replica to Oregon",
            ],
        ),
        (
            "statement",
            "es",
            "quiero mover la réplica de lectura a Oregón porque los reportes son lentos",
            ["quiero mover la réplica de lectura a Oregón"],
        ),
        (
            "decision",
            "en",
            "I've decided to move the read replica to Oregon, because the reports are slow",
            ["I've decided to move the read replica to Oregon"],
        ),
        (
            "decision",
            "es",
            "decidí mover la réplica a Oregón, porque el 40 % de los reportes son lentos",
            [],  # what a decision names is kept
        ),
    ],
)
def test_a_piece_is_shortened_from_its_edges(kind: Kind, language: Language, text: str, shorter: list[str]) -> None:
    assert forms(Piece(text, kind, 3.0, language=language)) == shorter


def test_what_the_answer_takes_up_is_worth_more_and_a_passing_remark_is_not() -> None:
    pieces = said((0, "The read replica is slow", 3.0), (0, "My cat likes Oregon", 3.0), (0, "replica reports", 0.5))
    assert [each.piece.worth for each in weighed(pieces, ["A read replica needs an index."])] == [4.0, 3.0, 0.5]


def test_something_of_every_turn_goes_before_a_second_piece_of_one() -> None:
    pieces = said(
        (0, "Ana runs the bakery in Leeds", 5.0),
        (0, "Ana sells the oven in June", 4.5),
        (1, "The rent goes up to 900", 2.5),
    )
    assert texts(filled(pieces, 12, words)) == ["Ana runs the bakery in Leeds", "The rent goes up to 900"]
    assert sorted(texts(filled(pieces, 40, words))) == sorted(texts(pieces))


def test_every_piece_is_shortened_before_a_turn_is_left_out() -> None:
    pieces = said(
        (0, "we move the read replica to Oregon because the reports are slow", 3.0),
        (1, "The rent goes up to 900", 3.0),
    )
    assert texts(filled(pieces, 14, words)) == ["we move the read replica to Oregon", "The rent goes up to 900"]


def test_where_nothing_can_be_shortened_the_turn_that_is_worth_least_is_left_out() -> None:
    pieces = said((0, "Ana runs the bakery in Leeds", 5.0), (1, "The rent goes up to 900", 2.5))
    assert texts(filled(pieces, 8, words)) == ["Ana runs the bakery in Leeds"]


def test_a_record_of_nothing_is_empty() -> None:
    assert filled([], 50, words) == []
