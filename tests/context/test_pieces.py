import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.cuts import Kind
from proxy.context.pieces import pieces_of, pointing_question, takes_back


def said(message: str, kind: Kind) -> tuple[str, ...]:
    return tuple(piece.text for piece in pieces_of(message) if piece.kind == kind)


@pytest.mark.parametrize(
    ("message", "statements"),
    [
        ("Ah, mi hijo Lautaro es intolerante a la lactosa.", ("mi hijo Lautaro es intolerante a la lactosa",)),
        ("The record locator is 6HJ2WD.", ("The record locator is 6HJ2WD",)),
        ("My detective is Inez Harrow, a retired bookkeeper.", ("My detective is Inez Harrow, a retired bookkeeper",)),
        ("Remember that I am allergic to shellfish.", ("I am allergic to shellfish",)),
        ("Gracias, eso funciona bárbaro!", ()),
        ("jajaja las pastas de mi abuela me agregan 2 minutos seguro", ()),
        ("¿Y si entreno doble turno como los kenianos? es joda", ()),
        ("That is 14 kilos.", ()),
        ("Your 3 tips were great, thanks!", ()),
        ("You said that I live in Leeds with my parents.", ()),
        ("Here's a simple comparison in Python.", ()),
        ("x = [i for i in range(10)]", ()),
    ],
)
def test_statements_are_whole_and_can_be_understood_alone(message: str, statements: tuple[str, ...]) -> None:
    assert said(message, "statement") == statements


@pytest.mark.parametrize(
    ("message", "requests"),
    [
        ("Che, ¿a qué hora conviene llegar a la largada?", ("a qué hora conviene llegar a la largada?",)),
        ("Can you help me with how to size the new nodes?", ("how to size the new nodes",)),
        (
            "I'm trying to optimize my resume for the new parser, can you help me with that?",
            ("I'm trying to optimize my resume for the new parser",),
        ),
        (
            "Should I do games, or do people secretly hate games?",
            ("Should I do games, or do people secretly hate games?",),
        ),
        (
            "Dijiste que yo vivo en Leeds. ¿De dónde sacaste la ciudad de Leeds?",  # what it denies is not noted
            (),
        ),
        ("I need to fix the parser of my app, here's my code:", ("I need to fix the parser of my app",)),
        (
            'Una clienta escribió: "odio la miel". ¿Cómo respondo bien?',
            ('Una clienta escribió: "odio la miel". Cómo respondo bien?',),
        ),
        (
            "Hola, quiero planear un viaje a Portugal en octubre y la verdad no sé por dónde empezar, ¿me ayudas?",
            ("quiero planear un viaje a Portugal en octubre",),
        ),
        ("¿Cómo los controlo?", ()),
        ("¿Qué opinas?", ()),
        ("What do you think?", ()),
        ("How are you?", ()),
    ],
)
def test_requests_are_told_whole_with_what_they_point_to(message: str, requests: tuple[str, ...]) -> None:
    assert said(message, "request") == requests


def test_a_question_that_points_to_the_sentence_before_it_stands_with_it() -> None:
    message = 'My partner wrote in the margin: "I hate sentimental endings." Should I take that seriously?'
    assert said(message, "request") == (
        'My partner wrote in the margin: "I hate sentimental endings." Should I take that seriously?',
    )


def test_a_decision_in_a_long_sentence_is_told_by_its_clause() -> None:
    message = (
        "I'm still looking at every option for the architecture of my application with its many parts and its many "
        "users in the north, "
        "and I've decided against microservices for now."
    )
    assert said(message, "decision") == ("I've decided against microservices for now",)


@pytest.mark.parametrize(
    ("message", "corrects"),
    [
        ("Small correction: the drop moves to 5.1.", True),
        ("Cambié de idea con la versión: usamos PostgreSQL 16.", True),
        ("We're going with PostgreSQL 15.", False),
        ("Someday I might switch to a boat in Lisbon.", False),
    ],
)
def test_what_changes_an_earlier_word_is_a_decision_that_corrects(message: str, corrects: bool) -> None:
    assert any(piece.corrects and piece.kind == "decision" for piece in pieces_of(message)) is corrects


@pytest.mark.parametrize(
    ("message", "takes"), [("Scratch that.", True), ("Mejor no, dejalo así.", True), ("Buy the blue one.", False)]
)
def test_a_decision_can_be_taken_back(message: str, takes: bool) -> None:
    assert takes_back(message) is takes


def test_a_text_that_is_handed_over_is_not_noted() -> None:
    message = "Summarize this mail:\n\nDear all,\nI have decided to close the Leeds office on May 3.\nRegards, Tom"
    assert not any("Leeds" in piece.text for piece in pieces_of(message))


@given(st.text(max_size=200))
def test_every_word_of_a_piece_stands_in_the_message(message: str) -> None:
    for piece in pieces_of(message):
        assert all(word.strip("?.").lower() in message.lower() for word in piece.text.split())


@pytest.mark.parametrize(
    ("message", "bans"),
    [
        ("Never again a hotel with carpets.", ("Never again a hotel with carpets",)),
        ("Nunca más un hotel con moqueta.", ("Nunca más un hotel con moqueta",)),
        ("Never again that one.", ()),
        ("¿Nunca más un hotel con moqueta?", ()),
    ],
)
def test_a_ban_is_a_decision_that_needs_no_more_than_a_name(message: str, bans: tuple[str, ...]) -> None:
    assert said(message, "decision") == bans


@pytest.mark.parametrize(
    ("message", "statements"),
    [
        (
            "You said that the lease ends in May, but it never ended in May.",
            ("You said that the lease ends in May, but it never ended in May",),
        ),
        (
            "Dijiste que vivo en Leeds, y nunca viví en Leeds.",
            ("Dijiste que vivo en Leeds, y nunca viví en Leeds",),
        ),
        ("You said that the lease ends in May.", ()),
        ("Dijiste que vivo en Leeds.", ()),
    ],
)
def test_what_the_assistant_said_is_told_only_whole_with_its_denial(message: str, statements: tuple[str, ...]) -> None:
    assert said(message, "statement") == statements


@pytest.mark.parametrize(
    ("rule", "once"),
    [
        ("I always use nitrile gloves in the workshop.", "I use nitrile gloves in the workshop."),
        ("Siempre uso guantes de nitrilo en el taller.", "Uso guantes de nitrilo en el taller."),
    ],
)
def test_a_rule_is_worth_more_than_what_is_so_once(rule: str, once: str) -> None:
    assert pieces_of(rule)[0].worth > pieces_of(once)[0].worth


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("How do I clean it?", "How do I clean it?"),
        ("¿Cómo limpio esa sartén de hierro?", "Cómo limpio esa sartén de hierro?"),
        ("How do I clean a skillet?", ""),
        ("What do you think of that?", ""),
        ("I clean it.", ""),
    ],
)
def test_only_a_question_that_points_is_asked_of_something_outside(message: str, question: str) -> None:
    assert pointing_question(message) == question
