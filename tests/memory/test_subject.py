"""What a statement is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.subject import Gist, gist, terms_of


@pytest.mark.parametrize(
    ("text", "holder", "is_of_another"),
    [
        ("I live in Cork", set(), False),
        ("vivo en Tandil", set(), False),
        ("my son is allergic to nuts", {"son"}, True),
        ("mi hijo es alérgico al maní", {"son"}, True),
        ("my eldest daughter lives in Sligo", {"daughter"}, True),
        ("mi hija mayor vive en Azul", {"daughter"}, True),
        ("I have a son", set(), False),
        ("tengo un hijo", set(), False),
        ("the doctor changed my pills", set(), False),
        ("she lives in Sligo", set(), True),
        ("ella vive en Azul", set(), True),
        ("por la anemia he vuelto a comer carne", set(), False),
        ("after that he works from Sligo", set(), True),
        ("mi hermana se llama Carla", {"sister"}, True),
    ],
)
def test_whose_it_is(text: str, holder: set[str], is_of_another: bool) -> None:
    found = gist(text)
    assert found.holder == holder
    assert found.is_of_another is is_of_another


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("the budget is $900", {"money", "number"}),
        ("el presupuesto es de 900 euros", {"money", "number"}),
        ("the exam is on May 3rd", {"date", "number"}),
        ("el examen es el 3 de mayo", {"date", "number"}),
        ("I start at 7:30", {"time", "number"}),
        ("entro a las 7:30", {"time", "number"}),
        ("my dog is called Petrel", {"name"}),
        ("mi perra se llama Lola", {"name"}),
        ("I live in Cork", {"place", "name"}),
        ("I like tea", set()),
    ],
)
def test_of_which_kinds_its_values_are(text: str, kinds: set[str]) -> None:
    assert gist(text).kinds == kinds


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the budget of the trip is $900", "the budget of the trip was raised to $1,200"),
        ("el presupuesto del viaje es de 900 euros", "ahora el presupuesto del viaje es de 1.200 euros"),
        ("the exam is on May 3", "the exam moved to June 9"),
    ],
)
def test_what_two_statements_of_one_thing_have_in_common_is_their_frame(one: str, other: str) -> None:
    assert gist(one).frame == gist(other).frame
    assert gist(one).values != gist(other).values


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("I live in Cork now", {"changes"}),
        ("ahora vivo en Tandil", {"changes"}),
        ("I don't run", {"ends"}),
        ("no corro", {"ends"}),
        ("I'm back at the bank", {"returns", "changes"}),
        ("volví al banco", {"returns", "changes"}),
        ("I sold the car", {"replacing", "ends"}),
        ("vendí el auto", {"replacing", "ends"}),
        ("answer in English", {"orders"}),
        ("respondé en castellano", {"orders"}),
        ("I live in Cork", set()),
        ("vivo en Tandil", set()),
    ],
)
def test_what_it_says_of_before(text: str, flags: set[str]) -> None:
    found = gist(text)
    assert {name for name in ("changes", "ends", "returns", "replacing", "orders") if getattr(found, name)} == flags


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("I live in Cork", {"residence"}),
        ("me mudé a Azul", {"residence"}),
        ("I work as a nurse", {"job"}),
        ("trabajo en un banco", {"job"}),
        ("I'm married", {"marital"}),
        ("soy viuda", {"marital"}),
        ("I'm vegan", {"diet"}),
        ("soy vegetariana", {"diet"}),
        ("tengo 41 años", {"age"}),
        ("I like tea", set()),
    ],
)
def test_what_one_has_one_of(text: str, slots: set[str]) -> None:
    assert slots <= gist(text).slots
    assert slots or not gist(text).slots


def test_the_holder_is_known_by_name() -> None:
    assert "carla" in gist("my sister Carla lives in Sligo").who
    assert "lola" in gist("mi perra se llama Lola").who


def test_an_order_tells_what_it_is_limited_to() -> None:
    assert gist("use formal English for customers").scope == terms_of(["customers"])
    assert gist("use formal English").scope == frozenset()


@given(st.text(max_size=200))
def test_a_gist_is_of_words_of_its_text_and_the_same_twice(text: str) -> None:
    found = gist(text)
    assert isinstance(found, Gist)
    assert found.frame.isdisjoint(found.values)
    assert found == gist.__wrapped__(text)
