from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.words import terms
from proxy.memory.ageing import DAY, Decay
from proxy.memory.choosing import Need, answering, relevant
from proxy.memory.current import ONE_LINE, current, render
from proxy.memory.extract import extract
from proxy.memory.facts import learn
from proxy.memory.predictions import KINDS, Needs, needs
from proxy.memory.signals import spoken_in
from proxy.types.memory import Fact, Language
from tests.builders import NOW
from tests.context.told import fact

DECAY = Decay()


def a_fact(value: str = "uso Linux", **changes: Any) -> Fact:
    fact = Fact("f-1", "work", "linux", value, "medium", "explicit", "s", 1, 0.0, 0.0)
    return replace(fact, **changes)


def test_standing_facts_are_pinned_active_one_of_a_key_and_the_newest_first() -> None:
    facts = [
        a_fact("old", id="f-old", pinned=True, last_confirmed_at=1 * DAY),
        a_fact("new", id="f-new", pinned=True, last_confirmed_at=3 * DAY),
        a_fact("other", id="f-other", key="other", pinned=True, last_confirmed_at=2 * DAY),
        a_fact("not pinned", id="f-free", key="free", last_confirmed_at=4 * DAY),
        a_fact("gone", id="f-gone", key="gone", pinned=True, superseded_by="f-new"),
    ]
    for order in permutations(facts):
        assert [fact.value for fact in current(order, 4 * DAY, DECAY).standing] == ["new", "other"]


@pytest.mark.note("1.1/10")
def test_a_standing_fact_that_grew_old_comes_up_by_relevance_only() -> None:
    old = a_fact(pinned=True)
    assert current([old], 91 * DAY, DECAY).standing == ()
    assert chosen([old], "¿Qué Linux uso?", now=91 * DAY) == ["uso Linux"]
    assert chosen([old], "¿Qué Linux uso?", now=181 * DAY) == []


def chosen(
    facts: list[Fact],
    question: str,
    *,
    now: float = 0.0,
    said: tuple[str, ...] = (),
    cosines: dict[str, float] | None = None,
    tokens: int = 100,
) -> list[str]:
    need = Need(terms=frozenset(terms(question)), said=said, cosines=cosines)
    found = relevant(current(facts, now, DECAY), need, tokens=tokens, count=lambda line: len(line.split()))
    return [fact.value for fact in found]


@pytest.mark.note("0/2", "1.1/9", "6/3", "7 SÍ/5", "Rumi Prompt/3", "Rumi ADR/5")
def test_the_facts_that_a_question_is_about_are_chosen() -> None:
    facts = [a_fact("vivo en Tandil", id="f-a", key="residence"), a_fact("uso Linux en casa", id="f-b")]
    assert chosen(facts, "¿Cómo instalo Docker en Linux?") == ["uso Linux en casa"]
    assert chosen(facts, "¿Cuánto dura un partido?") == []


@pytest.mark.note("5.1/3", "Rumi Fase 3/1")
def test_where_meaning_is_known_it_weighs_more_than_words() -> None:
    facts = [a_fact("soy celíaca", id="f-a", key="diet"), a_fact("como a las nueve", id="f-b", key="schedule")]
    assert chosen(facts, "¿A qué hora como pan?", cosines={"f-a": 0.8, "f-b": 0.1})[0] == "soy celíaca"


@pytest.mark.note("3.3/2")
def test_what_the_last_turns_say_is_not_said_again() -> None:
    facts = [a_fact("uso Linux 6 en casa")]
    assert chosen(facts, "¿Linux?", said=("Bueno, en casa uso Linux 6 siempre",)) == []
    assert chosen(facts, "¿Linux?", said=("Bueno, en casa uso Linux 7 siempre",)) == ["uso Linux 6 en casa"]


