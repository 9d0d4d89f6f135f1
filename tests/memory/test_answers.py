import pytest

from proxy.memory.answers import answer_to, volunteered


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("How heavy is the blue suitcase?", "It weighs 14 kilos. Mind the lock.", "It weighs 14 kilos"),
        ("How long does the visa take?", "Usually six weeks in Lisbon.", "Usually six weeks in Lisbon"),
        (
            "¿Qué réplica conviene para los reportes?",
            "Conviene la réplica de Oregón, la 2.",
            "Conviene la réplica de Oregón, la 2",
        ),
    ],
)
def test_an_answer_stands_behind_the_question_that_it_answers(question: str, answer: str, told: str) -> None:
    assert answer_to(question, answer) == told


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("Should I use Redis for the queues?", "Yes, Redis 7 handles them.", "Yes, Redis 7 handles them"),
        ("¿Conviene usar Redis para las colas?", "No: Redis 7 no alcanza.", ""),  # what a colon leads to is not read
        (
            "¿Conviene usar Redis para las colas?",
            "Sí, Redis 7 alcanza para las colas.",
            "Sí, Redis 7 alcanza para las colas",
        ),
    ],
)
def test_an_answer_keeps_its_yes_or_no(question: str, answer: str, told: str) -> None:
    assert answer_to(question, answer) == told


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who sold the blue suitcase?", "Oslo has 3 airports."),
        ("¿Quién vendió la valija azul?", "Oslo tiene 3 aeropuertos."),
        ("How heavy is the blue suitcase?", "Great question!"),
        ("How heavy is the blue suitcase?", "Blue suitcases are nice."),
        ("What is the plan?", "Here is the plan: rest in Oslo."),
        ("What is the plan?", ""),
    ],
    ids=["another matter", "another matter in Spanish", "praise", "vague", "leads to a list", "nothing"],
)
def test_what_does_not_answer_the_question_is_not_told_behind_it(question: str, answer: str) -> None:
    assert answer_to(question, answer) == ""


@pytest.mark.parametrize(
    ("user", "assistant", "told"),
    [
        (
            "How do I clean it?",
            "A steel brush removes the rust from the skillet. Then rinse.",
            "A steel brush removes the rust from the skillet",
        ),
        (
            "¿Cómo la limpio?",
            "El cepillo de acero saca el óxido de la sartén.",
            "El cepillo de acero saca el óxido de la sartén",
        ),
        ("And then?", "You are doing great work in Oslo.", ""),
        ("And then?", "It works.", ""),
    ],
)
def test_what_the_assistant_volunteers_tells_something_and_not_of_its_reader(
    user: str, assistant: str, told: str
) -> None:
    assert volunteered(user, assistant, "") == told
