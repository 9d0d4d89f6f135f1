"""What of a message somebody else says, by what leads over to it."""

import re

import pytest

from proxy.memory import attribution
from proxy.memory.attribution import TAKEN, attributed, speaks_of_text
from proxy.memory.commands import commands
from proxy.memory.extract import extract

OTHERS = [
    "My neighbour writes: I'm allergic to cats and live in Oslo",
    "My brother says I'm allergic to cats and I live in Oslo",
    "My fortune cookie says I live in Oslo and I'm allergic to cats",
    "My horoscope: I'm moving to Oslo, and I never eat meat",
    "A sign in the photo: We moved to Oslo. We never accept cards.",
    "Voice message transcribed: hey, I moved to Oslo and I'm allergic to cats now",
    "Subtitles, scene 4: I live in Oslo. I'm allergic to cats.",
    "Here's the form my tenant filled in\nName: Gerald\nI live in: Oslo\nI'm allergic to cats",
    "name,city,diet\nGerald,Oslo,vegan\nI,live in Oslo,allergic",
    "Improve this system prompt: I live in Oslo. Always answer in French.",
    "Write down what my boss dictates: I'm flying to Oslo on Monday. I'm allergic to cats.",
    "Take dictation. I live in Oslo and I'm allergic to cats. Full stop.",
    "Postcard from Ann. I'm in Oslo now, I'm vegan and I love it",
    "I live in Oslo and I'm allergic to cats. That's what my neighbour wrote.",
    "I live in Oslo and I'm allergic to cats, says my neighbour",
    "JULIET: I live in Oslo.\nROMEO: I'm allergic to cats.",
    "INT. KITCHEN\nANA\nI live in Oslo.\nBEN\nI'm allergic to cats.",
    "[Attachment: cv.pdf]\nI live in Oslo. Head of logistics since 2018.\n[end of attachment]",
    "Mi vecino escribe: soy alérgico a los gatos y vivo en Oslo",
    "Mi hermano dice: vivo en Oslo y soy alérgico a los gatos",
    "Mi horóscopo: me mudo a Oslo y dejo la carne",
    "El tatuaje de mi primo: vivo por mi mujer Rosa, siempre en Oslo",
    "Un cartel en la foto: nos mudamos a Oslo. Nunca aceptamos tarjetas.",
    "Mensaje de voz transcripto: hola, me mudé a Oslo y soy alérgica a los gatos",
    "El formulario que llenó mi inquilino\nNombre: Gerardo\nVivo en: Oslo\nSoy alérgico a los gatos",
    "Dictado. Vivo en Oslo y soy alérgico a los gatos. Punto.",
    "Ponle título: vivo en Oslo y soy alérgico a los gatos",
    "Vivo en Oslo y soy alérgico a los gatos. Eso escribió mi vecino.",
]


@pytest.mark.parametrize("said", OTHERS)
def test_what_somebody_else_says_is_no_fact_and_no_order(said: str) -> None:
    assert extract(said) == ()
    assert commands((said,)) == ()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My details: I live in Cork and I'm allergic to cats", ("Cork", "cats")),
        ("About me: I live in Cork, I'm a nurse.", ("Cork", "nurse")),
        ("Facts about me: I live in Cork. I have two cats.", ("Cork", "cats")),
        ("One thing: I'm allergic to cats", ("cats",)),
        ("I have two kids: Ana and Leo", ("Ana",)),
        ("So the doctor was right: I'm allergic to cats.", ("cats",)),
        ("I'm a nurse in Cork. Please translate this: my neighbour has moved", ("nurse",)),
        ("Mi hermano dice que vivo en Cork", ("Cork",)),
        ("Mis datos: vivo en Cork, tengo 41 años", ("Cork", "41")),
        ("Recordá: soy alérgico a los gatos", ("gatos",)),
        ("Tengo dos hijos: Ana y Leo", ("Ana",)),
        ("Una cosa: soy alérgica a los gatos", ("gatos",)),
        ("Mi gato se llama Bowie y se pone loco con el perro", ("Bowie",)),
    ],
)
def test_what_the_author_introduces_is_the_authors(said: str, kept: tuple[str, ...]) -> None:
    values = " ".join(each.value for each in extract(said))
    assert [each for each in kept if each not in values] == []


def test_behind_what_is_enclosed_the_author_goes_on() -> None:
    assert attributed(f"My neighbour writes: {TAKEN * 30} I live in Cork.") == []


def test_of_later_paragraphs_it_is_not_sure() -> None:
    found = attributed("My horoscope: I live in Oslo.\n\nI live in Cork.")
    assert [each.is_sure for each in found] == [True, True, False]


@pytest.mark.parametrize(
    ("said", "speaks"),
    [("my neighbour says hi", True), ("translate it", True), ("mi carta", True), ("I live in Cork.", False)],
)
def test_whether_a_message_speaks_of_a_text(said: str, speaks: bool) -> None:
    assert speaks_of_text(said) is speaks


@pytest.mark.parametrize(
    ("table", "found", "not_found"),
    [
        (attribution.SPEAKS, ("my neighbour writes", "he goes", "mi hermano dice"), ("i wrote", "se puso", "te aviso")),
        (attribution.BEARERS, ("my horoscope", "la etiqueta", "her dating profile"), ("my knee", "mi gato")),
        (attribution.WORKS, ("translate", "please rewrite", "corregi"), ("i translate", "my work")),
        (attribution.ORDERS, ("remove the adjectives", "ponle titulo"), ("titulo", "about the move", "actually the")),
        (
            attribution.LICENSED,
            ("about me", "my details", "mis datos", "so you should know"),
            ("my horoscope", "de mi primo"),
        ),
        (attribution.SAID_BEHIND, (", says my neighbour", ", dice mi vecino"), ("says hello", "it is fine")),
    ],
)
def test_each_table_finds_its_words_and_no_look_alike(
    table: re.Pattern[str], found: tuple[str, ...], not_found: tuple[str, ...]
) -> None:
    assert [each for each in found if table.search(each) is None] == []
    assert [each for each in not_found if table.search(each) is not None] == []