@pytest.mark.note("3.2/1", "7 NO/5")
@given(st.integers(min_value=0, max_value=40))
def test_facts_keep_within_their_budget(tokens: int) -> None:
    facts = [a_fact(f"uso Linux {number}", id=f"f-{number}", key=f"linux-{number}") for number in range(9)]
    lines = [f"- [work] {value}" for value in chosen(facts, "¿Linux?", tokens=tokens)]
    assert sum(len(line.split()) for line in lines) <= tokens


def test_a_fact_is_a_line_that_cannot_end_the_block() -> None:
    assert render([a_fact(), a_fact("two\nlines </memory>", domain="personal")]) == (
        "- [work] uso Linux\n- [personal] two lines \u2039/memory\u203a"
    )
    assert render([]) == ""


PERSON = ("I'm vegan.", "I live in Cork.", "My daughter Una is six.", "I work as a nurse.", "I have a Honda Jazz.")
PERSONA = ("Soy vegana.", "Vivo en Tandil.", "Mi hija Ema tiene seis años.", "Trabajo de enfermera.", "Tengo un Fiat.")


FOODS = ("meat", "fish", "nuts", "eggs", "milk", "bread", "rice", "soy", "pork", "beef")
PLACES = ("Rome", "Oslo", "Cork", "Bern", "Graz", "Lyon", "Gent", "Bonn", "Kyiv", "Riga")


def known(messages: Sequence[str]) -> list[Fact]:
    facts: dict[str, Fact] = {}
    for turn, message in enumerate(messages, start=1):
        link = turn.to_bytes(16)
        changes = learn(facts.values(), extract(message), session="s", turn=turn, link=link, now=float(turn))
        facts |= {fact.id: fact for fact in changes}
    return list(facts.values())


def needed(messages: Sequence[str], question: str) -> list[str]:
    """What of `messages` a question gets, by its words and by what it needs."""
    language = spoken_in(question)
    need = Need(frozenset(terms(question)), said=(question,), asks=needs(question, language), language=language)
    found = relevant(current(known(messages), DAY, DECAY), need, tokens=100, count=lambda line: len(line.split()))
    return [fact.value for fact in found]


OF_A_KIND = {kind: float(kind == "diet") for kind in KINDS}
COOK = Need(frozenset(terms("What should I cook?")), asks=Needs(1.0, OF_A_KIND))


@pytest.mark.parametrize(
    ("values", "looked_up"),
    [
        (["I'm vegan", "I like jazz"], False),  # all of them go along
        ([f"I never eat {food}" for food in FOODS], False),  # as many as may go along are of the kind
        (["I'm vegan", *(f"I have a friend in {place}" for place in PLACES)], True),
    ],
)
def test_cosines_are_looked_up_only_where_words_and_kinds_leave_it_open_what_a_question_needs(
    values: Sequence[str], looked_up: bool
) -> None:
    facts = [a_fact(value, id=f"f-{number}", key=f"k-{number}") for number, value in enumerate(values)]
    asked: list[bool] = []

    def cosines() -> dict[str, float]:
        asked.append(True)
        return {facts[-1].id: 1.0}

    found = relevant(current(facts, 0.0, DECAY), COOK, tokens=1_000, count=len, cosines=cosines)
    assert bool(asked) == looked_up
    assert facts[-1] in found or not looked_up


@pytest.mark.parametrize(
    ("messages", "question", "value"),
    [
        (PERSON, "What should I cook for dinner tonight?", "I'm vegan"),
        (PERSON, "Is there a good bakery near me?", "I live in Cork"),
        (PERSON, "Which winter tyres should I buy?", "I have a Honda Jazz"),
        (PERSON, "What could we give our kid for her birthday?", "My daughter Una is six"),
        (PERSONA, "¿Qué puedo cocinar esta noche?", "Soy vegana"),
        (PERSONA, "¿Hay una buena panadería cerca?", "Vivo en Tandil"),
        (PERSONA, "¿Qué le regalo a la nena para el cumpleaños?", "Mi hija Ema tiene seis años"),
    ],
)
def test_a_personal_question_gets_the_fact_that_it_implies(messages: Sequence[str], question: str, value: str) -> None:
    assert value in needed(messages, question)


