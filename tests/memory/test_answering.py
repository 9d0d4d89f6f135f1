"""Facts that answer a question by themselves."""

from dataclasses import replace

import pytest

from proxy.memory.answering import answering
from proxy.memory.facts import DAY, Decay
from proxy.types import Fact
from tests.builders import NOW
from tests.context.told import fact

STATED = (
    "My budget for the quarter is 48,000 euros",
    "El presupuesto del viaje es de 2400 euros",
    "Soy alérgica a los mariscos",
    "I work as a structural engineer",
    "The race starts on June 14 at 9:30",
    "My sister's budget for the wedding is 300 euros",
    "My plan for the keel",
)
KNOWN = tuple(fact(value, bytes([at]) * 16, name=f"f-{at}") for at, value in enumerate(STATED))


def answers(question: str, known: tuple[Fact, ...] = KNOWN, now: float = NOW) -> list[str]:
    return [each.value for each in answering(known, question, now, Decay())]


@pytest.mark.parametrize(
    ("question", "at"),
    [
        ("What is my budget for the quarter?", 0),
        ("Thanks, that was useful. What is my budget for the quarter?", 0),
        ("¿De cuánto era mi presupuesto del viaje?", 1),
        ("¿A qué soy alérgica?", 2),
        ("What kind of engineer am I?", 3),
        ("When does our race start?", 4),
        ("What is my sister's budget for the wedding?", 5),
    ],
)
def test_a_fact_with_every_word_of_the_question_and_the_asked_kind_of_value_answers(question: str, at: int) -> None:
    assert answers(question) == [STATED[at]]


@pytest.mark.parametrize(
    "question",
    [
        "What is my budget for the wedding?",  # it is the sister's
        "What is my budget for the month?",
        "What was my first budget for the quarter?",
        "What did you say my budget for the quarter is?",
        "List all my budgets for the quarter?",
        "Have I a budget for the quarter?",
        "How should I plan my budget for the quarter?",
        "When is my plan for the keel?",  # no date in it
        "What is my plan for the keel?",  # nothing beyond the question
        "My budget for the quarter.",
        "What about me?",
        "",
    ],
)
def test_in_doubt_no_fact_answers(question: str) -> None:
    assert answers(question) == []


def test_what_does_not_hold_any_more_answers_nothing() -> None:
    question = "What is my budget for the quarter?"
    assert answers(question, (replace(KNOWN[0], superseded_by="f-9"),)) == []
    assert answers(question, now=NOW + 400 * DAY) == []


def test_three_facts_are_not_one_answer() -> None:
    same = tuple(replace(KNOWN[0], id=f"same-{at}") for at in range(3))
    assert answers("What is my budget for the quarter?", same[:2]) == [STATED[0]] * 2
    assert answers("What is my budget for the quarter?", same) == []
