"""What was learnt tells facts from talk, clauses from each other, and what a question needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.clause_models import ATTRIBUTES, FILE, KINDS, guess, needs, split
from proxy.types.memory import Language


@pytest.mark.parametrize(
    ("fact", "talk", "spoken"),
    [
        ("I live in Cork.", "It rains in Cork.", "en"),
        ("I'm allergic to nuts.", "I'm tired of this.", "en"),
        ("My daughter is six.", "My train is late today.", "en"),
        ("Vivo en Tandil.", "Qué calor que hace.", "es"),
        ("Soy alérgica al maní.", "Estoy cansada de esto.", "es"),
        ("Mi hija tiene seis años.", "Mi tren viene tarde hoy.", "es"),
    ],
)
def test_what_lasts_is_likelier_a_fact_than_talk(fact: str, talk: str, spoken: Language) -> None:
    assert guess([fact], 0, spoken).fact > 0.5 > guess([talk], 0, spoken).fact


@pytest.mark.parametrize(
    ("said", "about", "spoken"),
    [
        ("I'm allergic to nuts.", "allergy", "en"),
        ("I work as a nurse.", "work", "en"),
        ("I have two cats.", "pet", "en"),
        ("Vivo en Tandil.", "residence", "es"),
        ("Tengo una perra, Lola.", "pet", "es"),
        ("Respondeme siempre en castellano.", "instruction", "es"),
    ],
)
def test_what_a_fact_is_about(said: str, about: str, spoken: Language) -> None:
    found = guess([said], 0, spoken)
    assert found.about == found.topics[0][0] == about
    assert list(found.topics) == sorted(found.topics, key=lambda each: -each[1])


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("I live in Cork and I work at a bank.", ["I live in Cork", "and I work at a bank."]),
        ("Vivo en Tandil y trabajo en un banco.", ["Vivo en Tandil", "y trabajo en un banco."]),
        ("I like black tea a lot.", ["I like black tea a lot."]),
        ("Me gusta mucho el té negro.", ["Me gusta mucho el té negro."]),
        ("I live in Cork. It rains.", ["I live in Cork.", "It rains."]),
    ],
)
def test_clauses_say_one_thing_each(text: str, clauses: list[str]) -> None:
    assert [clause.text for clause in split(text)] == clauses


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("I live in Cork, what's the weather like?", [False, True]),
        ("Vivo en Tandil, ¿qué clima tiene?", [False, True]),
        ("Do I live in Cork?", [True]),
        ("I live in Cork.", [False]),
    ],
)
def test_of_a_question_the_clause_that_asks_is_asked(text: str, asked: list[bool]) -> None:
    assert [clause.asked for clause in split(text)] == asked


@pytest.mark.parametrize(
    ("question", "kind", "spoken"),
    [
        ("what should I cook for dinner tonight?", "diet", "en"),
        ("what could we give our kid for her birthday?", "child", "en"),
        ("is there a good bakery near me?", "residence", "en"),
        ("¿qué puedo cocinar esta noche?", "diet", "es"),
        ("¿hay una buena panadería cerca?", "residence", "es"),
    ],
)
def test_a_personal_question_needs_facts_of_a_kind(question: str, kind: str, spoken: Language) -> None:
    found = needs(question, spoken)
    assert found.any > 0.6
    assert kind in sorted(found.kinds, key=lambda each: -found.kinds[each])[:3]


@pytest.mark.parametrize(
    ("question", "spoken"),
    [
        ("who painted the Night Watch?", "en"),
        ("what is the derivative of x squared?", "en"),
        ("¿quién pintó Las Meninas?", "es"),
        ("¿cuál es la derivada de x al cuadrado?", "es"),
    ],
)
def test_an_ordinary_question_needs_none(question: str, spoken: Language) -> None:
    assert needs(question, spoken).any < 0.62


def test_the_weights_are_a_file_that_is_a_part_of_the_package() -> None:
    assert FILE.is_file()


@given(st.text(max_size=120), st.sampled_from(["en", "es"]))
def test_every_guess_is_a_probability_and_the_same_twice(text: str, spoken: Language) -> None:
    found, needed = guess([text], 0, spoken), needs(text, spoken)
    assert 0 <= found.fact <= 1
    assert found.about in ATTRIBUTES
    assert 0 <= needed.any <= 1
    assert list(needed.kinds) == KINDS
    assert sum(needed.kinds.values()) == pytest.approx(1, abs=1e-4)
    assert (found, needed) == (guess([text], 0, spoken), needs(text, spoken))


@given(st.text(max_size=200))
def test_clauses_are_pieces_of_the_text_in_their_order(text: str) -> None:
    found = split(text)
    assert all(text[clause.start :].lstrip().startswith(clause.text) for clause in found)
    assert [(clause.sentence, clause.start) for clause in found] == sorted(
        (each.sentence, each.start) for each in found
    )
