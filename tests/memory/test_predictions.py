"""What is told of a clause and of a question, and what the models over them have learnt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.linear import feature
from proxy.memory.predictions import ATTRIBUTES, KINDS, features, guess, needs
from proxy.memory.predictions import about as topics_of
from proxy.types.memory import Language


def test_features_tell_of_a_clause_and_of_its_neighbours() -> None:
    words, letters, told, own = features(["I live in Cork,", "what's the weather?"], 0, "en")
    assert {feature(each) for each in ("w=live", "b=i live", "01=i live", "q=False", "at=first", "names=1")} <= words
    assert feature("c=cork") in letters
    assert {feature(each) for each in ("g=residence", "Pnone", "Nq=True")} <= told
    assert feature("g=residence") in own
    assert feature("Pnone") not in own


def test_the_same_text_has_other_features_in_another_place() -> None:
    alone, beside = features(["I live in Cork."], 0, "en"), features(["Hi.", "I live in Cork."], 1, "en")
    assert alone.words ^ beside.words == {feature("at=only"), feature("at=last")}
    assert alone.letters.tolist() == beside.letters.tolist()


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
    found = topics_of(said, spoken)
    assert guess([said], 0, spoken).about == found[0][0] == about
    assert found == sorted(found, key=lambda each: -each[1])


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


@given(st.text(max_size=120), st.sampled_from(["en", "es"]))
def test_every_guess_is_a_probability_and_the_same_twice(text: str, spoken: Language) -> None:
    found, needed = guess([text], 0, spoken), needs(text, spoken)
    assert 0 <= found.fact <= 1
    assert found.about in ATTRIBUTES
    assert 0 <= needed.any <= 1
    assert list(needed.kinds) == KINDS
    assert sum(needed.kinds.values()) == pytest.approx(1, abs=1e-4)
    assert (found, needed) == (guess([text], 0, spoken), needs(text, spoken))
