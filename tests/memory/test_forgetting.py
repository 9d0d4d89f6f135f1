"""Which facts an order means, and what is left of one that says more."""

from dataclasses import replace

import pytest

from proxy.memory.commands import commands
from proxy.memory.forgetting import forgotten, left, rests
from proxy.types.memory import Fact, Forgetting
from tests.memory.test_facts import a_fact, told


def values_left(facts: dict[str, Fact], order: str) -> list[str]:
    """What is known after a message that orders something to be forgotten."""
    orders = commands((order,))
    meant = {fact.id: fact for each in orders for fact in forgotten(facts.values(), each)}
    stays = {fact.id: fact for fact in rests(meant.values(), orders)}
    return [fact.value for fact in ({name: fact for name, fact in facts.items() if name not in meant} | stays).values()]


@pytest.mark.parametrize(
    ("what", "left"),
    [
        ("", []),
        ("mi perra Lola", ["vivo en Tandil", "uso Linux"]),
        ("que vivo en Tandil", ["mi perra se llama Lola", "uso Linux"]),
        ("the weather", ["vivo en Tandil", "mi perra se llama Lola", "uso Linux"]),
    ],
)
def test_what_shall_be_forgotten_is_found_by_its_words(what: str, left: list[str]) -> None:
    facts = [a_fact(value) for value in ("vivo en Tandil", "mi perra se llama Lola", "uso Linux")]
    facts = [replace(fact, id=f"f-{at}", key=f"key-{at}") for at, fact in enumerate(facts)]
    gone = forgotten(facts, Forgetting(what))
    assert [fact.value for fact in facts if fact not in gone] == left


@pytest.mark.parametrize(
    ("messages", "what", "left"),
    [
        (
            ("I'm allergic to nuts.", "My son is allergic to nuts."),
            "my allergy to nuts",
            ["My son is allergic to nuts"],
        ),
        (("I'm allergic to nuts.", "My son is allergic to nuts."), "my son's nut allergy", ["I'm allergic to nuts"]),
        (
            ("Soy alérgica al maní.", "Mi hijo es alérgico al maní."),
            "que soy alérgica al maní",
            ["Mi hijo es alérgico al maní"],
        ),
        (
            ("Soy alérgica al maní.", "Mi hijo es alérgico al maní."),
            "que mi hijo es alérgico al maní",
            ["Soy alérgica al maní"],
        ),
        (("My dog is called Petrel.", "I live in Cork."), "lo de Petrel", ["I live in Cork"]),
        (("I work with Zephyr at Halden.", "I live in Cork."), "que trabajo con Zephyr", ["I live in Cork"]),
    ],
)
def test_what_is_forgotten_is_whose_the_order_says(messages: tuple[str, ...], what: str, left: list[str]) -> None:
    facts = told(*messages)
    gone = forgotten(facts.values(), Forgetting(what))
    assert [fact.value for fact in facts.values() if fact not in gone] == left


@pytest.mark.parametrize(
    ("message", "what", "left"),
    [
        ("My daughters Ana and Eva go to St Mary's school. I live in Cork.", "mis hijas", ["I live in Cork"]),
        ("I earn 61,000 a year. I live in Graz.", "mi sueldo", ["I live in Graz"]),
        ("I live at 12 Rose Street. My sister lives in Cork.", "mi dirección", ["My sister lives in Cork"]),
        ("Vivo en Calle Mayor 5. Mi hermana vive en Azul.", "my address", ["Mi hermana vive en Azul"]),
        ("Mi grupo sanguíneo es AB negativo. Vivo en Azul.", "my blood type", ["Vivo en Azul"]),
        ("I've got a dog called Rex. I live in Cork.", "lo de mi perro", ["I live in Cork"]),
        ("I live in Cork.", "mi sueldo", ["I live in Cork"]),
    ],
)
def test_what_shall_be_forgotten_is_found_in_the_other_language(message: str, what: str, left: list[str]) -> None:
    facts = told(message)
    gone = forgotten(facts.values(), Forgetting(what))
    assert [fact.value for fact in facts.values() if fact not in gone] == left


