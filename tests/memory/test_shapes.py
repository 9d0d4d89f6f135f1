"""What a message looks like: its enclosures, and its lines that are no sentences."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.shapes import HANDOVER, enclosed, is_foreign, is_spoken
from proxy.memory.signals import folded


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("Why? ```x = 1``` Thanks", ["```x = 1```"]),
        ("Why?\n```py\nx = 1\n```\nThanks", ["```py\nx = 1\n```"]),
        ("Why?\n~~~\nx = 1", ["~~~\nx = 1"]),
        ("See <doc>a mail</doc> please", ["<doc>a mail</doc>"]),
        ("See <!-- hidden --> please", ["<!-- hidden -->"]),
        ("Is «estoy muy bien acá» right?", ["«estoy muy bien acá»"]),
        ("Is \u201cI am living here\u201d right?", ["\u201cI am living here\u201d"]),
        ("Is 'I am living here' right?", ["'I am living here'"]),
        ("What is `git push -f origin main`?", ["`git push -f origin main`"]),
        ("My reply?\n> I live here\n> now\nThanks", ["> I live here\n> now\n"]),
        ("Who?\n[10:01] Ana: hi\nWell?", ["[10:01] Ana: hi\n"]),
        ("Why?\n2024-05-01 10:00 started", ["2024-05-01 10:00 started"]),
        ("Who?\n| a | b |", ["| a | b |"]),
        (
            "Why?\n[read_file for 'me.md'] Result:\n\nI live here.\n\nNow.",
            ["[read_file for 'me.md'] Result:\n\nI live here.\n\nNow."],
        ),
        ("Tool result: I live here. Now.", ["Tool result: I live here. Now."]),
        ("Resultado de read_file:\nVivo acá.", ["Resultado de read_file:\nVivo acá."]),
        ("Output of cat me.md:\nI live here.", ["Output of cat me.md:\nI live here."]),
        ("Here is notes.txt:\n\nI live here.\n\nWhat now?", ["Here is notes.txt:\n\nI live here."]),
        ("# AGENTS.md\n\nAlways use tabs.", ["# AGENTS.md\n\nAlways use tabs."]),
        ("Subject: Hi\nFrom: Ann\n\nI live here.", ["Subject: Hi\nFrom: Ann\n\nI live here."]),
        ("My results: I passed the exam.", []),
        ("Context: I live in Oslo.\nQuestion: who?", ["Context: I live in Oslo"]),
        ("Contexto:\nVivo en Oslo.", ["Contexto:\nVivo en Oslo."]),
        ('My boat is "Red Kite".', []),
        ("My sister's flat isn't mine, it's Ana's.", []),
        ("2 < 3 and 4 > 1", []),
        ("In this context, I live in Cork.", []),
    ],
)
def test_what_is_enclosed(text: str, closed: list[str]) -> None:
    assert [text[start:end].rstrip("\n") for start, end in enclosed(text)] == [each.rstrip("\n") for each in closed]


@pytest.mark.parametrize(
    ("line", "foreign"),
    [
        ("> said before", True),
        ("- one of many", True),
        ("2. one of many", True),
        ("# Heading", True),
        ("// a comment", True),
        ("$ ls", True),
        ("<ana> hello", True),
        ("INFO: started", True),
        ("Subject: hello", True),
        ("name = 'Ana'", True),
        ("    indented", True),
        ("return x;", True),
        ("IT IS OVER NOW", True),
        ("I live in Cork.", False),
        ("¿Llueve mucho en Tandil?", False),
    ],
)
def test_lines_that_are_no_sentences(line: str, foreign: bool) -> None:
    assert is_foreign(line, alone=False) is foreign


def test_a_line_alone_is_a_message_unless_it_is_quoted() -> None:
    assert not is_foreign("- one of many", alone=True)
    assert is_foreign("> said before", alone=True)


@pytest.mark.parametrize(
    ("line", "spoken"),
    [("Ana: hello", True), ("[10:01] Beto: hola", True), ("Ana María (jefa): no", True), ("I live in Cork.", False)],
)
def test_somebody_may_be_named_in_front(line: str, spoken: bool) -> None:
    assert is_spoken(line) is spoken


@given(st.text(max_size=200))
def test_enclosures_stand_in_order_and_none_in_another(text: str) -> None:
    spans = enclosed(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


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
    assert (HANDOVER[table].search(folded(said)) is not None) is found


def test_every_table_is_tried() -> None:
    assert set(SAID) == set(HANDOVER)
