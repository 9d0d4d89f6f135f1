import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.noted import clean, concreteness, is_praise, noted, sentences, shortened


@pytest.mark.parametrize(
    ("message", "statements"),
    [
        ("Ah, mi hijo Lautaro es intolerante a la lactosa.", ("mi hijo Lautaro es intolerante a la lactosa",)),
        ("The record locator is 6HJ2WD.", ("The record locator is 6HJ2WD",)),
        ("My detective is Inez Harrow, a retired bookkeeper.", ("My detective is Inez Harrow, a retired bookkeeper",)),
        ("Gracias, eso funciona bárbaro!", ()),
        ("jajaja las pastas de mi abuela me agregan 2 minutos seguro", ()),
        ("That is 14 kilos.", ()),
        ("Your 3 tips were great, thanks!", ()),
        ("x = [i for i in range(10)]", ()),
    ],
)
def test_statements_are_whole_clauses_that_stand_alone(message: str, statements: tuple[str, ...]) -> None:
    assert noted(message).statements == statements


@pytest.mark.parametrize(
    ("message", "requests"),
    [
        ("Che, ¿a qué hora conviene llegar a la largada?", ("a qué hora conviene llegar a la largada",)),
        ("Can you help me with how to size the new nodes?", ("how to size the new nodes",)),
        (
            "I'm trying to optimize my resume for the new parser, can you help me with that?",
            ("optimize my resume for the new parser",),
        ),
        (
            "Should I do games, or do people secretly hate games?",
            ("should I do games, or do people secretly hate games",),
        ),
        ("¿Qué opinas?", ()),
        ("What do you think?", ()),
        ("How are you?", ()),
    ],
)
def test_requests_are_told_whole_and_without_their_frame(message: str, requests: tuple[str, ...]) -> None:
    assert noted(message).requests == requests


@pytest.mark.parametrize(
    ("clause", "cleaned"),
    [
        ("Listo, decidí usar Redis 7.", "decidí usar Redis 7"),
        ("Otra cosa: me aprobaron más plata, por favor", "me aprobaron más plata"),
        ("Acordate de que las tablas van en singular", "las tablas van en singular"),
        ("By the way, the cello goes by ship, right?", "the cello goes by ship"),
        ("we use (mostly Go", ""),
        ("```rm -rf```", ""),
        ("ok gracias", ""),
    ],
)
def test_a_clause_loses_what_it_opens_and_ends_with_by_habit(clause: str, cleaned: str) -> None:
    assert clean(clause) == cleaned


def test_a_clause_is_cut_at_a_joint_or_not_at_all() -> None:
    clause = "the long runs move to Friday evening, because the course on Saturdays has just begun again"
    assert shortened(clause, 8) == "the long runs move to Friday evening"
    assert shortened("one two three four five six seven", 5) == ""
    assert shortened(clause, 40) == clause


def test_numbers_and_names_are_concrete_and_a_first_word_is_no_name() -> None:
    assert concreteness("Vamos con Redis 7") == 3
    assert concreteness("Vamos bien") == 0


@pytest.mark.parametrize(("answer", "praises"), [("Great job on 95 %", True), ("Two classes of 80 minutes", False)])
def test_an_answer_that_speaks_of_whoever_asks_is_praise(answer: str, praises: bool) -> None:
    assert is_praise(answer) is praises


def test_a_question_in_the_middle_begins_a_sentence() -> None:
    assert sentences("Una cosa ¿cuánto sale? Diez.\nBien") == ["Una cosa", "¿cuánto sale?", "Diez.", "Bien"]


@given(st.text(max_size=200))
def test_every_piece_of_a_note_stands_in_the_message_word_by_word(message: str) -> None:
    found = noted(message)
    for piece in (*found.decisions, *found.statements, *found.phrases):
        assert all(word in message for word in piece.split())
