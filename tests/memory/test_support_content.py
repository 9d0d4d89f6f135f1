"""What a quotation says, and what a value says beside it."""

import pytest

from proxy.memory.support_content import denied, in_time, other_details, unrelated
from tests.memory.quotations import quoted


@pytest.mark.parametrize(
    ("message", "value", "others", "reason"),
    [
        ("I have two cats", "Has three cats", "", "details"),
        ("My son is Leo", "The user's son is Theo", "", "details"),
        ("my knee MRI, the right one", "Is having an MRI of the left knee", "", "details"),
        ("I won the bronze medal in Rome", "Won the gold medal in Rome", "", "details"),
        ("my parents are from Galway but *I was born in Caracas*", "Was born in Galway", "", "details"),
        ("*It's an Angliru ride* on 8 May", "Rides the Angliru on 8 May", "", ""),
        ("*Lo subimos en mayo*", "Sube el Angliru en mayo", "el Angliru me espera", ""),
        ("*tengo turno el 19*", "Tiene turno el 29", "el 29 no puedo", "details"),
        ("corro la de 42", "Corre la carrera de 42 km", "", ""),
        ("my brother Anselm's sober", "The user's brother Anselm is sober", "", ""),
    ],
)
def test_names_and_numbers_are_those_that_were_said(message: str, value: str, others: str, reason: str) -> None:
    assert other_details(quoted(message, value, others)) == reason


@pytest.mark.parametrize(
    ("message", "value", "reason"),
    [
        ("I don't eat fish", "Eats fish", "polarity"),
        ("I can't stand wool", "Likes wool", "polarity"),
        ("I'm hardly against nuclear power", "Opposes nuclear power", "polarity"),
        ("Tampoco es que odie los musicales", "Odia los musicales", "polarity"),
        ("it's not like *I hate my job*", "Hates their job", "polarity"),
        ("I'm not a vegetarian", "Is a vegetarian", "polarity"),
        ("I'm allergic to nothing", "Is allergic to something", "polarity"),
        ("My husband can't have nuts", "Their husband is allergic to nuts", ""),
        ("tengo un anafe de dos hornallas nada más", "Tiene un anafe de dos hornallas", ""),
        ("no more than eight members from now on", "The club has eight members at most", ""),
        ("ya no trabajo en Globant", "Ya no trabaja en Globant", ""),
    ],
)
def test_a_denial_stands_in_both_or_in_none(message: str, value: str, reason: str) -> None:
    assert denied(quoted(message, value)) == reason


@pytest.mark.parametrize(
    ("message", "value", "reason"),
    [
        ("I used to live in Rome", "Lives in Rome", "tense"),
        ("I lived in Rome for years", "Lives in Rome", "tense"),
        ("yo era el arquero de Ferro", "Juega de arquero en Ferro", "tense"),
        ("growing up *mum had me in figure skating*", "Competes in figure skating", "tense"),
        ("I'll move to Rome next year", "Lives in Rome", "tense"),
        ("*desde que me eligieron presidente* escribo circulares", "Preside la comunidad", ""),
        ("I only own circular needles, I broke my wrists years ago", "Owns circular needles", ""),
        ("I tried fermenting sauce last month", "Regularly ferments sauce", "often"),
        ("ayer llegué tarde a buscar al nene", "Siempre llega tarde", "often"),
        ("I'm stuck on the train to Rome", "Takes the train to Rome", "passing"),
        ("Crashing on a sofa in Bristol till Sunday", "Lives in Bristol", "passing"),
        ("Voy en cuarto semestre de medicina", "Estudia cuarto semestre de medicina", ""),
        ("the terminals are stuck on Python 3.8", "Terminals run Python 3.8", ""),
        ("estoy en la cuarta fila desde 2011", "Toca en la cuarta fila desde 2011", ""),
    ],
)
def test_it_holds_now_and_as_often_as_was_said(message: str, value: str, reason: str) -> None:
    assert in_time(quoted(message, value)) == reason


@pytest.mark.parametrize(
    ("message", "value", "reason"),
    [
        ("I have a cold cellar", "Plays chess", "unrelated"),
        ("*Necesito el horario de la pileta* y un nombre para mi lancha", "Tiene una lancha", "unrelated"),
        ("Between shifts at the firehouse I draw", "Works as a firefighter", ""),
        ("My husband is here", "Has a husband", ""),
    ],
)
def test_a_value_has_something_in_common_with_what_was_said(message: str, value: str, reason: str) -> None:
    assert unrelated(quoted(message, value)) == reason
