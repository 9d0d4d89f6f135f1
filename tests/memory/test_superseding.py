"""Which statement takes the place of which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.analysis import analyse
from proxy.memory.superseding import is_of_other, is_said_instead, remainder, replaces, returns_from, says_more

# of one subject, holder and attribute: the newer takes the older one's place
SAME = [
    ("I live in Cork", "I moved to Sligo"),
    ("vivo en Tandil", "me mudé a Azul"),
    ("I live in Cork", "I live in Sligo"),
    ("I'm 41", "I'm 42"),
    ("tengo 41 años", "tengo 42 años"),
    ("the budget of the trip is $900", "the budget of the trip is now $1,200"),
    ("el presupuesto del viaje es de 900 euros", "ahora el presupuesto del viaje es de 1.200 euros"),
    ("my exam is on May 3", "my exam moved to June 9"),
    ("el examen es el 3 de mayo", "el examen pasó al 9 de junio"),
    ("I work at a bank in Leeds", "I stopped working at the bank"),
    ("soy vegana", "ya no soy vegana"),
    ("I'm vegan", "I'm not vegan anymore"),
    ("I have a Honda Jazz", "I sold the Honda"),
    ("tengo un Fiat Uno", "vendí el Fiat"),
    ("answer in English", "answer in Spanish"),
    ("respondeme en inglés", "respondeme en castellano"),
    ("my boss is Anne Poe", "my boss is Tom Rye now"),
    ("my son is 6 years old", "my son is 7 years old"),
    ("mi hijo tiene 6 años", "mi hijo tiene 7 años"),
    ("my son lives in Cork", "my son moved to Sligo"),
]
# about two things, or of two people: both stay
APART = [
    ("the budget of the trip is $900", "the budget of the kitchen is $4,000"),
    ("the budget of the trip is $900", "the budget of the kitchen is now $4,000"),
    ("el presupuesto del viaje es de 900 euros", "el presupuesto de la cocina es de 4.000 euros"),
    ("the budget of the trip is 900 euros", "the budget of the kitchen is now 4,000 euros"),
    ("el presupuesto del viaje es de 900 euros", "ahora el presupuesto de la cocina es de 4.000 euros"),
    ("I'm allergic to nuts", "my son is allergic to latex"),
    ("I'm allergic to nuts", "my son is not allergic to nuts"),
    ("soy alérgica al maní", "mi hijo no es alérgico al maní"),
    ("I'm allergic to nuts", "I'm allergic to latex"),
    ("soy alérgica al maní", "soy alérgica al látex"),
    ("my left knee hurts", "my right knee is fine"),
    ("me operaron la rodilla izquierda", "me operaron la rodilla derecha"),
    ("I live in Cork", "my sister lives in Sligo"),
    ("vivo en Tandil", "mi hermana vive en Azul"),
    ("my son Tom is 6", "my son Ben is 9"),
    ("mi hija Ema tiene 6 años", "mi hija Lía tiene 9 años"),
    ("I live in Cork", "I work at a bank now"),
    ("vivo en Tandil", "ahora trabajo en un banco"),
    ("answer in English", "keep your answers short"),
    ("use formal English for customers", "use casual English for friends"),
    ("I prefer tea", "I prefer trains to planes"),
    ("I live in Cork", "I live in Cork"),
]


@pytest.mark.note("Flush/2", "Consolidación/2", "Decisiones/4", "Rumi Fase 3/2")
@pytest.mark.parametrize(("old", "new"), SAME)
def test_of_the_same_subject_what_was_said_last_holds(old: str, new: str) -> None:
    assert replaces(analyse(new), analyse(old))


@pytest.mark.note("1.1/14")
@pytest.mark.parametrize(("old", "new"), APART)
def test_of_two_subjects_or_holders_both_hold(old: str, new: str) -> None:
    assert not replaces(analyse(new), analyse(old))


@pytest.mark.parametrize(
    ("before", "between", "new", "ends"),
    [
        ("I work at Halden", "I moved to Corvo now", "I'm back at Halden", True),
        ("trabajo en Halden", "ahora trabajo en Corvo", "volví a trabajar en Halden", True),
        ("I work at Halden", "I moved to Corvo now", "I work at Halden", False),
        ("I work at Halden", "my sister works at Corvo now", "I'm back at Halden", False),
        ("I work at Halden", "I like tea now", "I'm back on the bike", False),
    ],
)
def test_a_return_ends_what_was_said_in_between(before: str, between: str, new: str, ends: bool) -> None:
    assert returns_from(analyse(new), analyse(before), analyse(between)) is ends


@pytest.mark.parametrize(
    ("value", "new", "left"),
    [
        (
            "I'm left-handed, I play bass and have a Jazzmaster",
            "I sold the Jazzmaster",
            "I'm left-handed, I play bass",
        ),
        (
            "flying from Manila, staying at Hotel Gracery in Shinjuku, budget $900",
            "we cancelled Hotel Gracery",
            "flying from Manila \u2026 budget $900",
        ),
        ("tengo dos hijas, Ema de 6 y Lía de 11, la grande juega ajedrez", "Lía dejó el ajedrez", None),
        ("I have a dog, Toby, who barks", "I have no dog any more", ""),  # what describes it goes with it
        ("I live in Cork", "I moved to Sligo", ""),
    ],
)
def test_what_it_says_nothing_of_is_left(value: str, new: str, left: str | None) -> None:
    held = remainder(analyse(new), value)
    assert held == left if left is not None else "ajedrez" not in held and "Ema" in held


@given(st.sampled_from(SAME), st.sampled_from(SAME))
def test_what_is_left_stands_in_what_was_said(one: tuple[str, str], other: tuple[str, str]) -> None:
    value = f"{one[0]}, {other[0]}"
    assert all(piece in value for piece in remainder(analyse(other[1]), value).split(" \u2026 "))


VALUES = [said for pair in (*SAME, *APART) for said in pair]


@given(st.sampled_from(VALUES))
def test_nothing_takes_its_own_place(said: str) -> None:
    assert not replaces(analyse(said), analyse(said))


HELD = [
    "{} is vegan",
    "{} lives in Cork",
    "{} is not vegan anymore",
    "{} moved to Sligo",
    "{} is 41",
    "{} sold the boat",
]
HOLDERS = ["my son", "my mother", "my boss", "my sister", "my dog", "my neighbour"]


@given(
    st.sampled_from(HELD),
    st.sampled_from(HELD),
    st.lists(st.sampled_from(HOLDERS), min_size=2, max_size=2, unique=True),
)
def test_nothing_is_superseded_by_a_statement_of_another_holder(one: str, other: str, holders: list[str]) -> None:
    assert not replaces(analyse(one.format(holders[0])), analyse(other.format(holders[1])))


OWN = ["I'm vegan", "I live in Cork", "I'm not vegan anymore", "I moved to Sligo", "soy vegana", "ya no soy vegana"]


@given(st.sampled_from(OWN), st.sampled_from(HELD), st.sampled_from(HOLDERS))
def test_nor_the_users_own_by_one_of_somebody_else_nor_the_other_way_round(own: str, held: str, holder: str) -> None:
    mine, theirs = analyse(own), analyse(held.format(holder))
    assert not replaces(mine, theirs)
    assert not replaces(theirs, mine)


@pytest.mark.parametrize(
    ("new", "old", "is_other"),
    [
        ("the database listens on port 5433, not the usual", "the frontend listens on port 5173", True),
        ("write to my clients in Cali formally", "write to my clients in Quito casually", True),
        ("the port is 5433 now", "the port is 5173", False),
        ("we sold the old green van", "the green van has a dent", False),
        ("I work at the mill now", "I work at the bank", False),
        (
            "my thesis is supervised by Ines now, I swapped supervisors",
            "my thesis is about wetlands and Dr Salva",
            True,
        ),
    ],
)
def test_where_each_names_a_thing_of_its_own_both_may_hold(new: str, old: str, is_other: bool) -> None:
    assert is_of_other(analyse(new), analyse(old)) is is_other


@pytest.mark.parametrize(
    ("new", "value", "more"),
    [
        ("I'm not running the marathon in Leeds", "I run in Asics, and I've entered the marathon in Leeds", True),
        ("I'm not running the marathon in Leeds", "I've entered the marathon in Leeds", False),
        ("me mudé a Azul", "vivo en Tandil", False),
    ],
)
def test_a_piece_that_says_something_of_its_own_still_holds(new: str, value: str, more: bool) -> None:
    assert says_more(analyse(new), value) is more


@pytest.mark.parametrize(
    ("between", "before", "instead"),
    [
        ("the logo is in navy", "the logo is in olive", True),
        ("pago con Clip en la tienda", "pago con Mercado Pago en la tienda", True),
        ("I'm pescatarian", "I'm vegetarian", True),
        ("my brother lives in Turin", "I live in Cork", False),
        ("I also play the harp", "I play the flute", False),
        ("for code answer in English", "for recipes answer in Italian", False),
        ("my dog is called Petrel", "I live in Cork", False),
    ],
)
def test_two_that_say_otherwise_of_one_thing_may_be_alternatives(between: str, before: str, instead: bool) -> None:
    assert is_said_instead(analyse(between), analyse(before)) is instead
