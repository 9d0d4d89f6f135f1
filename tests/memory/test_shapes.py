"""What a message looks like: its enclosures, and the blocks that its lines make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.shapes import HOLE, blocks, question, without_enclosed


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Why? ```x = 1``` Thanks", f"Why?  {HOLE}  Thanks"),
        ("Why?\n```py\nx = 1\n```\nThanks", f"Why?\n\n{HOLE}\n\nThanks"),
        ("Why?\n~~~\nx = 1\n~~~", f"Why?\n\n{HOLE}\n"),
        ("See <doc>a mail</doc> please", f"See  {HOLE}  please"),
        ("See <!-- hidden --> please", f"See  {HOLE}  please"),
        ("Is «estoy muy bien acá» right?", f"Is  {HOLE}  right?"),
        ("Is \u201cI am living here\u201d right?", f"Is  {HOLE}  right?"),
        ("Is 'I am living here' right?", f"Is  {HOLE}  right?"),
        ("What is `git push -f origin main`?", f"What is  {HOLE} ?"),
        ('My boat is "Red Kite".', 'My boat is "Red Kite".'),
        ("My sister's flat isn't mine, it's Ana's.", "My sister's flat isn't mine, it's Ana's."),
        ("2 < 3 and 4 > 1", "2 < 3 and 4 > 1"),
    ],
)
def test_what_is_enclosed_leaves_a_hole_and_a_name_stays(text: str, left: str) -> None:
    assert without_enclosed(text) == left


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Question: why?", " why?"),
        ("Pregunta: ¿por qué?", " ¿por qué?"),
        ("User question: why?", " why?"),
        ("My question is why", ""),
        ("Why?", ""),
    ],
)
def test_a_question_stands_behind_its_label(text: str, asked: str) -> None:
    assert question(text) == asked


def foreign(text: str) -> list[tuple[str, bool]]:
    return [(block.text, block.foreign) for block in blocks(text)]


@pytest.mark.parametrize(
    "line",
    [
        "> said before",
        "| a | b |",
        "- one of many",
        "2. one of many",
        "# Heading",
        "// a comment",
        "$ ls",
        "2024-05-01 10:00 started",
        "<ana> hello",
        "INFO: started",
        "Traceback (most recent call last):",
        "Subject: hello",
        "name = 'Ana'",
        "a,b,c",
        "    indented",
        "return x;",
        "IT IS OVER NOW",
        "Ana: hello",
        "[10:01] Beto: hola",
        HOLE,
    ],
)
def test_lines_that_no_sentence_is_written_in_are_a_block_of_their_own(line: str) -> None:
    assert foreign(f"I live in Cork.\n{line}\n\nIt rains.") == [
        ("I live in Cork.", False),
        (line, True),
        ("It rains.", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I live in Cork.\nIt rains.",
        "Vivo en Tandil.\nLlueve mucho.",
        "Thesis: why it rains\nIt is due in May.",
    ],
)
def test_lines_of_sentences_are_one_block_of_the_authors(text: str) -> None:
    assert foreign(text) == [(text, False)]


def test_an_empty_line_and_a_line_that_leads_over_end_a_block() -> None:
    assert foreign("One.\n\nTwo.\nPlease read all of these many lines:\nThree.") == [
        ("One.", False),
        ("Two.\nPlease read all of these many lines:", False),
        ("Three.", False),
    ]


@pytest.mark.parametrize(
    "letter",
    [
        "Dear Ana,\nI live in Oslo.\n\nIt rains.\n\nKind regards,\nTom",
        "Estimada Ana:\nVivo en Oslo.\n\nLlueve.\n\nSaludos,\nTom",
        "Hi Ana,\nI live in Oslo.\nCheers",
        "Hola Ana,\nVivo en Oslo.\nUn abrazo\nTom",
    ],
)
def test_a_letter_is_one_text_from_its_salutation_to_its_end(letter: str) -> None:
    found = foreign(f"Read this.\n\n{letter}\n\nWhat now?")
    assert [text for text, is_foreign in found if not is_foreign] == ["Read this.", "What now?"]


def test_a_poem_behind_something_else_is_no_paragraph_of_the_authors() -> None:
    verses = "I live in the north\nwhere nobody goes\nand nothing is worth\nas much as the snows"
    assert foreign(f"Read.\n\n{verses}") == [("Read.", False), (verses, True)]


@pytest.mark.parametrize(
    ("text", "marked"), [("> a\n> b", True), (HOLE, True), ("- a\n- b", True), ("- a\nmore", False)]
)
def test_a_block_shows_its_end_by_its_lines_or_by_an_empty_one(text: str, marked: bool) -> None:
    (block, *_) = blocks(text)
    assert (block.foreign, block.marked) == (True, marked and not text.startswith("-"))


@given(st.text(max_size=200))
def test_blocks_are_the_lines_of_the_text_in_their_order(text: str) -> None:
    said = [line for line in text.split("\n") if line.strip()]
    assert [line for block in blocks(text) for line in block.text.split("\n") if line.strip()] == said


@given(st.text(max_size=200))
def test_outside_of_enclosures_nothing_is_changed(text: str) -> None:
    left = without_enclosed(text)
    assert all(piece.strip("\n ") in text for piece in left.split(HOLE))