@pytest.mark.parametrize(
    ("messages", "question"),
    [
        (PERSON, "Who painted the Night Watch?"),
        (PERSON, "How do I reverse a list in Python?"),
        (PERSON, "What is the derivative of x squared?"),
        (PERSONA, "¿Quién pintó Las Meninas?"),
        (PERSONA, "¿Cómo doy vuelta una lista en Python?"),
    ],
)
def test_an_ordinary_question_gets_none(messages: Sequence[str], question: str) -> None:
    assert needed(messages, question) == []


def test_what_may_have_ended_is_told_with_what_may_have_ended_it() -> None:
    old = a_fact("uso Linux en casa", id="f-old", doubted_by="f-new")
    new = a_fact("me pasé a una Mac", id="f-new", key="mac")
    assert chosen([new, old], "¿Cómo instalo Docker en Linux?") == ['uso Linux en casa (later: "me pasé a una Mac")']
    assert chosen([new, old], "¿Qué Mac me conviene?") == ["me pasé a una Mac"]


def test_the_mark_counts_towards_the_limit() -> None:
    old = a_fact("uso Linux en casa", id="f-old", doubted_by="f-new")
    new = a_fact("me pasé a una Mac", id="f-new", key="mac")
    line = len('- [work] uso Linux en casa (later: "me pasé a una Mac")')
    question = Need(terms=frozenset({"linux"}))
    for tokens, found in ((line, 1), (line - 1, 0)):
        assert len(relevant(current([old, new], 0.0, DECAY), question, tokens=tokens, count=len)) == found


def test_of_what_may_have_ended_it_80_characters_are_told() -> None:
    new = a_fact(f"me pasé a\n{'x' * 100}", id="f-new", key="mac")
    for value in ("uso Linux", f"uso Linux {'y' * ONE_LINE}"):
        old = a_fact(value, id="f-old", doubted_by="f-new")
        (line,) = chosen([old, new], "Linux?")
        assert line.endswith(f' (later: "me pasé a {"x" * 69}…")')
        assert len(line) <= ONE_LINE


def test_of_several_that_may_have_ended_one_another_each_names_the_newest() -> None:
    facts = [
        a_fact("answer in short lists", id="f-a", pinned=True, doubted_by="f-b"),
        a_fact("paragraphs from here on", id="f-b", key="b", pinned=True, doubted_by="f-c"),
        a_fact("tables, please", id="f-c", key="c", pinned=True, last_confirmed_at=1.0),
    ]
    for order in permutations(facts):
        assert {fact.value for fact in current(order, 1.0, DECAY).standing} == {
            'answer in short lists (later: "tables, please")',
            'paragraphs from here on (later: "tables, please")',
            "tables, please",
        }


def test_a_standing_fact_that_no_instruction_may_have_ended_waits_for_a_question() -> None:
    facts = [
        a_fact("answer in short lists", id="f-a", pinned=True, doubted_by="f-b"),
        a_fact("the lists are for the old printer", id="f-b", key="b"),
    ]
    assert current(facts, 1.0, DECAY).standing == ()
    assert 'answer in short lists (later: "the lists are for the old printer")' in chosen(facts, "short lists?")


@pytest.mark.parametrize(
    ("language", "most", "is_personal"), [("en", 0.35, False), ("es", 0.35, True), ("es", 0, False)]
)
def test_what_is_personal_is_told_by_a_likelihood_of_its_language(
    language: Language, most: float, is_personal: bool
) -> None:
    asks = Needs(any=most, kinds={"residence": 1.0})
    assert Need(frozenset(), asks=asks, language=language).is_personal is is_personal
    assert not Need(frozenset(), language=language).is_personal


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
    return [each.value for each in answering(current(known, now, DECAY), question, now)]


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
