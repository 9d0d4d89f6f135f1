import pytest

from proxy.memory.prose import prose, sentences


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("One. Two! Three", ["One.", "Two!", "Three"]),
        ("It holds 2.5 litres at St. Brigid's.", ["It holds 2.5 litres at St. Brigid's."]),
        ("Vivo acá, ¿y vos?", ["Vivo acá,", "¿y vos?"]),
        ("A line\nanother", ["A line", "another"]),
        ('She said "Stop. Go away now." and left. Bye', ['She said "Stop. Go away now." and left.', "Bye"]),
        ("...", []),
    ],
)
def test_sentences_are_cut_where_they_end(text: str, said: list[str]) -> None:
    assert [each.text for each in sentences(text)] == said


@pytest.mark.parametrize(
    ("sentence", "asked", "quotes"),
    [
        ("¿Sí?", True, False),
        ("Really?", True, False),
        ("Yes.", False, False),
        ('He wrote "I live in Cork".', False, True),
        ('It is called "Red Kite".', False, False),
    ],
)
def test_a_sentence_knows_whether_it_asks_and_whether_it_quotes(sentence: str, asked: bool, quotes: bool) -> None:
    (read,) = sentences(sentence)
    assert (read.asked, read.quotes) == (asked, quotes)


@pytest.mark.parametrize(
    "foreign",
    ["```\ncode\n```", "```\nnever closed", "> quoted", "| a | table |", "<memory>\nours\n</memory>", "<memory>\nours"],
)
def test_what_the_author_did_not_write_is_left_out(foreign: str) -> None:
    assert prose(f"Mine.\n{foreign}").strip() == "Mine."


def test_a_block_that_began_before_the_end_that_is_read_is_left_out() -> None:
    pasted = "word " * 10_000
    assert "word" not in prose(f"Hi.\n```\n{pasted}\n{pasted}\n```\nBye.")
    assert "Bye." in prose(f"Hi.\n```\n{pasted}\n{pasted}\n```\nBye.")
