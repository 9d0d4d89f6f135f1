"""Memories of former times, which are no facts, and the past of which something holds."""

import pytest

from proxy.memory.extract import extract
from proxy.memory.passages import read
from proxy.memory.reminiscing import is_imperfect, without_reminiscences


@pytest.mark.parametrize(
    "said",
    [
        "I remember how my grandmother used to shell peas on the back step every Sunday.",
        "When I was little we had a green Volvo that smelled of wet dog.",
        "That song takes me back. We lived above a bakery in Ghent then and my brother played the trumpet all night.",
        "I still remember my first teacher, Mrs Holloway, she wore purple hats and hated chalk.",
        "In the eighties my father owned a record shop and knew every customer by name.",
        "My uncle always used to whistle. My mother would bake a cake for every birthday.",
        "Cuando era chico ten\u00edamos un Renault verde que ol\u00eda a perro mojado.",
        "Mi pap\u00e1 nos despertaba a las cinco y nos \u00edbamos a la playa.",
        "Me acuerdo de c\u00f3mo mi abuela pelaba las arvejas en el patio.",
        "Hace a\u00f1os trabaj\u00e9 un verano en un campo de lavanda, hab\u00eda abejas por todas partes.",
        "En los ochenta mi padre tenia una disqueria y conocia a cada cliente.",
    ],
)
def test_a_memory_of_former_times_is_no_fact(said: str) -> None:
    assert extract(said) == ()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("When I was a child they found out that I'm allergic to penicillin.", "penicillin"),
        ("I used to eat everything but I'm vegan now.", "vegan"),
        ("I used to live in Rome.", "Rome"),
        ("I quit smoking years ago.", "smoking"),
        ("I was born in Quito.", "Quito"),
        ("I've been playing the cello since I was six.", "cello"),
        ("My father was a surgeon, he's retired now.", "surgeon"),
        ("I remember my old flat. I live in Cork now.", "Cork"),
        ("Antes viv\u00eda en Roma.", "Roma"),
        ("Dej\u00e9 de fumar hace a\u00f1os.", "fumar"),
        ("De chico me apareci\u00f3 una alergia al man\u00ed.", "alergia"),
        ("Quer\u00eda contarte que soy cel\u00edaca, \u00bfqu\u00e9 puedo cenar?", "cel\u00edaca"),
        ("Mi hermana vivir\u00eda en Oporto toda la vida, pero vive en Braga.", "Braga"),
    ],
)
def test_what_has_come_of_the_past_is_kept(said: str, kept: str) -> None:
    assert any(kept in each.value for each in extract(said))


def test_what_the_user_asks_to_remember_is_kept_however_long_ago_it_was() -> None:
    [fact] = extract("Remember that my grandmother used to live in Ghent.")
    assert "Ghent" in fact.value


def test_a_memory_ends_where_the_user_goes_on_in_the_present() -> None:
    said = "When I was nine we had a goat. Now I keep bees in Nairn."
    assert [each.kept for each in without_reminiscences(read(said))] == [False, True]


@pytest.mark.parametrize("said", ["mi hermano tocaba la trompeta", "tenian una panaderia", "crujía la escalera"])
def test_the_spanish_imperfect_is_known_with_and_without_accents(said: str) -> None:
    assert is_imperfect(said)


@pytest.mark.parametrize(
    "said",
    [
        "vivo arriba de una panadería",
        "mi familia es de Soria",
        "viviría en Soria",
        "quería preguntarte algo",
        "acaba tarde",
    ],
)
def test_nouns_conditionals_and_polite_forms_are_no_imperfect(said: str) -> None:
    assert not is_imperfect(said)


def test_what_was_is_no_order_for_all_answers() -> None:
    [fact] = extract("I did my MA in Edinburgh")
    assert not fact.pinned
