"""What is kept of a statement's words, and what it is filed under."""

import pytest

from proxy.memory.signals import SIGNALS, folded
from proxy.memory.subject import analyse
from proxy.memory.values import key, lead, spoken_in, tail, topical, without_signal
from proxy.types.memory import Language


@pytest.mark.parametrize(
    ("text", "value", "spoken"),
    [
        ("Hi! Please remember that I live in Cork, thanks!", "I live in Cork", "en"),
        ("By the way, I live in Cork", "I live in Cork", "en"),
        ("I live in Cork", "I live in Cork", "en"),
        ("Hola, recordá que vivo en Tandil, por favor.", "vivo en Tandil", "es"),
        ("Por cierto, vivo en Tandil", "vivo en Tandil", "es"),
        ("", "", "es"),
    ],
)
def test_greetings_and_reminders_are_no_part_of_a_value(text: str, value: str, spoken: Language) -> None:
    assert without_signal(text, SIGNALS[spoken]) == value


@pytest.mark.parametrize("spoken", ["en", "es"])
def test_what_has_nothing_around_it_is_whole(spoken: Language) -> None:
    plainly = folded("Petrel")
    assert (lead(plainly, SIGNALS[spoken]), tail(plainly, SIGNALS[spoken])) == (0, len(plainly))


@pytest.mark.parametrize(
    ("value", "about"),
    [
        ("My boat is called Red Kite", ["boat", "called", "red", "kite"]),
        ("El bote cuesta 900 euros", ["bote", "cuesta", "euros"]),
        ("it is 42", []),
    ],
)
def test_a_value_is_about_its_words_that_are_neither_numbers_nor_of_grammar(value: str, about: list[str]) -> None:
    assert topical(value) == about


@pytest.mark.parametrize(
    ("value", "slot", "about", "standing", "expected"),
    [
        ("I live in Cork", "residence", "residence", False, "residence"),
        ("vivo en Tandil", "residence", "residence", False, "residence"),
        ("my son is allergic to nuts", "allergy-", "allergy", False, "son-allergy-allergic-nuts"),
        ("soy alérgico al maní", "allergy-", "allergy", False, "allergy-alergico-mani"),
        ("the shed costs $900", "", "money", False, "money-shed-costs"),
        ("always answer in English", "", "instruction", True, "rule-language"),
        ("never use emojis", "", "instruction", True, "rule-emoji"),
    ],
)
def test_a_key_is_holder_attribute_and_subject(
    value: str, slot: str, about: str, standing: bool, expected: str
) -> None:
    assert key(analyse(value), slot, about, value, standing=standing) == expected


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("tengo dos gatos", "es"),
        ("soy celíaco", "es"),
        ("Uso Linux en la notebook", "es"),
        ("I use Linux", "en"),
        ("we have two cats", "en"),
        ("type 1 diabetic", "en"),
        ("", "en"),
        ("42", "en"),
    ],
)
def test_of_what_is_too_short_to_be_sure_it_is_that_of_the_commonest_words(said: str, language: Language) -> None:
    assert spoken_in(said) == language
