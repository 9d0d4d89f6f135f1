"""What a message looks like: its enclosures, and its lines that are no sentences."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.shapes import enclosed, is_foreign, is_spoken


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
