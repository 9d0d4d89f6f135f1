"""Which remembered statements are one fact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.same_fact import nominated, same_fact

SAME = [
    ("trabaja en Google", "es empleado de Google"),
    ("trabajo en Google", "El usuario trabaja en Google"),
    ("vivo en Lima", "Reside en Lima"),
    ("no soporto el cilantro", "Odia el cilantro"),
    ("tengo tres hijos", "Tiene 3 hijos"),
    ("mi vieja es modista", "La madre del usuario es modista"),
    ("me operó la doctora Paz", "Fue operada por la doctora Paz"),
    ("me dedico a traducir novelas", "Se dedica a la traducción de novelas"),
    ("la verdad es que soy zurdo", "Es zurdo"),
    ("I work at Ikea", "The user works at Ikea"),
    ("I can't stand wool", "Hates wool"),
    ("I'm afraid of dogs", "Has a fear of dogs"),
    ("I play the cello in a quartet", "Plays the cello in a quartet"),
    ("On Mondays I teach yoga", "Teaches yoga on Mondays"),
    ("Born on 3 May 1990", "I was born on May 3rd, 1990"),
    ("My favourite colour is grey", "My favorite color is gray"),
    ("Works for the RAF", "works for the Royal Air Force"),
    ("Wakes at 5:45", "I wake at a quarter to six"),
    ("Has been sober for 18 months", "Has been sober for a year and a half"),
    ("Plays the oboe in a band", "Is the oboist in a band"),
    ("My knees are bad", "Has bad knees"),
    ("I work as a plumber", "Is a plumber"),
    ("Su marido es hincha de River", "su marido es hincha de River Plate"),
    ("A friend is restoring my boat", "My boat is being restored by a friend"),
]
OTHER = [
    ("come carne", "no come carne"),
    ("trabaja en Google", "trabajó en Google"),
    ("trabaja en Google", "va a trabajar en Google"),
    ("vive en Lima", "nació en Lima"),
    ("vive en Lima", "su hermana vive en Lima"),
    ("es médico", "tiene médico"),
    ("le presto plata a mi hermano", "mi hermano me presta plata"),
    ("prefiere el té al café", "prefiere el café al té"),
    ("mi hermana es mayor que yo", "Es mayor que su hermana"),
    ("como dulces a veces", "como dulces siempre"),
    ("toca la viola", "toca el violín"),
    ("tiene un gato", "tiene un perro"),
    ("mi hermano vive en Cali", "mi hermana vive en Cali"),
    ("I cycle to work", "I cycle to work only in summer"),
    ("Codes in C++", "Codes in C#"),
    ("Prefers trains to planes", "Prefers planes to trains"),
    ("I report to Danielle", "Danielle reports to me"),
    ("My firm was bought by a French group", "My firm bought a French group"),
    ("Wakes at 6 on weekdays and at 9 on Sundays", "Wakes at 9 on weekdays and at 6 on Sundays"),
    ("Flies from Cork to Lyon", "Flies from Lyon to Cork"),
    ("Wants to be a pilot", "Is a pilot"),
    ("Owns a pub", "Works in a pub"),
    ("Is on 20 mg of fluoxetine", "Is on 20 mg of duloxetine"),
    ("Teaches Welsh", "Studies Welsh"),
    ("trabaja en la cárcel", "está en la cárcel"),
    ("trabaja de lunes a viernes", "trabaja los lunes y viernes"),
    ("Is divorced", "Is divorcing"),
]


@pytest.mark.note("Flush/2", "Rumi Dedup/1", "Rumi Fase 3/2", "v2 Roadmap/2")
@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_fact_in_other_words_is_the_same(one: str, other: str) -> None:
    assert nominated(one, other)
    assert same_fact(one, other)


@pytest.mark.note("Flush/2", "Decisiones/4", "Rumi Dedup/1")
@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_differs_in_what_it_says_is_two_facts(one: str, other: str) -> None:
    assert not same_fact(one, other)


@pytest.mark.note("Extender/2", "Decisiones/4")
def test_a_cosine_nominates_and_decides_nothing() -> None:
    assert nominated("keeps bees", "owns hives", 0.9)
    assert not nominated("keeps bees", "owns a pub", 0.2)
    assert not same_fact("keeps bees", "keeps goats")


_SAID = st.sampled_from([each for pair in (*SAME, *OTHER) for each in pair])


@given(_SAID, _SAID)
def test_the_order_of_two_statements_does_not_matter(one: str, other: str) -> None:
    assert same_fact(one, other) == same_fact(other, one)


@given(st.text(alphabet=st.characters(categories=["Ll", "Lu", "Nd", "Zs"]), max_size=60))
def test_a_statement_with_words_of_its_own_is_the_same_as_itself(text: str) -> None:
    said = f"keeps bees {text}"
    assert same_fact(said, said)
