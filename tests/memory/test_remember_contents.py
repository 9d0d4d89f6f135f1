"""What an order to remember is about."""

import pytest

from proxy.memory.remember_contents import Content, Verb, is_by_user, is_for_task, weigh, without_to


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I keep bees", "fact"),
        ("my bees are Carniolan", "fact"),
        ("pollen makes me sneeze", "fact"),
        ("Carla is vegetarian", "fact"),
        ("the kids go to bed at eight", "fact"),
        ("cr\u00edo abejas", "fact"),
        ("nac\u00ed en Sucre", "fact"),
        ("a Julia le gusta la miel", "fact"),
        ("you should never use emojis with me", "rule"),
        ("tus respuestas deben ser cortas", "rule"),
        ("the rent is due on the 3rd", "open"),
        ("everything has to stay in Europe", "open"),
        ("bananas are berries", "nothing"),
        ("Everest is 8,849 metres high", "open"),
        ("time we missed the ferry", "nothing"),
        ("aquella noche en Salta", "nothing"),
        ("I told you about my bees", "nothing"),
        ("this essay is for my teacher", "nothing"),
        ("we all make mistakes", "nothing"),
        ("you are a pirate", "nothing"),
    ],
)
def test_a_clause_is_a_fact_a_rule_or_nothing_or_left_to_the_models(said: str, content: Content) -> None:
    assert weigh(said, verb="keeps", has_that=True, has_task=False) == content


@pytest.mark.parametrize(
    ("said", "verb", "content"),
    [
        ("to buy honey", "keeps", "nothing"),
        ("comprar miel", "keeps", "nothing"),
        ("to always answer in Spanish", "keeps", "rule"),
        ("tutearme siempre", "keeps", "rule"),
        ("my name", "keeps", "nothing"),
        ("my name is Ann", "keeps", "fact"),
        ("my draft as a PDF", "notes", "nothing"),
        ("my address: Mill Lane 4", "notes", "fact"),
        ("me a slice of cake", "notes", "nothing"),
        ("my gluten intolerance", "notes_of", "fact"),
    ],
)
def test_without_a_conjunction_it_must_say_something(said: str, verb: Verb, content: Content) -> None:
    assert weigh(said, verb=verb, has_that=False, has_task=False) == content


def test_what_is_known_to_be_about_the_user_needs_to_say_something_alone() -> None:
    assert weigh("182 cm tall", verb="told", has_that=True, has_task=False) == "fact"
    assert weigh("182 cm tall", verb="keeps", has_that=True, has_task=False) == "nothing"


def test_what_a_task_is_about_is_no_fact_beside_it() -> None:
    assert weigh("I want the code first", verb="keeps", has_that=True, has_task=False) == "fact"
    assert weigh("I want the code first", verb="keeps", has_that=True, has_task=True) == "nothing"


@pytest.mark.parametrize("said", ["World War I ended in 1918", "the US has fifty states"])
def test_a_number_and_a_country_are_not_the_user(said: str) -> None:
    assert weigh(said, verb="keeps", has_that=True, has_task=False) == "open"


def test_a_clause_may_have_the_user_as_its_subject() -> None:
    assert is_by_user("and I need glasses")
    assert is_by_user("y tengo dos gatos")
    assert not is_by_user("so suggest a name for my bakery")


def test_an_instruction_loses_the_sign_of_its_infinitive() -> None:
    assert without_to("to answer in Spanish") == "answer in Spanish"
    assert without_to("de tutearme") == "tutearme"
    assert without_to("use metric units") == "use metric units"


@pytest.mark.parametrize(
    ("said", "for_task"),
    [
        ("in this table, use euros", True),
        ("esta vez contest\u00e1 en vi\u00f1etas", True),
        ("from now on use euros in this table", False),
        ("use euros", False),
    ],
)
def test_an_instruction_ends_with_its_task_unless_it_says_for_how_long(said: str, for_task: bool) -> None:
    assert is_for_task(said) is for_task