def test_what_was_superseded_is_forgotten_as_well() -> None:
    facts = told("Vivo en Tandil.", "Me mudé: ahora vivo en Azul.")
    assert [fact.value for fact in forgotten(facts.values(), Forgetting("Tandil"))] == ["Vivo en Tandil"]


@pytest.mark.parametrize(
    ("messages", "order", "left_over"),
    [
        (("I pay 900 for the mooring. I live in Lugo.",), "olvidate de lo que pago por el amarre", ["I live in Lugo"]),
        (("Soy contador. Cobro 900 mil.",), "borr\u00e1 cu\u00e1nto cobro", ["Soy contador"]),
        (("Tengo un tatuaje. Vivo en Azul.",), "Forget the tattoo.", ["Vivo en Azul"]),
        (("Hago la ruta Osorno. Vivo en Azul.",), "please forget the thing about my route", ["Vivo en Azul"]),
        (("I'm diabetic. I live in Lugo.",), "Olvidate de que soy diab\u00e9tico.", ["I live in Lugo"]),
        (("Mi mam\u00e1 tiene diabetes. Yo tengo asma.",), "Quita de tus notas lo de mi mam\u00e1", ["Yo tengo asma"]),
        (("Call me Ziggy. I live in Hull.",), "forget that nickname", ["I live in Hull"]),
        (("I am 58 years old. I live in Lugo.",), "olvid\u00e1 la edad que tengo", ["I live in Lugo"]),
    ],
)
def test_an_order_and_a_fact_are_compared_by_what_they_name(
    messages: tuple[str, ...], order: str, left_over: list[str]
) -> None:
    assert values_left(told(*messages), order) == left_over


@pytest.mark.parametrize(
    "order",
    [
        "Forget Ann's age",
        "forget the budget of the kitchen",
        "forget my daughter's allergy",
        "forget my cat",
        "Forget the last train strike.",
    ],
)
def test_what_is_not_known_takes_nothing_else_with_it(order: str) -> None:
    facts = told("My wife Ann runs a bakery in Leeds.", "I earn 40k a year.", "I'm allergic to nuts.", "I own a dog.")
    assert values_left(facts, order) == [fact.value for fact in facts.values()]


def test_an_order_that_may_mean_either_of_two_rules_means_none() -> None:
    facts = told("Always answer in French.", "Always keep answers under 100 words.")
    assert forgotten(facts.values(), Forgetting("that rule")) == ()
    assert len(forgotten(facts.values(), Forgetting("the French rule"))) == 1


@pytest.mark.parametrize(
    ("value", "what", "stays"),
    [
        ("I earn 52k as a lab manager in Basel", "my salary", "as a lab manager in Basel"),
        ("I own a boat called Petrel and a flat in Cadiz", "the boat", "I own \u2026 a flat in Cadiz"),
        ("Vivo en Oslo con mi pareja Kim", "el nombre de mi pareja", "Vivo en Oslo"),
        ("I have two kids, Maya and Joel", "my kids", ""),
        ("My dog is called Rex", "my dog", ""),
    ],
)
def test_of_two_things_in_one_statement_only_the_named_one_goes(value: str, what: str, stays: str) -> None:
    assert left(value, Forgetting(what)) == stays


def test_what_stays_is_a_fact_of_no_message() -> None:
    fact = replace(a_fact("I own a boat and a flat in Cadiz"), key="boat-flat", links=(b"1" * 16,))
    (stays,) = rests([fact], [Forgetting("the boat")])
    assert (stays.value, stays.links) == ("I own \u2026 a flat in Cadiz", ())
    assert (stays.key, stays.id == fact.id) == ("flat", False)
    assert list(rests([fact], [Forgetting("")])) == []
