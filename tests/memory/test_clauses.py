"""Where a clause may begin, and what the model of it has learnt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.linear import feature
from proxy.memory.clauses import FILE, boundaries, may_begin, must_begin, sentences, split, surrounded
from proxy.memory.tokens import tokens


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I live in Cork. It rains!", ["I live in Cork.", " It rains!"]),
        ("Vivo acá. ¿Llueve?", ["Vivo acá.", "¿Llueve?"]),
        ("One line\nanother", ["One line\n", "another"]),
        ("Dr. Poe and Mrs. Paz, vs. me etc. and so on", ["Dr. Poe and Mrs. Paz, vs. me etc. and so on"]),
        ("La Dra. Paz vive en Av. Mitre 3.5", ["La Dra. Paz vive en Av. Mitre 3.5"]),
        ("… !!", []),
        ("", []),
    ],
)
def test_sentences_end_at_their_marks_and_at_lines_and_not_at_titles(text: str, said: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == said


@pytest.mark.parametrize(
    ("text", "word", "may", "must"),
    [
        ("I live in Cork and I work a lot", "and", True, True),
        ("Vivo en Tandil y trabajo mucho", "y", True, True),
        ("I live in Cork, what's the weather", "what's", True, True),
        ("Vivo en Tandil, cuanto llueve", "cuanto", True, True),
        ("I like tea and coffee", "and", True, False),
        ("Me gusta el té y el café", "y", True, False),
        ("I like black tea", "tea", False, False),
        ("Me gusta el té negro", "negro", False, False),
    ],
)
def test_a_clause_begins_behind_a_mark_or_with_a_word_of_grammar(text: str, word: str, may: bool, must: bool) -> None:
    said = tokens(text)
    at = said.index(word)
    assert (may_begin(said, at), must_begin(said, at)) == (may, must)


@given(st.text(max_size=200))
def test_sentences_are_pieces_in_their_order(text: str) -> None:
    ends = [0, *(end for _, end in sentences(text))]
    assert ends == sorted(ends)
    for start, end in sentences(text):
        said = tokens(text[start:end])
        for at in range(1, len(said)):
            assert len(set(boundaries(surrounded(said), at))) == 13
            assert isinstance(may_begin(said, at), bool)
            assert isinstance(must_begin(said, at), bool)


def test_features_of_a_boundary_are_what_stands_around_it() -> None:
    found = boundaries(surrounded(tokens("I sew, and you knit")), 3)
    names = "p=, f=and pf=,_and n=you fn=and_you fnn=and_you_knit pp=sew_, b=sew l=3 r=3 e=and mark=True mf=True_and"
    assert found == [feature(name.replace("_", " ")) for name in names.split()]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("I live in Cork and I work at a bank.", ["I live in Cork", "and I work at a bank."]),
        ("Vivo en Tandil y trabajo en un banco.", ["Vivo en Tandil", "y trabajo en un banco."]),
        ("I like black tea a lot.", ["I like black tea a lot."]),
        ("Me gusta mucho el té negro.", ["Me gusta mucho el té negro."]),
        ("I live in Cork. It rains.", ["I live in Cork.", "It rains."]),
    ],
)
def test_clauses_say_one_thing_each(text: str, clauses: list[str]) -> None:
    assert [clause.text for clause in split(text)] == clauses


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("I live in Cork, what's the weather like?", [False, True]),
        ("Vivo en Tandil, ¿qué clima tiene?", [False, True]),
        ("Do I live in Cork?", [True]),
        ("I live in Cork.", [False]),
    ],
)
def test_of_a_question_the_clause_that_asks_is_asked(text: str, asked: list[bool]) -> None:
    assert [clause.asked for clause in split(text)] == asked


@given(st.text(max_size=200))
def test_clauses_are_pieces_of_the_text_in_their_order(text: str) -> None:
    found = split(text)
    assert all(text[clause.start :].lstrip().startswith(clause.text) for clause in found)
    assert [(clause.sentence, clause.start) for clause in found] == sorted(
        (each.sentence, each.start) for each in found
    )


def test_the_weights_are_a_file_that_is_a_part_of_the_package() -> None:
    assert FILE.is_file()
