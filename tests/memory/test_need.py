from dataclasses import replace

import numpy as np
import pytest

from proxy.memory.facts import DAY, Decay
from proxy.memory.need import NONE, PAST, SOME, Need, answering, need
from proxy.memory.recall import Query, rank
from proxy.types import Fact
from tests.builders import NOW
from tests.context.told import fact
from tests.memory.indexed import index_of, path, turn, vector

OLD = (
    turn(1, "My boat is called Marigold and lies in Cape Merrow", "A fine name"),
    turn(2, "Mi barco se llama Caléndula y está en el muelle 14", "Lindo nombre"),
    turn(3, "The mechanic asked 900 dollars for the new keel", "That is fair"),
)
RECENT = (
    turn(4, "Let us talk about dinner", "Gladly: soup or rice?"),
    turn(5, "Soup sounds fine", "Then chop two onions"),
)
TALK = (*OLD, *RECENT)
INDEX, EMBEDDED = index_of(TALK), index_of(TALK, embedded=True)


def needed(text: str, *, embedded: bool = True, held: tuple[bytes, ...] = path(*RECENT)) -> Need:
    index = EMBEDDED if embedded else INDEX
    query = Query(text, vector(text) if embedded else None, path(*TALK), frozenset(held))
    return need(index, query, rank(index, query))


@pytest.mark.parametrize("embedded", [False, True], ids=["by-words", "by-meaning-too"])
@pytest.mark.parametrize(
    "text",
    [
        "What is my boat called?",
        "Remind me where my boat lies",
        "How much did the mechanic ask for the keel?",
        "¿Cómo se llamaba mi barco?",
        "¿En qué muelle está mi barco?",
    ],
)
def test_a_question_about_what_left_the_prompt_opens_the_gate(text: str, embedded: bool) -> None:
    assert needed(text, embedded=embedded).share > 0


@pytest.mark.note("0/2", "6/4")
@pytest.mark.parametrize("embedded", [False, True], ids=["by-words", "by-meaning-too"])
@pytest.mark.parametrize(
    "text",
    [
        "Thanks, that was delicious!",
        "Ok, I have chopped them. It smells great already.",
        "Dale, gracias. Ya la probé y quedó muy rica.",
        "I bought bread on my way home. The shop was full. Then it rained.",
        "",
    ],
)
def test_ordinary_talk_leaves_it_shut(text: str, embedded: bool) -> None:
    assert needed(text, embedded=embedded).kind == "none"


@pytest.mark.parametrize("text", ["What is my boat called?", "¿Cómo se llamaba mi barco?"])
def test_the_gate_is_not_shut_by_old_turns_that_are_not_embedded_yet(text: str) -> None:
    index = index_of(TALK)
    for each in RECENT:
        index.add(each, np.array([vector(said.text) for said in each.utterances]))
    query = Query(text, vector(text), path(*TALK), frozenset(path(*RECENT)))
    assert need(index, query, rank(index, query)).score >= needed(text, embedded=False).score - 1


def test_who_tells_figures_asks_for_none() -> None:
    asked, told = (
        "What should I pay the mechanic for the keel?",
        "What should I pay the mechanic, 800 or 850, for the keel?",
    )
    assert needed(told).score < needed(asked).score


def test_nothing_is_needed_that_the_prompt_holds() -> None:
    assert needed("What is my boat called?", held=path(*TALK)) == NONE


def test_the_surer_it_is_the_more_is_recalled() -> None:
    found = [needed(text) for text in ("What is my boat called?", "Soup sounds fine", "Is a boat expensive?")]
    for each in found:
        expected = "past" if each.score >= PAST else "some" if each.score >= SOME else "none"
        assert each.kind == expected
    shares = {each.kind: each.share for each in found}
    assert shares["past"] == 1
    assert shares["none"] == 0


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
