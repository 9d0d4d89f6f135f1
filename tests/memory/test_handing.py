"""By which words a text is handed over."""

from dataclasses import fields

import pytest

from proxy.memory.handing import HANDING, folded

SAID = {
    "works": (
        (
            "Translate this",
            "can you summarise it",
            "TL;DR",
            "proofread my letter",
            "how would you say hi",
            "Traducí esto",
            "resumime el texto",
            "corregime la carta",
            "¿cómo se dice hola?",
            "¿está bien escrito?",
        ),
        ("I live in Cork", "What's the weather?", "Vivo en Tandil", "¿Llueve?"),
    ),
    "makes": (
        ("write me a poem", "give me some test data", "escribime un cuento", "inventá una historia"),
        ("I write poetry", "escribo cuentos"),
    ),
    "points": (
        ("this mail", "the following text", "here's my essay", "este mail", "te paso el texto", "según la nota"),
        ("I live in Cork", "vivo sola"),
    ),
    "play": (
        (
            "Let's pretend we fly",
            "Act as a judge",
            "You are a pirate and I am a sailor",
            "stay in character",
            "Juguemos a algo",
            "Hacé de juez",
            "Sos un pirata y yo soy tu loro",
            "metete en el personaje",
        ),
        ("You are kind", "I act in a theatre", "Sos un genio", "juego al tenis"),
    ),
    "fiction": (
        ("a short story", "the narrator", "un cuento", "el personaje"),
        ("I live in Cork", "vivo acá"),
    ),
    "follows": (("in the next message", "en el mensaje siguiente"), ("the message", "el mensaje")),
    "refers_back": (("that's how it goes", "ese es el comienzo"), ("I live in Cork", "vivo acá")),
    "asks": (("Why?", "please do", "can you", "¿eh?", "por favor", "necesito ayuda"), ("I live in Cork", "Vivo acá")),
    "brings": (("I got this", "here's what she wrote", "me mandaron esto", "te pego el mail"), ("I live in Cork",)),
    "orders": (("in French", "make it short", "al inglés", "ponelo corto"), ("my dog", "mi perra")),
    "remember": (("remember", "for the record", "anotá", "de ahora en más"), ("I remember him well", "anotó un gol")),
    "own_label": (("about me", "my stack", "sobre mí", "mi plan de viaje"), ("ana", "beto")),
    "dear": (("Dear Ana,", "Hi Ana,", "Estimada Ana:", "Hola Ana,"), ("hi there, I live in Cork", "Vivo en Tandil")),
    "mail_head": (("From: Ana", "Subject: hi", "De: Ana", "El lunes, 3 de mayo, Ana escribió:"), ("from Cork",)),
    "signs_off": (("Kind regards,", "Cheers", "Saludos,", "Un abrazo"), ("I give my regards to whom I like?",)),
    "context_label": (("Context: x", "Passage 2: x", "Contexto: x", "Fragmento 1: x"), ("in this context, x",)),
    "question_label": (("Question: x", "User question: x", "Pregunta: x", "Consulta: x"), ("a question of x",)),
    "first_person": (("I live", "our dog", "vivo", "mi perra"), ("it rains", "llueve")),
}
ROWS = [
    (table, said, found)
    for table, each in SAID.items()
    for found, of in ((True, each[0]), (False, each[1]))
    for said in of
]


@pytest.mark.parametrize(("table", "said", "found"), ROWS)
def test_each_table_finds_what_it_is_for_in_both_languages(table: str, said: str, found: bool) -> None:
    assert (getattr(HANDING, table).search(folded(said)) is not None) is found


def test_every_table_is_tried() -> None:
    assert set(SAID) == {field.name for field in fields(HANDING)}
