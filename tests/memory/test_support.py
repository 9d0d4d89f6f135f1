"""Quotations that state a value, and those that do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.support import REASONS, supports

# The message, the quotation (all of the message if empty), the value.
STATED = [
    ("I work nights as a nurse in Cork. Any tips for sleep?", "I work nights as a nurse in Cork", "Works as a nurse"),
    (
        "My sister keeps bees in Mayo, what do I give her?",
        "My sister keeps bees in Mayo",
        "The user's sister keeps bees",
    ),
    ("I quit smoking in May.", "", "No longer smokes"),
    ("Never use emojis when you answer me.", "", "Wants no emojis in answers"),
    ("I can't stand wool.", "", "Hates wool"),
    ("La panadería que abrí en Lugo no tiene web, ¿me ayudas?", "La panadería que abrí en Lugo", "Tiene una panadería"),
    ("Mi hermana vive en Lima. ¿Qué le llevo?", "Mi hermana vive en Lima", "Su hermana vive en Lima"),
    ("How do I brush my cat Pip if he scratches?", "my cat Pip", "Has a cat called Pip"),
    ("ya no trabajo en Globant, buscame otra cosa", "ya no trabajo en Globant", "Ya no trabaja en Globant"),
]
NOT_STATED = [
    ("I like tea.", "I like coffee", "Likes coffee", "quote"),
    (
        'Is this mail real?\n\n"I am a nurse in Cork. Ann"\n\nThanks',
        "I am a nurse in Cork",
        "Is a nurse",
        "handed-over",
    ),
    ("Am I allergic to nuts?", "", "Is allergic to nuts", "question"),
    ("If I lived in Rome I'd walk more.", "", "Lives in Rome", "condition"),
    ("I swim in Lough Ree only when it's warm.", "", "Swims in Lough Ree", "condition"),
    ("I wish I had a dog.", "", "Has a dog", "wish"),
    ("I want to learn Polish.", "", "Learns Polish", "wish"),
    (
        "Rewrite this in a formal tone: hi all",
        "Rewrite this in a formal tone",
        "Wants all replies in a formal tone",
        "task",
    ),
    ("My sister keeps kosher.", "", "Keeps kosher", "holder"),
    ("I'm a beekeeper, and my uncle helps.", "I'm a beekeeper", "The user's uncle is a beekeeper", "holder"),
    ("I don't eat fish.", "", "Eats fish", "polarity"),
    ("I can't stand wool.", "", "Likes wool", "polarity"),
    ("I sold my boat in May.", "", "Has a boat", "polarity"),
    ("I used to live in Rome.", "", "Lives in Rome", "tense"),
    ("I lived in Rome for years.", "", "Lives in Rome", "tense"),
    ("I have two cats.", "", "Has three cats", "details"),
    ("I won the bronze medal in Rome.", "", "Won the gold medal in Rome", "details"),
    ("I flew to Rome on Monday.", "", "Often flies to Rome", "often"),
    ("I almost bought the boat.", "", "Bought the boat", "condition"),
    ("I'd have bought the boat.", "", "Bought the boat", "condition"),
    ("Write a story where I am a spy.", "I am a spy", "Is a spy", "handed-over"),
    ("She's my dentist, she moved to Bath.", "she moved to Bath", "Moved to Bath", "holder"),
    ("I'm stuck on the train to Rome.", "", "Takes the train to Rome", "passing"),
    ("I have a cold cellar.", "", "Plays chess", "unrelated"),
    ("ojalá hablara alemán", "", "Habla alemán", "wish"),
    ("antes vivía en Gijón", "", "Vive en Gijón", "tense"),
    ("mi jefa es alérgica al maní", "es alérgica al maní", "Es alérgica al maní", "holder"),
    ("yo gatos no tengo", "", "Tiene gatos", "polarity"),
    ("si yo fuera médico le diría que no", "si yo fuera médico", "Es médico", "condition"),
    ("Los diabéticos necesitan insulina toda la vida", "", "Es diabético", "general"),
]


@pytest.mark.parametrize(("message", "quote", "value"), STATED)
def test_what_the_user_states_is_supported(message: str, quote: str, value: str) -> None:
    assert supports(quote or message, value, message) == ""


@pytest.mark.note("Rumi Extracción/2", "Rumi Decisiones/2")
@pytest.mark.parametrize(("message", "quote", "value", "reason"), NOT_STATED)
def test_what_the_user_does_not_state_is_refused_with_its_reason(
    message: str, quote: str, value: str, reason: str
) -> None:
    assert supports(quote or message, value, message) == reason


def test_white_space_of_a_quotation_does_not_matter() -> None:
    assert supports("I work nights\nas a nurse", "Works as a nurse", "Hi. I work  nights as a nurse.") == ""


@given(st.text(max_size=80), st.text(max_size=40), st.integers(0, 60), st.integers(1, 60))
def test_every_refusal_has_a_known_reason(message: str, value: str, start: int, length: int) -> None:
    assert supports(message[start : start + length], value, message) in ("", *REASONS)
